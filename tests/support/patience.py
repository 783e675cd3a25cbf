"""How long a test waits for what is to happen."""

from typing import Final

PATIENCE: Final = 30.0
"""Seconds after which it counts as never happening. Nothing that works takes as long, on however
busy a machine; what does not work costs a failing test so much, and a green one nothing."""

LAUNCH: Final = 4 * PATIENCE
"""The same for what begins with a program of its own: the interpreter imports for seconds on a calm
machine, and for half a minute beside everything else that a test run does."""
