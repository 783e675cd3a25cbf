"""Shortcuts to the events of a payload."""

from typing import Any

from adapters.slack.event_context import SlackBot
from adapters.slack.parse import parse
from gateway.message import (
    ChatMessage,
    InboundEvent,
    MessageReceived,
)


def received(payload: dict[str, Any], me: SlackBot | None = None) -> ChatMessage:
    (event,) = parse(payload, me)
    assert isinstance(event, MessageReceived)
    return event.message


def only(payload: dict[str, Any]) -> InboundEvent:
    (event,) = parse(payload)
    return event
