"""Measures losses, duplicates and wrong order when the program is killed repeatedly."""
