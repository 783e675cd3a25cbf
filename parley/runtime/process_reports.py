"""Reports this process to the others, and watches which parts of the installation are served."""

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import datetime
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.ports import Clock
from gateway.ports.processes import AccountReport, ProcessReport
from gateway.stores.redis.processes import RedisProcesses
from parley.runtime.installation import MISSING, Installation, installation_of
from parley.runtime.supervisor import Supervisor

EVERY: Final = 5.0
"""Seconds between two reports."""

log = structlog.get_logger(__name__)


class ProcessReports:
    """`installation` is the latest state; None while the store is unavailable."""

    def __init__(
        self,
        processes: RedisProcesses,
        describe: Callable[[], ProcessReport],
        configured: Collection[str],
        clock: Clock,
    ) -> None:
        """`configured`: the accounts of the configuration."""
        self._processes = processes
        self._describe = describe
        self._configured = tuple(configured)
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self._missing: frozenset[str] = frozenset()
        self.installation: Installation | None = None

    async def start(self) -> None:
        """Start; the first report is made before this returns."""
        await self.round()
        self._task = asyncio.create_task(self._run(), name="process-reports")

    async def stop(self) -> None:
        """Report the end of this process. Safe to call twice, and before `start`."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        with suppress(StoreUnavailable):  # then the others see it after some seconds
            await self._processes.leave()

    async def round(self) -> None:
        """Report once. Never raises; the health of the store is watched elsewhere."""
        try:
            seen = await self._processes.report(self._describe())
        except StoreUnavailable:
            self.installation = None
            return
        self.installation = installation_of(seen, self._configured)
        self._log_changes(self.installation)

    def _log_changes(self, now: Installation) -> None:
        missing = frozenset(part.name for part in now.parts if part.state == MISSING)
        for name in sorted(missing - self._missing):
            log.error("part_missing", part=name, problem=now.problems[name])
        for name in sorted(self._missing - missing):
            log.info("part_served_again", part=name)
        self._missing = missing

    async def _run(self) -> None:
        while True:
            await self._clock.sleep(EVERY)
            await self.round()


def accounts_of(supervisor: Supervisor, now: datetime) -> tuple[AccountReport, ...]:
    """The accounts that this process serves, with their states."""

    def since(at: datetime | None) -> float | None:
        return None if at is None else max(0.0, (now - at).total_seconds())

    return tuple(
        AccountReport(
            name,
            state,
            supervisor.errors.get(name, "")[:300],
            since(supervisor.connected_at.get(name)),
            since(supervisor.last_events.get(name)),
        )
        for name, state in supervisor.states.items()
    )
