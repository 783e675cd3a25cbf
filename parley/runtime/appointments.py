"""Works on appointments when they are due, and sleeps until the next one."""

import asyncio
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.ports import Clock
from gateway.stores.appointments import AppointmentStore
from gateway.turn.due_appointments import DueAppointments
from parley.runtime.background import AFTER_FAILURE, BackgroundJob

LONGEST: Final = 30.0
"""Seconds until an appointment of another process, or a clock that was set, is noticed."""
SHORTEST: Final = 0.05

log = structlog.get_logger(__name__)


class Appointments(BackgroundJob):
    """Sends reminders, and has scheduled questions asked."""

    def __init__(self, due: DueAppointments, store: AppointmentStore, clock: Clock) -> None:
        super().__init__("appointments")
        self._due = due
        self._store = store
        self._clock = clock

    async def _run(self) -> None:
        while True:
            await self._wait(await self._round())

    async def _round(self) -> float:
        """Work on some of what is due; return the seconds until the next round."""
        try:
            self._store.changed.clear()
            if await self._due.step():
                return 0.0
            now = self._clock.now()
            following = await self._store.next_at(now)
        except StoreUnavailable as error:
            log.warning("appointments_postponed", error=str(error))
            return AFTER_FAILURE
        except Exception:
            log.exception("appointments_failed")
            return AFTER_FAILURE
        if following is None:
            return LONGEST
        return min(LONGEST, max(SHORTEST, (following - now).total_seconds()))

    async def _wait(self, seconds: float) -> None:
        """Wait, but not beyond a change of the next time."""
        sleeping = asyncio.ensure_future(self._clock.sleep(seconds))
        changed = asyncio.ensure_future(self._store.changed.wait())
        try:
            await asyncio.wait((sleeping, changed), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            changed.cancel()
