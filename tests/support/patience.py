"""The time for which tests wait for a condition."""

from typing import Final

from parley.testing.case import PATIENCE

__all__ = ["LAUNCH", "PATIENCE"]

LAUNCH: Final = 4 * PATIENCE
"""The same for what begins with a program of its own: the interpreter imports for seconds on a calm
machine, and for half a minute beside everything else that a test run does."""
