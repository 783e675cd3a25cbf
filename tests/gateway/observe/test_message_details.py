"""What a trace says of a message that only its platform knows, and never its text."""

from dataclasses import replace

import pytest

from gateway.message import (
    DiscordExtras,
    Extras,
    InteractiveReply,
    Location,
    SlackExtras,
    TelegramExtras,
    WhatsAppExtras,
)
from gateway.observe.message_details import details_of
from tests.support.gateway import gateway
from tests.support.messages import direct, received


@pytest.mark.parametrize(
    ("extras", "told"),
    [
        (None, ""),
        (DiscordExtras(), ""),
        (DiscordExtras(("1", "2"), ("3",), True), "2 mentions, 1 role mention, @everyone"),
        (SlackExtras(), ""),
        (
            SlackExtras("[]", ("U1",), ("C1", "C2"), True),
            "blocks, 1 mention, 2 channel mentions, broadcast",
        ),
        (TelegramExtras(), ""),
        (
            TelegramExtras("ask", "secret", ("secret",), ("@secret",), True),
            "command, 1 mention, 1 hashtag, chosen from an inline query",
        ),
        (WhatsAppExtras(), ""),
        (
            WhatsAppExtras(False, InteractiveReply("1", "secret"), Location(1.0, 2.0, "secret")),
            "reply to a button or list, location, came after the 24-hour window",
        ),
    ],
)
def test_everything_is_named_and_nothing_is_quoted(extras: Extras, told: str) -> None:
    assert details_of(extras) == told


async def test_the_trace_of_a_message_has_it() -> None:
    async with gateway() as g:
        extras = WhatsAppExtras(window_open=False)
        event = received("hello", at=direct())
        await g.take(replace(event, message=replace(event.message, extras=extras)))
        (trace,) = await g.services.stores.traces.find(event.message.id)
        (decision,) = [one for one in trace.decisions if one.stage == "invocation"]
        assert decision.detail == "came after the 24-hour window"
