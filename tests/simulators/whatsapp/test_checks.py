"""The simulator refuses what Meta refuses."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulators.whatsapp.checks import Draft, ReadMark, check
from simulators.whatsapp.errors import GraphError
from tests.support.for_each import for_each

HEAD: dict[str, Any] = {"messaging_product": "whatsapp", "to": "4915550000042"}


def buttons(*titles: str, body: str = "choose", ids: tuple[str, ...] = ()) -> dict[str, Any]:
    """Reply buttons."""
    replies = [
        {"type": "reply", "reply": {"id": ids[i] if ids else f"id{i}", "title": title}}
        for i, title in enumerate(titles)
    ]
    inside = {"type": "button", "body": {"text": body}, "action": {"buttons": replies}}
    return {**HEAD, "type": "interactive", "interactive": inside}


def rows(
    count: int, title: str = "t", description: str = "", body: str = "choose", button: str = "Open"
) -> dict[str, Any]:
    """A list."""
    row = {"title": title} | ({"description": description} if description else {})
    sections = [{"rows": [{"id": f"r{i}", **row} for i in range(count)]}]
    action = {"button": button, "sections": sections}
    inside = {"type": "list", "body": {"text": body}, "action": action}
    return {**HEAD, "type": "interactive", "interactive": inside}


def template(*texts: str) -> dict[str, Any]:
    """A template with these parameters."""
    parameters = [{"type": "text", "text": text} for text in texts]
    components = [{"type": "body", "parameters": parameters}]
    inside = {"name": "follow_up", "language": {"code": "de"}, "components": components}
    return {**HEAD, "type": "template", "template": inside}


@pytest.mark.parametrize(
    "body",
    [
        {**HEAD, "type": "text", "text": {"body": "x" * 4096}},
        {**HEAD, "type": "image", "image": {"id": "1", "caption": "c" * 1024}},
        {**HEAD, "type": "document", "document": {"link": "https://x.example/a", "filename": "a"}},
        {**HEAD, "type": "reaction", "reaction": {"message_id": "wamid.x", "emoji": ""}},
        {**HEAD, "type": "text", "text": {"body": "x"}, "context": {"message_id": "wamid.x"}},
        buttons("Yes", "No", "Later", body="b" * 1024),
        rows(10, "t" * 24, "d" * 72, body="b" * 4096),
        template("fine"),
        {
            "messaging_product": "whatsapp",
            "recipient": "DE.123",
            "type": "text",
            "text": {"body": "x"},
        },
    ],
)
def test_valid_requests_are_accepted(body: dict[str, Any]) -> None:
    assert isinstance(check(body), Draft)


@for_each(
    ("body", "code"),
    [
        ({"to": "4915550000042", "type": "text", "text": {"body": "x"}}, 100),
        ({"messaging_product": "whatsapp", "type": "text", "text": {"body": "x"}}, 100),
        ({**HEAD, "to": "Ada", "type": "text", "text": {"body": "x"}}, 131009),
        ({"messaging_product": "whatsapp", "recipient": "4915", "text": {"body": "x"}}, 131009),
        ({**HEAD, "type": "text"}, 131008),
        ({**HEAD, "type": "text", "text": {"body": ""}}, 100),
        ({**HEAD, "type": "text", "text": {"body": "x" * 4097}}, 100),
        ({**HEAD, "type": "text", "text": {"body": "x", "colour": "red"}}, 100),
        ({**HEAD, "type": "text", "text": {"body": "x"}, "image": {"id": "1"}}, 100),
        ({**HEAD, "type": "poll", "poll": {}}, 100),
        ({**HEAD, "type": "image", "image": {}}, 100),
        ({**HEAD, "type": "image", "image": {"id": "1", "link": "https://x.example"}}, 100),
        ({**HEAD, "type": "image", "image": {"id": "1", "caption": "c" * 1025}}, 100),
        ({**HEAD, "type": "image", "image": {"id": "1", "filename": "a.png"}}, 100),
        ({**HEAD, "type": "audio", "audio": {"id": "1", "caption": "c"}}, 100),
        (buttons("Yes", "No", "Later", "Never"), 131009),
        (buttons("t" * 21), 100),
        (buttons("Same", "Same"), 131009),
        (buttons("A", "B", ids=("x", "x")), 131009),
        (buttons("A", ids=(" x",)), 131009),
        (buttons("A", body="b" * 1025), 100),
        (rows(11), 131009),
        (rows(1, "t" * 25), 100),
        (rows(1, "t", "d" * 73), 100),
        (rows(1, body="b" * 4097), 100),
        (rows(1, button="b" * 21), 100),
        (template("two\nlines"), 132018),
        (template("a\ttab"), 132018),
        (template("five     spaces"), 132018),
        ({"messaging_product": "whatsapp", "status": "delivered", "message_id": "w"}, 100),
        ({"messaging_product": "whatsapp", "status": "read"}, 131008),
    ],
)
def test_invalid_requests_are_refused(body: dict[str, Any], code: int) -> None:
    with pytest.raises(GraphError) as error:
        check(body)
    assert error.value.code == code


def test_a_read_mark_can_include_the_typing_indicator() -> None:
    mark = {"messaging_product": "whatsapp", "status": "read", "message_id": "wamid.x"}
    assert check(mark) == ReadMark("wamid.x", typing=False)
    assert check({**mark, "typing_indicator": {"type": "text"}}) == ReadMark("wamid.x", typing=True)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["type", "to", "text", "body", "interactive", "action", "buttons", "status"]
                ),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_only_graph_errors_are_raised(value: Any) -> None:
    body = value if isinstance(value, dict) else {"type": value}
    with suppress(GraphError):
        check({**HEAD, **body})
