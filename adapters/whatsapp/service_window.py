"""The customer service window: 24 hours after a person's message anything may be sent to them.

Source: Meta, "Customer service windows". The time of the message counts, not that of the webhook,
which may come hours later.
"""

from datetime import datetime, timedelta
from typing import Final

from gateway.ports import AdapterState, Clock

WINDOW: Final = timedelta(hours=24)


def is_open(wrote_at: datetime, now: datetime) -> bool:
    """True when a person who wrote at `wrote_at` may get any message at `now`."""
    return now - wrote_at < WINDOW


class ServiceWindows:
    """The time of each person's last message, kept in the adapter's state for 24 hours."""

    def __init__(self, state: AdapterState, clock: Clock) -> None:
        self._state = state
        self._clock = clock

    async def open(self, key: str, at: datetime) -> None:
        """Open the window of a person who wrote at `at`, for 24 hours from then."""
        now = self._clock.now()
        at = min(at, now)
        before = await self._wrote_at(key)
        if is_open(at, now) and (before is None or before < at):
            await self._state.put(f"window:{key}", at.isoformat(), at + WINDOW - now)

    async def close(self, key: str, at: datetime) -> None:
        """Close the window, as Meta reported at `at`; a later message keeps it open."""
        before = await self._wrote_at(key)
        if before is not None and before <= at:
            await self._state.put(f"window:{key}", "", WINDOW)

    async def is_open_for(self, key: str) -> bool | None:
        """True when anything may be sent to this person; None if their last message is unknown: it
        was more than 24 hours ago, or the state was lost."""
        if await self._state.get(f"window:{key}") is None:
            return None
        at = await self._wrote_at(key)
        return at is not None and is_open(at, self._clock.now())

    async def _wrote_at(self, key: str) -> datetime | None:
        kept = await self._state.get(f"window:{key}")
        try:
            return datetime.fromisoformat(kept) if kept else None
        except ValueError:
            return None
