"""Checks the installation: Parley's packages have common names, and another distribution with a
package of the same name would take its place."""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

DISTRIBUTION: Final = "parley-gateway"
"""The name on the package index. The distribution `parley` there is another project."""
PACKAGES: Final = ("adapters", "db", "gateway", "memory", "safety")
"""The top-level packages that the wheel installs beside `parley`."""
ADVICE: Final = (
    "Install Parley in an environment of its own, for example with `pipx install` or `uv tool"
    " install`."
)


def misplaced_package() -> str:
    """Return what is wrong with the first package that is not Parley's own; empty if all are."""
    root = Path(__file__).resolve().parents[1]
    for name in PACKAGES:
        spec = find_spec(name)
        origin = spec.origin if spec is not None else None
        if origin is None:
            return f"Parley's package `{name}` is missing. {ADVICE}"
        if Path(origin).resolve().parents[1] != root:
            return f"{origin} hides Parley's own package `{name}`. {ADVICE}"
    return ""
