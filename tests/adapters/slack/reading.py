"""Shortcuts to the events of a payload."""

from typing import Any

from adapters.slack.event_context import BotIdentity
from adapters.slack.parse import parse
from gateway.message import (
    ChatMessage,
    InboundEvent,
    MessageReceived,
)


def received(payload: dict[str, Any], me: BotIdentity | None = None) -> ChatMessage:
    (event,) = parse(payload, me)
    assert isinstance(event, MessageReceived)
    return event.message


def only(payload: dict[str, Any]) -> InboundEvent:
    (event,) = parse(payload)
    return event
