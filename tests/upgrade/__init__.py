"""Databases that earlier releases wrote, opened by this version."""
