"""Repeats a call of the model that had no answer, within one turn."""

from collections.abc import Awaitable, Callable
from typing import Final

from gateway.errors import ModelUnavailable
from gateway.ports import Clock

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 15.0
"""Seconds between two rounds of attempts; the pause doubles in between."""
JITTER: Final = 0.5
"""The random part of a pause, so that turns that failed together do not retry together."""
LATER: Final = 0.1
"""The random extension of a pause that the service requested, for the same reason."""
LEAST_LEFT: Final = 1.0
"""The minimum seconds left after a pause; with less there is no further attempt."""
MAX_ROUNDS: Final = 20
"""Maximum further rounds of attempts in one turn, for any duration."""

Pause = Callable[[float], Awaitable[None]]


class Retrying:
    """Retries within one turn.

    `seconds` is counted from now; `chance` returns numbers from 0 to 1, and `pause` waits for a
    number of seconds. Only calls to the model are repeated, from the same messages: no tool runs
    twice for it.
    """

    def __init__(
        self, clock: Clock, seconds: float, chance: Callable[[], float], pause: Pause
    ) -> None:
        self._clock = clock
        self._pause = pause
        self._chance = chance
        self._until = clock.monotonic() + seconds
        self._rounds = 0
        self.failing = False
        """True from a failed call until the next answered one."""

    async def again(self, error: ModelUnavailable) -> bool:
        """Wait before the next call of the model; False if a retry is useless."""
        left = self._until - self._clock.monotonic()
        pause = pause_before(self._rounds, error, left, self._chance())
        if pause is None:
            return False
        self._rounds += 1
        await self._pause(pause)
        return True


def pause_before(rounds: int, error: ModelUnavailable, left: float, chance: float) -> float | None:
    """Return the seconds to wait after so many further rounds, never less than the service
    requested; None if the error is permanent, the rounds are used up or `left` is too short."""
    if not error.passes or rounds >= MAX_ROUNDS:
        return None
    backoff = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**rounds) * (1 - JITTER * chance)
    requested = (error.retry_after or 0.0) * (1 + LATER * chance)
    pause = max(backoff, requested)
    return pause if pause + LEAST_LEFT <= left else None
