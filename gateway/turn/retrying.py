"""How long a turn goes on asking a model that does not answer."""

from collections.abc import Awaitable, Callable
from typing import Final

from gateway.errors import ModelUnavailable
from gateway.ports import Clock

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 15.0
"""Seconds between two rounds of attempts; the pause doubles in between."""
JITTER: Final = 0.5
"""The part of a pause that is left to chance, so that turns that failed together do not come back
together."""
LATER: Final = 0.1
"""The part of a pause that the service asked for by which it may be exceeded, to the same end."""
LEAST_LEFT: Final = 1.0
"""Seconds that have to be left after a pause, or else it is not worth it."""
MAX_TAKEN_BACK: Final = 4
"""Answers of one turn that are begun anew after they broke off; each of them has its price."""
MAX_ROUNDS: Final = 20
"""Further rounds of attempts in one turn, however long it may take."""

Pause = Callable[[float], Awaitable[None]]


class Retrying:
    """The patience of one turn. `seconds` is counted from now; `chance` gives numbers from 0 to 1,
    and `pause` waits for so many seconds.

    Only calls to the model are made again, from the same messages: no tool runs twice for it.
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
        """True from a call that failed to the next one that is answered."""

    async def again(self, error: ModelUnavailable) -> bool:
        """Wait until the model may be asked again; False when that is of no use."""
        left = self._until - self._clock.monotonic()
        pause = pause_before(self._rounds, error, left, self._chance())
        if pause is None:
            return False
        self._rounds += 1
        await self._pause(pause)
        return True


def pause_before(rounds: int, error: ModelUnavailable, left: float, chance: float) -> float | None:
    """Seconds to wait after so many further rounds, never less than the service asks for; None when
    the error will not pass, the rounds are used up or `left` is too short."""
    if not error.passes or rounds >= MAX_ROUNDS:
        return None
    backoff = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**rounds) * (1 - JITTER * chance)
    asked = (error.retry_after or 0.0) * (1 + LATER * chance)
    pause = max(backoff, asked)
    return pause if pause + LEAST_LEFT <= left else None
