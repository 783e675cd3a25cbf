"""Decides which files of a commit are read, and turns their bytes into text."""
