"""Actions of people on a simulated Telegram arrive over real sockets, by polling and by webhook."""

import pytest

from gateway.authorship import Material
from gateway.errors import (
    BadInput,
    Permanent,
)
from gateway.immutable import replace
from gateway.message import (
    Button,
    ButtonPressed,
    CommandInvoked,
    InlineQueried,
    MessageEdited,
    MessageReceived,
    Outbound,
    OutboundFile,
    ReactionChanged,
)
from gateway.people import Audience
from simulators.base import SimFile
from tests.adapters.telegram.harness import (
    COMMANDS,
    MODES,
    PNG,
    connected,
    place_in,
    text,
)
from tests.support.waiting import eventually


@MODES
async def test_a_direct_message_is_received_and_answered(mode: str) -> None:
    async with connected(mode) as bench:
        ann = bench.sim.person("Ann")
        room = bench.sim.direct(ann)
        message_id = await bench.sim.say(ann, room, "hello 😀")
        (event,) = await bench.sink.wait()
        assert isinstance(event, MessageReceived)
        message = event.message
        assert (message.id, message.content, message.author.name) == (message_id, "hello 😀", "Ann")
        assert message.is_direct_message
        receipt = await bench.adapter.send(
            text(message.place, "<b>hi</b> &lt;you&gt;", "hi <you>", reply_to_id=message_id)
        )
        shown = await bench.sim.wait_for(room, lambda all_: any(one.by_bot for one in all_))
        assert shown[-1].id == receipt.message_id
        assert shown[-1].text == "hi <you>"
        assert shown[-1].html == "<b>hi</b> &lt;you&gt;"
        assert shown[-1].reply_to_id == message_id
        assert receipt.timestamp is not None


@MODES
async def test_a_mention_in_a_group_is_received_and_other_messages_are_not(mode: str) -> None:
    async with connected(mode) as bench:
        ann, room = bench.sim.person("Ann"), bench.sim.room("Team")
        await bench.sim.say(ann, room, "nothing for the bot")
        await bench.sim.say(ann, room, "what is 😀 up?", mention=True)
        (event,) = await bench.sink.wait()
        assert isinstance(event, MessageReceived)
        assert event.message.content == "what is 😀 up?"
        assert event.message.mentions_bot
        assert event.message.place.audience is Audience.PUBLIC_ROOM


@MODES
async def test_a_topic_is_a_thread(mode: str) -> None:
    async with connected(mode) as bench:
        ann, room = bench.sim.person("Ann"), bench.sim.room("Team", "private")
        topic = await bench.sim.open_thread(ann, room, "Plans")
        await bench.sim.say(ann, topic, "in here", mention=True)
        (event,) = await bench.sink.wait()
        assert isinstance(event, MessageReceived)
        place = event.message.place
        assert place.thread_id == topic.thread_id
        assert place.audience is Audience.PRIVATE_ROOM
        assert event.message.reply_to_id is None
        await bench.adapter.typing(place, event.message.id)
        await bench.adapter.send(text(place, "noted"))
        shown = await bench.sim.wait_for(topic, lambda all_: all_[-1].by_bot)
        assert shown[-1].text == "noted"
        assert bench.sim.sending.actions == [(int(room.id), int(topic.thread_id), "typing")]


@MODES
async def test_commands_are_registered_once_and_received_with_arguments(mode: str) -> None:
    async with connected(mode) as bench:
        await eventually(lambda: bool(bench.sim.api.commands))
        names = [one["command"] for one in bench.sim.api.commands["default/"]]  # type: ignore[index]
        assert names == [one.name for one in COMMANDS]
        ann, room = bench.sim.person("Ann"), bench.sim.room("Team")
        await bench.sim.command(ann, room, "ask", "why is the sky blue?")
        (event,) = await bench.sink.wait()
        assert isinstance(event, CommandInvoked)
        assert (event.name, event.arguments) == ("ask", "why is the sky blue?")
        assert event.message is not None
        assert event.message.content == "/ask why is the sky blue?"
        await bench.adapter.connect(bench.sink)
        methods = [call.method for call in bench.sim.calls]
        assert methods.count("setMyCommands") == 1


@MODES
async def test_a_button_press_is_received_and_completed(mode: str) -> None:
    async with connected(mode) as bench:
        ann = bench.sim.person("Ann")
        room = bench.sim.direct(ann)
        buttons = (Button("Yes", "answer:yes"), Button("No", "answer:no"))
        sent = await bench.adapter.send(text(place_in(room), "Sure?", buttons=buttons))
        await bench.sim.press(ann, room, sent.message_id, "No")
        (event,) = await bench.sink.wait()
        assert isinstance(event, ButtonPressed)
        assert (event.value, event.label, event.message_id) == ("answer:no", "No", sent.message_id)
        await bench.sim.wait_until(lambda: list(bench.sim.api.callback_queries.values()) == [True])


@MODES
async def test_an_inline_query_gets_texts(mode: str) -> None:
    async with connected(mode) as bench:
        ann, room = bench.sim.person("Ann"), bench.sim.room("Elsewhere")
        query = bench.sim.inline(ann, "capital of France", "group")
        (event,) = await bench.sink.wait()
        assert isinstance(event, InlineQueried)
        assert (event.event_id, event.query) == (query, "capital of France")
        assert event.place.audience is Audience.PUBLIC_ROOM
        await bench.adapter.answer_inline(query, (Button("Ask", "What is the capital of France?"),))
        assert await bench.sim.wait_inline(query) == [("Ask", "What is the capital of France?")]
        await bench.sim.choose_inline(ann, room, query)
        events = await bench.sink.wait(2)
        assert isinstance(events[1], MessageReceived)
        assert events[1].message.mentions_bot
        chosen = Material("chosen", "What is the capital of France?")
        assert (events[1].message.content, events[1].message.material) == ("", (chosen,))


@MODES
async def test_files_are_received_and_sent(mode: str) -> None:
    async with connected(mode) as bench:
        ann = bench.sim.person("Ann")
        room = bench.sim.direct(ann)
        notes = SimFile("notes.txt", "text/plain", b"buy milk")
        await bench.sim.say(ann, room, "read this", files=(notes,))
        (event,) = await bench.sink.wait()
        assert isinstance(event, MessageReceived)
        (attachment,) = event.message.attachments
        assert (attachment.name, attachment.kind, attachment.size) == ("notes.txt", "document", 8)
        assert await bench.adapter.fetch(attachment, 100) == b"buy milk"
        with pytest.raises(BadInput):
            await bench.adapter.fetch(attachment, 5)
        with pytest.raises(BadInput):
            await bench.adapter.fetch(replace(attachment, size=None), 5)
        with pytest.raises(Permanent):
            await bench.adapter.fetch(replace(attachment, ref="gone"), 100)
        place = event.message.place
        for name, mime, data in (("a.png", "image/png", PNG), ("b.bin", "application/x", b"1" * 9)):
            await bench.adapter.send(Outbound(name, place, file=OutboundFile(name, mime, data)))
        files = [file for one in bench.sim.shown(room) if one.by_bot for file in one.files]
        assert [(one.name, one.data) for one in files] == [("a.png", PNG), ("b.bin", b"1" * 9)]


@MODES
async def test_an_album_is_one_message(mode: str) -> None:
    async with connected(mode) as bench:
        ann = bench.sim.person("Ann")
        room = bench.sim.direct(ann)
        pictures = tuple(SimFile(f"{n}.png", "image/png", PNG) for n in range(3))
        first = await bench.sim.say(ann, room, "look at these", files=pictures)
        (event,) = await bench.sink.wait()
        assert isinstance(event, MessageReceived)
        assert event.message.id == first
        assert event.message.content == "look at these"
        assert len(event.message.attachments) == 3
        await bench.sim.say(ann, room, "", files=pictures)
        await bench.sim.say(ann, room, "and?")
        events = await bench.sink.wait(3)
        sizes = [len(one.message.attachments) for one in events if isinstance(one, MessageReceived)]
        assert sizes == [3, 3, 0]


async def test_the_webhook_stores_no_album_that_does_not_address_the_bot() -> None:
    async with connected("webhook", privacy=False) as bench:
        ann, room = bench.sim.person("Ann"), bench.sim.room("Team")
        pictures = tuple(SimFile(f"{n}.png", "image/png", PNG) for n in range(2))
        await bench.sim.say(ann, room, "our trip", files=pictures)
        await bench.sink.wait(2)
        assert bench.state.values == {}


async def test_an_album_survives_a_stop_between_its_parts() -> None:
    async with connected("webhook") as bench:
        ann = bench.sim.person("Ann")
        pictures = tuple(SimFile(f"{n}.png", "image/png", PNG) for n in range(2))
        await bench.sim.say(ann, bench.sim.direct(ann), "mine", files=pictures)
        await eventually(lambda: not bench.sim.queue.waiting)
        await bench.adapter.disconnect()
        assert bench.sink.events == []
        await bench.adapter.connect(bench.sink)
        (event,) = await bench.sink.wait()
        assert isinstance(event, MessageReceived)
        assert len(event.message.attachments) == 2


@MODES
async def test_edits_and_reactions_are_received(mode: str) -> None:
    async with connected(mode) as bench:
        ann = bench.sim.person("Ann")
        room = bench.sim.direct(ann)
        message_id = await bench.sim.say(ann, room, "helo")
        await bench.sim.edit(ann, room, message_id, "hello")
        await bench.sim.react(ann, room, message_id, "👍")
        _, edited, reacted = await bench.sink.wait(3)
        assert isinstance(edited, MessageEdited)
        assert (edited.message.id, edited.message.content) == (message_id, "hello")
        assert isinstance(reacted, ReactionChanged)
        assert (reacted.emoji, reacted.added, reacted.message_id) == ("👍", True, message_id)
