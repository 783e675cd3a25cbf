"""The forms of the configuration: what operators change most, on pages with one *Save* each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, get_args

from msgspec import Struct
from pydantic import Field

from gateway.ports.action import Output
from gateway.text import NO_TEXT, Text, text
from parley.config.listing import UNSET, ListedValue
from parley.console.said import Said, SaidOrStr

Page = Literal["assistant", "model", "access", "limits", "platforms", "tools", "all"]
PAGES: Final[Sequence[Page]] = get_args(Page)
MAX_FIELDS: Final = 40
Control = Literal["text", "lines", "number", "choice", "choices", "switch"]


class FormField(Struct, frozen=True):
    """A key of the configuration and its name on the page."""

    key: str
    label: Text


class FormGroup(Struct, frozen=True):
    """Fields that belong together."""

    title: Text
    fields: tuple[FormField, ...]


def _group(title: Text, **fields: Text) -> FormGroup:
    named = (FormField(key.replace("__", "."), label) for key, label in fields.items())
    return FormGroup(title, tuple(named))


FORMS: Final[Mapping[Page, tuple[FormGroup, ...]]] = {
    "assistant": (
        _group(
            text("Who the assistant is"),
            assistant__name=text("Name"),
            assistant__persona=text("Persona"),
            assistant__disclosure=text("Tell people that it is a program"),
        ),
        _group(
            text("When it answers"),
            invocation__triggers=text("It answers"),
            invocation__prefix=text("Prefix"),
            invocation__ignore_bots=text("Ignore other bots"),
            invocation__ignore_if_mentions_others=text("Ignore messages to other people"),
        ),
        _group(
            text("Languages"),
            languages__default=text("Language of people who have not chosen one"),
            languages__offered=text("Offered languages"),
        ),
    ),
    "model": (_group(text("Model that answers"), model__name=text("Model")),),
    "access": (
        _group(
            text("Roles"),
            access__owners=text("Owners"),
            access__operators=text("Operators"),
            access__members=text("Members"),
            access__default_role=text("Role of everybody else"),
        ),
        _group(
            text("People"),
            access__allowed_users=text("Allowed people"),
            access__blocked_users=text("Blocked people"),
        ),
        _group(
            text("Places"),
            access__allowed_channels=text("Allowed rooms"),
            access__blocked_channels=text("Blocked rooms"),
            access__allowed_workspaces=text("Allowed workspaces"),
            access__blocked_workspaces=text("Blocked workspaces"),
        ),
    ),
    "limits": (
        _group(
            text("Budgets in dollars"),
            budgets__user_per_day=text("One person per day"),
            budgets__user_per_month=text("One person per month"),
            budgets__workspace_per_day=text("One workspace per day"),
            budgets__workspace_per_month=text("One workspace per month"),
            budgets__user_share=text("Largest share of one person"),
        ),
        _group(
            text("Questions per minute"),
            limits__user_per_minute=text("One person"),
            limits__channel_per_minute=text("One room"),
            limits__workspace_per_minute=text("One workspace"),
            limits__reserve_per_minute=text("Always kept for one person"),
            limits__api_per_minute=text("Requests from one person's programs"),
            limits__agent_per_minute=text("Calls by one agent"),
        ),
        _group(
            text("Messages without being asked"),
            proactive__quiet_hours=text("Quiet hours of people who chose none"),
            proactive__per_day=text("Messages to a person per day"),
            proactive__per_place=text("Messages to a room per day"),
            proactive__keep_days=text("Days for which one waits"),
        ),
    ),
}
"""The groups of each page with a form."""
WORDS: Final[Mapping[str, Text]] = {
    "mention": text("when somebody mentions it"),
    "direct_message": text("in direct messages"),
    "reply": text("when somebody replies to it"),
    "prefix": text("to messages that begin with the prefix"),
    "thread": text("to every message of a thread in which it wrote"),
    "all": text("to every message"),
    "member": text("member"),
    "guest": text("guest"),
    "off": text("no"),
    "first_contact": text("once in each place"),
    "true": text("yes"),
    "false": text("no"),
}
"""The words of the configuration as people read them."""


class FormFieldOut(Output):
    """A field: the `text` of its value (one item of a list in each line), the control, the words
    that it accepts with what each means, and the problem of a text that was not saved."""

    key: str
    label: Said
    text: str
    meaning: Said
    rule: Said
    overridden: bool
    input: Control
    words: Mapping[str, SaidOrStr]
    problem: Said = NO_TEXT


class FormGroupOut(Output):
    """Fields that belong together."""

    title: Said
    fields: tuple[FormFieldOut, ...] = Field(max_length=MAX_FIELDS)


def keys_of(page: Page) -> frozenset[str]:
    """Return the keys of the form of a page."""
    return frozenset(one.key for group in FORMS.get(page, ()) for one in group.fields)


def groups_of(
    page: Page,
    fields: Mapping[str, FormFieldOut],
) -> Iterator[FormGroupOut]:
    """Return the groups of a page with these fields, by their keys."""
    for group in FORMS.get(page, ()):
        found = (fields.get(one.key) for one in group.fields)
        yield FormGroupOut(title=group.title, fields=tuple(one for one in found if one is not None))


def labels_of(page: Page) -> Mapping[str, Text]:
    """Return the names of the fields of a page, by their keys."""
    return {one.key: one.label for group in FORMS.get(page, ()) for one in group.fields}


def field_text(value: ListedValue) -> str:
    """Return the text of a value in its field; empty for one that is not set."""
    return "" if value.text == UNSET else value.text


def same(typed: str, present: str, *, many: bool) -> bool:
    """Return True if a typed text is the present value; `many`: one item in each line."""
    if many:
        return _items(typed) == _items(present)
    return typed.replace("\r\n", "\n").strip() == present.strip()


def _items(text: str) -> list[str]:
    return [item for line in text.splitlines() for item in (line.strip(),) if item]
