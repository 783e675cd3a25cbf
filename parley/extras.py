"""Optional libraries: those that are missing, and the advice that names their command."""

import importlib.util
from collections.abc import Iterable, Mapping
from typing import Final

from gateway.errors import LibraryMissing
from parley.installation import install_command

LIBRARIES: Final[Mapping[str, tuple[str, ...]]] = {
    "openai": ("openai", "numpy"),
    "models": ("fastembed", "numpy"),
    "otel": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
    "parquet": ("pyarrow",),
}
"""By extra: the modules whose presence shows that it is installed."""


def missing(extra: str) -> tuple[str, ...]:
    """The modules of an extra that are not installed; does not import them."""
    return missing_modules(LIBRARIES[extra])


def missing_modules(modules: Iterable[str]) -> tuple[str, ...]:
    """Those of these modules that are not installed; does not import them."""
    return tuple(module for module in modules if not _is_installed(module))


def advice(name: str) -> str:
    """The sentence that names the command which installs an extra or a library."""
    return f"Run: {install_command(name)}"


def explained(error: LibraryMissing) -> str:
    """The text of an error about missing libraries, with the command that installs them."""
    return f"{error} {advice(error.extra)}"


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a package above it is missing
        return False
