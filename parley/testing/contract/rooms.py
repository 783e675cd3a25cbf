"""Rooms and threads: who hears what where, where an answer goes, and what one person sees alone."""

import pytest

from gateway.errors import Permanent
from gateway.message import CommandInvoked
from gateway.people import Audience
from parley.testing.marks import lacks, proves
from parley.testing.stage import Stage, by_bot
from simulators.base import NotSupported


@proves("rooms")
async def test_a_mention_in_a_room_is_received_and_answered(stage: Stage) -> None:
    room = stage.platform.room("general")
    message = await stage.hear("anybody there?", room, mention=True)
    assert message.mentions_bot
    assert (message.channel_id, message.thread_id) == (room.id, None)
    await stage.send("yes", message.place)
    assert [seen.text for seen in await stage.shown(room, bool)] == ["yes"]


@lacks("rooms")
async def test_without_rooms_every_message_is_direct(stage: Stage) -> None:
    with pytest.raises(NotSupported):
        stage.platform.room("general")
    await stage.hear()
    assert [event.place.audience for event in stage.sink.events] == [Audience.DIRECT]


@proves("threads")
async def test_a_thread_has_its_own_id_and_is_answered_inside(stage: Stage) -> None:
    room = stage.platform.room("general")
    one = await stage.platform.open_thread(stage.person, room, "one")
    two = await stage.platform.open_thread(stage.person, room, "two")
    in_one = await stage.hear("in one", one, mention=True)
    in_two = await stage.hear("in two", two, mention=True)
    outside = await stage.hear("outside", room, mention=True)
    assert (in_one.thread_id, in_two.thread_id) == (one.thread_id, two.thread_id)
    assert len({in_one.thread_id, in_two.thread_id, outside.thread_id}) == 3
    assert in_one.channel_id == in_two.channel_id == outside.channel_id
    await stage.send("answer in one", in_one.place)
    assert [seen.text for seen in await stage.shown(one, bool)] == ["answer in one"]
    assert by_bot(stage.platform.shown(two)) == []


@lacks("threads")
async def test_without_threads_no_message_has_a_thread(stage: Stage) -> None:
    message = await stage.hear()
    assert message.place.thread_id == ""
    with pytest.raises(NotSupported):
        await stage.platform.open_thread(stage.person, stage.room, "one")


@proves("answers_open_threads")
async def test_an_answer_in_a_room_opens_a_thread_at_the_question(stage: Stage) -> None:
    room = stage.platform.room("general")
    message = await stage.hear("a question", room, mention=True)
    await stage.send("an answer", message.place, reply_to_id=message.id)
    (seen,) = await stage.shown(room, bool)
    assert seen.thread_id == message.id


@lacks("answers_open_threads")
@proves("rooms")
async def test_without_that_feature_an_answer_in_a_room_stays_in_the_room(stage: Stage) -> None:
    room = stage.platform.room("general")
    message = await stage.hear("a question", room, mention=True)
    await stage.send("an answer", message.place, reply_to_id=message.id)
    (seen,) = await stage.shown(room, bool)
    question = message.id if stage.case.replies else ""
    assert (seen.thread_id, seen.reply_to_id) == ("", question)


@proves("joins_threads")
async def test_a_thread_can_be_followed_without_a_mention(stage: Stage) -> None:
    thread = await stage.platform.open_thread(
        stage.person, stage.platform.room("general"), "the plan"
    )
    message = await stage.hear("as I said", thread)
    assert not message.mentions_bot
    assert message.thread_id == thread.thread_id


@lacks("joins_threads")
@proves("threads")
async def test_a_topic_of_a_whole_room_cannot_be_followed(stage: Stage) -> None:
    topic = await stage.platform.open_thread(
        stage.person, stage.platform.room("general"), "the plan"
    )
    await stage.platform.say(stage.person, topic, "as I said")
    await stage.hear("you there", topic, mention=True)
    assert [message.content for message in stage.sink.messages()] == ["you there"]


@proves("ephemeral")
async def test_a_private_message_is_seen_by_one_person(stage: Stage) -> None:
    room = stage.platform.room("general")
    await stage.platform.command(stage.person, room, "context")
    question = await stage.sink.first(CommandInvoked)
    await stage.send(
        "for Ada", question.place, private_to=question.author.id, reply_handle=question.reply_handle
    )
    (seen,) = await stage.shown(room, bool)
    assert (seen.text, seen.only_for) == ("for Ada", stage.person.id)


@proves("ephemeral")
async def test_a_private_message_without_a_command_is_private_too(stage: Stage) -> None:
    room = stage.platform.room("general")
    question = await stage.hear("psst", room, mention=True)
    await stage.send("for Ada", question.place, private_to=question.author.id)
    openly = [seen for seen in by_bot(stage.platform.shown(room)) if not seen.only_for]
    privately = [seen for seen in by_bot(stage.platform.shown(room)) if seen.only_for]
    assert openly == []
    assert len(privately) + len(by_bot(stage.platform.shown(stage.room))) == 1


@lacks("ephemeral")
@proves("rooms")
async def test_a_private_message_is_refused_where_everybody_would_read_it(stage: Stage) -> None:
    room = stage.platform.room("general")
    question = await stage.hear("psst", room, mention=True)
    with pytest.raises(Permanent):
        await stage.send("for Ada", question.place, private_to=question.author.id)
    assert by_bot(stage.platform.shown(room)) == []


@lacks("ephemeral")
async def test_everything_in_a_direct_message_is_for_one_person(stage: Stage) -> None:
    question = await stage.hear()
    await stage.send("for Ada", question.place, private_to=question.author.id)
    assert [seen.text for seen in await stage.shown(stage.room, bool)] == ["for Ada"]


@proves("further_ids")
async def test_a_person_with_several_ids_has_all_of_them(stage: Stage) -> None:
    author = (await stage.hear()).author
    assert author.aliases
    assert author.id not in author.aliases


@lacks("further_ids")
async def test_a_person_with_one_id_has_no_other(stage: Stage) -> None:
    author = (await stage.hear()).author
    assert (author.aliases, author.former) == ((), ())
