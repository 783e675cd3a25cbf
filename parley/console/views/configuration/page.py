"""The configuration in force, with the source and the rule of each value."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final, Literal, cast

from pydantic import Field, StringConstraints

from gateway.people import Role, identity_of
from gateway.policy.access import role_of
from gateway.ports.action import Input, Output
from gateway.ports.rights import to_read
from gateway.text import (
    NO_TEXT,
    Text,
    as_text,
    text,
)
from gateway.turn.admission import known_ids
from parley.config.listing import ListedValue, Source, as_yaml, listed
from parley.config.overrides import CHANGEABLE, ENTRIES, Override, is_changeable
from parley.config.problems import Path as KeyPath
from parley.config.problems import Problem, dotted
from parley.config.schema import allowed_words, at, item_of, shapes
from parley.config.settings import Settings
from parley.config.yaml_file import Value
from parley.console.names import names_of
from parley.console.route import AnyRoute, ConsoleRoute, File
from parley.console.said import Said, SaidOrStr
from parley.console.services import ConsoleServices
from parley.console.viewer import LOCAL_OPERATOR, Viewer
from parley.console.views.configuration.forms import (
    WORDS,
    Control,
    FormFieldOut,
    FormGroupOut,
    Page,
    field_text,
    groups_of,
    labels_of,
)
from parley.console.views.health import FindingOut
from parley.console.views.overview import PlatformState, platform_states
from parley.http.api.authentication import admitted_person
from parley.http.api.errors import CallRefused
from parley.wiring.live_configuration import LiveConfiguration
from parley.wiring.policies import choice_of, mcp_servers_of, policies_of
from safety.http.shown_address import without_secrets

OF_THE_PROGRAM: Final = text(
    "The configuration holds for all tenants: only people whom it names as owner or operator may "
    "see it."
)
OWN_ACCESS: Final = text(
    "Nothing was changed: you would not be an owner with access any more. Another owner can do "
    "this, or make another account of yours an owner first."
)
NOT_SET: Final = text("not set")
PATH: Final = "/configuration"
TEMPLATE: Final = "configuration/page.html"
MOST: Final = 2_000
"""Values of one page."""
MOST_SERVERS: Final = 100
Show = Literal["changeable", "set", "all"]


async def governs(viewer: Viewer, services: ConsoleServices, role: Role) -> bool:
    """Return True if a viewer with this role may see what holds for all tenants. With several
    tenants, this needs a role by the configuration's lists: an owner by code is that of one
    tenant."""
    if viewer.person == str(LOCAL_OPERATOR) or not services.gateway.extensions.has_tenants:
        return viewer.role.at_least(role)
    person, lists = viewer.principal.person, services.gateway.policies.roles
    known = await known_ids(person, services.gateway)
    aliases = () if known is None else known.current
    return role_of(person, lists, aliases=aliases).at_least(role)


async def check_governs(
    viewer: Viewer, services: ConsoleServices, role: Role = Role.OPERATOR
) -> None:
    """Raise `CallRefused` (403) for a viewer who may not see what holds for all tenants."""
    if not await governs(viewer, services, role):
        raise CallRefused("not_allowed", OF_THE_PROGRAM)


async def check_own_access(viewer: Viewer, services: ConsoleServices, settings: Settings) -> None:
    """Raise `CallRefused` (409) if the viewer, who is an owner, would not be one with this
    configuration. The same functions decide as for a chat. Whoever runs commands on this machine
    cannot be locked out."""
    if viewer.person == str(LOCAL_OPERATOR):
        return
    under = services.gateway.under(policies_of(settings))
    for person in sorted(viewer.persons):
        try:
            who = await admitted_person(viewer.tenant, identity_of(person), under)
        except CallRefused:
            continue
        if who.role is Role.OWNER:
            return
    raise CallRefused("own_access", OWN_ACCESS)


class ConfigurationQuery(Input):
    """`page`: the page, by default that of the assistant, or all keys with one of the other
    parameters. `show`: the values that can be changed here, also those that are no defaults, or
    all. `q`: only values with this text in their key."""

    page: Page | None = None
    show: Show = "changeable"
    q: Annotated[str, StringConstraints(max_length=100)] = ""

    @property
    def shown_page(self) -> Page:
        """The page to show."""
        searches = bool({"show", "q"} & self.model_fields_set)
        return self.page or ("all" if searches else "assistant")


class ConfigurationExportQuery(Input):
    """The export has no parameters."""


class ValueOut(Output):
    """A value. `text` has an item of a list in each line. `place` is a line of the file or a
    variable; `input` is how it is changed here, empty for one that is not; `words` are those that
    it accepts; `ignored` is the problem of an override that cannot be used."""

    key: str
    text: str
    source: Source
    place: str
    rule: Said
    meaning: Said
    input: Control | Literal[""]
    words: tuple[str, ...]


class SectionOut(Output):
    """The values of a section."""

    name: str
    values: tuple[ValueOut, ...] = Field(max_length=MOST)


class SettingOut(Output):
    """An entry of a section by name, such as the persona of a channel. `removed`: an override
    removes the entry of the file."""

    name: str
    source: Source
    place: str
    removed: bool
    fields: Mapping[str, str | tuple[str, ...] | None]


class IgnoredOut(Output):
    """An override that cannot be used, and is ignored. `section` and `name` name it for the way
    back to the file."""

    key: str
    section: str
    name: str
    value: str
    problem: Said
    advice: Said


class ToolServerOut(Output):
    """An MCP server: its program or address without secrets, and its state."""

    name: str
    place: str
    connected: bool
    problem: str


class ModelOut(Output):
    """The configured model: `key` says where its key comes from, empty for none. `fallbacks` are
    the models that answer when it fails."""

    provider: str
    name: str
    server: str
    key: SaidOrStr
    fallbacks: tuple[str, ...]


class ConfigurationOut(Output):
    """The configuration. `version` is that of the overrides, 0 while there is none. `said` is the
    outcome of an action; `problem`, `refused` and `text` are the reason, the key and the value of a
    refused one, `tested` are results of a test. `groups` are the form of the page."""

    page: Page = "all"
    groups: tuple[FormGroupOut, ...] = Field(default=(), max_length=10)
    platforms: tuple[PlatformState, ...] = ()
    servers: tuple[ToolServerOut, ...] = Field(default=(), max_length=MOST_SERVERS)
    model: ModelOut | None = None
    tested: tuple[FindingOut, ...] = Field(default=(), max_length=MOST_SERVERS)
    can_restart: bool = False
    version: int
    at: datetime | None
    author: str
    author_name: str = ""
    may_change: bool
    overridden: int
    sections: tuple[SectionOut, ...] = Field(max_length=200)
    entries: Mapping[str, tuple[SettingOut, ...]]
    ignored: tuple[IgnoredOut, ...]
    said: Said = NO_TEXT
    problem: Said = NO_TEXT
    refused: str = ""
    text: str = ""


async def configuration(
    viewer: Viewer, services: ConsoleServices, params: ConfigurationQuery
) -> ConfigurationOut:
    """Return the configuration."""
    await check_governs(viewer, services)
    await services.configuration.refresh()
    return await shown(viewer, services, params)


async def export(
    viewer: Viewer, services: ConsoleServices, _params: ConfigurationExportQuery
) -> File:
    """Return the configuration in force as a file, without secrets."""
    await check_governs(viewer, services)
    live = services.configuration
    await live.refresh()
    values = await values_of(live)
    text = as_yaml(values, services.gateway.clock.now())
    return File(name="parley.yaml", content_type="application/yaml", content=text)


async def shown(
    viewer: Viewer,
    services: ConsoleServices,
    params: ConfigurationQuery | None = None,
    *,
    said: Text = NO_TEXT,
    problem: Text = NO_TEXT,
    refused: str = "",
    text: str = "",
    page: Page = "all",
    typed: Mapping[str, str] | None = None,
    problems: Mapping[str, Text] | None = None,
    tested: Sequence[FindingOut] = (),
) -> ConfigurationOut:
    """Return the configuration, or the part of it that a query names. `typed` are texts of a form
    that were not saved, by key, and `problems` the reasons."""
    live, query = services.configuration, params or ConfigurationQuery(page=page)
    version, state, at_page = live.version, live.state, query.shown_page
    every = await values_of(live)
    values = [one for one in every if _in_query(one, query) and _entry_of(one.path) is None]
    author = "" if version is None else version.author
    names = await names_of(viewer, services, (author,))
    fields = _fields(at_page, every, type(state.settings), typed or {}, problems or {})
    return ConfigurationOut(
        page=at_page,
        groups=tuple(groups_of(at_page, fields)),
        platforms=platform_states(services) if at_page == "platforms" else (),
        servers=tuple(_servers(services)) if at_page == "tools" else (),
        model=_model(live) if at_page == "model" else None,
        tested=tuple(tested),
        can_restart=viewer.is_owner and services.restart is not None,
        version=live.number,
        at=None if version is None else version.at,
        author=author,
        author_name=names.get(author, ""),
        may_change=viewer.is_owner,
        overridden=len(live.overrides),
        sections=tuple(_sections(values[:MOST], type(state.settings))),
        entries={dotted(path): tuple(_entries(path, services)) for path in ENTRIES}
        if query.q == ""
        else {},
        ignored=tuple(_ignored(one, live.overrides) for one in state.ignored),
        said=said,
        problem=problem,
        refused=refused,
        text=text,
    )


def _fields(
    page: Page,
    values: Sequence[ListedValue],
    model: type[Settings],
    typed: Mapping[str, str],
    problems: Mapping[str, Text],
) -> dict[str, FormFieldOut]:
    labels = labels_of(page)
    return {
        one.key: FormFieldOut(
            key=one.key,
            label=labels[one.key],
            text=typed.get(one.key, field_text(one)),
            meaning=one.meaning,
            rule=one.rule,
            overridden=one.source == "override",
            input=_input(at(model, one.path), one.key),
            words={word: WORDS.get(word, word) for word in _words(at(model, one.path))}
            or {word: WORDS[word] for word in ("true", "false")},
            problem=problems.get(one.key, NO_TEXT),
        )
        for one in values
        if one.key in labels
    }


def _servers(services: ConsoleServices) -> Iterator[ToolServerOut]:
    states = {one.name: one for one in services.health.tool_servers()}
    for server in mcp_servers_of(services.settings)[:MOST_SERVERS]:
        state = states.get(server.name)
        yield ToolServerOut(
            name=server.name,
            place=without_secrets(server.url) if server.url else server.command,
            connected=state is not None and state.connected,
            problem="" if state is None else state.problem or state.refusal,
        )


def _model(live: LiveConfiguration) -> ModelOut:
    choice = choice_of(live.settings.model)
    origin = live.origins.get(("model", "api_key"))
    place = "" if origin is None else origin.template or origin.place
    return ModelOut(
        provider=choice.provider,
        name=choice.model,
        server=choice.server,
        key=(place or text("the environment")) if choice.api_key or choice.auth_token else "",
        fallbacks=tuple(choice_of(one).model for one in live.settings.model.fallbacks),
    )


def _ignored(one: Problem, overrides: Sequence[Override]) -> IgnoredOut:
    path = next((each.path for each in overrides if each.key == one.path), ())
    section, name = (path[:-1], path[-1]) if path[:-1] in ENTRIES else (path, "")
    return IgnoredOut(
        key=one.path,
        section=dotted(section),
        name=name,
        value=one.value,
        problem=as_text(one.said),
        advice=as_text(one.step),
    )


async def values_of(live: LiveConfiguration) -> list[ListedValue]:
    """Return all values in force. The first call reads the meaning of every key from the source."""
    state = live.state
    return await asyncio.to_thread(
        lambda: list(listed(state.settings, live.origins, state.in_force))
    )


def _in_query(one: ListedValue, query: ConfigurationQuery) -> bool:
    if query.q and query.q.strip().lower() not in one.key.lower():
        return False
    if query.show == "all" or query.q:
        return True
    return is_changeable(one.path) or (query.show == "set" and one.source != "default")


def _entry_of(path: KeyPath) -> KeyPath | None:
    """Return the section by name to which a value belongs, None for another value."""
    return next((one for one in ENTRIES if path[: len(one)] == one and len(path) > len(one)), None)


def _sections(values: Sequence[ListedValue], model: type[Settings]) -> Iterator[SectionOut]:
    names = dict.fromkeys(str(one.path[0]) for one in values)
    ordered = sorted(names, key=lambda name: name not in CHANGEABLE)
    for name in ordered:
        own = [one for one in values if one.path[0] == name]
        yield SectionOut(name=name, values=tuple(_value(one, model) for one in own))


def _value(one: ListedValue, model: type[Settings]) -> ValueOut:
    annotation = at(model, one.path)
    may = is_changeable(one.path) and not one.secret
    return ValueOut(
        key=one.key,
        text=one.text,
        source=one.source,
        place=one.place,
        rule=one.rule,
        meaning=one.meaning,
        input=_input(annotation, one.key) if may else "",
        words=_words(annotation) if may else (),
    )


def _words(annotation: object) -> tuple[str, ...]:
    item = item_of(annotation)
    return allowed_words(annotation if item is None else item)


def _input(annotation: object, key: str) -> Control:
    options = shapes(annotation)
    if item_of(annotation) is not None:
        return "choices" if _words(annotation) else "lines"
    if _words(annotation):
        return "choice"
    if bool in options:
        return "switch"
    if int in options or float in options:
        return "number"
    return "lines" if key.endswith("persona") else "text"


def _entries(path: KeyPath, services: ConsoleServices) -> Iterator[SettingOut]:
    live = services.configuration
    below = [one for one in live.overrides if one.path[:-1] == path]
    overrides = {one.path[-1]: one for one in below}
    ignored = {one.path for one in live.state.ignored}
    section: object = live.settings
    base: object = live.base
    for step in path:
        section, base = getattr(section, str(step)), getattr(base, str(step))
    present = cast("Mapping[str, Output]", section)
    for name, value in present.items():
        one = overrides.get(name)
        in_force = one is not None and one.key not in ignored
        yield _entry(path, name, dict(value.model_dump(mode="json")), services, overridden=in_force)
    for name in cast("Mapping[str, object]", base):
        if name not in present:
            yield SettingOut(name=name, source="override", place="", removed=True, fields={})


def _entry(
    path: KeyPath,
    name: str,
    values: Mapping[str, object],
    services: ConsoleServices,
    *,
    overridden: bool,
) -> SettingOut:
    origin = services.configuration.origins.get((*path, name))
    fields = {
        key: tuple(map(str, value))
        if isinstance(value, list)
        else None
        if value is None
        else str(value)
        for key, value in values.items()
    }
    return SettingOut(
        name=name,
        source="override" if overridden else "file" if origin is None else origin.kind,
        place="" if overridden or origin is None else origin.place,
        removed=False,
        fields=fields,
    )


def shown_value(override: Override, most: int) -> Text | str:
    """Return at most `most` characters of the value of an override for people, without secrets."""
    if override.value is None or override.value == []:
        return NOT_SET
    return without_secrets(_words_of_override(override.value))[:most]


def _words_of_override(value: Value) -> str:
    if isinstance(value, list):
        return "\n".join(map(str, value))
    if isinstance(value, dict):
        given = {name: one for name, one in value.items() if one is not None}
        return "\n".join(f"{name}: {_words_of(one)}" for name, one in given.items())
    return str(value).lower() if isinstance(value, bool) else str(value)


def _words_of(value: Value) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)


ROUTES: Final[tuple[AnyRoute, ...]] = (
    ConsoleRoute(
        name="configuration",
        method="GET",
        path=PATH,
        allowed=to_read(Role.OPERATOR),
        summary=text(
            "Name, persona, model, access, budgets, platforms and tools; all keys by source"
        ),
        run=configuration,
        template=TEMPLATE,
        menu=text("Configuration"),
    ),
    ConsoleRoute(
        name="configuration_export",
        method="GET",
        path=f"{PATH}/export",
        allowed=to_read(Role.OPERATOR),
        summary="The configuration in force as YAML, without secrets",
        run=export,
    ),
)
