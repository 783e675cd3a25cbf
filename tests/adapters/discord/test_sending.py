"""Answers of the gateway appear on Discord once, and every failure has its name."""

import asyncio

import pytest

from adapters.discord.send import SUPPRESS_EMBEDS
from gateway.errors import DeliveryError, FormatRejected, Permanent, Transient
from gateway.message import (
    Button,
    ButtonPressed,
    CommandInvoked,
    MessageReceived,
    Outbound,
    OutboundFile,
    Part,
    Place,
)
from gateway.people import Audience
from simulators.base import Fault, Shown, SimRoom
from simulators.discord import DiscordSimulator, RateLimit
from tests.adapters.discord.rig import Rig, connected, text
from tests.support.patience import PATIENCE

POST = "POST /channels/{id}/messages"


def posts(sim: DiscordSimulator) -> int:
    """The number of requested messages."""
    return sum(call.method == POST for call in sim.calls)


def last(shown: list[Shown]) -> Shown:
    """The newest message that still stands."""
    return [message for message in shown if not message.deleted][-1]


@pytest.fixture
def room(sim: DiscordSimulator) -> SimRoom:
    return sim.room("general")


async def invoked_command(rig: Rig, room: SimRoom, question: str = "why?") -> CommandInvoked:
    """A slash command that was accepted and deferred."""
    await rig.sim.command(rig.sim.person("Ann"), room, "ask", question)
    event = await rig.inbox.first(CommandInvoked)
    await rig.sim.wait_until(lambda: any("callback" in call.method for call in rig.sim.calls))
    return event


def sent_content(rig: Rig, room: SimRoom) -> str:
    """The content of the latest message, as it was sent."""
    return list(rig.sim.world.channels[room.id].messages.values())[-1].content


async def test_registered_commands_can_be_pressed(rig: Rig, room: SimRoom) -> None:
    ids = {str(command["name"]): command["id"] for command in rig.sim.world.commands}
    said = "`/ask` me, or `/unknown`, not `/ask why`"
    await rig.adapter.send(text("k", rig.place(room), said))
    content = sent_content(rig, room)
    assert content == f"</ask:{ids['ask']}> me, or `/unknown`, not `/ask why`"


async def test_a_message_that_would_be_too_long_keeps_its_commands(rig: Rig, room: SimRoom) -> None:
    said = "`/ask` " * 200
    await rig.adapter.send(text("k", rig.place(room), said.strip()))
    assert "</ask:" not in sent_content(rig, room)


# --- ordinary messages ----------------------------------------------------------------------------


async def test_an_answer_replies_to_its_question(rig: Rig, room: SimRoom) -> None:
    question = await rig.sim.say(rig.sim.person("Ann"), room, "hi", mention=True)
    outbound = text("k", rig.place(room), "**hello**", reply_to_id=question)
    receipt = await rig.adapter.send(outbound)
    shown = rig.sim.shown(room)[-1]
    assert (shown.id, shown.text, shown.reply_to_id) == (receipt.message_id, "hello", question)
    assert receipt.timestamp is not None


async def test_an_answer_to_a_deleted_question_is_sent(rig: Rig, room: SimRoom) -> None:
    ann = rig.sim.person("Ann")
    question = await rig.sim.say(ann, room, "hi")
    await rig.sim.delete(ann, room, question)
    await rig.adapter.send(text("k", rig.place(room), "hello", reply_to_id=question))
    assert last(rig.sim.shown(room)).text == "hello"


async def test_an_answer_in_a_thread_stays_there(rig: Rig, room: SimRoom) -> None:
    thread = await rig.sim.open_thread(rig.sim.person("Ann"), room, "topic")
    await rig.adapter.send(text("k", rig.place(thread), "inside"))
    assert [message.text for message in rig.sim.shown(thread)] == ["inside"]


async def test_the_text_of_the_model_notifies_nobody(rig: Rig, room: SimRoom) -> None:
    await rig.adapter.send(text("k", rig.place(room), "@everyone look"))
    assert rig.sim.shown(room)[-1].payload["allowed_mentions"] == {
        "parse": [],
        "replied_user": True,
    }


async def test_discord_creates_no_preview_for_an_address_in_an_answer(
    rig: Rig, room: SimRoom
) -> None:
    await rig.adapter.send(text("k", rig.place(room), "see https://e.org/?q=words"))
    assert rig.sim.shown(room)[-1].payload["flags"] == SUPPRESS_EMBEDS


async def test_parts_of_a_long_answer_keep_their_order(rig: Rig, room: SimRoom) -> None:
    for number in range(8):
        await rig.adapter.send(text(f"a:{number}", rig.place(room), f"{number}" * 2000))
    assert [message.text[0] for message in rig.sim.shown(room)] == list("01234567")


async def test_the_same_key_is_shown_once(rig: Rig, room: SimRoom) -> None:
    first = await rig.adapter.send(text("k", rig.place(room), "once"))
    second = await rig.adapter.send(text("k", rig.place(room), "once"))
    assert first.message_id == second.message_id
    assert len(rig.sim.shown(room)) == 1


async def test_buttons_are_in_rows_of_five(rig: Rig, room: SimRoom) -> None:
    buttons = tuple(Button(f"Choice {number}" + "!" * 100, f"v{number}") for number in range(12))
    await rig.adapter.send(text("k", rig.place(room), "Choose", buttons=buttons))
    shown = rig.sim.shown(room)[-1]
    assert [button.value for button in shown.buttons] == [f"v{number}" for number in range(12)]
    assert all(len(button.label) <= 80 for button in shown.buttons)
    rows = shown.payload["components"]
    assert isinstance(rows, list)
    assert [len(row["components"]) for row in rows] == [5, 5, 2]


async def test_a_file_is_sent_completely(rig: Rig, room: SimRoom) -> None:
    file = OutboundFile("data.csv", "text/csv", b"a;b\n1;2\n")
    await rig.adapter.send(Outbound("k", rig.place(room), Part("see", "see"), file))
    (sent,) = rig.sim.shown(room)[-1].files
    assert (sent.name, sent.mime, sent.data) == (file.name, file.mime, file.data)


async def test_a_large_file_is_sent_completely(rig: Rig, room: SimRoom) -> None:
    file = OutboundFile("big.bin", "application/octet-stream", b"x" * 3_000_000)
    await rig.adapter.send(Outbound("k", rig.place(room), file=file))
    assert len(rig.sim.shown(room)[-1].files[0].data) == 3_000_000


async def test_own_messages_can_be_edited_and_deleted(rig: Rig, room: SimRoom) -> None:
    place = rig.place(room)
    receipt = await rig.adapter.send(text("k", place, "draft"))
    await rig.adapter.end_live(
        Outbound("k", place, Part("final", "final"), replaces=receipt.message_id)
    )
    shown = rig.sim.shown(room)[-1]
    assert (shown.text, shown.edited) == ("final", True)
    await rig.adapter.delete(place, receipt.message_id)
    assert rig.sim.shown(room)[-1].deleted


async def test_typing_and_reactions_are_shown(rig: Rig, room: SimRoom) -> None:
    message_id = await rig.sim.say(rig.sim.person("Ann"), room, "hi")
    await rig.adapter.typing(rig.place(room), message_id)
    await rig.adapter.react(rig.place(room), message_id, "👍")
    assert rig.sim.typing(room) == 1
    assert rig.sim.world.channels[room.id].messages[message_id].reactions["👍"]


async def test_a_private_message_is_not_shown_in_the_room(rig: Rig, room: SimRoom) -> None:
    ann = rig.sim.person("Ann")
    question = await rig.sim.say(ann, room, "hi", mention=True)
    outbound = text("k", rig.place(room), "slow down", reply_to_id=question, private_to=ann.id)
    await rig.adapter.send(outbound)
    assert len(rig.sim.shown(room)) == 1
    assert rig.sim.shown(rig.sim.direct(ann))[-1].text == "slow down"


# --- commands and buttons -------------------------------------------------------------------------


async def test_a_command_is_answered_in_its_place(rig: Rig, room: SimRoom) -> None:
    event = await invoked_command(rig, room)
    place, handle = rig.place(room), event.reply_handle
    await rig.adapter.send(text("a:0", place, "first", reply_handle=handle))
    await rig.adapter.send(text("a:1", place, "second", reply_handle=handle))
    first, second = rig.sim.shown(room)
    assert (first.text, second.text) == ("first", "second")
    assert "nonce" not in first.payload, "it took the place of the thinking message"
    assert "nonce" in second.payload, "what follows can be repeated safely"


async def test_a_repeated_answer_to_a_command_is_shown_once(rig: Rig, room: SimRoom) -> None:
    event = await invoked_command(rig, room)
    first = text("a:0", rig.place(room), "first", reply_handle=event.reply_handle)
    second = text("a:1", rig.place(room), "second", reply_handle=event.reply_handle)
    for outbound in (first, first, second, second):
        await rig.adapter.send(outbound)
    assert [message.text for message in rig.sim.shown(room)] == ["first", "second"]


async def test_a_restart_between_parts_loses_and_repeats_nothing(
    sim: DiscordSimulator, room: SimRoom
) -> None:
    async with connected(sim) as before:
        event = await invoked_command(before, room)
        first = text("a:0", before.place(room), "first", reply_handle=event.reply_handle)
        await before.adapter.send(first)
    async with connected(sim) as after:
        await after.adapter.send(first)
        second = text("a:1", after.place(room), "second", reply_handle=event.reply_handle)
        await after.adapter.send(second)
    assert [message.text for message in sim.shown(room)] == ["first", "second"]


async def test_a_command_that_arrives_twice_is_deferred_once(rig: Rig, room: SimRoom) -> None:
    rig.sim.duplicate_next()
    event = await invoked_command(rig, room)
    await rig.inbox.wait(2)
    await rig.adapter.send(text("a", rig.place(room), "once", reply_handle=event.reply_handle))
    assert [message.text for message in rig.sim.shown(room)] == ["once"]
    assert [call.status for call in rig.sim.calls if "callback" in call.method] == [204]


async def test_an_answer_before_the_deferral_waits_for_it(rig: Rig, room: SimRoom) -> None:
    slow = Fault("POST /interactions/{id}/{token}/callback", "slow", delay=0.2)
    rig.sim.faults.add(slow)
    await rig.sim.command(rig.sim.person("Ann"), room, "context")
    event = await rig.inbox.first(CommandInvoked)
    outbound = text("a", rig.place(room), "here", reply_handle=event.reply_handle)
    await rig.adapter.send(outbound)
    (shown,) = rig.sim.shown(room)
    assert shown.text == "here"
    assert "nonce" not in shown.payload, "it took the place of the thinking message"


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_private_answer_to_a_command_is_seen_by_one_person(
    sim: DiscordSimulator, room: SimRoom, restarted: bool
) -> None:
    async with connected(sim) as before:
        event = await invoked_command(before, room)
        outbound = text(
            "a",
            before.place(room),
            "secret",
            reply_handle=event.reply_handle,
            private_to=event.author.id,
        )
        if not restarted:
            await before.adapter.send(outbound)
    if restarted:
        async with connected(sim) as after:
            await after.adapter.send(outbound)
    shown = last(sim.shown(room))
    assert (shown.text, shown.only_for) == ("secret", event.author.id)


async def test_a_button_is_answered_below_its_message(rig: Rig, room: SimRoom) -> None:
    ann, place = rig.sim.person("Ann"), rig.place(room)
    sent = await rig.adapter.send(text("q", place, "Sure?", buttons=(Button("Yes", "yes"),)))
    await rig.sim.press(ann, room, sent.message_id, "Yes")
    handle = (await rig.inbox.first(ButtonPressed)).reply_handle
    await rig.adapter.send(text("a", place, "done", reply_handle=handle))
    whisper = text("b", place, "only you", reply_handle=handle, private_to=ann.id)
    await rig.adapter.send(whisper)
    shown = rig.sim.shown(room)
    assert [message.text for message in shown] == ["Sure?", "done", "only you"]
    assert [message.only_for for message in shown] == ["", "", ann.id]


async def test_an_expired_interaction_is_answered_in_the_room(rig: Rig, room: SimRoom) -> None:
    rig.sim.set_interaction_deadline(-1.0)
    event = await invoked_command(rig, room)
    place = rig.place(room)
    await rig.adapter.send(text("a", place, "late", reply_handle=event.reply_handle))
    assert last(rig.sim.shown(room)).text == "late"
    secret = text("b", place, "s", reply_handle=event.reply_handle, private_to=event.author.id)
    with pytest.raises(Permanent):
        await rig.adapter.send(secret)


async def test_an_invalid_handle_is_refused(rig: Rig, room: SimRoom) -> None:
    with pytest.raises(Permanent, match="handle"):
        await rig.adapter.send(text("a", rig.place(room), "x", reply_handle="nonsense"))


# --- what goes wrong ------------------------------------------------------------------------------


async def test_a_rate_limit_is_reported_exactly_and_not_waited_for(rig: Rig, room: SimRoom) -> None:
    rig.sim.faults.add(Fault(POST, "rate_limit", retry_after=77.25))
    with pytest.raises(Transient) as caught:
        await asyncio.wait_for(rig.adapter.send(text("k", rig.place(room), "x")), PATIENCE)
    assert (caught.value.retry_after, caught.value.whole_account) == (77.25, False)
    assert posts(rig.sim) == 1
    await rig.adapter.send(text("k", rig.place(room), "x"))
    assert len(rig.sim.shown(room)) == 1


async def test_a_global_rate_limit_applies_to_the_account(rig: Rig, room: SimRoom) -> None:
    rig.sim.faults.add(Fault("*", "rate_limit", retry_after=3.5))
    with pytest.raises(Transient) as caught:
        await asyncio.wait_for(rig.adapter.send(text("k", rig.place(room), "x")), PATIENCE)
    assert (caught.value.retry_after, caught.value.whole_account) == (3.5, True)


async def test_an_empty_bucket_is_waited_for_by_the_library(room: SimRoom) -> None:
    sim = DiscordSimulator(rate_limit=RateLimit(3, 0.4))
    await sim.start()
    try:
        async with connected(sim) as rig:
            place = rig.place(sim.room("general"))
            for number in range(7):
                await rig.adapter.send(text(str(number), place, str(number)))
        assert all(call.status != 429 for call in sim.calls)
    finally:
        await sim.stop()


async def test_a_server_error_is_transient_and_not_retried_here(rig: Rig, room: SimRoom) -> None:
    rig.sim.faults.add(Fault(POST, "server_error"))
    with pytest.raises(Transient):
        await rig.adapter.send(text("k", rig.place(room), "x"))
    assert posts(rig.sim) == 1


@pytest.mark.parametrize(
    ("outbound_text", "buttons"),
    [("x" * 2001, ()), ("", ()), ("x", (Button("a", "v" * 101),)), ("x", (Button("a", ""),))],
)
async def test_a_part_that_discord_cannot_show_is_permanent(
    rig: Rig, room: SimRoom, outbound_text: str, buttons: tuple[Button, ...]
) -> None:
    with pytest.raises(Permanent):
        await rig.adapter.send(text("k", rig.place(room), outbound_text, buttons=buttons))
    assert rig.sim.shown(room) == []


async def test_missing_access_and_a_missing_channel_are_permanent(rig: Rig, room: SimRoom) -> None:
    rig.sim.revoke_access(room)
    with pytest.raises(Permanent, match="50001"):
        await rig.adapter.send(text("k", rig.place(room), "x"))
    nowhere = Place("discord", "main", "1234", Audience.PUBLIC_ROOM)
    with pytest.raises(Permanent, match="10003"):
        await rig.adapter.send(text("k", nowhere, "x"))
    with pytest.raises(Permanent):
        await rig.adapter.end_live(Outbound("k", nowhere, Part("x", "x"), replaces="55"))


async def test_a_part_of_another_platform_is_refused(rig: Rig, room: SimRoom) -> None:
    with pytest.raises(Permanent):
        await rig.adapter.send(Outbound("k", rig.place(room), Part({"blocks": []}, "x")))


async def test_a_send_without_a_connection_is_transient(sim: DiscordSimulator) -> None:
    rig = Rig(sim)
    with pytest.raises(Transient):
        await rig.adapter.send(text("k", rig.place(sim.room("general")), "x"))


async def test_every_failure_is_a_delivery_error(rig: Rig, room: SimRoom) -> None:
    place = rig.place(room)
    for fault in ("rate_limit", "server_error", "drop_before", "drop_after"):
        rig.sim.faults.add(Fault("*", fault))
        with pytest.raises(DeliveryError):
            await rig.adapter.typing(place, "")
    assert not issubclass(FormatRejected, Permanent)
    await rig.sim.say(rig.sim.person("Ann"), room, "still listening")
    await rig.inbox.first(MessageReceived)
