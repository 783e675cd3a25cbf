"""Builds the documentation site from docs/ (`make docs`)."""
