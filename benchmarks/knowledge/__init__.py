"""Repositories as knowledge: how long reading takes, and how well searches find."""
