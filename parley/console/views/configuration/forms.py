"""The forms of the configuration: what operators change most, on pages with one *Save* each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, get_args

from msgspec import Struct
from pydantic import Field

from gateway.ports.action import Output
from parley.config.listing import UNSET, ListedValue

Page = Literal["assistant", "model", "access", "limits", "platforms", "tools", "all"]
PAGES: Final[Sequence[Page]] = get_args(Page)
MAX_FIELDS: Final = 40
Control = Literal["text", "lines", "number", "choice", "choices", "switch"]


class FormField(Struct, frozen=True):
    """A key of the configuration and its name on the page."""

    key: str
    label: str


class FormGroup(Struct, frozen=True):
    """Fields that belong together."""

    title: str
    fields: tuple[FormField, ...]


def _group(title: str, **fields: str) -> FormGroup:
    named = (FormField(key.replace("__", "."), label) for key, label in fields.items())
    return FormGroup(title, tuple(named))


FORMS: Final[Mapping[Page, tuple[FormGroup, ...]]] = {
    "assistant": (
        _group(
            "Who the assistant is",
            assistant__name="Name",
            assistant__persona="Persona",
            assistant__disclosure="Tell people that it is a program",
        ),
        _group(
            "When it answers",
            invocation__triggers="It answers",
            invocation__prefix="Prefix",
            invocation__ignore_bots="Ignore other bots",
            invocation__ignore_if_mentions_others="Ignore messages to other people",
        ),
        _group(
            "Languages",
            languages__default="Language of everybody who has chosen none",
            languages__offered="Offered languages",
        ),
    ),
    "model": (_group("Model that answers", model__name="Model"),),
    "access": (
        _group(
            "Roles",
            access__owners="Owners",
            access__operators="Operators",
            access__members="Members",
            access__default_role="Role of everybody else",
        ),
        _group(
            "People",
            access__allowed_users="Only these people",
            access__blocked_users="Never these people",
        ),
        _group(
            "Places",
            access__allowed_channels="Only these rooms",
            access__blocked_channels="Never these rooms",
            access__allowed_workspaces="Only these workspaces",
            access__blocked_workspaces="Never these workspaces",
        ),
    ),
    "limits": (
        _group(
            "Budgets in dollars",
            budgets__user_per_day="One person in a day",
            budgets__user_per_month="One person in a month",
            budgets__workspace_per_day="One workspace in a day",
            budgets__workspace_per_month="One workspace in a month",
            budgets__user_share="Share of one person",
        ),
        _group(
            "Questions in a minute",
            limits__user_per_minute="One person",
            limits__channel_per_minute="One room",
            limits__workspace_per_minute="One workspace",
            limits__reserve_per_minute="Reserve of one person",
            limits__api_per_minute="Requests of programs of one person",
            limits__agent_per_minute="Calls of one agent",
        ),
    ),
}
"""The groups of each page with a form."""
WORDS: Final[Mapping[str, str]] = {
    "mention": "when somebody mentions it",
    "direct_message": "in direct messages",
    "reply": "when somebody replies to it",
    "prefix": "to messages that begin with the prefix",
    "thread": "to every message of a thread in which it wrote",
    "all": "to every message",
    "member": "member",
    "guest": "guest",
    "true": "yes",
    "false": "no",
}
"""The words of the configuration as people read them."""


class FormFieldOut(Output):
    """A field: the `text` of its value (one item of a list in each line), the control, the words
    that it accepts with what each means, and the problem of a text that was not saved."""

    key: str
    label: str
    text: str
    meaning: str
    rule: str
    overridden: bool
    input: Control
    words: Mapping[str, str]
    problem: str = ""


class FormGroupOut(Output):
    """Fields that belong together."""

    title: str
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


def labels_of(page: Page) -> Mapping[str, str]:
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
