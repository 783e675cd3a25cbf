"""Loads the memory backends in use.

A backend is named by an entry point of the group `parley.memory`, or by `memory.backend_load`.
Either names a function that takes its options and returns a `MemoryBackend`. `memory.backend`
chooses; other installed backends are not even imported. A backend that cannot be loaded, or that
could not delete a person's data, stops the start.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Final, cast

from gateway.ports import Clock
from gateway.ports.memory_backend import MemoryBackend
from memory.backends.guard import GuardedBackend
from parley.config import Problem, Settings, SettingsError
from parley.config.memory import BUILTIN
from parley.config.problems import suggestion
from parley.wiring.extensions import Unusable, without_values

GROUP: Final = "parley.memory"
KEY: Final = "memory.backend"
REPAIR: Final = "Repair or uninstall the package, or set memory.backend to builtin."

REQUIRED: Final[Mapping[str, int]] = {
    "remember": 2,
    "list_statements": 3,
    "forget": 2,
    "forget_messages": 3,
    "export": 2,
    "erase": 2,
    "health": 0,
}
"""The methods of `MemoryBackend`, with the number of their arguments."""
OPTIONAL: Final[Mapping[str, int]] = {"recall": 3, "brief": 2, "start": 0, "close": 0}
"""The methods of the abilities."""
PRIVACY: Final = ("forget", "forget_messages", "export", "erase")
"""Methods without which a person's rights cannot be granted."""


def load_backends(
    settings: Settings,
    clock: Clock,
    count: Callable[[str, str], None] | None = None,
    installed: Iterable[EntryPoint] | None = None,
) -> tuple[GuardedBackend, ...]:
    """The backends in use, in their configured order, not started. `installed` replaces the
    installed packages. Raises `SettingsError` with every problem."""
    section = settings.memory
    if not section.enabled:
        return ()
    known = _known(settings, entry_points(group=GROUP) if installed is None else installed)
    problems = _unknown_options(settings, known)
    backends: list[GuardedBackend] = []
    for name in section.places:
        if name == BUILTIN:
            continue
        loaded = _loaded(settings, name, known)
        if isinstance(loaded, Problem):
            problems.append(loaded)
        else:
            backends.append(GuardedBackend(name, loaded, clock, count))
    problems += _brief_conflict(section.places, backends)
    if problems:
        raise SettingsError(problems)
    return tuple(backends)


def describe(names: Sequence[str], backends: Sequence[GuardedBackend]) -> str:
    """The backends in use with their abilities, for people."""
    by_name = {one.name: one for one in backends}
    parts = []
    for name in names:
        one = by_name.get(name)
        abilities = () if one is None else _abilities(one)
        parts.append(f"{name} ({', '.join(abilities)})" if abilities else name)
    return ", ".join(parts)


def _abilities(backend: GuardedBackend) -> list[str]:
    named = (("own search", backend.recalls), ("own brief", backend.briefs))
    return [name for name, there in named if there]


def _known(settings: Settings, installed: Iterable[EntryPoint]) -> dict[str, list[EntryPoint]]:
    """The installed and the configured backends by name."""
    known: dict[str, list[EntryPoint]] = {}
    for entry in sorted(set(installed), key=lambda one: (one.name, one.value)):
        known.setdefault(entry.name, []).append(entry)
    for name, value in settings.memory.backend_load.items():
        known.setdefault(name, []).append(EntryPoint(name, value, GROUP))
    return known


def _unknown_options(
    settings: Settings, known: Mapping[str, Sequence[EntryPoint]]
) -> list[Problem]:
    problems = []
    for name in settings.memory.backend_options:
        if name not in known:
            text = f"names the backend {name}, which is neither installed nor loaded."
            problems.append(Problem("memory.backend_options", text, suggestion(name, known)))
    return problems


def _loaded(
    settings: Settings, name: str, known: Mapping[str, Sequence[EntryPoint]]
) -> MemoryBackend | Problem:
    entries = known.get(name, ())
    if not entries:
        text = f"names {name}, and no installed package has a memory backend of this name."
        advice = suggestion(name, (BUILTIN, *known)) or "Install its package, or write builtin."
        return Problem(KEY, text, advice)
    if len(entries) > 1:
        titles = ", ".join(map(_title, entries))
        text = f"names {name}, and several packages claim this name: {titles}."
        return Problem(KEY, text, "Uninstall or rename all but one.")
    options = settings.memory.backend_options.get(name, {})
    plain = {key: value.get_secret_value() for key, value in options.items()}
    try:
        return _created(entries[0], plain)
    except Unusable as error:
        return Problem(KEY, f"{name}: {_title(entries[0])} {error}.", REPAIR)
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        reason = without_values(plain.values(), f"{type(error).__name__}: {error}")
        text = f"{name}: {_title(entries[0])} could not be loaded: {reason}."
        return Problem(KEY, text, f"Check memory.backend_options.{name}. {REPAIR}")


def _created(entry: EntryPoint, options: Mapping[str, str]) -> MemoryBackend:
    """The backend. Raises `Unusable`, and anything that its code raises."""
    factory = entry.load()
    if not callable(factory):
        raise Unusable("is not a function that returns a MemoryBackend")
    backend = factory(options)
    missing = [name for name in REQUIRED if not callable(getattr(backend, name, None))]
    if missing:
        rights = ", without which a person's data cannot be exported and erased"
        why = rights if set(missing) & set(PRIVACY) else ""
        names = ", ".join(f"{name}()" for name in missing)
        raise Unusable(f"returns {type(backend).__name__}, which has no {names}{why}")
    for name, arguments in {**REQUIRED, **OPTIONAL}.items():
        method = getattr(backend, name, None)
        if method is not None:
            _check(name, method, arguments)
    return cast("MemoryBackend", backend)


def _check(name: str, method: Callable[..., object], arguments: int) -> None:
    """Raises `Unusable` for a method that would always fail."""
    if not inspect.iscoroutinefunction(method):
        raise Unusable(f"has a {name}() that is not async")
    try:
        inspect.signature(method).bind(*range(arguments))
    except TypeError:
        plural = "" if arguments == 1 else "s"
        raise Unusable(f"has a {name}() that does not take {arguments} argument{plural}") from None


def _brief_conflict(names: Sequence[str], backends: Sequence[GuardedBackend]) -> list[Problem]:
    """A problem when several write the brief; Parley's own memory does."""
    writers = {one.name for one in backends if one.briefs} | {BUILTIN}
    claiming = [name for name in names if name in writers]
    if len(claiming) < 2:
        return []
    text = f"names several backends that write the brief: {', '.join(claiming)}."
    return [Problem(KEY, text, "Keep one of them: a prompt has one brief.")]


def _title(entry: EntryPoint) -> str:
    package = entry.dist.name if entry.dist is not None else ""
    return f"{entry.value}" + (f" of the package {package}" if package else "")
