"""The adapter against a simulated Telegram over real sockets, polling and by webhook."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from adapters.telegram.adapter import public_url
from gateway.errors import (
    Ambiguous,
    BadInput,
    FormatRejected,
    Permanent,
    StartError,
    Transient,
)
from gateway.message import (
    Button,
    ButtonPressed,
    CommandInvoked,
    InlineQueried,
    MembershipChanged,
    MessageEdited,
    MessageReceived,
    Outbound,
    OutboundFile,
    Part,
    Place,
    ReactionChanged,
)
from gateway.people import Audience
from simulators.base import Fault, SimFile, SimRoom
from simulators.telegram import TelegramSimulator
from tests.adapters.telegram.harness import (
    COMMANDS,
    Listener,
    MemoryState,
    Sink,
    adapter_for,
    connected,
    until,
)

MODES = pytest.mark.parametrize("mode", ["polling", "webhook"])
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


def place_in(room: SimRoom, audience: Audience = Audience.DIRECT) -> Place:
    return Place("telegram", "main", room.id, audience, thread_id=room.thread_id)


def text(place: Place, html: str, plain: str = "", **more: object) -> Outbound:
    outbound = Outbound("k1", place, Part(html, plain or html))
    return replace(outbound, **more)  # type: ignore[arg-type]


@MODES
async def test_a_direct_message_arrives_and_is_answered(mode: str) -> None:
    async with connected(mode) as bench:
        ann = bench.sim.person("Ann")
        room = bench.sim.direct(ann)
        said = await bench.sim.say(ann, room, "hello 😀")
        (event,) = await bench.sink.wait()
        assert isinstance(event, MessageReceived)
        message = event.message
        assert (message.id, message.content, message.author.name) == (said, "hello 😀", "Ann")
        assert message.is_direct_message
        receipt = await bench.adapter.send(
            text(message.place, "<b>hi</b> &lt;you&gt;", "hi <you>", reply_to_id=said)
        )
        shown = await bench.sim.wait_for(room, lambda all_: any(one.by_bot for one in all_))
        assert shown[-1].id == receipt.message_id
        assert shown[-1].text == "hi <you>"
        assert shown[-1].html == "<b>hi</b> &lt;you&gt;"
        assert shown[-1].reply_to_id == said
        assert receipt.timestamp is not None


@MODES
async def test_a_mention_in_a_group_reaches_us_and_the_rest_does_not(mode: str) -> None:
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


async def test_the_general_topic_is_named_only_when_typing() -> None:
    async with connected("polling") as bench:
        room = bench.sim.room("Team")
        general = replace(place_in(room), thread_id="1")
        await bench.adapter.typing(general, "")
        await bench.adapter.send(text(general, "for all"))
        assert bench.sim.sending.actions == [(int(room.id), 1, "typing")]
        assert bench.sim.shown(room)[-1].text == "for all"


@MODES
async def test_commands_are_registered_once_and_arrive_with_arguments(mode: str) -> None:
    async with connected(mode) as bench:
        await until(lambda: bool(bench.sim.api.commands))
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
async def test_a_button_is_pressed_and_stops_spinning(mode: str) -> None:
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
async def test_an_inline_query_offers_texts(mode: str) -> None:
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
        assert events[1].message.content == "What is the capital of France?"


@MODES
async def test_files_come_and_go(mode: str) -> None:
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


async def test_a_picture_that_telegram_refuses_goes_as_a_document() -> None:
    async with connected("polling") as bench:
        room = bench.sim.direct(bench.sim.person("Ann"))
        broken = OutboundFile("a.png", "image/png", b"not a picture")
        await bench.adapter.send(Outbound("k", place_in(room), file=broken))
        assert [call.method for call in bench.sim.calls][-2:] == ["sendPhoto", "sendDocument"]
        assert bench.sim.shown(room)[-1].files[0].data == b"not a picture"


@MODES
async def test_an_album_is_one_message_in_its_place(mode: str) -> None:
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


async def test_an_album_that_nobody_addressed_is_not_kept_by_the_webhook() -> None:
    async with connected("webhook", privacy=False) as bench:
        ann, room = bench.sim.person("Ann"), bench.sim.room("Team")
        pictures = tuple(SimFile(f"{n}.png", "image/png", PNG) for n in range(2))
        await bench.sim.say(ann, room, "our trip", files=pictures)
        await bench.sink.wait(2)
        assert bench.state.values == {}


async def test_an_album_survives_a_stop_between_its_parts_and_the_merge() -> None:
    async with connected("webhook") as bench:
        ann = bench.sim.person("Ann")
        pictures = tuple(SimFile(f"{n}.png", "image/png", PNG) for n in range(2))
        await bench.sim.say(ann, bench.sim.direct(ann), "mine", files=pictures)
        await until(lambda: not bench.sim.queue.waiting)
        await bench.adapter.disconnect()
        assert bench.sink.events == []
        await bench.adapter.connect(bench.sink)
        (event,) = await bench.sink.wait()
        assert isinstance(event, MessageReceived)
        assert len(event.message.attachments) == 2


@MODES
async def test_edits_and_reactions_arrive(mode: str) -> None:
    async with connected(mode) as bench:
        ann = bench.sim.person("Ann")
        room = bench.sim.direct(ann)
        said = await bench.sim.say(ann, room, "helo")
        await bench.sim.edit(ann, room, said, "hello")
        await bench.sim.react(ann, room, said, "👍")
        _, edited, reacted = await bench.sink.wait(3)
        assert isinstance(edited, MessageEdited)
        assert (edited.message.id, edited.message.content) == (said, "hello")
        assert isinstance(reacted, ReactionChanged)
        assert (reacted.emoji, reacted.added, reacted.message_id) == ("👍", True, said)


async def test_we_edit_delete_and_react() -> None:
    async with connected("polling") as bench:
        ann = bench.sim.person("Ann")
        room = bench.sim.direct(ann)
        said = await bench.sim.say(ann, room, "hi")
        place = place_in(room)
        sent = await bench.adapter.send(text(place, "one"))
        await bench.adapter.edit(place, sent.message_id, Part("<i>two</i>", "two"))
        await bench.adapter.edit(place, sent.message_id, Part("<i>two</i>", "two"))
        assert bench.sim.shown(room)[-1].html == "<i>two</i>"
        await bench.adapter.react(place, said, "❤️")
        assert bench.sim.sending.reactions[int(said)] == ("❤",)
        with pytest.raises(Permanent):
            await bench.adapter.react(place, said, "🧀")
        await bench.adapter.delete(place, sent.message_id)
        assert bench.sim.shown(room)[-1].deleted
        with pytest.raises(Permanent):
            await bench.adapter.edit(place, sent.message_id, Part("three", "three"))


@MODES
async def test_being_blocked_is_noticed(mode: str) -> None:
    async with connected(mode) as bench:
        room = bench.sim.direct(bench.sim.person("Ann"))
        bench.sim.block(room)
        (event,) = await bench.sink.wait()
        assert isinstance(event, MembershipChanged)
        assert (event.is_self, event.joined) == (True, False)
        with pytest.raises(Permanent, match="blocked"):
            await bench.adapter.send(text(place_in(room), "hello?"))


@MODES
async def test_a_duplicate_carries_the_same_id(mode: str) -> None:
    async with connected(mode) as bench:
        ann = bench.sim.person("Ann")
        bench.sim.duplicate_next()
        await bench.sim.say(ann, bench.sim.direct(ann), "once")
        first, second = await bench.sink.wait(2)
        assert first == second


@MODES
async def test_what_the_store_refuses_comes_again_in_order(mode: str) -> None:
    async with connected(mode, Sink(failures=2)) as bench:
        ann, bob = bench.sim.person("Ann"), bench.sim.person("Bob")
        for number in range(5):
            await bench.sim.say(ann, bench.sim.direct(ann), f"ann {number}")
            await bench.sim.say(bob, bench.sim.direct(bob), f"bob {number}")
        events = await bench.sink.wait(10)
        texts = [one.message.content for one in events if isinstance(one, MessageReceived)]
        for name in ("ann", "bob"):
            mine = [one for one in texts if one.startswith(name)]
            assert mine == [f"{name} {number}" for number in range(5)]


async def test_nothing_is_confirmed_before_it_is_stored() -> None:
    sink = Sink(failures=10_000)
    async with connected("polling", sink) as bench:
        ann = bench.sim.person("Ann")
        await bench.sim.say(ann, bench.sim.direct(ann), "keep me")
        await until(lambda: sink.failures < 9_998)
        assert len(bench.sim.queue.waiting) == 1
        await bench.adapter.disconnect()
        assert len(bench.sim.queue.waiting) == 1
        sink.failures = 0
        await bench.adapter.connect(sink)
        await sink.wait()
        await until(lambda: not bench.sim.queue.waiting)


async def test_an_update_that_breaks_the_gateway_does_not_stop_the_others() -> None:
    sink = Sink(broken=5)
    async with connected("polling", sink) as bench:
        ann = bench.sim.person("Ann")
        await bench.sim.say(ann, bench.sim.direct(ann), "poison")
        await bench.sim.say(ann, bench.sim.direct(ann), "fine")
        (event,) = await sink.wait()
        assert isinstance(event, MessageReceived)
        assert event.message.content == "fine"


async def test_unknown_kinds_of_update_are_counted() -> None:
    async with connected("polling") as bench:
        bench.sim.queue.allowed = None
        bench.sim.queue.add("purchased_paid_media", 1, {"from": {"id": 1}})
        await until(lambda: bench.counts["ignored:purchased_paid_media"] == 1)
        assert bench.sink.events == []


async def test_a_rate_limit_gives_the_exact_seconds() -> None:
    async with connected("polling") as bench:
        room = bench.sim.direct(bench.sim.person("Ann"))
        bench.sim.faults.add(Fault("sendMessage", "rate_limit", retry_after=17))
        with pytest.raises(Transient) as caught:
            await bench.adapter.send(text(place_in(room), "hi"))
        assert caught.value.retry_after == 17


@pytest.mark.parametrize(
    ("fault", "error", "shown"),
    [
        (Fault("sendMessage", "server_error"), Transient, 0),
        (Fault("sendMessage", "drop_before"), Ambiguous, 0),
        (Fault("sendMessage", "drop_after"), Ambiguous, 1),
    ],
)
async def test_what_a_failed_send_means(fault: Fault, error: type[Exception], shown: int) -> None:
    async with connected("polling") as bench:
        room = bench.sim.direct(bench.sim.person("Ann"))
        bench.sim.faults.add(fault)
        with pytest.raises(error):
            await bench.adapter.send(text(place_in(room), "hi"))
        assert len(bench.sim.shown(room)) == shown


async def test_refusals_are_told_apart() -> None:
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


async def test_a_long_answer_with_code_arrives_whole() -> None:
    async with connected("polling") as bench:
        room = bench.sim.direct(bench.sim.person("Ann"))
        code = "x = '😀'\n" * 100
        html = f'<pre><code class="language-python">{code}</code></pre>'
        await bench.adapter.send(text(place_in(room), html, code))
        assert bench.sim.shown(room)[-1].text == code.strip()


@MODES
async def test_polling_and_webhook_survive_dropped_connections(mode: str) -> None:
    async with connected(mode) as bench:
        ann = bench.sim.person("Ann")
        await bench.sim.say(ann, bench.sim.direct(ann), "before")
        await bench.sink.wait(1)
        await bench.sim.drop_connections()
        bench.sim.faults.add(Fault("getUpdates", "server_error"))
        bench.sim.faults.add(Fault("getUpdates", "rate_limit", retry_after=0.1))
        await bench.sim.say(ann, bench.sim.direct(ann), "after")
        await bench.sink.wait(2)


async def test_the_webhook_takes_only_what_has_the_secret() -> None:
    async with connected("webhook") as bench:
        ann = bench.sim.person("Ann")
        assert bench.sim.webhook.settings is not None
        right = bench.sim.webhook.settings
        bench.sim.webhook.settings = replace(right, secret="wrong")
        await bench.sim.say(ann, bench.sim.direct(ann), "let me in")
        await until(lambda: "401" in bench.sim.webhook.last_error)
        assert bench.sink.events == []
        bench.sim.webhook.settings = right
        await bench.sink.wait(1)


async def test_a_store_that_fails_answers_503() -> None:
    async with connected("webhook", Sink(failures=1)) as bench:
        ann = bench.sim.person("Ann")
        await bench.sim.say(ann, bench.sim.direct(ann), "again please")
        await bench.sink.wait(1)
        assert "503" in bench.sim.webhook.last_error


async def test_a_wrong_token_says_what_to_do() -> None:
    sim = TelegramSimulator()
    await sim.start()
    try:
        token = "7000000001:another-token"
        adapter = adapter_for(sim, Listener(), Counter[str](), MemoryState(), bot_token=token)
        with pytest.raises(StartError, match="BotFather") as caught:
            await adapter.connect(Sink())
        assert caught.value.permanent
        assert token not in str(caught.value)
        assert caught.value.__cause__ is None
        checks = await adapter.diagnose()
        assert [one.ok for one in checks] == [False]
    finally:
        await sim.stop()


async def test_nobody_at_home_is_not_permanent() -> None:
    sim = TelegramSimulator()
    await sim.start()
    adapter = adapter_for(sim, Listener(), Counter[str](), MemoryState())
    await sim.stop()
    with pytest.raises(StartError, match="cannot be reached") as caught:
        await adapter.connect(Sink())
    assert not caught.value.permanent


async def test_a_second_receiver_ends_the_first_with_advice() -> None:
    async with connected("polling") as bench:
        bench.sim.faults.clear()
        other = adapter_for(bench.sim, Listener(), Counter[str](), MemoryState())
        closed = asyncio.create_task(bench.adapter.wait_closed())
        await other.connect(Sink())
        closed_other = asyncio.create_task(other.wait_closed())
        done, _ = await asyncio.wait(
            (closed, closed_other), timeout=20, return_when="FIRST_COMPLETED"
        )
        assert done
        with pytest.raises(StartError, match="Another program"):
            done.pop().result()
        await other.disconnect()
        await bench.adapter.disconnect()
        await asyncio.gather(closed, closed_other, return_exceptions=True)


async def test_wait_closed_returns_after_disconnect() -> None:
    async with connected("polling") as bench:
        closed = asyncio.create_task(bench.adapter.wait_closed())
        await asyncio.sleep(0)
        await bench.adapter.disconnect()
        await asyncio.wait_for(closed, 2)
        await bench.adapter.disconnect()
        with pytest.raises(Transient):
            await bench.adapter.send(text(Place("telegram", "main", "1", Audience.DIRECT), "x"))


async def test_two_accounts_live_side_by_side() -> None:
    listener, counts = Listener(), Counter[str]()
    sims = [
        TelegramSimulator("webhook", username="first_bot", token="1:aaaa"),
        TelegramSimulator("webhook", username="second_bot", token="2:bbbb"),
    ]
    sinks = [Sink(), Sink()]
    adapters = []
    async with listener.running():
        for sim, sink, account in zip(sims, sinks, ("main", "support"), strict=True):
            await sim.start()
            path = "/webhook/telegram" + ("" if account == "main" else f"/{account}")
            url = f"https://parley.example{path}"
            adapter = adapter_for(sim, listener, counts, MemoryState(), account, webhook_url=url)
            await adapter.connect(sink)
            sim.attach(listener.url)
            adapters.append(adapter)
        assert sorted(listener.handlers) == ["/webhook/telegram", "/webhook/telegram/support"]
        for sim in sims:
            ann = sim.person("Ann")
            await sim.say(ann, sim.direct(ann), f"to {sim.world.username}")
        for sim, sink, account in zip(sims, sinks, ("main", "support"), strict=True):
            (event,) = await sink.wait()
            assert isinstance(event, MessageReceived)
            assert event.message.content == f"to {sim.world.username}"
            assert event.message.place.account == account
        for adapter in adapters:
            await adapter.disconnect()
        assert listener.handlers == {}
        for sim in sims:
            await sim.stop()


@MODES
async def test_the_doctor_looks_at_what_goes_wrong(mode: str) -> None:
    async with connected(mode) as bench:
        checks = {one.name: one for one in await bench.adapter.diagnose()}
        assert checks["bot token"].detail == "this is @parley_sim_bot"
        assert "setprivacy" in checks["privacy mode"].advice
        assert all(one.ok for one in checks.values())
        await bench.adapter.disconnect()
        other = "polling" if mode == "webhook" else "webhook"
        changed = adapter_for(
            bench.sim,
            Listener(),
            Counter[str](),
            MemoryState(),
            mode=other,
            webhook_url="https://x.example",
            webhook_secret="s",
        )
        checks = {one.name: one for one in await changed.diagnose()}
        assert checks["updates"].ok is (mode == "polling")


async def test_our_path_is_appended_to_an_address_without_one() -> None:
    assert public_url("https://a.example/", "/webhook/telegram") == (
        "https://a.example/webhook/telegram"
    )
    assert public_url("https://a.example/x/tg", "/webhook/telegram") == "https://a.example/x/tg"
