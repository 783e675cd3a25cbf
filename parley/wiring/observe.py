"""Sets up health monitoring and the export of traces."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gateway.errors import ConfigurationError
from gateway.ports import Clock
from parley.config import Settings
from parley.runtime.health import HealthMonitor
from parley.runtime.store_health import database_probe, storage_probe
from parley.wiring.storage import Storage

if TYPE_CHECKING:
    from gateway.observe.tracing import OtelTracing

VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""OpenTelemetry's own variables, the more specific one first."""


def endpoint_of(configured: str | None, env: Mapping[str, str]) -> str:
    """The collector's address, empty for none."""
    return configured or next((env[name] for name in VARIABLES if env.get(name)), "")


def open_tracing(endpoint: str, clock: Clock) -> "OtelTracing | None":
    """The exporter to the collector at `endpoint`; None without one. Raises `ConfigurationError`
    where the library is missing."""
    if not endpoint:
        return None
    try:
        from gateway.observe.tracing import to_collector  # noqa: PLC0415 - an extra

        return to_collector(endpoint, clock)
    except ImportError as error:
        raise ConfigurationError(
            f"observe.otlp_endpoint: {error.name} is not installed. "
            "Run `pip install -e '.[otel]'` in Parley's folder, or leave the endpoint out."
        ) from error


def build_health(settings: Settings, storage: Storage, clock: Clock) -> HealthMonitor:
    """The monitor of this program, with a probe for each kind of state."""
    stores, shared = storage.stores, storage.hot.shared
    probes = {
        "storage": storage_probe(stores.buckets, shared.depths.look if shared else None),
        "database": database_probe(stores.usage),
    }
    return HealthMonitor(
        probes,
        clock,
        platforms={account.platform for account in settings.accounts()},
        models=[choice.name for choice in (settings.model, *settings.model.fallbacks)],
    )
