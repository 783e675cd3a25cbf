"""What an adapter declares is true: every capability works, and none is there that is not declared.

One suite, run against every adapter over its real client library. `proves(field)` runs a test for
the adapters that declare the capability, `lacks(field)` for those that do not.
"""

import sys
from collections.abc import Callable
from dataclasses import fields
from typing import Final, Protocol, runtime_checkable

import pytest

from gateway.errors import BadInput, Permanent
from gateway.message import (
    Button,
    ButtonPressed,
    CommandInvoked,
    InlineQueried,
    MessageReceived,
    OutboundFile,
    Part,
    ReactionChanged,
    place_of,
)
from gateway.people import Audience
from gateway.ports import (
    CanAnswerInline,
    CanDelete,
    CanEdit,
    CanFetch,
    CanMarkRead,
    CanReact,
    CanShowLive,
    CanType,
    Capabilities,
    LiveView,
)
from simulators.base import NotSupported, SimFile, SimPerson, SimRoom
from tests.contract.stage import PATIENCE, Stage, buttons, by_bot

PROTOCOLS: Final = {
    "edits": CanEdit,
    "deletes": CanDelete,
    "typing": CanType,
    "read_marks": CanMarkRead,
    "reactions": CanReact,
    "inline_queries": CanAnswerInline,
    "files_in": CanFetch,
    "live": CanShowLive,
}
PNG: Final = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360"
    "f8ffff3f0005fe02fea7356981d20000000049454e44ae426082"
)
proves = pytest.mark.proves
lacks = pytest.mark.lacks
where = pytest.mark.where.with_args


@runtime_checkable
class AsksInline(Protocol):
    """A platform on which people type after the bot's name in any chat."""

    def inline(self, person: SimPerson, query: str, chat_type: str = "sender") -> str: ...

    async def wait_inline(self, query_id: str, timeout: float = 10.0) -> list[tuple[str, str]]: ...


# --- the declaration ----------------------------------------------------------------------------


def test_every_capability_is_proven_where_it_is_declared_and_denied_where_it_is_not() -> None:
    tests = [value for name, value in vars(sys.modules[__name__]).items() if name[:5] == "test_"]
    known = {field.name for field in fields(Capabilities)}
    assert _marked(tests, "proves") == known
    assert _marked(tests, "lacks") | set(PROTOCOLS) == known


def _marked(tests: list[Callable[..., object]], name: str) -> set[str]:
    marks = [mark for test in tests for mark in getattr(test, "pytestmark", [])]
    return {mark.args[0] for mark in marks if mark.name == name}


async def test_an_adapter_can_do_exactly_what_it_declares(stage: Stage) -> None:
    declared = stage.adapter.capabilities
    for field, protocol in PROTOCOLS.items():
        offered = isinstance(stage.adapter, protocol)
        assert offered == getattr(declared, field), f"{field}: {protocol.__name__}"
    assert declared.threads >= declared.joins_threads
    assert declared.threads >= declared.answers_open_threads


# --- rooms and threads --------------------------------------------------------------------------


@proves("rooms")
async def test_a_room_is_heard_and_answered(stage: Stage) -> None:
    room = stage.platform.room("general")
    message = await stage.hear("anybody there?", room, mention=True)
    assert message.mentions_bot
    assert (message.channel_id, message.thread_id) == (room.id, None)
    await stage.send("yes", message.place)
    assert [seen.text for seen in await stage.shown(room, bool)] == ["yes"]


@lacks("rooms")
async def test_without_rooms_everything_said_is_direct(stage: Stage) -> None:
    with pytest.raises(NotSupported):
        stage.platform.room("general")
    await stage.hear()
    assert [place_of(event).audience for event in stage.sink.events] == [Audience.DIRECT]


@proves("threads")
async def test_a_thread_has_an_id_of_its_own_and_is_answered_inside(stage: Stage) -> None:
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
async def test_without_threads_no_message_is_in_one(stage: Stage) -> None:
    message = await stage.hear()
    assert message.place.thread_id == ""
    with pytest.raises(NotSupported):
        await stage.platform.open_thread(stage.person, stage.room, "one")


@proves("answers_open_threads")
async def test_an_answer_in_a_room_opens_a_thread_under_the_question(stage: Stage) -> None:
    room = stage.platform.room("general")
    message = await stage.hear("a question", room, mention=True)
    await stage.send("an answer", message.place, reply_to_id=message.id)
    (seen,) = await stage.shown(room, bool)
    assert seen.thread_id == message.id


@lacks("answers_open_threads")
@proves("rooms")
async def test_elsewhere_an_answer_in_a_room_stays_in_the_room(stage: Stage) -> None:
    room = stage.platform.room("general")
    message = await stage.hear("a question", room, mention=True)
    await stage.send("an answer", message.place, reply_to_id=message.id)
    (seen,) = await stage.shown(room, bool)
    assert (seen.thread_id, seen.reply_to_id) == ("", message.id)


@proves("joins_threads")
async def test_a_thread_can_be_followed_without_being_mentioned_in_it(stage: Stage) -> None:
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


# --- what an adapter changes, shows and fetches -------------------------------------------------


@proves("edits")
async def test_a_message_of_ours_is_changed_in_place(stage: Stage) -> None:
    place = (await stage.hear()).place
    receipt = await stage.send("first", place)
    assert isinstance(stage.adapter, CanEdit)
    await stage.adapter.edit(place, receipt.message_id, Part("second", "second"))
    (seen,) = await stage.shown(stage.room, lambda said: [one.text for one in said] == ["second"])
    assert seen.id == receipt.message_id


@proves("deletes")
async def test_a_message_of_ours_is_taken_back(stage: Stage) -> None:
    place = (await stage.hear()).place
    receipt = await stage.send("regrettable", place)
    await stage.shown(stage.room, bool)
    assert isinstance(stage.adapter, CanDelete)
    await stage.adapter.delete(place, receipt.message_id)
    await stage.shown(stage.room, lambda said: said == [])


@proves("typing")
@where(lambda variant: "typing" in variant.methods)
async def test_people_see_that_an_answer_is_being_written(stage: Stage) -> None:
    message = await stage.hear()
    assert isinstance(stage.adapter, CanType)
    await stage.adapter.typing(message.place, message.id)
    await stage.platform.wait_for(stage.room, lambda _: stage.requests("typing") != [])
    assert len(stage.requests("typing")) == 1
    assert stage.requests("typing")[0] < 300


@proves("live")
async def test_an_answer_grows_in_one_place_and_ends_there(stage: Stage) -> None:
    adapter = stage.adapter
    assert isinstance(adapter, CanShowLive)
    room, heard = stage.room, await stage.hear()
    if adapter.live_style(heard.place) is None:
        room = stage.platform.room("general")
        heard = await stage.hear("in a room", room, mention=True)
    style = adapter.live_style(heard.place)
    assert style is not None, "declared, and offered nowhere"
    assert style.pause > 0
    shown = ""
    handle = ""
    for added in ("one", " two", " three"):
        shown += added
        view = LiveView("live:0", heard.place, Part(shown, shown), added, handle, heard.id)
        handle = await adapter.show_live(view)
    final = stage.outbound("one two three, four", heard.place, key="live:0", replaces=handle)
    for _ in range(2):
        await (adapter.end_live(final) if handle else adapter.send(final))
        if not handle:
            break
    seen = await stage.shown(room, lambda said: any("four" in one.text for one in said))
    assert [one.text for one in seen] == ["one two three, four"]


@proves("read_marks")
async def test_people_see_that_their_message_was_read(stage: Stage) -> None:
    message = await stage.hear()
    assert isinstance(stage.adapter, CanMarkRead)
    await stage.adapter.mark_read(message.place, message.id)
    assert stage.requests("read") == [200]


@proves("reactions")
async def test_reactions_go_both_ways(stage: Stage) -> None:
    message = await stage.hear()
    assert isinstance(stage.adapter, CanReact)
    await stage.adapter.react(message.place, message.id, "👍")
    (status,) = stage.requests("react")
    assert status < 300
    receipt = await stage.send("thanks", message.place)
    await stage.platform.react(stage.person, stage.room, receipt.message_id, "👍")
    event = await stage.sink.first(ReactionChanged)
    assert (event.emoji, event.added, event.message_id) == ("👍", True, receipt.message_id)
    assert event.author.id == stage.person.id


@proves("files_in")
@pytest.mark.parametrize(
    "file",
    [SimFile("dot.png", "image/png", PNG), SimFile("notes.txt", "text/plain", b"on Thursday")],
    ids=["picture", "text"],
)
async def test_a_file_is_named_first_and_fetched_within_a_bound(
    stage: Stage, file: SimFile
) -> None:
    await stage.platform.say(stage.person, stage.room, "look", files=(file,))
    message = await stage.sink.message("look")
    (attachment,) = message.attachments
    assert (attachment.kind == "image") == (file.mime == "image/png")
    assert isinstance(stage.adapter, CanFetch)
    assert await stage.adapter.fetch(attachment, len(file.data)) == file.data
    with pytest.raises(BadInput):
        await stage.adapter.fetch(attachment, len(file.data) - 1)


@proves("files_out")
@pytest.mark.parametrize(
    "file",
    [OutboundFile("dot.png", "image/png", PNG), OutboundFile("a.txt", "text/plain", b"1,2\n")],
    ids=["picture", "text"],
)
async def test_a_file_of_ours_arrives_byte_by_byte(stage: Stage, file: OutboundFile) -> None:
    place = (await stage.hear()).place
    await stage.adapter.send(stage.file(file, place))
    (seen,) = await stage.shown(stage.room, bool)
    assert [sent.data for sent in seen.files] == [file.data]


@lacks("files_out")
async def test_without_files_sending_one_is_refused_for_good(stage: Stage) -> None:
    place = (await stage.hear()).place
    with pytest.raises(Permanent):
        await stage.adapter.send(stage.file(OutboundFile("a.txt", "text/plain", b"1"), place))


# --- who sees what ------------------------------------------------------------------------------


@proves("ephemeral")
async def test_what_is_for_one_person_is_seen_by_nobody_else(stage: Stage) -> None:
    room = stage.platform.room("general")
    await stage.platform.command(stage.person, room, "context")
    asked = await stage.sink.first(CommandInvoked)
    await stage.send(
        "for Ada", asked.place, private_to=asked.author.id, reply_handle=asked.reply_handle
    )
    (seen,) = await stage.shown(room, bool)
    assert (seen.text, seen.only_for) == ("for Ada", stage.person.id)


@proves("ephemeral")
async def test_without_a_command_to_answer_it_stays_private_as_well(stage: Stage) -> None:
    room = stage.platform.room("general")
    asked = await stage.hear("psst", room, mention=True)
    await stage.send("for Ada", asked.place, private_to=asked.author.id)
    openly = [seen for seen in by_bot(stage.platform.shown(room)) if not seen.only_for]
    privately = [seen for seen in by_bot(stage.platform.shown(room)) if seen.only_for]
    assert openly == []
    assert len(privately) + len(by_bot(stage.platform.shown(stage.room))) == 1


@lacks("ephemeral")
@proves("rooms")
async def test_where_everybody_would_read_along_it_is_refused(stage: Stage) -> None:
    room = stage.platform.room("general")
    asked = await stage.hear("psst", room, mention=True)
    with pytest.raises(Permanent):
        await stage.send("for Ada", asked.place, private_to=asked.author.id)
    assert by_bot(stage.platform.shown(room)) == []


@lacks("ephemeral")
async def test_in_a_direct_conversation_everything_is_for_one_person(stage: Stage) -> None:
    asked = await stage.hear()
    await stage.send("for Ada", asked.place, private_to=asked.author.id)
    assert [seen.text for seen in await stage.shown(stage.room, bool)] == ["for Ada"]


# --- commands, buttons, inline ------------------------------------------------------------------


@proves("native_commands")
async def test_a_command_is_an_event_with_its_name_and_arguments(stage: Stage) -> None:
    for number, room in enumerate((stage.room, stage.platform.room("general")), 1):
        await stage.platform.command(stage.person, room, "ask", "why is it so?")
        event = await stage.sink.first(CommandInvoked, number)
        assert (event.name, event.arguments) == ("ask", "why is it so?")
        assert (event.author.id, event.place.channel_id) == (stage.person.id, room.id)
    assert stage.sink.messages() == [], "a command is no message beside"


@lacks("native_commands")
async def test_elsewhere_a_command_is_a_written_message(stage: Stage) -> None:
    await stage.platform.command(stage.person, stage.room, "ask", "why is it so?")
    await stage.sink.until(lambda: stage.sink.events != [])
    (event,) = stage.sink.events
    assert isinstance(event, CommandInvoked | MessageReceived)
    assert event.message is not None
    assert event.message.content == "/ask why is it so?"


@proves("commands_wait")
async def test_a_command_that_gets_no_answer_waits_until_that_is_said(stage: Stage) -> None:
    room = stage.platform.room("general")
    await stage.platform.command(stage.person, room, "context")
    asked = await stage.sink.first(CommandInvoked)
    await waits(stage, room, True)
    await stage.adapter.send(stage.nothing(asked))
    await waits(stage, room, False)
    assert by_bot(stage.platform.shown(room)) == []
    await stage.adapter.send(stage.nothing(asked))
    assert by_bot(stage.platform.shown(room)) == [], "saying it again changes nothing"


@lacks("commands_wait")
async def test_elsewhere_a_command_without_an_answer_leaves_nothing(stage: Stage) -> None:
    await stage.platform.command(stage.person, stage.room, "context")
    await stage.sink.until(lambda: stage.sink.events != [])
    assert not stage.platform_waits(stage.room)


async def waits(stage: Stage, room: SimRoom, expected: bool) -> None:
    """Return once people see that a command waits, or no longer do."""
    await stage.platform.wait_for(room, lambda _: stage.platform_waits(room) is expected, PATIENCE)


@proves("max_buttons")
async def test_as_many_buttons_as_declared_stand_under_a_message(stage: Stage) -> None:
    most = stage.adapter.capabilities.max_buttons
    place = (await stage.hear()).place
    receipt = await stage.send("Which?", place, buttons=buttons(most))
    (seen,) = await stage.shown(stage.room, bool)
    assert [button.label for button in seen.buttons] == [one.label for one in buttons(most)]
    for number, button in enumerate((buttons(most)[0], buttons(most)[-1]), 1):
        await stage.platform.press(stage.person, stage.room, receipt.message_id, button.label)
        event = await stage.sink.first(ButtonPressed, number)
        assert (event.value, event.label) == (button.value, button.label)
        assert (event.author.id, event.message_id) == (stage.person.id, receipt.message_id)
        assert event.place == place
    with pytest.raises(Permanent):
        await stage.send("Which?", place, buttons=buttons(most + 1))


@proves("max_buttons")
async def test_a_value_of_64_bytes_comes_back_whole(stage: Stage) -> None:
    place = (await stage.hear()).place
    value = "ä" * 32
    receipt = await stage.send("Sure?", place, buttons=(Button("Yes", value), Button("No", "no")))
    await stage.shown(stage.room, bool)
    await stage.platform.press(stage.person, stage.room, receipt.message_id, "Yes")
    assert (await stage.sink.first(ButtonPressed)).value == value


@lacks("max_buttons")
async def test_without_buttons_the_text_is_shown_alone(stage: Stage) -> None:
    place = (await stage.hear()).place
    await stage.send("Sure?", place, buttons=buttons(2))
    (seen,) = await stage.shown(stage.room, bool)
    assert (seen.text, seen.buttons) == ("Sure?", ())


@proves("inline_queries")
async def test_an_inline_query_is_offered_texts_to_send(stage: Stage) -> None:
    assert isinstance(stage.platform, AsksInline)
    assert isinstance(stage.adapter, CanAnswerInline)
    query_id = stage.platform.inline(stage.person, "tea")
    event = await stage.sink.first(InlineQueried)
    assert (event.query, event.author.id) == ("tea", stage.person.id)
    await stage.adapter.answer_inline(event.event_id, (Button("Green", "green tea"),))
    assert await stage.platform.wait_inline(query_id) == [("Green", "green tea")]


# --- repeated sends -----------------------------------------------------------------------------


@proves("idempotent_sends")
async def test_the_same_key_twice_is_one_message(stage: Stage) -> None:
    place = (await stage.hear()).place
    first = await stage.send("once", place, key="same:0")
    again = await stage.send("once", place, key="same:0")
    other = await stage.send("last", place)
    seen = await stage.shown(stage.room, lambda said: "last" in [one.text for one in said])
    assert [one.text for one in seen] == ["once", "last"]
    assert first.message_id == again.message_id != other.message_id


@lacks("idempotent_sends")
async def test_elsewhere_the_core_has_to_take_care_of_repetitions(stage: Stage) -> None:
    place = (await stage.hear()).place
    await stage.send("twice", place, key="same:0")
    await stage.send("twice", place, key="same:0")
    seen = await stage.shown(stage.room, lambda said: len(said) == 2)
    assert [one.text for one in seen] == ["twice", "twice"]
