"""Actions of people on Slack reach the gateway as typed events, through the real client library."""

import asyncio

import pytest

from adapters.slack.receive import ACK_SECONDS
from gateway.message import (
    Button,
    ButtonPressed,
    CommandInvoked,
    MembershipChanged,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Outbound,
    Part,
    Place,
    ReactionChanged,
)
from gateway.people import Audience
from simulators.base import SimFile
from simulators.slack.couriers import VERIFY_SECONDS
from simulators.slack.world import Channel
from tests.adapters.slack.conftest import Rig
from tests.support.adapter_context import unavailable
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually


async def test_a_direct_message_is_received(rig: Rig) -> None:
    anna = rig.slack.person("Anna")
    sent = await rig.slack.say(anna, rig.slack.direct(anna), "hello & <welcome>")
    message = (await rig.sink.first(MessageReceived)).message
    assert message.id == sent
    assert message.is_direct_message
    assert message.author.name == "Anna"
    assert message.place.workspace_id == rig.slack.world.team


async def test_the_time_zone_of_a_person_is_asked_for(rig: Rig) -> None:
    anna, ben = rig.slack.person("Anna"), rig.slack.person("Ben")
    rig.slack.world.zones[anna.id] = "Europe/Zurich"
    await rig.slack.say(anna, rig.slack.direct(anna), "hello")
    await rig.slack.say(ben, rig.slack.direct(ben), "hello")
    await rig.sink.first(MessageReceived, 2)
    heard = {one.author.name: one.author.zone for one in rig.sink.of(MessageReceived)}
    assert heard == {"Anna": "Europe/Zurich", "Ben": "Etc/UTC"}


async def test_the_language_of_a_person_is_asked_for(rig: Rig) -> None:
    anna, ben = rig.slack.person("Anna"), rig.slack.person("Ben")
    rig.slack.world.languages[anna.id] = "de-DE"
    await rig.slack.say(anna, rig.slack.direct(anna), "hello")
    await rig.slack.say(ben, rig.slack.direct(ben), "hello")
    await rig.sink.first(MessageReceived, 2)
    heard = {one.author.name: one.author.language for one in rig.sink.of(MessageReceived)}
    assert heard == {"Anna": "de-DE", "Ben": "en-US"}


async def test_a_mention_is_received_as_one_message(rig: Rig) -> None:
    anna, room = rig.slack.person("Anna"), rig.slack.room("general")
    await rig.slack.say(anna, room, "what is new?", mention=True)
    await rig.sink.first(MessageReceived, 2)
    first, second = rig.sink.of(MessageReceived)
    assert first.message.content == "what is new?"
    assert first.message.mentions_bot
    assert first.message.place.audience is Audience.PUBLIC_ROOM
    # Slack tells of a mention twice; by its id the second is known to be the same.
    assert first.event_id == second.event_id


async def test_a_message_in_a_thread_is_received(rig: Rig) -> None:
    anna = rig.slack.person("Anna")
    room = rig.slack.room("secret", "private")
    thread = await rig.slack.open_thread(anna, room, "plans")
    await rig.slack.say(anna, thread, "first idea")
    reply = (await rig.sink.first(MessageReceived, 2)).message
    assert reply.thread_id == thread.thread_id
    assert reply.reply_to_id == thread.thread_id
    assert reply.place.audience is Audience.PRIVATE_ROOM
    assert rig.sink.of(MessageReceived)[0].message.thread_id is None


async def test_a_slash_command_is_received(rig: Rig) -> None:
    anna, room = rig.slack.person("Anna"), rig.slack.room("general")
    await rig.slack.command(anna, room, "ask", "what is the payload?")
    event = await rig.sink.first(CommandInvoked)
    assert (event.name, event.arguments) == ("ask", "what is the payload?")
    assert event.author.id == anna.id
    assert event.reply_handle


async def test_a_command_in_the_bots_direct_messages_is_direct(rig: Rig) -> None:
    anna = rig.slack.person("Anna")
    await rig.slack.command(anna, rig.slack.direct(anna), "context")
    assert (await rig.sink.first(CommandInvoked)).place.audience is Audience.DIRECT


@pytest.mark.parametrize("visible", [False, True])
async def test_a_command_between_two_people_is_not_direct(rig: Rig, visible: bool) -> None:
    anna, ben = rig.slack.person("Anna"), rig.slack.person("Ben")
    foreign = Channel("D0OTHERS", "direct", "Anna and Ben", bot_inside=visible, peer=ben.id)
    rig.slack.world.channels[foreign.id] = foreign
    room = rig.slack.direct(anna)
    await rig.slack.command(anna, type(room)("D0OTHERS", "direct"), "context")
    assert (await rig.sink.first(CommandInvoked)).place.audience is Audience.PRIVATE_ROOM


async def test_a_button_press_is_received(rig: Rig) -> None:
    anna, room = rig.slack.person("Anna"), rig.slack.room("general")
    place = Place("slack", "main", room.id, Audience.PUBLIC_ROOM, rig.slack.world.team)
    buttons = (Button("Yes", "yes:1"), Button("No", "no:1"))
    receipt = await rig.adapter.send(Outbound("k", place, Part("Sure?", "Sure?"), buttons=buttons))
    await rig.slack.press(anna, room, receipt.message_id, "Yes")
    pressed = await rig.sink.first(ButtonPressed)
    assert (pressed.value, pressed.label) == ("yes:1", "Yes")
    assert pressed.message_id == receipt.message_id
    assert pressed.author.name == "Anna"


@pytest.mark.parametrize("ours", [True, False])
async def test_a_button_between_two_people_is_not_direct(rig: Rig, ours: bool) -> None:
    anna, ben = rig.slack.person("Anna"), rig.slack.person("Ben")
    room = rig.slack.direct(anna)
    if not ours:
        foreign = Channel("D0OTHERS", "direct", "Anna and Ben", bot_inside=True, peer=ben.id)
        rig.slack.world.channels[foreign.id] = foreign
        room = type(room)("D0OTHERS", "direct")
    place = Place("slack", "main", room.id, Audience.DIRECT, rig.slack.world.team)
    buttons = (Button("Yes", "yes:1"), Button("No", "no:1"))
    receipt = await rig.adapter.send(Outbound("k", place, Part("Sure?", "Sure?"), buttons=buttons))
    await rig.slack.press(anna, room, receipt.message_id, "Yes")
    expected = Audience.DIRECT if ours else Audience.PRIVATE_ROOM
    assert (await rig.sink.first(ButtonPressed)).place.audience is expected


async def test_an_attachment_is_announced_and_can_be_fetched(rig: Rig) -> None:
    anna = rig.slack.person("Anna")
    picture = SimFile("cat.png", "image/png", b"\x89PNG cat")
    await rig.slack.say(anna, rig.slack.direct(anna), "look", files=(picture,))
    (attachment,) = (await rig.sink.first(MessageReceived)).message.attachments
    assert (attachment.kind, attachment.name, attachment.size) == ("image", "cat.png", 8)
    assert await rig.adapter.fetch(attachment, limit=100) == picture.data


async def test_a_file_in_a_channel_with_another_company_is_looked_up(rig: Rig) -> None:
    anna, room = rig.slack.person("Anna"), rig.slack.room("partners")
    rig.slack.share(room)
    picture = SimFile("cat.png", "image/png", b"\x89PNG cat")
    await rig.slack.say(anna, room, "look", mention=True, files=(picture,))
    (attachment,) = (await rig.sink.first(MessageReceived)).message.attachments
    assert (attachment.kind, attachment.name, attachment.size) == ("image", "cat.png", 8)
    assert await rig.adapter.fetch(attachment, limit=100) == picture.data


async def test_edits_and_deletions_are_received(rig: Rig) -> None:
    anna = rig.slack.person("Anna")
    room = rig.slack.direct(anna)
    sent = await rig.slack.say(anna, room, "helo")
    await rig.slack.edit(anna, room, sent, "hello")
    edited = (await rig.sink.first(MessageEdited)).message
    assert (edited.id, edited.content) == (sent, "hello")
    await rig.slack.delete(anna, room, sent)
    assert (await rig.sink.first(MessageDeleted)).message_ids == (sent,)


async def test_reactions_are_received(rig: Rig) -> None:
    anna, room = rig.slack.person("Anna"), rig.slack.room("general")
    sent = await rig.slack.say(anna, room, "done?")
    await rig.slack.react(anna, room, sent, "👍")
    added = await rig.sink.first(ReactionChanged)
    assert (added.emoji, added.added, added.message_id) == ("👍", True, sent)
    await rig.slack.unreact(anna, room, sent, "👍")
    assert not (await rig.sink.first(ReactionChanged, 2)).added


async def test_the_bots_arrival_and_removal_are_received(rig: Rig) -> None:
    room = rig.slack.room("general")
    await rig.slack.invite(room)
    joined = await rig.sink.first(MembershipChanged)
    assert joined.joined
    assert joined.is_self
    await rig.slack.remove_bot(room)
    assert not (await rig.sink.first(MembershipChanged, 2)).joined


async def test_the_bots_own_messages_are_not_events(rig: Rig) -> None:
    anna = rig.slack.person("Anna")
    room = rig.slack.direct(anna)
    place = Place("slack", "main", room.id, Audience.DIRECT)
    receipt = await rig.adapter.send(Outbound("k", place, Part("hi", "hi")))
    await rig.adapter.end_live(
        Outbound("k", place, Part("hello", "hello"), replaces=receipt.message_id)
    )
    await rig.slack.say(anna, room, "thanks")
    await rig.sink.first(MessageReceived)
    assert [event.message.content for event in rig.sink.of(MessageReceived)] == ["thanks"]
    assert not rig.sink.of(MessageEdited)


async def test_an_event_that_was_not_stored_is_not_acknowledged_and_repeated(rig: Rig) -> None:
    anna = rig.slack.person("Anna")
    rig.sink.failures = unavailable(1)
    await rig.slack.say(anna, rig.slack.direct(anna), "important")
    assert (await rig.sink.first(MessageReceived)).message.content == "important"
    assert rig.counts["unacknowledged", "message"] == 1


async def test_a_hanging_store_is_waited_for_at_most_as_long_as_slack_allows(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ACK_SECONDS < VERIFY_SECONDS, "Slack's own patience"
    monkeypatch.setattr("adapters.slack.receive.ACK_SECONDS", 0.1)
    anna = rig.slack.person("Anna")
    rig.sink.hold = asyncio.Event()
    for courier in (rig.slack.sockets, rig.slack.http):
        courier.ack_within, courier.retry_after = 0.5, (0.1,) * 100
    await rig.slack.say(anna, rig.slack.direct(anna), "slow")
    await eventually(lambda: rig.counts["unacknowledged", "message"])
    monkeypatch.undo()
    rig.sink.hold.set()
    assert (await rig.sink.first(MessageReceived)).message.content == "slow"


async def test_messages_of_a_channel_stay_in_order(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.receive.ACK_SECONDS", PATIENCE)
    rig.slack.sockets.ack_within = rig.slack.http.ack_within = PATIENCE
    anna, room = rig.slack.person("Anna"), rig.slack.room("general")
    texts = [str(number) for number in range(50)]
    for text in texts:
        await rig.slack.say(anna, room, text)
    await rig.sink.first(MessageReceived, 50)
    assert [event.message.content for event in rig.sink.of(MessageReceived)] == texts


async def test_a_slow_message_is_not_overtaken_in_its_channel(socket_rig: Rig) -> None:
    slack, sink = socket_rig.slack, socket_rig.sink
    anna, room, elsewhere = slack.person("Anna"), slack.room("general"), slack.room("other")
    slack.sockets.ack_within = PATIENCE
    sink.hold, sink.held = asyncio.Event(), "slow"
    for where, text in ((room, "slow"), (room, "quick"), (elsewhere, "beside")):
        await slack.say(anna, where, text)
    # What came later in another channel is there: the two before it have arrived as well.
    await sink.first(MessageReceived)
    sink.hold.set()
    await sink.first(MessageReceived, 3)
    texts = [event.message.content for event in sink.of(MessageReceived)]
    assert texts == ["beside", "slow", "quick"]


async def test_unknown_events_are_counted_and_acknowledged(rig: Rig) -> None:
    rig.slack.deliveries.start(
        "events_api", "x", {"type": "event_callback", "event": {"type": "?"}}
    )
    await eventually(lambda: rig.counts["ignored", "?"])
    anna = rig.slack.person("Anna")
    await rig.slack.say(anna, rig.slack.direct(anna), "still there?")
    await rig.sink.first(MessageReceived)
    assert rig.slack.sockets.given_up + rig.slack.http.given_up == []


@pytest.mark.parametrize("reason", ["refresh_requested", "warning"])
async def test_a_disconnect_envelope_causes_a_reconnection(socket_rig: Rig, reason: str) -> None:
    anna = socket_rig.slack.person("Anna")
    await socket_rig.slack.request_reconnect(reason)
    await socket_rig.slack.say(anna, socket_rig.slack.direct(anna), "after the change")
    assert (await socket_rig.sink.first(MessageReceived)).message.content == "after the change"


async def test_an_interrupted_socket_is_replaced_without_loss(socket_rig: Rig) -> None:
    anna = socket_rig.slack.person("Anna")
    await socket_rig.slack.drop_connections()
    await socket_rig.slack.say(anna, socket_rig.slack.direct(anna), "while away")
    assert (await socket_rig.sink.first(MessageReceived)).message.content == "while away"
