"""Sets up health monitoring and the export of traces."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from db.errors import POSTGRES, REDIS, SQLITE, StoreUnavailable
from gateway.errors import ConfigurationError, LibraryMissing
from gateway.observe.security_log import SecurityLog
from gateway.ports import AlarmClock, Clock
from gateway.ports.admissions import AccessChange
from gateway.ports.observer import SecurityEvent
from gateway.turn.services import CurrentPolicies
from memory.stores.audit import Audit
from parley.config import Settings
from parley.runtime.disk_space import written_folders
from parley.runtime.health import HealthMonitor, database_probe, storage_probe
from parley.security.keys import audit_key
from parley.wiring.storage import Storage

if TYPE_CHECKING:
    from gateway.observe.tracing import OtelTracing

VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""OpenTelemetry's own variables, the more specific one first."""

BUDGETS = ("user_per_day", "user_per_month", "workspace_per_day", "workspace_per_month")
"""The names that alerts of budgets have, too."""


def endpoint_of(configured: str | None, env: Mapping[str, str]) -> str:
    """The collector's address, empty for none."""
    return configured or next((env[name] for name in VARIABLES if env.get(name)), "")


def open_tracing(endpoint: str, clock: Clock) -> "OtelTracing | None":
    """The exporter to the collector at `endpoint`; None without one. Raises `LibraryMissing`
    where its library is not installed."""
    if not endpoint:
        return None
    try:
        from gateway.observe.tracing import to_collector  # noqa: PLC0415 - an extra

        return to_collector(endpoint, clock)
    except ImportError as error:
        raise LibraryMissing("observe.otlp_endpoint", (str(error.name),), "otel") from error


def build_health(
    settings: Settings, storage: Storage, clock: Clock, policies: CurrentPolicies
) -> HealthMonitor:
    """The monitor of this program, with a probe for each kind of state."""
    stores, shared = storage.stores, storage.hot.shared

    async def look() -> None:
        await storage.refresh_losses()
        if shared is not None:
            await shared.depths.look()

    probes = {
        "storage": storage_probe(stores.buckets, look if shared is not None else None),
        "database": database_probe(stores.usage),
    }
    return HealthMonitor(
        probes,
        clock,
        platforms={account.platform for account in settings.accounts()},
        models=[choice.name for choice in (settings.model, *settings.model.fallbacks)],
        budgets=lambda: {
            name: limit
            for name in BUDGETS
            if (limit := getattr(policies.value.budgets, name)) is not None
        },
        folders=written_folders(settings),
        servers={
            "storage": REDIS if shared else SQLITE,
            "database": POSTGRES if storage.on_postgres else SQLITE,
        },
    )


class AuditSink:
    """Implements `gateway.ports.admissions.AccessAudit`; `keep` is a sink of security events.
    The first event creates the key, so that a program without memory and without events has
    none."""

    def __init__(self, settings: Settings, storage: Storage, clock: AlarmClock) -> None:
        self._settings = settings
        self._storage = storage
        self._clock = clock
        self._audit: Audit | None = None

    async def keep(self, event: SecurityEvent, times: int) -> None:
        """Append an entry with the known details. Raises `StoreUnavailable`."""
        details = {
            name: value
            for name in ("reason", "agent", "channel", "address")
            if (value := getattr(event, name))
        }
        await self._opened().append(
            "security_event", event.tenant, event.person, event=event.event, times=times, **details
        )

    async def changed(
        self, what: AccessChange, tenant: str, person: str, by: str, **details: str
    ) -> None:
        """Append an entry about the access of a person. Raises `StoreUnavailable`."""
        await self._opened().append("access_change", tenant, person, what=what, by=by, **details)

    async def console(self, what: str, tenant: str, person: str, **details: str | int) -> None:
        """Append an entry about an action of this person in the console. Raises
        `StoreUnavailable`."""
        await self._opened().append("console", tenant, person, what=what, **details)

    def _opened(self) -> Audit:
        if self._audit is None:
            try:
                key = audit_key(self._settings, warn=not self._settings.memory.enabled)
            except ConfigurationError as error:
                raise StoreUnavailable(str(error)) from error
            self._audit = Audit(self._storage.memory.audit_on(key).append, key, self._clock)
        return self._audit


def security_log(settings: Settings, storage: Storage, clock: AlarmClock) -> SecurityLog:
    """The security log of the program, which writes to the audit once it is started."""
    return SecurityLog(clock, AuditSink(settings, storage, clock).keep)
