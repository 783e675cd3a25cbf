"""Answers in a chat, and the meaning of Telegram's refusals."""

import pytest

from adapters.telegram.send import inline_request
from gateway.errors import (
    Ambiguous,
    FormatRejected,
    Permanent,
    PlatformFailed,
)
from gateway.immutable import replace
from gateway.message import (
    Button,
    MembershipChanged,
    Outbound,
    OutboundFile,
    Part,
)
from simulators.base import Fault
from tests.adapters.telegram.harness import (
    MODES,
    connected,
    place_in,
    text,
)


async def test_the_general_topic_is_named_for_typing_only() -> None:
    async with connected("polling") as bench:
        room = bench.sim.room("Team")
        general = replace(place_in(room), thread_id="1")
        await bench.adapter.typing(general, "")
        await bench.adapter.send(text(general, "for all"))
        assert bench.sim.sending.actions == [(int(room.id), 1, "typing")]
        assert bench.sim.shown(room)[-1].text == "for all"


async def test_a_picture_that_telegram_refuses_is_sent_as_a_document() -> None:
    async with connected("polling") as bench:
        room = bench.sim.direct(bench.sim.person("Ann"))
        broken = OutboundFile("a.png", "image/png", b"not a picture")
        await bench.adapter.send(Outbound("k", place_in(room), file=broken))
        assert [call.method for call in bench.sim.calls][-2:] == ["sendPhoto", "sendDocument"]
        assert bench.sim.shown(room)[-1].files[0].data == b"not a picture"


async def test_own_messages_are_edited_deleted_and_get_reactions() -> None:
    async with connected("polling") as bench:
        ann = bench.sim.person("Ann")
        room = bench.sim.direct(ann)
        message_id = await bench.sim.say(ann, room, "hi")
        place = place_in(room)
        sent = await bench.adapter.send(text(place, "one"))
        await bench.adapter.end_live(
            Outbound("k", place, Part("<i>two</i>", "two"), replaces=sent.message_id)
        )
        await bench.adapter.end_live(
            Outbound("k", place, Part("<i>two</i>", "two"), replaces=sent.message_id)
        )
        assert bench.sim.shown(room)[-1].html == "<i>two</i>"
        await bench.adapter.react(place, message_id, "❤️")
        assert bench.sim.sending.reactions[int(message_id)] == ("❤",)
        with pytest.raises(Permanent):
            await bench.adapter.react(place, message_id, "🧀")
        await bench.adapter.delete(place, sent.message_id)
        assert bench.sim.shown(room)[-1].deleted
        await bench.adapter.delete(place, sent.message_id)
        with pytest.raises(Permanent):
            await bench.adapter.delete(replace(place, channel_id="42"), sent.message_id)
        with pytest.raises(Permanent):
            await bench.adapter.end_live(
                Outbound("k", place, Part("three", "three"), replaces=sent.message_id)
            )


@MODES
async def test_a_blocked_bot_is_reported(mode: str) -> None:
    async with connected(mode) as bench:
        room = bench.sim.direct(bench.sim.person("Ann"))
        bench.sim.block(room)
        (event,) = await bench.sink.wait()
        assert isinstance(event, MembershipChanged)
        assert (event.is_self, event.joined) == (True, False)
        with pytest.raises(Permanent, match="blocked"):
            await bench.adapter.send(text(place_in(room), "hello?"))


@pytest.mark.parametrize(
    ("fault", "error", "shown"),
    [
        (Fault("sendMessage", "server_error"), PlatformFailed, 0),
        (Fault("sendMessage", "drop_before"), Ambiguous, 0),
        (Fault("sendMessage", "drop_after"), Ambiguous, 1),
    ],
)
async def test_each_failed_send_has_its_error_type(
    fault: Fault, error: type[Exception], shown: int
) -> None:
    async with connected("polling") as bench:
        room = bench.sim.direct(bench.sim.person("Ann"))
        bench.sim.faults.add(fault)
        with pytest.raises(error):
            await bench.adapter.send(text(place_in(room), "hi"))
        assert len(bench.sim.shown(room)) == shown


async def test_refusals_have_distinct_error_types() -> None:
    async with connected("polling") as bench:
        room = bench.sim.direct(bench.sim.person("Ann"))
        place = place_in(room)
        with pytest.raises(FormatRejected):
            await bench.adapter.send(text(place, "<b>open", "open"))
        await bench.adapter.send(text(place, "a < b & <b>", "a < b & <b>"))
        assert bench.sim.shown(room)[-1].text == "a < b & <b>"
        with pytest.raises(Permanent, match="too long"):
            await bench.adapter.send(text(place, "x" * 4097))
        with pytest.raises(Permanent, match="Chat not found"):
            await bench.adapter.send(text(replace(place, channel_id="42"), "x"))
        with pytest.raises(Permanent, match="bytes"):
            await bench.adapter.send(text(place, "x", buttons=(Button("A", "ä" * 33),)))
        with pytest.raises(Permanent, match="not the id"):
            await bench.adapter.send(text(replace(place, channel_id="C123"), "x"))
        await bench.adapter.send(text(place, "x", reply_to_id="999999"))


async def test_a_long_answer_with_code_arrives_completely() -> None:
    async with connected("polling") as bench:
        room = bench.sim.direct(bench.sim.person("Ann"))
        code = "x = '😀'\n" * 100
        html = f'<pre><code class="language-python">{code}</code></pre>'
        await bench.adapter.send(text(place_in(room), html, code))
        assert bench.sim.shown(room)[-1].text == code.strip()


def test_inline_results_are_not_cached() -> None:
    """Telegram would otherwise return it again, to other people or after its deletion."""
    request = inline_request("7", (Button("Ask", "why?"),))
    assert (request["is_personal"], request["cache_time"]) == (True, 0)
