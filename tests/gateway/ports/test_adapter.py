"""The details of the platforms: stored as JSON, read back as their type, named in the trace."""

import pytest

from adapters.discord.messages import DiscordExtras
from adapters.slack.messages import SlackExtras
from adapters.telegram.messages import TelegramExtras
from adapters.whatsapp.messages import InteractiveReply, MapLocation, WhatsAppExtras
from gateway.immutable import replace
from gateway.message import MessageReceived
from gateway.ports.adapter import PlatformExtras, packed, unpacked
from gateway.stores.codec import event_from_json, event_to_json
from tests.support.gateway import gateway
from tests.support.messages import direct, received


@pytest.mark.parametrize(
    ("extras", "details"),
    [
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
            WhatsAppExtras(False, InteractiveReply("1", "secret"), MapLocation(1.0, 2.0, "secret")),
            "reply to a button or list, location, came after the 24-hour window",
        ),
    ],
)
def test_platform_details_are_described_without_content(
    extras: PlatformExtras, details: str
) -> None:
    assert extras.details == details
    event = received("hello", at=direct())
    sent = replace(event, message=replace(event.message, extras=packed(extras)))
    kept = event_from_json(event_to_json(sent))
    assert isinstance(kept, MessageReceived)
    assert kept == sent
    assert (kept.message.extras is None) == (extras == type(extras)())
    assert unpacked(type(extras), kept.message.extras) == extras


async def test_the_trace_of_a_message_contains_it() -> None:
    async with gateway() as g:
        extras = packed(WhatsAppExtras(window_open=False))
        event = received("hello", at=direct())
        await g.take(replace(event, message=replace(event.message, extras=extras)))
        (trace,) = await g.services.stores.traces.find(event.message.id)
        (decision,) = [one for one in trace.decisions if one.stage == "invocation"]
        assert decision.detail == "came after the 24-hour window"
