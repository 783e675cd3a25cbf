"""The pauses between attempts to reach a platform."""

from typing import Final

CONNECTION_DEADLINE: Final = 120.0
"""Seconds without a connection after which an adapter ends with a `StartError`; the program then
starts the account again."""


class Backoff:
    """Pauses that double with each failed attempt, from `first` to `longest` seconds."""

    def __init__(self, first: float, longest: float) -> None:
        self._first = first
        self._longest = longest
        self._next = first

    def pause(self, requested: float | None = None) -> float:
        """Seconds before the next attempt, at least the `requested` ones of the platform."""
        pause, self._next = self._next, min(self._next * 2, self._longest)
        return max(pause, requested or 0.0)

    def reset(self) -> None:
        """Begin with `first` again, after an attempt that succeeded."""
        self._next = self._first
