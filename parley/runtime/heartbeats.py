"""Syncs projects by themselves: each one's figures are fetched again and again, told as HEARTBEAT.

Where several processes share the work, one of them syncs: whoever claims the round first.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import structlog

from db.errors import StoreUnavailable
from gateway.errors import BadInput, ConfigurationError, ParleyError, TenantUnknown
from gateway.extensions import ExtensionRegistry
from gateway.message import Place
from gateway.people import Audience
from gateway.ports import ActivityLog, Clock
from gateway.ports.buckets import Buckets
from gateway.ports.work_guard import UNGUARDED, WorkGuard, WorkItem
from memory.brain.figure_sources import (
    FigureSource,
    GatewaySource,
    HttpSource,
    PostgresSource,
    SourceFailed,
    SqliteSource,
)
from memory.brain.sync import SiteSync
from parley.config.memory import HeartbeatSource
from parley.config.sections import sqlite_file

if TYPE_CHECKING:
    from parley.config import Settings
    from parley.wiring.storage import Storage

ROUND: Final = timedelta(minutes=5)
"""Between two looks whether a project is due, and before a failed sync is tried again."""
EARLY: Final = timedelta(seconds=10)
"""By how much a claim ends before the round after it, so that this one is not missed."""
AT_ONCE: Final = 4
"""Projects that are synced side by side."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Site:
    """A project, whose it is, where its figures come from, and how often they are fetched."""

    tenant: str
    source: FigureSource
    every: timedelta


class Heartbeats:
    """One task per project; a source that fails is told of, tried again, and stops no other."""

    def __init__(
        self,
        sites: Mapping[str, Site],
        sync: SiteSync,
        claims: Buckets,
        clock: Clock,
        guard: WorkGuard = UNGUARDED,
    ) -> None:
        self._sites = sites
        self._sync = sync
        self._claims = claims
        self._clock = clock
        self._guard = guard
        self._room = asyncio.Semaphore(AT_ONCE)
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin, the first round at once."""
        self._tasks = [
            asyncio.create_task(self._keep(project, site), name=f"heartbeat-{project}")
            for project, site in self._sites.items()
        ]

    async def stop(self) -> None:
        """End."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def check(self, project: str) -> Site:
        """The project as it is configured. Raises `BadInput` for one without a source."""
        site = self._sites.get(project)
        if site is None:
            known = ", ".join(sorted(self._sites)) or "none is configured"
            raise BadInput(f"{project[:80]!r} has no source under heartbeat.sources ({known}).")
        return site

    async def sync_site(self, project: str) -> str:
        """Sync now; the narrative. Raises `BadInput` for a project without a source,
        `SourceFailed`, `StoreUnavailable`."""
        site = self.check(project)
        return await self._sync.sync_site(site.tenant, project, site.source)

    async def round(self, project: str) -> None:
        """Sync a project if it is due and no other process does. Never raises."""
        site, item = self._sites[project], WorkItem("heartbeat", project)
        try:
            if self._guard.exhausted(item):
                return
            if not await self._claims.once(f"heartbeat:{project}", ROUND - EARLY):
                return
            if await self._sync.is_fresh(site.tenant, project, site.every - EARLY):
                return
            async with self._room:
                with self._guard.working(item):
                    await self.sync_site(project)
        except SourceFailed as error:
            log.warning("heartbeat_failed", project=project, error=str(error))
        except (ParleyError, StoreUnavailable) as error:
            log.warning("heartbeat_not_kept", project=project, error=str(error))
        except Exception:
            log.exception("heartbeat_broke", project=project)

    async def _keep(self, project: str, site: Site) -> None:
        while True:
            await self.round(project)
            await self._clock.sleep(ROUND.total_seconds())


def wire_heartbeats(
    settings: "Settings",
    storage: "Storage",
    sync: SiteSync | None,
    extensions: ExtensionRegistry,
    clock: Clock,
    guard: WorkGuard = UNGUARDED,
) -> Heartbeats | None:
    """What the configuration asks for; None without memory. Raises `ConfigurationError` for an
    address that cannot be used."""
    if sync is None:
        return None
    sites = sites_of(settings, storage.activity, extensions, clock)
    return Heartbeats(sites, sync, storage.stores.buckets, clock, guard)


def sites_of(
    settings: "Settings", activity: ActivityLog, extensions: ExtensionRegistry, clock: Clock
) -> dict[str, Site]:
    """The configured projects. Raises `ConfigurationError` for one without a tenant, and for an
    address that cannot be used."""
    sites = {}
    for project, wanted in settings.heartbeat.sources.items():
        try:
            tenant = extensions.tenant_of(_place_in(project), None)
        except TenantUnknown as error:
            raise ConfigurationError(f"heartbeat.sources.{project}: {error}.") from error
        source = external_source(wanted) or GatewaySource(activity, tenant, project, clock)
        sites[project] = Site(tenant, source, timedelta(minutes=wanted.every_minutes))
    return sites


def external_source(wanted: HeartbeatSource) -> FigureSource | None:
    """The address or the database that is configured, None for the gateway's own figures."""
    if wanted.kind == "http":
        token = wanted.token.get_secret_value() if wanted.token else ""
        return HttpSource(wanted.url or "", token, allow_private=wanted.allow_private)
    if wanted.kind == "sql":
        url = wanted.database.get_secret_value() if wanted.database else ""
        file = sqlite_file(url)
        return SqliteSource(file, wanted.query) if file else PostgresSource(url, wanted.query)
    return None


def _place_in(project: str) -> Place:
    """A room of the project, as far as its name tells."""
    platform, _, rest = project.partition(":")
    account, _, inside = rest.partition(":")
    return Place(platform, account, inside, Audience.PUBLIC_ROOM, inside)
