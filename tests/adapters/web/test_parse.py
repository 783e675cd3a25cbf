"""The page's JSON becomes events, or nothing."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.web.parse import Envelope, language_of, parse
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Quote,
)
from gateway.people import Audience
from tests.support.for_each import for_each

ENVELOPE = Envelope("main", "web-ada", datetime(2026, 11, 3, tzinfo=UTC))
ID = "0123456789abcdef"


def test_a_message_is_a_direct_message_of_the_person_of_the_session() -> None:
    [event] = parse({"type": "message", "id": ID, "text": "Hello"}, ENVELOPE)
    assert isinstance(event, MessageReceived)
    assert event.event_id == event.message.id == ID
    assert event.message.content == "Hello"
    assert event.message.author.id == event.message.channel_id == "web-ada"
    assert event.message.place.audience is Audience.DIRECT


@for_each(
    "header, language",
    [
        *(("de-AT,de;q=0.9,en;q=0.8", "de-AT"), ("en;q=0.3, ja ;q=0.7", "ja"), ("*", "")),
        *(("", ""), ("de;q=0", ""), ("de;q=2", ""), ("de;q=x,fr;q=0.1", "fr"), ("<b>", "")),
        ("x" * 100_000, ""),
    ],
)
def test_the_language_is_the_best_of_the_browser(header: str, language: str) -> None:
    assert language_of(header) == language


def test_every_event_has_the_language_of_the_browser() -> None:
    german = Envelope("main", "web-ada", datetime(2026, 11, 3, tzinfo=UTC), language="de")
    for payload in ({"type": "message", "text": "Hi"}, {"type": "stop"}):
        [event] = parse({"id": ID, **payload}, german)
        assert event.author is not None
        assert event.author.language == "de"


def test_the_author_is_never_read_from_the_payload() -> None:
    claimed = {"author": "owner", "person_id": "owner", "account": "other", "is_bot": True}
    [event] = parse({"type": "message", "id": ID, "text": "Hi", **claimed}, ENVELOPE)
    assert isinstance(event, MessageReceived)
    assert str(event.message.person) == "web:main:web-ada"
    assert not event.message.author.is_bot


def test_a_quoted_line_is_read_from_the_server() -> None:
    quote = Quote("a-1", "the answer", by_this_bot=True)
    [event] = parse(
        {"type": "message", "id": ID, "text": "why?", "reply_to": "forged"}, ENVELOPE, quote
    )
    assert isinstance(event, MessageReceived)
    assert event.message.reply_to_id == "a-1"
    assert event.message.quote == quote


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("/ask what now?", "ask", "what now?"),
        ("/Clear", "clear", ""),
        (" /ask two\nlines ", "ask", "two\nlines"),
    ],
)
def test_a_slash_begins_a_command(text: str, name: str, arguments: str) -> None:
    [event] = parse({"type": "message", "id": ID, "text": text}, ENVELOPE)
    assert isinstance(event, CommandInvoked)
    assert (event.name, event.arguments) == (name, arguments)
    assert event.message is not None


@pytest.mark.parametrize("text", ["/etc/hosts is a file", "/", "//", "/1", "a /ask b"])
def test_other_texts_with_a_slash_are_messages(text: str) -> None:
    [event] = parse({"type": "message", "id": ID, "text": text}, ENVELOPE)
    assert isinstance(event, MessageReceived)


def test_files_become_attachments_of_their_kind() -> None:
    files = [
        {"ref": "web-ada/1", "name": "cat.png", "mime": "image/png", "size": 3},
        {"ref": "web-ada/2", "name": "notes.txt", "mime": "text/plain", "size": True},
        {"name": "no ref"},
        "nonsense",
    ]
    [event] = parse({"type": "message", "id": ID, "text": "", "files": files}, ENVELOPE)
    assert isinstance(event, MessageReceived)
    first, second = event.message.attachments
    assert (first.kind, first.size) == ("image", 3)
    assert (second.kind, second.size) == ("document", None)


def test_edits_deletions_and_buttons_become_events() -> None:
    [edit] = parse({"type": "edit", "id": ID, "message_id": "m" * 8, "text": "new"}, ENVELOPE)
    [gone] = parse({"type": "delete", "id": ID, "message_id": "m" * 8}, ENVELOPE)
    [press] = parse(
        {"type": "button", "id": ID, "message_id": "m" * 8, "value": "yes", "label": "Yes"},
        ENVELOPE,
    )
    assert isinstance(edit, MessageEdited)
    assert (edit.message.id, edit.message.content) == ("m" * 8, "new")
    assert isinstance(gone, MessageDeleted)
    assert gone.message_ids == ("m" * 8,)
    assert isinstance(press, ButtonPressed)
    assert (press.value, press.label) == ("yes", "Yes")


@for_each(
    "payload",
    [
        {},
        {"type": "message", "text": "no id"},
        {"type": "message", "id": "short", "text": "x"},
        {"type": "message", "id": "../../etc/passwd", "text": "x"},
        {"type": "message", "id": ID},
        {"type": "message", "id": ID, "text": "  "},
        {"type": "message", "id": ID, "text": 7},
        {"type": "message", "id": ID, "text": "x" * 40_001},
        {"type": "edit", "id": ID, "text": "x"},
        {"type": "delete", "id": ID},
        {"type": "button", "id": ID, "message_id": "m" * 8, "value": ""},
        {"type": "button", "id": ID, "message_id": "m" * 8, "value": "v" * 65},
        {"type": "shout", "id": ID, "text": "x"},
        {"type": ["message"], "id": ID, "text": "x"},
    ],
)
def test_malformed_objects_give_no_event(payload: dict[str, object]) -> None:
    assert parse(payload, ENVELOPE) == []


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
_keys = st.sampled_from(["type", "id", "text", "message_id", "value", "label", "files", "reply_to"])
_likely = st.sampled_from(["message", "edit", "delete", "button", ID, "/ask", "hello"])
_payloads = st.dictionaries(_keys, _likely | _json, max_size=8)


def _parses(payload: dict[str, object]) -> None:
    for event in parse(payload, ENVELOPE):
        author = event.author
        assert author is None or author.id == "web-ada"
        json.dumps(str(event))


@given(_payloads)
def test_any_object_gives_events_of_this_person_or_none(payload: dict[str, object]) -> None:
    _parses(payload)


@pytest.mark.nightly
@given(_payloads)
@settings(max_examples=10_000, deadline=None)
def test_many_generated_objects_give_events_or_none(payload: dict[str, object]) -> None:
    _parses(payload)
