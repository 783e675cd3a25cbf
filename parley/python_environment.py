"""Checks the environment of Parley: packages of others, and missing optional libraries with the
command that adds them.

Parley's packages have common names: another distribution with a package of the same name would take
its place, or overwrite its files.
"""

import importlib.util
import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import Distribution, distributions, requires
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from gateway.errors import LibraryMissing


DISTRIBUTION: Final = "parley-gateway"
"""The name on the package index. The distribution `parley` there is another project."""
PACKAGES: Final = ("adapters", "db", "gateway", "memory", "safety", "simulators")
"""The top-level packages that the wheel installs beside `parley`."""
RANGE: Final = re.compile(r"[\[<>=!~ ]")
"""Ends the name of a library in a requirement."""
CACHED: Final = frozenset({"archive-v0", "environments-v2"})
"""Folders of uv's cache in which `uvx` makes its environments."""
LIBRARIES: Final[Mapping[str, tuple[str, ...]]] = {
    "documents": ("openpyxl", "pypdfium2"),
    "openai": ("openai", "numpy"),
    "models": ("fastembed", "numpy"),
    "otel": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
    "parquet": ("pyarrow",),
}
"""By extra: the modules whose presence shows that it is installed."""
OWN_ENVIRONMENT: Final = (
    "Install Parley in an environment of its own, for example with `pipx install` or `uv tool"
    " install`."
)


def misplaced_package() -> str:
    """Return what is wrong with the first package that is not Parley's own; empty if all are."""
    root = Path(__file__).resolve().parents[1]
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        origin = spec.origin if spec is not None else None
        if origin is None:
            return f"Parley's package `{name}` is missing. {OWN_ENVIRONMENT}"
        if Path(origin).resolve().parents[1] != root:
            return f"{origin} hides Parley's own package `{name}`. {OWN_ENVIRONMENT}"
    return ""


def conflicting_distributions() -> list[str]:
    """Return a sentence about each other distribution that has files in one of Parley's packages.

    Reads the file lists of all installed distributions, some 20 milliseconds. The metadata is only
    parsed where a package is found: parsing that of all takes 0.1 to 0.3 seconds.
    """
    wanted = (*PACKAGES, "parley")
    found = {
        (package, each.metadata["Name"])
        for each in distributions()
        for package in _packages_among(each, wanted)
    }
    return [
        f"The distribution {name} has a package `{package}`, as Parley has; each of them overwrites"
        f" files of the other."
        for package, name in sorted(found)
        if name.lower().replace("_", "-") != DISTRIBUTION
    ]


def _packages_among(distribution: Distribution, wanted: Sequence[str]) -> list[str]:
    """Return those of the packages of which the distribution declares or installs one: as a folder
    or a module."""
    declared = (distribution.read_text("top_level.txt") or "").split()
    if declared:
        return [package for package in wanted if package in declared]
    files = distribution.read_text("RECORD")
    if files is None:
        files = "\n".join(map(str, distribution.files or ()))
    lines = f"\n{files}"
    return [each for each in wanted if f"\n{each}/" in lines or f"\n{each}.py" in lines]


def warn_of_conflicts() -> None:
    """Write the conflicting distributions to standard error, with advice; nothing without one."""
    conflicts = conflicting_distributions()
    if conflicts:
        sys.stderr.write("\n".join([*conflicts, OWN_ENVIRONMENT]) + "\n")


def own_requirement(extra: str) -> str:
    """Return the words of `pip install` that install this version of Parley with an extra into
    another environment: the wheel or the folder from which it was installed (PEP 610), or else the
    name on the package index with this version."""
    distribution = Distribution.from_name(DISTRIBUTION)
    try:
        source = json.loads(distribution.read_text("direct_url.json") or "{}")
        url = urlsplit(str(source.get("url", "")))
    except (ValueError, AttributeError):
        url = urlsplit("")
    path = Path(unquote(url.path)) if url.scheme == "file" else None
    if path is not None and path.exists():
        return shlex.quote(f"{path}[{extra}]")
    if url.scheme in {"http", "https"}:
        return shlex.quote(f"{DISTRIBUTION}[{extra}] @ {url.geturl()}")
    return shlex.quote(f"{DISTRIBUTION}[{extra}]=={distribution.version}")


def install_command(name: str) -> str:
    """Return the command that adds a library, or those of an extra, to this environment.

    It names the libraries, not Parley, so that it changes nothing else: pipx for an environment of
    pipx, uv for its tools (`uvx` for one of a single run), pip where the environment has it,
    otherwise uv.
    """
    packages = _libraries(name, requires(DISTRIBUTION) or ())
    libraries, prefix = shlex.join(packages), Path(sys.prefix)
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx inject {DISTRIBUTION} {libraries}"
    if (prefix / "uv-receipt.toml").is_file():
        source, others = _receipt(prefix / "uv-receipt.toml")
        options = [word for each in (*others, *packages) for word in ("--with", each)]
        return shlex.join(["uv", "tool", "install", *options, source])
    if CACHED & set(prefix.parts):
        options = [word for each in packages for word in ("--with", each)]
        return shlex.join(["uvx", *options, "--from", DISTRIBUTION, "parley"])
    python = shlex.quote(sys.executable)
    if importlib.util.find_spec("pip") is not None:
        return f"{python} -m pip install {libraries}"
    return f"uv pip install --python {python} {libraries}"


def _libraries(name: str, requirements: Iterable[str]) -> list[str]:
    """The requirements of the extra `name`, or of the library, without their markers."""
    split = (line.partition(";") for line in requirements)
    return [
        library.strip()
        for library, _, marker in split
        if marker.replace("'", '"').strip() == f'extra == "{name}"'
        or (not marker and RANGE.split(library)[0] == name)
    ]


def _receipt(path: Path) -> tuple[str, list[str]]:
    """The source of a tool of uv, and the packages that were installed with it, from the receipt
    that uv wrote; the distribution's name where it cannot be read."""
    try:
        listed = tomllib.loads(path.read_text("utf-8"))["tool"]["requirements"]
    except (OSError, ValueError, KeyError, TypeError):
        return DISTRIBUTION, []
    source, others = DISTRIBUTION, []
    for entry in listed if isinstance(listed, list) else ():
        if not isinstance(entry, dict):
            continue
        named = f"{entry.get('name', '')}{entry.get('specifier', '')}"
        if entry.get("name") != DISTRIBUTION:
            others.append(named)
            continue
        places = (entry.get(key) for key in ("path", "directory", "url", "git"))
        source = str(next((place for place in places if place), named))
    return source, others


def missing(extra: str) -> tuple[str, ...]:
    """The modules of an extra that are not installed; does not import them."""
    return missing_modules(LIBRARIES[extra])


def missing_modules(modules: Iterable[str]) -> tuple[str, ...]:
    """Those of these modules that are not installed; does not import them."""
    return tuple(module for module in modules if not _is_installed(module))


def install_advice(name: str) -> str:
    """The sentence that names the command which installs an extra or a library."""
    return f"Run: {install_command(name)}"


def explained(error: "LibraryMissing") -> str:
    """The text of an error about missing libraries, with the command that installs them."""
    return f"{error} {install_advice(error.extra)}"


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # a package above it is missing
        return False
