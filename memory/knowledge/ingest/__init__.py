"""Brings the index to the commits of a repository's branches."""
