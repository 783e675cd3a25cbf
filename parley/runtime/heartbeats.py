"""Syncs the status (HEARTBEAT) of projects: fetches the figures of each one repeatedly.

Where several processes share the work, the first one that claims the round syncs.
"""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import structlog
from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.errors import ParleyError, UsageError
from gateway.ports import Clock
from gateway.ports.usage import Buckets
from gateway.ports.work_guard import UNGUARDED, WorkGuard, WorkItem
from memory.documents.figure_sources import FigureSource, SourceFailed
from memory.documents.heartbeat import SiteSync
from parley.runtime.background import BackgroundJob

ROUND: Final = timedelta(minutes=5)
"""Time between two checks of a project, and before a failed sync is retried."""
EARLY: Final = timedelta(seconds=10)
"""Time by which a claim ends before the next round, so that this round is not missed."""
AT_ONCE: Final = 4
"""Projects that are synced in parallel."""

log = structlog.get_logger(__name__)


class Site(Struct, frozen=True):
    """A project: its tenant, the source of its figures, and the time between two syncs."""

    tenant: str
    source: FigureSource
    every: timedelta


class Heartbeats(BackgroundJob):
    """Keeps the status of each project. A failing source is logged and retried, and does not
    affect the others."""

    def __init__(
        self,
        sites: Mapping[str, Site],
        sync: SiteSync,
        claims: Buckets,
        clock: Clock,
        guard: WorkGuard = UNGUARDED,
    ) -> None:
        super().__init__("heartbeats")
        self._sites = sites
        self._sync = sync
        self._claims = claims
        self._clock = clock
        self._guard = guard
        self._slots = asyncio.Semaphore(AT_ONCE)

    def check(self, project: str) -> Site:
        """The configuration of a project. Raises `BadInput` for one without a source."""
        site = self._sites.get(project)
        if site is None:
            known = ", ".join(sorted(self._sites)) or "none is configured"
            raise UsageError(f"{project[:80]!r} has no source under heartbeat.sources ({known}).")
        return site

    async def sync_site(self, project: str) -> str:
        """Sync now and return the status text. Raises `BadInput` for a project without a source,
        `SourceFailed`, `StoreUnavailable`."""
        site = self.check(project)
        return await self._sync.sync_site(site.tenant, project, site.source)

    async def round(self, project: str) -> None:
        """Sync a project if it is due and no other process does it. Never raises."""
        site, item = self._sites[project], WorkItem("heartbeat", project)
        try:
            if self._guard.exhausted(item):
                return
            if not await self._claims.claim(f"heartbeat:{project}", ROUND - EARLY):
                return
            if await self._sync.is_fresh(site.tenant, project, site.every - EARLY):
                return
            async with self._slots:
                with self._guard.working(item):
                    await self.sync_site(project)
        except SourceFailed as error:
            log.warning("heartbeat_failed", project=project, error=str(error))
        except (ParleyError, StoreUnavailable) as error:
            log.warning("heartbeat_not_stored", project=project, error=str(error))
        except Exception:
            log.exception("heartbeat_crashed", project=project)

    async def _run(self) -> None:
        await asyncio.gather(*(self._keep(project) for project in self._sites))

    async def _keep(self, project: str) -> None:
        while True:
            await self.round(project)
            await self._clock.sleep(ROUND.total_seconds())
