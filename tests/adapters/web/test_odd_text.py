"""Characters that JSON can spell and no database stores."""

import json
from datetime import UTC, datetime

import pytest

from adapters.web.parse import Envelope, parse
from gateway.message import ButtonPressed, MessageReceived
from gateway.stores.codec import event_from_json, event_to_json

HERE = Envelope("main", "web-ada", datetime(2026, 11, 22, tzinfo=UTC))
ID = "0" * 32


@pytest.mark.parametrize(
    ("spelled", "kept"), [("a\\ud83db", "a\ufffdb"), ("a\\u0000b", "a\ufffdb"), ("😀", "😀")]
)
def test_a_text_that_databases_refuse_is_stored_with_replacement_characters(
    spelled: str, kept: str
) -> None:
    document = json.loads(f'{{"id": "{ID}", "type": "message", "text": "{spelled}"}}')
    (event,) = parse(document, HERE)
    assert isinstance(event, MessageReceived)
    assert event.message.content == kept
    assert event_from_json(event_to_json(event)) == event


def test_a_buttons_value_and_label_are_stored_the_same_way() -> None:
    texts = {"id": ID, "type": "button", "message_id": ID, "value": "v\ud83d", "label": "\x00"}
    (event,) = parse(texts, HERE)
    assert isinstance(event, ButtonPressed)
    assert (event.value, event.label) == ("v\ufffd", "\ufffd")
