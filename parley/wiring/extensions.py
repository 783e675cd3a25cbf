"""Loads extensions: tenants, usage tracking, audit and access control from other packages.

An extension is named by an entry point of the group `parley.extensions`, or by `extensions.load`.
Either names a function that takes its options and returns an `Extension`. Extensions decide on
isolation and access, so the program does not start when one cannot be loaded.
"""

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, TypeVar, get_type_hints

import structlog
from msgspec import Struct

from gateway.extensions import (
    EXTENSION_SECONDS,
    AccessController,
    AllowAll,
    AuditLogger,
    Extension,
    ExtensionRegistry,
    LocalAudit,
    NoTracking,
    SingleTenant,
    TenantProvider,
    UsageTracker,
    controlled_access,
)
from gateway.message import Place
from gateway.people import PersonId
from gateway.policy.decision import Decision
from gateway.ports.usage import UsageRow
from parley.config import Problem, Settings, SettingsError
from parley.config.problems import suggestion

GROUP: Final = "parley.extensions"
MAX_EXTENSIONS: Final = 16
REPAIR: Final = "Repair or uninstall the package, or name it under extensions.skip."

POINTS: Final[Mapping[str, tuple[type, Mapping[str, int]]]] = {
    "tenant_provider": (TenantProvider, {"get_tenant_id": 2, "get_tenant_filter": 1}),
    "usage_tracker": (UsageTracker, {"track": 1}),
    "audit_logger": (AuditLogger, {"audit": 4}),
    "access_controller": (AccessController, {"check_access": 2}),
}
"""The four extension points: the protocol of each, its methods, and the number of their
arguments."""
RETURNS: Final[Mapping[str, type]] = {"get_tenant_id": str, "check_access": Decision}
"""The results that an annotation can contradict."""
WAITS: Final = ("usage_tracker", "audit_logger", "access_controller")
"""Extension points with async methods."""

log = structlog.get_logger(__name__)

T = TypeVar("T")


class _Candidate(Struct, frozen=True):
    """An extension to load, and the key that names it."""

    name: str
    entry: EntryPoint
    where: str

    @property
    def title(self) -> str:
        """The extension and its package, for error messages."""
        package = self.entry.dist.name if self.entry.dist is not None else ""
        return f"{self.entry.value}" + (f" of the package {package}" if package else "")


def load_extensions(
    settings: Settings, installed: Iterable[EntryPoint] | None = None
) -> ExtensionRegistry:
    """The installed extensions that are not skipped, and those of `extensions.load`.

    `installed` replaces the installed packages. Raises `SettingsError` with every extension that
    cannot be loaded.
    """
    candidates, problems = _candidates(
        settings, entry_points(group=GROUP) if installed is None else installed
    )
    loaded: list[tuple[_Candidate, Extension]] = []
    for each in candidates:
        options = settings.extensions.options.get(each.name, {})
        plain = {key: value.get_secret_value() for key, value in options.items()}
        try:
            loaded.append((each, _create(each, plain)))
        except Unusable as error:
            problems.append(Problem(each.where, f"{each.title} {error}.", REPAIR))
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            reason = without_values(plain.values(), f"{type(error).__name__}: {error}")
            text = f"{each.title} could not be loaded: {reason}."
            problems.append(Problem(each.where, text, REPAIR))
    problems += _tenant_conflicts(loaded)
    if problems:
        raise SettingsError(problems)
    return _registry(loaded)


class Unusable(Exception):
    """The object that an installed package names is not what it should be."""


def _candidates(
    settings: Settings, installed: Iterable[EntryPoint]
) -> tuple[list[_Candidate], list[Problem]]:
    section, problems = settings.extensions, []
    by_name: dict[str, list[_Candidate]] = {}
    for entry in sorted(set(installed), key=lambda one: (one.name, one.value)):
        by_name.setdefault(entry.name, []).append(_Candidate(entry.name, entry, "extensions"))
    for name, value in section.load.items():
        entry = EntryPoint(name, value, GROUP)
        by_name.setdefault(name, []).append(_Candidate(name, entry, f"extensions.load.{name}"))
    for key, names in (("skip", section.skip), ("options", tuple(section.options))):
        for name in names:
            if name not in by_name:
                text = f"names the extension {name}, which is neither installed nor loaded."
                problems.append(Problem(f"extensions.{key}", text, suggestion(name, by_name)))
    selected = [
        each for name, group in by_name.items() if name not in section.skip for each in group
    ]
    for name in dict.fromkeys(each.name for each in selected):
        titles = [each.title for each in selected if each.name == name]
        if len(titles) > 1:
            text = f"several have the name {name}: {', '.join(titles)}."
            problems.append(Problem("extensions", text, "Uninstall or rename all but one."))
    if len(selected) > MAX_EXTENSIONS:
        problems.append(Problem("extensions", f"there are more than {MAX_EXTENSIONS}."))
    return selected[:MAX_EXTENSIONS], problems


def _create(candidate: _Candidate, options: Mapping[str, str]) -> Extension:
    """The extension. Raises `Unusable`, and anything that its code raises."""
    factory = candidate.entry.load()
    if not callable(factory):
        raise Unusable("is not a function that returns an Extension")
    extension = factory(options)
    if not isinstance(extension, Extension):
        raise Unusable(f"returns {type(extension).__name__}, not a gateway.extensions.Extension")
    parts = {point: getattr(extension, point) for point in POINTS}
    if not any(part is not None for part in parts.values()):
        raise Unusable("returns an empty Extension")
    for point, part in parts.items():
        if part is not None:
            _check(point, part)
    return extension


def _check(point: str, part: object) -> None:
    """Raises `Unusable` for a part that would always fail."""
    protocol, methods = POINTS[point]
    for name, arguments in methods.items():
        method = getattr(part, name, None)
        if not callable(method):
            raise Unusable(f"has a {point} without {name}(), see {protocol.__name__}")
        try:
            inspect.signature(method).bind(*range(arguments))
        except TypeError:
            raise Unusable(
                f"has a {point} whose {name}() does not take {arguments} "
                f"argument{'s' if arguments > 1 else ''}, see {protocol.__name__}"
            ) from None
        except ValueError:
            continue  # a method in C has no signature
        if (point in WAITS) != inspect.iscoroutinefunction(method):
            kind = "has to be" if point in WAITS else "must not be"
            raise Unusable(f"has a {point} whose {name}() {kind} async")
        _check_result(point, name, method)


def _check_result(point: str, name: str, method: object) -> None:
    """Raises `Unusable` for a method that says itself that it returns the wrong type."""
    wanted = RETURNS.get(name)
    try:
        named = get_type_hints(method).get("return", wanted)
    except Exception:  # noqa: BLE001 - a name in an annotation may be unknown at run time
        return
    if wanted is not None and isinstance(named, type) and not issubclass(named, wanted):
        raise Unusable(
            f"has a {point} whose {name}() returns {named.__name__}, not "
            f"{wanted.__module__}.{wanted.__qualname__}"
        )


def _tenant_conflicts(loaded: Sequence[tuple[_Candidate, Extension]]) -> list[Problem]:
    """A problem when several extensions provide tenants."""
    several = [candidate.title for candidate, one in loaded if one.tenant_provider is not None]
    if len(several) < 2:
        return []
    text = f"several provide tenants: {', '.join(several)}."
    return [Problem("extensions", text, "Keep one; name the others under extensions.skip.")]


def _registry(loaded: Sequence[tuple[_Candidate, Extension]]) -> ExtensionRegistry:
    made = [extension for _, extension in loaded]
    tenants = [one.tenant_provider for one in made if one.tenant_provider is not None]
    trackers = tuple(one.usage_tracker for one in made if one.usage_tracker is not None)
    audits = tuple(one.audit_logger for one in made if one.audit_logger is not None)
    gates = tuple(one.access_controller for one in made if one.access_controller is not None)
    return ExtensionRegistry(
        tenants[0] if tenants else SingleTenant(),
        _one_of(trackers, NoTracking, UsageTrackers),
        _one_of(audits, LocalAudit, Audits),
        _one_of(gates, AllowAll, Gates),
        tuple(candidate.name for candidate, _ in loaded),
    )


def _one_of(
    parts: tuple[T, ...], default: Callable[[], T], several: Callable[[tuple[T, ...]], T]
) -> T:
    if not parts:
        return default()
    return parts[0] if len(parts) == 1 else several(parts)


class UsageTrackers(Struct, frozen=True):
    """Implements `UsageTracker` for several trackers; a failure of one does not affect the
    others."""

    all: tuple[UsageTracker, ...]

    async def track(self, row: UsageRow) -> None:
        """Call all of them in parallel."""
        await _call_all([one.track(row) for one in self.all])


class Audits(Struct, frozen=True):
    """Implements `AuditLogger` for several loggers; a failure of one does not affect the others."""

    all: tuple[AuditLogger, ...]

    async def audit(self, event: str, person: PersonId, place: Place, decision: Decision) -> None:
        """Call all of them in parallel."""
        await _call_all([one.audit(event, person, place, decision) for one in self.all])


class Gates(Struct, frozen=True):
    """Implements `AccessController` for several controllers; the first refusal decides."""

    all: tuple[AccessController, ...]

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        """Ask one after the other. Raises `InvalidResult`, and anything that one of them raises."""
        decision = Decision("access", False, "no_controller")
        for one in self.all:
            decision = await controlled_access(one, person, place)
            if not decision.allowed:
                break
        return decision


async def _call_all(calls: Sequence[Any]) -> None:
    async with asyncio.timeout(EXTENSION_SECONDS):
        ended = await asyncio.gather(*calls, return_exceptions=True)
    for error in ended:
        if isinstance(error, Exception):
            log.error("extension_failed", error=type(error).__name__)


def without_values(values: Iterable[str], text: str) -> str:
    """The first line of an error, without the values of options, which may be secrets."""
    line = text.partition("\n")[0]
    for value in values:
        if value:
            line = line.replace(value, "(not shown)")
    return line[:300]
