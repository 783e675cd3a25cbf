"""Tests of the documentation in the program."""
