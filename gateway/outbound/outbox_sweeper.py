"""Finds sends in the outbox that no process holds: dead letters that an operator queued again."""

import asyncio

import structlog

from db.errors import StoreUnavailable
from gateway.background_tasks import stop_task
from gateway.outbound.deliverer import Deliverer
from gateway.ports import Clock
from gateway.stores.sqlite.queues import SqliteOutbox

EVERY = 3.0
"""Seconds between two sweeps; a send is taken at the second one that finds it."""
AT_ONCE = 1_000
"""Sends that one sweep takes."""
log = structlog.get_logger(__name__)


class OutboxSweeper:
    """Passes sends that two sweeps found to the deliverer.

    One sweep is not enough: an answer is stored a moment before it is submitted. A send that is
    confirmed between two sweeps is gone at the second.
    """

    def __init__(self, outbox: SqliteOutbox, deliverer: Deliverer, clock: Clock) -> None:
        self._outbox = outbox
        self._deliverer = deliverer
        self._clock = clock
        self._seen: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start sweeping in the background."""
        self._task = asyncio.create_task(self._run(), name="leftovers")

    async def stop(self) -> None:
        """End. Safe to call twice."""
        task, self._task = self._task, None
        await stop_task(task)

    async def look(self) -> int:
        """Take the sends that no process held at the last sweep and now; returns how many."""
        held = self._deliverer.held
        keys = await self._outbox.waiting_keys(len(held) + AT_ONCE)
        alone = [key for key in keys if key not in held]
        again = [key for key in alone if key in self._seen]
        self._seen = set(alone)
        if not again:
            return 0
        entries = await self._outbox.entries(again[:AT_ONCE])
        # There is no await after this, and no process held these since the last sweep: an entry
        # that still waits was neither sent nor submitted by this process.
        self._deliverer.take(entries)
        return len(entries)

    async def _run(self) -> None:
        while True:
            await self._clock.sleep(EVERY)
            try:
                await self.look()
            except StoreUnavailable as error:
                log.warning("outbox_unavailable", error=str(error))
            except Exception:
                log.exception("outbox_sweep_failed")
