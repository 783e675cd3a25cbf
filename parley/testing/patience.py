"""The time for which a test waits."""

from typing import Final

PATIENCE: Final = 30.0
"""Seconds after which it counts as never happening. Nothing that works takes as long, on however
busy a machine; what does not work costs a failing test so much, and a green one nothing."""
