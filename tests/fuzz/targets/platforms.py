"""Payloads of the platforms."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from adapters.discord.parse import parse as discord
from adapters.slack.parse import parse as slack
from adapters.telegram.message_text import TelegramBot
from adapters.telegram.parse import kind_of
from adapters.telegram.parse import parse as telegram
from adapters.web.parse import Envelope
from adapters.web.parse import parse as web
from adapters.whatsapp.parse import read as whatsapp
from gateway.message import (
    MAX_CONTENT,
    InboundEvent,
    MessageEdited,
    MessageReceived,
)
from gateway.stores.codec import event_from_json, event_to_json
from tests.adapters.discord.payloads import EXAMPLES
from tests.adapters.slack.payloads import EVERYTHING
from tests.adapters.telegram.updates import samples
from tests.adapters.whatsapp.test_parse import EXAMPLES as WRITTEN
from tests.fuzz.target import Target, on_json

ME: Final = TelegramBot("900", "OurBot")
PAGE: Final = Envelope("main", "web-ada", datetime(2026, 11, 22, tzinfo=UTC))
ON_PAGE: Final = (
    {"id": "0" * 32, "type": "message", "text": "/ask why", "reply_to": "1" * 32},
    {"id": "0" * 32, "type": "message", "text": "x", "files": [{"ref": "a/b", "size": 3}]},
    {"id": "0" * 32, "type": "edit", "message_id": "1" * 32, "text": "y"},
    {"id": "0" * 32, "type": "delete", "message_id": "1" * 32},
    {"id": "0" * 32, "type": "button", "message_id": "1" * 32, "value": "v", "label": "Yes"},
)


def check(events: Sequence[InboundEvent]) -> None:
    """Each event has an id and a place, a text within its bound, and survives the inbox."""
    for event in events:
        assert event.event_id
        assert event.place.platform
        assert event_from_json(event_to_json(event)) == event
        if isinstance(event, MessageReceived | MessageEdited):
            assert len(event.message.content) <= MAX_CONTENT
            event.message.content.encode()


def _discord(payload: Any) -> None:
    check(discord(payload if isinstance(payload, dict) else {}))


def _web(payload: Any) -> None:
    check(web(payload if isinstance(payload, dict) else {}, PAGE))


def _telegram(payload: Any) -> None:
    check(telegram(payload, ME))
    assert kind_of(payload)


TARGETS: Final[tuple[Target, ...]] = (
    on_json("parse-discord", _discord, *EXAMPLES),
    on_json("parse-slack", lambda payload: check(slack(payload)), *EVERYTHING),
    on_json("parse-telegram", _telegram, *samples()),
    on_json("parse-whatsapp", lambda p: check([a.event for a in whatsapp(p).events]), *WRITTEN),
    on_json("parse-web", _web, *ON_PAGE),
)
