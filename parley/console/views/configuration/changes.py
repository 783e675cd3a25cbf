"""Changes of the configuration by owners: a value, an entry, back to the file. Each is checked with
all others, stored as a version and recorded in the audit."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from gateway.people import Audience, Role
from gateway.policy.invocation import Trigger
from gateway.ports.action import Input
from gateway.ports.rights import in_person
from gateway.stores.config_versions import ConfigVersion
from gateway.text import (
    Text,
    joined,
    text,
    verbatim,
)
from memory.actions.call import MAX_NUMBER, Integral
from parley.config import SettingsError
from parley.config.overrides import ENTRIES, Overlaid, Override, is_changeable
from parley.config.problems import Problem
from parley.config.schema import at, item_of, typed
from parley.config.secrets import ReferencedText
from parley.config.yaml_file import Value
from parley.console.route import AnyRoute, ConsoleRoute, RefusedWithResult
from parley.console.services import ConsoleServices
from parley.console.viewer import Viewer
from parley.console.views.configuration.forms import (
    MAX_FIELDS,
    Page,
    field_text,
    keys_of,
    same,
)
from parley.console.views.configuration.page import (
    OWN_ACCESS,
    PATH,
    TEMPLATE,
    ConfigurationOut,
    check_governs,
    check_own_access,
    shown,
    values_of,
)
from parley.http.api.errors import CallRefused
from parley.wiring.live_configuration import LiveConfiguration

PAGE_OF_ENTRIES: Final[Mapping[str, Page]] = {
    "assistant": "assistant",
    "invocation": "assistant",
    "tools": "tools",
    "budgets": "limits",
}
MAX_VALUE: Final = 50_000
MAX_AMOUNT: Final = 1_000_000
CHANGED: Final = text(
    "The configuration was changed meanwhile, in another tab or by somebody else. Your change "
    "was not saved. Below is the current state."
)
SAVED: Final = text("Saved as version {number}. All processes use it within a few seconds.")
UNCHANGED: Final = text("Nothing was changed: these are the current values.")
NOT_SAVED: Final = text("Nothing was saved. Correct the marked fields, and save again.")
UNEQUAL: Final = text("Each of `keys` has one of `values`.")
NOT_HERE: Final = text("{key} is not on this page.")
FIXED: Final = text("{key} cannot be changed here.")
NOT_OVERRIDDEN: Final = text("{key} was not changed here: it has the value of the file.")


def _empty_as_none(value: object) -> object:
    return None if value == "" else value


Number = Annotated[int, Field(ge=0, le=MAX_NUMBER), Integral]
Key = Annotated[str, StringConstraints(min_length=1, max_length=60, pattern=r"^[a-z_.]+$")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
Model = Annotated[str, StringConstraints(max_length=200, strip_whitespace=True)]
Prefix = Annotated[str, StringConstraints(max_length=40)]
Amount = Annotated[float, Field(ge=0, le=MAX_AMOUNT, allow_inf_nan=False)]
MaybeAmount = Annotated[Amount | None, BeforeValidator(_empty_as_none)]
ByName = Literal["assistant.channels", "invocation.channels", "tools", "budgets.prices"]


class ChangeForm(Input):
    """A key, such as `access.owners`, and its value as text: an item of a list in each line; empty
    for none. `based_on` is the version that the page showed, 0 for none."""

    key: Key
    based_on: Number
    value: Annotated[str, StringConstraints(max_length=MAX_VALUE)] = ""


class ChoicesForm(Input):
    """A key whose value is a list of words, such as `invocation.triggers`."""

    key: Key
    based_on: Number
    words: Annotated[tuple[Annotated[str, StringConstraints(max_length=40)], ...], Field(max_length=20)] = ()  # fmt: skip # noqa: E501


class RevertForm(Input):
    """A key, or an entry of a section by name, whose override is dropped: the file counts again."""

    key: Key
    based_on: Number
    name: Annotated[str, StringConstraints(max_length=200)] = ""


class RemoveForm(Input):
    """An entry of a section by name that is removed, also if the file has it."""

    section: ByName
    based_on: Number
    name: Name


class PersonaForm(Input):
    """The persona and the model of a channel; an empty one is the general one."""

    based_on: Number
    name: Name
    persona: Annotated[str, StringConstraints(max_length=10_000)] = ""
    model: Model = ""


class TriggersForm(Input):
    """The triggers and the prefix of a channel. With `own` off, the general triggers stay; on and
    without a trigger, the channel is silent."""

    based_on: Number
    name: Name
    own: bool = False
    triggers: Annotated[tuple[Trigger, ...], Field(max_length=10)] = ()
    prefix: Prefix = ""


class ToolForm(Input):
    """The lowest role that may use a tool or all tools of a server, and the audiences."""

    based_on: Number
    name: Name
    role: Role = Role.MEMBER
    audiences: Annotated[tuple[Audience, ...], Field(max_length=3)] = ()


class PriceForm(Input):
    """The price of a model in dollars per million tokens, and of 1,000 searches in the web."""

    based_on: Number
    name: Name
    input: Amount
    output: Amount
    cache_read: MaybeAmount = None
    cache_write: MaybeAmount = None
    cache_write_hour: MaybeAmount = None
    search: MaybeAmount = None


class PageForm(Input):
    """A page with a form: the `keys` and, in the same order, their `values` as text, as of a single
    change. `lists` are the keys whose values are the ticked words, each as "KEY=WORD". Values that
    are the present ones change nothing."""

    page: Literal["assistant", "model", "access", "limits"]
    based_on: Number
    keys: Annotated[tuple[Key, ...], Field(max_length=MAX_FIELDS)] = ()
    values: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=MAX_VALUE)], ...],
        Field(max_length=MAX_FIELDS),
    ] = ()
    lists: Annotated[tuple[Key, ...], Field(max_length=MAX_FIELDS)] = ()
    ticked: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=100)], ...], Field(max_length=200)
    ] = ()

    def texts(self) -> dict[str, str]:
        """Return the text of each value by key, an item of a list in each line. Raises
        `CallRefused` for keys that are not those of the page."""
        if len(self.keys) != len(self.values):
            raise CallRefused("bad_form", UNEQUAL, "body.values")
        texts = dict(zip(self.keys, self.values, strict=True))
        for key in self.lists:
            words = [one.partition("=")[2] for one in self.ticked if one.startswith(f"{key}=")]
            texts[key] = "\n".join(words)
        if unknown := sorted(texts.keys() - keys_of(self.page)):
            raise CallRefused("bad_key", NOT_HERE.of(key=verbatim(f"`{unknown[0]}`")), "body.keys")
        return texts


async def save_page(
    viewer: Viewer, services: ConsoleServices, params: PageForm
) -> ConfigurationOut:
    """Save a page: all of its changes as one version, or none of them."""
    await check_governs(viewer, services, Role.OWNER)
    live, texts = services.configuration, params.texts()
    await live.refresh()
    if params.based_on != live.number:
        raise await conflict(viewer, services, page=params.page, typed=texts)
    changes = [
        Override(_path(key), _value_of(_path(key), text, services))
        for key, text in (await changed_texts(live, texts)).items()
    ]
    lists = set(params.lists)
    changes = [
        Override(one.path, []) if one.key in lists and one.value is None else one for one in changes
    ]
    if not changes:
        return await shown(viewer, services, page=params.page, said=UNCHANGED)
    try:
        new = await live.changed(changes)
    except SettingsError as error:
        raise await _refused(viewer, services, params.page, texts, error.problems) from None
    await checked(viewer, services, await live.with_overrides(new), page=params.page, typed=texts)
    made = await live.change(viewer.person, params.based_on, changes)
    return await done(viewer, services, made, page=params.page, typed=texts)


async def _refused(
    viewer: Viewer,
    services: ConsoleServices,
    page: Page,
    texts: Mapping[str, str],
    problems: Sequence[Problem],
) -> RefusedWithResult:
    """Return the refusal of a page, with each problem at its field."""
    keys, at_field, others = sorted(texts, key=len, reverse=True), dict[str, Text](), list[Text]()
    for one in problems[:MAX_FIELDS]:
        key = next((key for key in keys if one.path == key or one.path.startswith(key)), "")
        if key:
            at_field[key] = one.at_place
        else:
            others.append(one.whole)
    problem = joined((NOT_SAVED, *others), " ")
    result = await shown(
        viewer, services, page=page, problem=problem, typed=texts, problems=at_field
    )
    where = f"body.{next(iter(at_field), 'keys')}"
    message = joined((one.whole for one in problems[:5]), " ")
    return RefusedWithResult("refused", message, where, result=result)


async def change_value(
    viewer: Viewer, services: ConsoleServices, params: ChangeForm
) -> ConfigurationOut:
    """Change a value."""
    path = _path(params.key)
    value = _value_of(path, params.value, services)
    override = Override(path, value)
    return await _changed(viewer, services, params.based_on, [override], text=params.value)


async def change_choices(
    viewer: Viewer, services: ConsoleServices, params: ChoicesForm
) -> ConfigurationOut:
    """Change a list of words."""
    override = Override(_path(params.key), list(params.words))
    return await _changed(viewer, services, params.based_on, [override])


async def change_persona(
    viewer: Viewer, services: ConsoleServices, params: PersonaForm
) -> ConfigurationOut:
    """Set the persona and the model of a channel."""
    value: Value = {"persona": params.persona.strip() or None, "model": params.model or None}
    override = Override(("assistant", "channels", params.name), value)
    return await _changed(
        viewer, services, params.based_on, [override], text=params.persona, page="assistant"
    )


async def change_triggers(
    viewer: Viewer, services: ConsoleServices, params: TriggersForm
) -> ConfigurationOut:
    """Set the triggers and the prefix of a channel."""
    triggers: Value = [one.value for one in params.triggers] if params.own else None
    value: Value = {"triggers": triggers, "prefix": params.prefix.strip() or None}
    override = Override(("invocation", "channels", params.name), value)
    return await _changed(viewer, services, params.based_on, [override], page="assistant")


async def change_tool(
    viewer: Viewer, services: ConsoleServices, params: ToolForm
) -> ConfigurationOut:
    """Set the rule of a tool."""
    audiences: Value = [one.value for one in params.audiences]
    value: Value = {"role": params.role.value, "audiences": audiences}
    override = Override(("tools", params.name), value)
    return await _changed(viewer, services, params.based_on, [override], page="tools")


async def change_price(
    viewer: Viewer, services: ConsoleServices, params: PriceForm
) -> ConfigurationOut:
    """Set the price of a model."""
    value: Value = {
        "input": params.input,
        "output": params.output,
        "cache_read": params.cache_read,
        "cache_write": params.cache_write,
        "cache_write_hour": params.cache_write_hour,
        "search": params.search,
    }
    override = Override(("budgets", "prices", params.name), value)
    return await _changed(viewer, services, params.based_on, [override], page="limits")


async def remove_entry(
    viewer: Viewer, services: ConsoleServices, params: RemoveForm
) -> ConfigurationOut:
    """Remove an entry. One that only the console has is dropped entirely."""
    path = (*params.section.split("."), params.name)
    section: object = services.configuration.base
    for step in path[:-1]:
        section = getattr(section, step)
    in_file = isinstance(section, dict) and params.name in section
    if in_file:
        change = Override(path, None)
        return await _changed(viewer, services, params.based_on, [change], page=page_of(path))
    return await _reverted(viewer, services, params.based_on, path)


async def revert(viewer: Viewer, services: ConsoleServices, params: RevertForm) -> ConfigurationOut:
    """Drop an override: the value of the file counts again."""
    path = (*params.key.split("."), *((params.name,) if params.name else ()))
    return await _reverted(viewer, services, params.based_on, path)


async def _reverted(
    viewer: Viewer, services: ConsoleServices, based_on: int, path: tuple[str, ...]
) -> ConfigurationOut:
    if path not in {one.path for one in services.configuration.overrides}:
        raise CallRefused("no_override", NOT_OVERRIDDEN.of(key=verbatim(f"`{'.'.join(path)}`")))
    return await _changed(viewer, services, based_on, [], [path], page=page_of(path))


def page_of(path: tuple[str, ...]) -> Page:
    """Return the page that shows an entry of a section by name, or the page of all keys."""
    if path[:-1] not in ENTRIES:
        return "all"
    return PAGE_OF_ENTRIES[path[0]]


async def changed_texts(live: LiveConfiguration, texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts that are not the present values."""
    present = {one.key: one for one in await values_of(live)}
    model = type(live.settings)
    return {
        key: text
        for key, text in texts.items()
        if not same(
            text, field_text(present[key]), many=item_of(at(model, present[key].path)) is not None
        )
    }


async def _changed(
    viewer: Viewer,
    services: ConsoleServices,
    based_on: int,
    changes: Sequence[Override],
    removed: Sequence[tuple[str, ...]] = (),
    *,
    text: str = "",
    page: Page = "all",
) -> ConfigurationOut:
    """Check, store and record a change. Raises `RefusedWithResult`."""
    await check_governs(viewer, services, Role.OWNER)
    live = services.configuration
    key = next((one.key for one in changes), "")
    await live.refresh()
    if based_on != live.number:
        raise await conflict(viewer, services, key, text, page=page)
    try:
        new = await live.changed(changes, removed)
    except SettingsError as error:
        problem = joined((one.whole for one in error.problems[:5]), " ")
        result = await shown(viewer, services, problem=problem, refused=key, text=text, page=page)
        raise RefusedWithResult("refused", problem, result=result) from None
    await checked(viewer, services, await live.with_overrides(new), key, text, page=page)
    made = await live.change(viewer.person, based_on, changes, removed)
    return await done(viewer, services, made, key, text, page=page)


async def checked(
    viewer: Viewer,
    services: ConsoleServices,
    after: Overlaid,
    key: str = "",
    text: str = "",
    *,
    page: Page = "all",
    typed: Mapping[str, str] | None = None,
) -> None:
    """Raise `RefusedWithResult` if the viewer would not be an owner any more."""
    try:
        await check_own_access(viewer, services, after.settings)
    except CallRefused as error:
        result = await shown(
            viewer,
            services,
            problem=OWN_ACCESS,
            refused=key,
            text=text,
            page=page,
            typed=typed,
        )
        raise RefusedWithResult(error.code, OWN_ACCESS, result=result) from None


async def done(
    viewer: Viewer,
    services: ConsoleServices,
    made: ConfigVersion | None,
    key: str = "",
    text: str = "",
    *,
    page: Page = "all",
    typed: Mapping[str, str] | None = None,
) -> ConfigurationOut:
    """Record a stored version, and return the page after it. Raises `RefusedWithResult` for None:
    somebody else was first."""
    if made is None:
        raise await conflict(viewer, services, key, text, page=page, typed=typed)
    await services.audit.console(
        "configuration_changed",
        viewer.tenant,
        viewer.person,
        keys=", ".join(made.changed),
        version=made.number,
    )
    return await shown(viewer, services, said=SAVED.of(number=made.number), page=page)


async def conflict(
    viewer: Viewer,
    services: ConsoleServices,
    key: str = "",
    text: str = "",
    *,
    page: Page = "all",
    typed: Mapping[str, str] | None = None,
) -> RefusedWithResult:
    """Return the refusal of a change that is based on an older version."""
    result = await shown(
        viewer, services, problem=CHANGED, refused=key, text=text, page=page, typed=typed
    )
    return RefusedWithResult("conflict", CHANGED, "body.based_on", result=result)


def _path(key: str) -> tuple[str, ...]:
    path = tuple(key.split("."))
    if not is_changeable(path) or len(path) != 2 or path[0] == "tools":
        raise CallRefused("bad_key", FIXED.of(key=verbatim(f"`{key}`")), "body.key")
    return path


def _value_of(path: tuple[str, ...], text: str, services: ConsoleServices) -> Value:
    """Return a text as a value: converted as that of an environment variable, with an item of a
    list in each line. Empty stands for none."""
    annotation = at(type(services.configuration.base), path)
    if item_of(annotation) is not None:
        lines = [part.strip() for line in text.splitlines() for part in line.split(",")]
        return [line for line in lines if line] or None
    return typed(ReferencedText(text.strip()), annotation) if text.strip() else None


def _action(
    name: str,
    path: str,
    summary: str,
    run: Callable[[Viewer, ConsoleServices, Any], Awaitable[ConfigurationOut]],
    example: dict[str, str],
) -> AnyRoute:
    return ConsoleRoute(
        name=name,
        method="POST",
        path=f"{PATH}/{path}",
        allowed=in_person(Role.OWNER),
        summary=summary,
        run=run,
        template=TEMPLATE,
        example=example,
    )


_BASED: Final = {"based_on": "0"}
ROUTES: Final[tuple[AnyRoute, ...]] = (
    _action(
        *("save_configuration", "save", "Save a page of the configuration"),
        save_page,
        {**_BASED, "page": "limits"},
    ),
    _action(
        *("change_value", "change", "Change a value of the configuration"),
        change_value,
        {**_BASED, "key": "limits.user_per_minute", "value": "7"},
    ),
    _action(
        *("change_choices", "choices", "Change a list of words of the configuration"),
        change_choices,
        {**_BASED, "key": "invocation.triggers"},
    ),
    _action(
        *("change_persona", "persona", "Set the persona and the model of a channel"),
        change_persona,
        {**_BASED, "name": "web:general", "persona": "Brief."},
    ),
    _action(
        *("change_triggers", "triggers", "Set the triggers of a channel"),
        change_triggers,
        {**_BASED, "name": "web:general", "prefix": "!"},
    ),
    _action(
        *("change_tool", "tool", "Set the rule of a tool"),
        change_tool,
        {**_BASED, "name": "remember"},
    ),
    _action(
        *("change_price", "price", "Set the price of a model"),
        change_price,
        {**_BASED, "name": "model-a", "input": "1", "output": "2"},
    ),
    _action(
        *("remove_entry", "remove", "Remove an entry of the configuration"),
        remove_entry,
        {**_BASED, "section": "tools", "name": "x"},
    ),
    _action(
        *("revert_value", "revert", "Drop an override, so that the file counts again"),
        revert,
        {**_BASED, "key": "limits.user_per_minute"},
    ),
)
