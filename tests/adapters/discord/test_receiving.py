"""Actions of people on Discord arrive through the real discord.py as events in order."""

import asyncio
import re

import pytest

from adapters.discord.messages import DiscordExtras
from db.errors import StoreUnavailable
from gateway.errors import BadInput, Permanent
from gateway.immutable import replace
from gateway.message import (
    Attachment,
    Button,
    ButtonPressed,
    CommandInvoked,
    MembershipChanged,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    ReactionChanged,
)
from gateway.people import Audience
from gateway.ports.adapter import unpacked
from simulators.base import SimFile
from simulators.discord import DiscordSimulator
from tests.adapters.discord.rig import Rig, begun_anew, connected, text


async def test_a_direct_message_is_received_as_one(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    message_id = await rig.sim.say(ann, rig.sim.direct(ann), "hello")
    event = await rig.inbox.first(MessageReceived)
    message = event.message
    assert event.event_id == message.id == message_id
    assert (message.content, message.author.id, message.author.name) == ("hello", ann.id, "Ann")
    assert message.is_direct_message
    assert message.thread_id is None
    assert message.timestamp.tzinfo is not None


async def test_a_mention_is_an_entity_and_removed_from_the_text(rig: Rig) -> None:
    room = rig.sim.room("general")
    await rig.sim.say(rig.sim.person("Ann"), room, "what is <@1> up to?", mention=True)
    message = (await rig.inbox.first(MessageReceived)).message
    assert message.content == "what is <@1> up to?"
    assert message.mentions_bot
    assert message.place.audience is Audience.PUBLIC_ROOM
    assert message.place.workspace_id == rig.sim.world.guild_id


async def test_other_people_are_mentioned_by_name(rig: Rig) -> None:
    ben = rig.sim.person("Ben")
    room = rig.sim.room("general")
    await rig.sim.say(rig.sim.person("Ann"), room, f"<@{ben.id}> and <#{room.id}>")
    message = (await rig.inbox.first(MessageReceived)).message
    assert message.content == "@Ben and #general"
    assert not message.mentions_bot
    assert message.mentions_others


async def test_the_bots_own_role_is_a_mention_of_the_bot(rig: Rig) -> None:
    room = rig.sim.room("general")
    await rig.sim.say(rig.sim.person("Ann"), room, f"<@&{rig.sim.world.bot_role_id}> hi")
    message = (await rig.inbox.first(MessageReceived)).message
    assert message.mentions_bot
    assert message.content == "hi"


async def test_everyone_is_not_an_invocation(rig: Rig) -> None:
    await rig.sim.say(rig.sim.person("Ann"), rig.sim.room("general"), "@everyone look")
    message = (await rig.inbox.first(MessageReceived)).message
    assert not message.mentions_bot
    extras = unpacked(DiscordExtras, message.extras)
    assert extras.mentions_everyone


async def test_a_room_hidden_from_everyone_is_private(rig: Rig) -> None:
    room = rig.sim.room("staff", "private")
    await rig.sim.say(rig.sim.person("Ann"), room, "psst")
    message = (await rig.inbox.first(MessageReceived)).message
    assert message.place.audience is Audience.PRIVATE_ROOM


async def test_a_thread_belongs_to_its_channel(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    thread = await rig.sim.open_thread(ann, rig.sim.room("staff", "private"), "topic")
    await rig.sim.say(ann, thread, "inside")
    message = (await rig.inbox.first(MessageReceived)).message
    assert (message.channel_id, message.thread_id) == (thread.id, thread.thread_id)
    assert message.place.audience is Audience.PRIVATE_ROOM


async def test_a_forum_post_is_a_thread(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    post = await rig.sim.open_thread(ann, rig.sim.forum("help"), "It broke")
    await rig.sim.say(ann, post, "here is how")
    message = (await rig.inbox.first(MessageReceived)).message
    assert (message.channel_id, message.thread_id) == (post.id, post.thread_id)


async def test_a_reply_contains_the_replied_message(rig: Rig) -> None:
    ann, room = rig.sim.person("Ann"), rig.sim.room("general")
    receipt = await rig.adapter.send(text("k", rig.place(room), "my **answer**"))
    await rig.sim.say(ann, room, "why?", reply_to=receipt.message_id)
    message = (await rig.inbox.first(MessageReceived)).message
    assert message.reply_to_id == receipt.message_id
    assert message.quote is not None
    assert message.quote.by_this_bot
    assert message.quote.text == "my **answer**"
    assert not message.mentions_bot, "the ping of a reply is no mention in the text"


async def test_a_forwarded_message_is_read(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    await rig.sim.forward(ann, rig.sim.direct(ann), "the minutes")
    message = (await rig.inbox.first(MessageReceived)).message
    assert (message.content, [piece.text for piece in message.material]) == ("", ["the minutes"])
    assert message.reply_to_id is None


async def test_own_messages_and_system_messages_are_not_events(rig: Rig) -> None:
    ann, room = rig.sim.person("Ann"), rig.sim.room("general")
    await rig.adapter.send(text("k", rig.place(room), "mine"))
    await rig.sim.open_thread(ann, room, "notice")
    await rig.sim.say(ann, room, "hers")
    event = await rig.inbox.first(MessageReceived)
    assert rig.inbox.events == [event]
    assert event.message.content == "hers"


async def test_edits_deletions_and_reactions_are_received(rig: Rig) -> None:
    ann, room = rig.sim.person("Ann"), rig.sim.room("general")
    first = await rig.sim.say(ann, room, "one")
    second = await rig.sim.say(ann, room, "two")
    third = await rig.sim.say(ann, room, "three")
    await rig.sim.edit(ann, room, first, "one, changed")
    await rig.sim.react(ann, room, second, "👍")
    await rig.sim.unreact(ann, room, second, "👍")
    await rig.sim.react(ann, room, second, "👍")
    await rig.sim.delete(ann, room, first)
    await rig.sim.delete_many(room, (second, third))
    events = (await rig.inbox.wait(9))[3:]
    edit, *reactions, deletion, bulk = events
    assert isinstance(edit, MessageEdited)
    assert (edit.message.id, edit.message.content) == (first, "one, changed")
    assert [(r.emoji, r.added) for r in reactions if isinstance(r, ReactionChanged)] == [
        ("👍", True),
        ("👍", False),
        ("👍", True),
    ]
    assert len({event.event_id for event in events}) == len(events), "each happened once"
    assert isinstance(deletion, MessageDeleted)
    assert deletion.message_ids == (first,)
    assert isinstance(bulk, MessageDeleted)
    assert bulk.message_ids == (second, third)


async def test_an_attachment_is_named_and_can_be_fetched(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    file = SimFile("plan.png", "image/png", b"\x89PNG" * 100)
    await rig.sim.say(ann, rig.sim.direct(ann), "", files=(file,))
    (result,) = (await rig.inbox.first(MessageReceived)).message.attachments
    assert (result.kind, result.name, result.mime, result.size) == (
        "image",
        "plan.png",
        "image/png",
        400,
    )
    assert await rig.adapter.fetch(result, 400) == file.data
    with pytest.raises(BadInput, match="more than 399"):
        await rig.adapter.fetch(result, 399)
    unsized = Attachment(result.kind, result.ref)
    with pytest.raises(BadInput, match="larger than 10"):
        await rig.adapter.fetch(unsized, 10)


async def test_an_attachment_with_an_expired_address_is_fetched_by_a_new_one(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    file = SimFile("plan.png", "image/png", b"\x89PNG" * 100)
    sent = await rig.sim.say(ann, rig.sim.direct(ann), "", files=(file,))
    (fresh,) = (await rig.inbox.first(MessageReceived)).message.attachments
    old = replace(fresh, ref=re.sub("ex=[0-9a-f]+", "ex=1", fresh.ref))
    assert old.ref != fresh.ref
    assert await rig.adapter.fetch(old, 400) == file.data
    await rig.sim.delete(ann, rig.sim.direct(ann), sent)
    with pytest.raises(Permanent):
        await rig.adapter.fetch(old, 400)
    of_another = replace(old, ref=old.ref.partition("#")[0])
    with pytest.raises(Permanent, match="404"):
        await rig.adapter.fetch(of_another, 400)


async def test_an_attachment_of_another_host_is_not_fetched(rig: Rig) -> None:
    for ref in ("http://127.0.0.1:9/x", "https://discord.com.evil.example/x", "file:///etc/passwd"):
        with pytest.raises(Permanent, match="not fetched"):
            await rig.adapter.fetch(Attachment("other", ref), 10)


async def test_a_slash_command_is_received_with_its_argument(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    await rig.sim.command(ann, rig.sim.room("general"), "ask", "why is the sky blue?")
    event = await rig.inbox.first(CommandInvoked)
    assert (event.name, event.arguments) == ("ask", "why is the sky blue?")
    assert (event.author.id, event.place.audience) == (ann.id, Audience.PUBLIC_ROOM)
    assert "token" not in repr(event), "whoever has the handle can answer as the bot"
    assert event.reply_handle not in repr(event)


async def test_a_button_returns_its_value(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    room = rig.sim.direct(ann)
    buttons = (Button("Yes", "confirm:1"), Button("No", "confirm:0"))
    receipt = await rig.adapter.send(text("k", rig.place(room), "Sure?", buttons=buttons))
    await rig.sim.press(ann, room, receipt.message_id, "No")
    event = await rig.inbox.first(ButtonPressed)
    assert (event.value, event.label, event.message_id) == ("confirm:0", "No", receipt.message_id)
    assert event.place.audience is Audience.DIRECT


async def test_messages_during_an_interrupted_connection_arrive_after_it(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    room = rig.sim.direct(ann)
    await rig.sim.say(ann, room, "0")
    await rig.inbox.wait(1)
    await rig.sim.drop_connections()
    for number in range(1, 6):
        await rig.sim.say(ann, room, str(number))
    events = await rig.inbox.wait(6)
    assert [e.message.content for e in events if isinstance(e, MessageReceived)] == list("012345")
    assert len(rig.sim.gateway.sessions) == 1, "resumed, not started anew"


@pytest.mark.usefixtures("identifying_at_once")
async def test_a_lost_session_is_started_again(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    (gone,) = rig.sim.gateway.sessions
    rig.sim.forget_sessions()
    await rig.sim.drop_connections()
    await begun_anew(rig.sim, gone)
    await rig.sim.say(ann, rig.sim.direct(ann), "again")
    event = await rig.inbox.first(MessageReceived)
    assert event.message.content == "again"
    assert not [e for e in rig.inbox.events if isinstance(e, MembershipChanged)]


async def test_late_events_arrive_in_order(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    rig.sim.hold_events()
    for number in range(50):
        await rig.sim.say(ann, rig.sim.direct(ann), str(number))
    rig.sim.hold_events(False)
    events = await rig.inbox.wait(50)
    written = [e.message.content for e in events if isinstance(e, MessageReceived)]
    assert written == [str(number) for number in range(50)]


async def test_an_unavailable_store_loses_no_event_and_keeps_the_order(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    rig.inbox.failures = [StoreUnavailable("down"), StoreUnavailable("still down")]
    for number in range(3):
        await rig.sim.say(ann, rig.sim.direct(ann), str(number))
    events = await rig.inbox.wait(3)
    assert [e.message.content for e in events if isinstance(e, MessageReceived)] == list("012")
    assert rig.counted["store_unavailable", "discord"] == 2


async def test_an_exception_in_the_sink_does_not_stop_the_next_event(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    rig.inbox.failures = [ValueError("a bug")]
    await rig.sim.say(ann, rig.sim.direct(ann), "first")
    await rig.sim.say(ann, rig.sim.direct(ann), "second")
    assert (await rig.inbox.first(MessageReceived)).message.content == "second"
    assert rig.counted["failed", "message"] == 1


async def test_a_slow_message_delays_its_own_channel_only(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    room, other = rig.sim.room("general"), rig.sim.room("other")
    rig.inbox.hold, rig.inbox.held = asyncio.Event(), "slow"
    for channel, content in ((room, "slow"), (room, "quick"), (other, "beside")):
        await rig.sim.say(ann, channel, content)
    await rig.inbox.wait(1)
    rig.inbox.hold.set()
    events = await rig.inbox.wait(3)
    contents = [e.message.content for e in events if isinstance(e, MessageReceived)]
    assert contents == ["beside", "slow", "quick"]


async def test_unknown_and_invalid_events_are_counted_and_ignored(rig: Rig) -> None:
    ann = rig.sim.person("Ann")
    rig.sim.announcer.raw("SOMETHING_NEW", {"id": "1"})
    rig.sim.announcer.raw("CHANNEL_CREATE", {"nonsense": True})
    rig.sim.announcer.raw("GUILD_CREATE", {"nonsense": True})
    await rig.sim.say(ann, rig.sim.direct(ann), "still here")
    assert (await rig.inbox.first(MessageReceived)).message.content == "still here"
    assert rig.counted["ignored", "SOMETHING_NEW"] == 1


async def test_joining_and_leaving_a_server_are_events(rig: Rig) -> None:
    rig.sim.announcer.raw("GUILD_CREATE", {"id": "77", "name": "new", "unavailable": False})
    rig.sim.announcer.raw("GUILD_DELETE", {"id": "77", "unavailable": True})
    rig.sim.announcer.raw("GUILD_DELETE", {"id": "77"})
    first, second = await rig.inbox.wait(2)
    assert isinstance(first, MembershipChanged)
    assert isinstance(second, MembershipChanged)
    assert (first.joined, second.joined) == (True, False)
    assert first.is_self
    assert first.place.workspace_id == "77"


@pytest.mark.parametrize("wanted", [True, False])
async def test_a_departure_is_reported_with_the_members_intent_only(
    sim: DiscordSimulator, wanted: bool
) -> None:
    sim.server_members = True
    async with connected(sim, members_intent=wanted) as rig:
        ann = sim.person("Ann")
        sim.leave(ann)
        await sim.say(ann, sim.direct(ann), "and now?")
        await rig.inbox.first(MessageReceived)
        gone = [e for e in rig.inbox.events if isinstance(e, MembershipChanged)]
        assert [(e.member.id, e.joined, e.whole_workspace) for e in gone] == (
            [(ann.id, False, True)] if wanted else []
        )
