"""Overrides: changes to the configuration that the console stores, which hold over the file and the
environment.

Stored overrides are a JSON merge patch (RFC 7396) of the configuration: null removes a value of the
file. Only the keys of `CHANGEABLE` and entries of `ENTRIES` are changed while the program runs.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct
from pydantic import Field, ValidationError

from gateway.languages.installed import LanguagePolicy
from gateway.policy.access import ToolRule
from gateway.policy.budgets import Budgets
from gateway.policy.invocation import InvocationPolicy
from gateway.policy.proactive import ProactivePolicy
from gateway.policy.rate_limits import RateLimits
from gateway.ports import AdapterManifest
from gateway.settings import Section
from gateway.text import as_text, joined, text, verbatim
from parley.config import sections
from parley.config.consistency import problems_of
from parley.config.explain import Explainer
from parley.config.problems import Path as KeyPath
from parley.config.problems import Problem, SettingsError, dotted
from parley.config.settings import Settings
from parley.config.yaml_file import Value
from safety.http.shown_address import with_shown_addresses
from safety.secret_detection.detect import redact_and_cut

MAX_BYTES: Final = 256 * 1024
"""Bytes of all overrides, as of a file."""
MAX_OVERRIDES: Final = 1_000
MAX_CHECKS: Final = 200
"""Checks of the configuration, to find the overrides that cannot be used."""
MAX_SHOWN: Final = 100
"""Characters of a value that a problem shows."""
MAX_REDACTED: Final = 2_000

CHANGEABLE: Final[Mapping[str, tuple[str, ...]]] = {
    "assistant": ("name", "persona", "disclosure"),
    "model": ("name",),
    "invocation": ("triggers", "prefix", "ignore_bots", "ignore_if_mentions_others"),
    "access": (
        "owners",
        "operators",
        "members",
        "default_role",
        "allowed_users",
        "blocked_users",
        "allowed_channels",
        "blocked_channels",
        "allowed_workspaces",
        "blocked_workspaces",
    ),
    "languages": ("default", "offered", "places"),
    "limits": tuple(RateLimits.model_fields),
    "proactive": tuple(ProactivePolicy.model_fields),
    "budgets": tuple(Budgets.model_fields),
}
"""By section: the keys that are changed as a whole. The program reads each of them from its current
policies, so that a change holds at once."""
ENTRIES: Final[tuple[KeyPath, ...]] = (
    ("assistant", "channels"),
    ("invocation", "channels"),
    ("languages", "sentences"),
    ("tools",),
    ("budgets", "prices"),
)
"""The sections by name whose entries are changed one by one."""
MODEL: Final = "model"
# Translators: it stands alone at a field, or after the name of a key and a colon.
NOT_CHANGEABLE: Final = text("cannot be changed while the program runs.")
UNREADABLE: Final = text("The stored overrides cannot be read.")
TOO_MANY: Final = text("There are too many overrides.")
# Translators: it stands alone at a field, or after the name of a key and a colon.
UNCHECKED: Final = text("could not be checked, because too many others cannot be used.")
REMOVE: Final = text(
    "Change or remove it in the console, or remove all with `parley config reset`."
)
FEWER: Final = text("Remove some first, or use the file.")

Patch: TypeAlias = "dict[str, Value]"


class ChangeableModel(Section):
    """The key of the model that is changed while the program runs: another model of the same
    service."""

    name: sections.ModelName = ""


class ChangeableSections(Section):
    """The sections with keys that are changed while the program runs."""

    model: ChangeableModel = ChangeableModel()
    assistant: sections.AssistantSection = sections.AssistantSection()
    tools: dict[str, ToolRule] = Field(default={})
    invocation: InvocationPolicy = InvocationPolicy()
    access: sections.AccessSection = sections.AccessSection()
    languages: LanguagePolicy = LanguagePolicy()
    limits: RateLimits = RateLimits()
    proactive: ProactivePolicy = ProactivePolicy()
    budgets: sections.BudgetsSection = sections.BudgetsSection()


class Override(Struct, frozen=True):
    """One override. `value` is None where it removes a value of the file."""

    path: tuple[str, ...]
    """The keys from the top of the configuration."""
    value: Value

    @property
    def key(self) -> str:
        """The path as the documentation writes it."""
        return dotted(self.path)


class Overlaid(Struct, frozen=True):
    """The configuration with its overrides. `ignored` are overrides that cannot be used, each with
    its problem."""

    settings: Settings
    """The configuration in force."""
    in_force: tuple[Override, ...] = ()
    """The overrides that it contains, in their order."""
    ignored: tuple[Problem, ...] = ()


def is_changeable(path: KeyPath) -> bool:
    """Return True if a value at this path may be overridden."""
    if len(path) == 2 and path[1] in CHANGEABLE.get(str(path[0]), ()):
        return True
    return len(path) > 1 and path[:-1] in ENTRIES


def overrides_in(patch: Patch) -> tuple[Override, ...]:
    """Return the overrides of a patch, in its order."""
    return tuple(_overrides(patch, ()))


def _overrides(value: Mapping[str, Value], path: tuple[str, ...]) -> Iterator[Override]:
    for name, below in value.items():
        here = (*path, name)
        if isinstance(below, dict) and below and not is_changeable(here) and len(here) < 3:
            yield from _overrides(below, here)
        else:
            yield Override(here, below)


def patch_of(overrides: Sequence[Override]) -> Patch:
    """Return a patch of these overrides."""
    patch: Patch = {}
    for override in overrides:
        here = patch
        for step in override.path[:-1]:
            below = here.setdefault(step, {})
            if not isinstance(below, dict):
                raise TypeError(f"{override.key} is below another override")
            here = below
        here[override.path[-1]] = override.value
    return patch


def parsed(text: str) -> Patch:
    """Return the patch of a stored text. Raises `SettingsError`."""
    try:
        patch = json.loads(text)
    except (ValueError, RecursionError):
        patch = None
    if not isinstance(patch, dict) or len(text) > MAX_BYTES:
        raise SettingsError([Problem("", UNREADABLE, REMOVE)])
    return patch


def merged(
    base: Settings, overrides: Sequence[Override], manifests: Mapping[str, AdapterManifest]
) -> Settings:
    """Return the configuration with these overrides, all of it checked. Raises `SettingsError` with
    every problem that the configuration does not have without them."""
    names = [name for name in ChangeableSections.model_fields if name != MODEL]
    plain: Patch = {name: _plain(getattr(base, name)) for name in names}
    values: Value = {**plain, MODEL: {"name": base.model.name}}
    values = merge(values, patch_of(overrides))
    explainer = Explainer(ChangeableSections, values, {}, ())
    try:
        made = ChangeableSections.model_validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        raise SettingsError(explainer.explain(error)) from None
    changed = {str(override.path[0]) for override in overrides}
    settings = base.model_copy(update={name: _section(base, made, name) for name in changed})
    known = set(problems_of(base, manifests))
    problems = [one for one in problems_of(settings, manifests) if one not in known]
    if problems:
        raise SettingsError(problems)
    return settings


def _section(base: Settings, made: ChangeableSections, name: str) -> object:
    """Return a section with its overrides. The keys of a model hold secrets, and stay as they
    are."""
    if name != MODEL:
        return getattr(made, name)
    return base.model.model_copy(update={"name": made.model.name or base.model.name})


def merge(target: Value, patch: Value) -> Value:
    """Return a value with a JSON merge patch applied (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    result: dict[str, Value] = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merge(result.get(name), value)
    return result


def _plain(section: object) -> Value:
    """Return a section as plain values, without keys that have their default."""
    if isinstance(section, Section):
        dumped: Value = section.model_dump(mode="json", exclude_unset=True)
        return dumped
    if isinstance(section, Mapping):
        return {str(name): _plain(value) for name, value in section.items()}
    raise TypeError(f"{type(section).__name__} is no section")


def overlaid(
    base: Settings, overrides: Sequence[Override], manifests: Mapping[str, AdapterManifest]
) -> Overlaid:
    """Return the configuration with the overrides that can be used together; the others are
    ignored, each with its own problem."""
    if len(overrides) > MAX_OVERRIDES:
        return Overlaid(base, (), (Problem("", TOO_MANY, REMOVE),))
    ignored = [
        Problem(one.key, NOT_CHANGEABLE, REMOVE) for one in overrides if not is_changeable(one.path)
    ]
    settings, usable = base, tuple[Override, ...]()
    groups, checks = [[one for one in overrides if is_changeable(one.path)]], 0
    while any(groups):
        group, checks = groups.pop(), checks + 1
        if checks > MAX_CHECKS:
            ignored += [Problem(one.key, UNCHECKED, REMOVE, value=shown(one)) for one in group]
            continue
        try:
            settings = merged(base, (*usable, *group), manifests)
        except SettingsError as error:
            wrong = _wrong(group, error.problems)
            ignored += wrong.values()
            half = len(group) // 2
            rest = [[one for one in group if one.key not in wrong]]
            groups += [part for part in rest if part] if wrong else [group[half:], group[:half]]
        else:
            usable = (*usable, *group)
    return Overlaid(settings, usable, tuple(ignored))


def _wrong(group: Sequence[Override], problems: Sequence[Problem]) -> dict[str, Problem]:
    """Return the overrides that the problems name, by key, each with its first problem. One that is
    alone is wrong whatever they name; for several that none names, they are tried in halves."""
    keys = sorted((one.key for one in group), key=len)
    found: dict[str, Problem] = {}
    for problem in problems:
        named = [one for one in keys if _names(problem.path, one)]
        if named:
            found.setdefault(named[-1], problem)
    if not found and len(group) == 1:
        found = {group[0].key: problems[0]}
    return {one.key: _ignored(one, found[one.key]) for one in group if one.key in found}


def _names(path: str, key: str) -> bool:
    return path == key or path.startswith((f"{key}.", f"{key}["))


def _ignored(override: Override, problem: Problem) -> Problem:
    named = _names(problem.path, override.key)
    place = problem.path.removeprefix(override.key).lstrip(".") if named else problem.path
    said = joined([*([verbatim(place)] if place else ()), as_text(problem.said)], " ")
    step = joined([one for one in (as_text(problem.step), REMOVE) if one], " ")
    return Problem(override.key, said, step, value=shown(override))


def shown(override: Override) -> str:
    """Return the beginning of the value of an override in one line, without secrets."""
    if override.value is None:
        return "removed"
    value = with_shown_addresses(json.dumps(override.value, ensure_ascii=False))
    text = redact_and_cut(value, MAX_REDACTED)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def changed(
    base: Settings,
    overrides: Sequence[Override],
    changes: Sequence[Override],
    removed: Sequence[tuple[str, ...]],
    manifests: Mapping[str, AdapterManifest],
    check: Callable[[Settings], Sequence[Problem]] = lambda _: (),
) -> tuple[Override, ...]:
    """Return the overrides after a change; those in `removed` return to the file. Raises
    `SettingsError` if a change cannot be used, or makes another override unusable. `check` returns
    further problems of a configuration; those that it has already refuse nothing."""
    for one in changes:
        if not is_changeable(one.path):
            raise SettingsError([Problem(one.key, NOT_CHANGEABLE)])
    gone = {*(one.path for one in changes), *removed}
    new = (*(one for one in overrides if one.path not in gone), *changes)
    if len(new) > MAX_OVERRIDES or len(written(new)) > MAX_BYTES:
        raise SettingsError([Problem("", TOO_MANY, FEWER)])
    before, after = overlaid(base, overrides, manifests), overlaid(base, new, manifests)
    known = {one.path for one in before.ignored} - {one.key for one in changes}
    problems = [one for one in after.ignored if one.path not in known]
    problems += [one for one in check(after.settings) if one not in check(before.settings)]
    if problems:
        raise SettingsError(problems)
    return new


def written(overrides: Sequence[Override]) -> str:
    """Return overrides as the text that is stored."""
    return json.dumps(patch_of(overrides), ensure_ascii=False, separators=(",", ":"))
