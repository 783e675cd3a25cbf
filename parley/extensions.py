"""Loads what other packages add to the gateway: who is which tenant's, who tracks, audits, admits.

A package takes part by an entry point of the group `parley.extensions`, or by `extensions.load`.
Either names a function that takes its options and gives an `Extension`. An extension decides on
isolation and access: where one cannot be loaded the program does not start.
"""

import asyncio
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, TypeVar

import structlog

from gateway.extensions import (
    EXTENSION_SECONDS,
    AllowAll,
    Extension,
    ExtensionRegistry,
    LocalAudit,
    NoTracking,
    SingleTenant,
)
from gateway.message import Place
from gateway.people import PersonId
from gateway.policy.decision import Decision
from gateway.ports.extensions import AccessController, AuditLogger, TenantProvider, UsageTracker
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
"""The four points: what implements each, its methods, and how many arguments these take."""
WAITS: Final = ("usage_tracker", "audit_logger", "access_controller")
"""Points whose methods are awaited."""

log = structlog.get_logger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Found:
    """An extension that is to be loaded, and where it is named."""

    name: str
    entry: EntryPoint
    where: str

    @property
    def title(self) -> str:
        """What people are told."""
        package = self.entry.dist.name if self.entry.dist is not None else ""
        return f"{self.entry.value}" + (f" of the package {package}" if package else "")


def load_extensions(
    settings: Settings, installed: Iterable[EntryPoint] | None = None
) -> ExtensionRegistry:
    """Everything that is installed and not skipped, and what `extensions.load` names.

    `installed` replaces the installed packages. Raises `SettingsError` with every extension that
    cannot be loaded.
    """
    found, problems = _found(
        settings, entry_points(group=GROUP) if installed is None else installed
    )
    loaded: list[tuple[_Found, Extension]] = []
    for each in found:
        options = settings.extensions.options.get(each.name, {})
        plain = {key: value.get_secret_value() for key, value in options.items()}
        try:
            loaded.append((each, _made(each, plain)))
        except _Unusable as error:
            problems.append(Problem(each.where, f"{each.title} {error}.", REPAIR))
        except Exception as error:  # noqa: BLE001 - a stranger's module may raise anything
            reason = _without(plain.values(), f"{type(error).__name__}: {error}")
            text = f"{each.title} could not be loaded: {reason}."
            problems.append(Problem(each.where, text, REPAIR))
    problems += _rivals(loaded)
    if problems:
        raise SettingsError(problems)
    return _registry(loaded)


class _Unusable(Exception):
    """What is named is no extension."""


def _found(
    settings: Settings, installed: Iterable[EntryPoint]
) -> tuple[list[_Found], list[Problem]]:
    wanted, problems = settings.extensions, []
    by_name: dict[str, list[_Found]] = {}
    for entry in sorted(set(installed), key=lambda one: (one.name, one.value)):
        by_name.setdefault(entry.name, []).append(_Found(entry.name, entry, "extensions"))
    for name, value in wanted.load.items():
        entry = EntryPoint(name, value, GROUP)
        by_name.setdefault(name, []).append(_Found(name, entry, f"extensions.load.{name}"))
    for section, names in (("skip", wanted.skip), ("options", tuple(wanted.options))):
        for name in names:
            if name not in by_name:
                text = f"names the extension {name}, which is neither installed nor loaded."
                problems.append(Problem(f"extensions.{section}", text, suggestion(name, by_name)))
    kept = [each for name, some in by_name.items() if name not in wanted.skip for each in some]
    for name in dict.fromkeys(each.name for each in kept):
        rivals = [each.title for each in kept if each.name == name]
        if len(rivals) > 1:
            text = f"several have the name {name}: {', '.join(rivals)}."
            problems.append(Problem("extensions", text, "Uninstall or rename all but one."))
    if len(kept) > MAX_EXTENSIONS:
        problems.append(Problem("extensions", f"there are more than {MAX_EXTENSIONS}."))
    return kept[:MAX_EXTENSIONS], problems


def _made(found: _Found, options: Mapping[str, str]) -> Extension:
    """The extension. Raises `_Unusable`, and whatever its code raises."""
    make = found.entry.load()
    if not callable(make):
        raise _Unusable("is no function that gives an Extension")
    made = make(options)
    if not isinstance(made, Extension):
        raise _Unusable(f"gives {type(made).__name__}, no gateway.extensions.Extension")
    parts = {point: getattr(made, point) for point in POINTS}
    if not any(part is not None for part in parts.values()):
        raise _Unusable("gives an Extension with nothing in it")
    for point, part in parts.items():
        if part is not None:
            _check(point, part)
    return made


def _check(point: str, part: object) -> None:
    """Raises `_Unusable` for a part that could only fail at work."""
    protocol, methods = POINTS[point]
    for name, arguments in methods.items():
        method = getattr(part, name, None)
        if not callable(method):
            raise _Unusable(f"has a {point} without {name}(), see {protocol.__name__}")
        try:
            inspect.signature(method).bind(*range(arguments))
        except TypeError:
            raise _Unusable(
                f"has a {point} whose {name}() does not take {arguments} "
                f"argument{'s' if arguments > 1 else ''}, see {protocol.__name__}"
            ) from None
        except ValueError:
            continue  # written in C: nobody knows what it takes
        if (point in WAITS) != inspect.iscoroutinefunction(method):
            kind = "has to be" if point in WAITS else "must not be"
            raise _Unusable(f"has a {point} whose {name}() {kind} async")


def _rivals(loaded: Sequence[tuple[_Found, Extension]]) -> list[Problem]:
    """Two answers to the question whose a row is are none."""
    several = [found.title for found, one in loaded if one.tenant_provider is not None]
    if len(several) < 2:
        return []
    text = f"several say which tenant is whose: {', '.join(several)}."
    return [Problem("extensions", text, "Keep one; name the others under extensions.skip.")]


def _registry(loaded: Sequence[tuple[_Found, Extension]]) -> ExtensionRegistry:
    made = [extension for _, extension in loaded]
    tenants = [one.tenant_provider for one in made if one.tenant_provider is not None]
    trackers = tuple(one.usage_tracker for one in made if one.usage_tracker is not None)
    audits = tuple(one.audit_logger for one in made if one.audit_logger is not None)
    gates = tuple(one.access_controller for one in made if one.access_controller is not None)
    return ExtensionRegistry(
        tenants[0] if tenants else SingleTenant(),
        _one_of(trackers, NoTracking, Trackers),
        _one_of(audits, LocalAudit, Audits),
        _one_of(gates, AllowAll, Gates),
        tuple(found.name for found, _ in loaded),
    )


def _one_of(
    parts: tuple[T, ...], default: Callable[[], T], several: Callable[[tuple[T, ...]], T]
) -> T:
    if not parts:
        return default()
    return parts[0] if len(parts) == 1 else several(parts)


@dataclass(frozen=True, slots=True)
class Trackers:
    """Implements `UsageTracker`: each is told, whatever the others do."""

    all: tuple[UsageTracker, ...]

    async def track(self, row: UsageRow) -> None:
        """Tell all of them, side by side."""
        await _told([one.track(row) for one in self.all])


@dataclass(frozen=True, slots=True)
class Audits:
    """Implements `AuditLogger`: each is told, whatever the others do."""

    all: tuple[AuditLogger, ...]

    async def audit(self, event: str, person: PersonId, place: Place, decision: Decision) -> None:
        """Tell all of them, side by side."""
        await _told([one.audit(event, person, place, decision) for one in self.all])


@dataclass(frozen=True, slots=True)
class Gates:
    """Implements `AccessController`: all have to allow; the first that does not decides."""

    all: tuple[AccessController, ...]

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        """Ask one after the other. Raises what one of them raises."""
        decision = Decision("access", False, "no_controller")
        for one in self.all:
            decision = await one.check_access(person, place)
            if not decision.allowed:
                break
        return decision


async def _told(calls: Sequence[Any]) -> None:
    async with asyncio.timeout(EXTENSION_SECONDS):
        ended = await asyncio.gather(*calls, return_exceptions=True)
    for error in ended:
        if isinstance(error, Exception):
            log.error("extension_failed", error=type(error).__name__)


def _without(values: Iterable[str], text: str) -> str:
    """The first line of an error, without the options, which may be secrets."""
    line = text.partition("\n")[0]
    for value in values:
        if value:
            line = line.replace(value, "(not shown)")
    return line[:300]
