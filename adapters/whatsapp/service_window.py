"""The 24 hours after a person's message in which anything may be sent to them.

Source: Meta, "Customer service windows". The time is the message's own, not its arrival: a webhook
may come hours late.
"""

from datetime import datetime, timedelta
from typing import Final

from gateway.ports import AdapterState, Clock

WINDOW: Final = timedelta(hours=24)


def is_open(wrote_at: datetime, now: datetime) -> bool:
    """True when a person who wrote at `wrote_at` may be written to freely at `now`."""
    return now - wrote_at < WINDOW


class ServiceWindows:
    """When each person last wrote, kept in the adapter's state for 24 hours."""

    def __init__(self, state: AdapterState, clock: Clock) -> None:
        self._state = state
        self._clock = clock

    async def wrote(self, key: str, at: datetime) -> None:
        """A person wrote at `at`: their window is open until 24 hours later."""
        now = self._clock.now()
        at = min(at, now)
        before = await self._wrote_at(key)
        if is_open(at, now) and (before is None or before < at):
            await self._state.put(f"window:{key}", at.isoformat(), at + WINDOW - now)

    async def refused(self, key: str, at: datetime) -> None:
        """Meta said at `at` that the window is closed; what came later opened it again."""
        before = await self._wrote_at(key)
        if before is not None and before <= at:
            await self._state.put(f"window:{key}", "", WINDOW)

    async def open_for(self, key: str) -> bool:
        """True when anything may be sent to this person; unknown people have no window."""
        at = await self._wrote_at(key)
        return at is not None and is_open(at, self._clock.now())

    async def _wrote_at(self, key: str) -> datetime | None:
        kept = await self._state.get(f"window:{key}")
        try:
            return datetime.fromisoformat(kept) if kept else None
        except ValueError:
            return None
