"""Time, as something that is given."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Time as a dependency, so that tests need not wait."""

    def now(self) -> datetime:
        """The current time, with a zone (UTC)."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        ...


class AlarmClock(Clock, Protocol):
    """A clock that calls back."""

    def after(self, seconds: float, call: Callable[[], None]) -> Callable[[], object]:
        """Call something after so many seconds, unless what this returns is called before."""
        ...
