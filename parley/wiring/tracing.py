"""Whether exchanges are traced, and where the traces go."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gateway.errors import ConfigurationError
from gateway.ports import Clock

if TYPE_CHECKING:
    from gateway.observe.tracing import OtelTracing

VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""OpenTelemetry's own names, the more special one first."""


def endpoint_of(configured: str | None, env: Mapping[str, str]) -> str:
    """The collector's address, empty for none."""
    return configured or next((env[name] for name in VARIABLES if env.get(name)), "")


def open_tracing(endpoint: str, clock: Clock) -> "OtelTracing | None":
    """Traces to the collector at `endpoint`; None without one. Raises `ConfigurationError` where
    the library is missing."""
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
