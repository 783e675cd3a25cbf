"""Builds the sync of project status from the configuration."""

from datetime import timedelta

from gateway.errors import ConfigurationError, TenantUnknown
from gateway.extensions import ExtensionRegistry
from gateway.message import Place
from gateway.people import Audience
from gateway.ports import ActivityLog, Clock
from gateway.ports.work_guard import UNGUARDED, WorkGuard
from memory.documents.figure_sources import (
    FigureSource,
    GatewaySource,
    HttpSource,
    PostgresSource,
    SqliteSource,
)
from memory.documents.heartbeat import SiteSync
from parley.config import Settings
from parley.config.memory import HeartbeatSourceSection
from parley.config.sections import sqlite_file
from parley.runtime.heartbeats import Heartbeats, Site
from parley.wiring.storage import Storage


def wire_heartbeats(
    settings: Settings,
    storage: Storage,
    sync: SiteSync | None,
    extensions: ExtensionRegistry,
    clock: Clock,
    guard: WorkGuard = UNGUARDED,
) -> Heartbeats | None:
    """The configured projects; None without memory. Raises `ConfigurationError` for an unusable
    address."""
    if sync is None:
        return None
    sites = sites_of(settings, storage.activity, extensions, clock)
    return Heartbeats(sites, sync, storage.stores.buckets, clock, guard)


def sites_of(
    settings: Settings, activity: ActivityLog, extensions: ExtensionRegistry, clock: Clock
) -> dict[str, Site]:
    """The configured projects. Raises `ConfigurationError` for one without a tenant, and for an
    unusable address."""
    sites = {}
    for project, section in settings.heartbeat.sources.items():
        try:
            tenant = extensions.tenant_of(_place_in(project), None)
        except TenantUnknown as error:
            raise ConfigurationError(f"heartbeat.sources.{project}: {error}.") from error
        source = external_source(section) or GatewaySource(activity, tenant, project, clock)
        sites[project] = Site(tenant, source, timedelta(minutes=section.every_minutes))
    return sites


def external_source(section: HeartbeatSourceSection) -> FigureSource | None:
    """The configured address or database; None for the gateway's own figures."""
    if section.kind == "http":
        token = section.token.get_secret_value() if section.token else ""
        return HttpSource(section.url or "", token, allow_private=section.allow_private)
    if section.kind == "sql":
        url = section.database.get_secret_value() if section.database else ""
        file = sqlite_file(url)
        return SqliteSource(file, section.query) if file else PostgresSource(url, section.query)
    return None


def _place_in(project: str) -> Place:
    """A place in the project, as far as its name determines it."""
    platform, _, rest = project.partition(":")
    account, _, inside = rest.partition(":")
    return Place(platform, account, inside, Audience.PUBLIC_ROOM, inside)
