"""The declared abilities of an adapter: changing, showing and fetching."""

from contextlib import suppress
from typing import Final

import pytest

from gateway.errors import BadInput, DeliveryError, Permanent
from gateway.message import (
    OutboundFile,
    Part,
    ReactionChanged,
)
from gateway.ports import (
    CanCheckMembership,
    CanDelete,
    CanDescribeSpaces,
    CanFetchFiles,
    CanFetchPortraits,
    CanMarkRead,
    CanNameRooms,
    CanReact,
    CanReadThread,
    CanShowEnd,
    CanShowLive,
    CanType,
    LiveView,
)
from parley.testing.marks import lacks, proves, where
from parley.testing.stage import Stage
from simulators.base import CanShowPortraits, SimFile

PNG: Final = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360"
    "f8ffff3f0005fe02fea7356981d20000000049454e44ae426082"
)


@proves("deletes")
async def test_an_own_message_can_be_deleted(stage: Stage) -> None:
    place = (await stage.hear()).place
    receipt = await stage.send("regrettable", place)
    await stage.shown(stage.room, bool)
    assert isinstance(stage.adapter, CanDelete)
    await stage.adapter.delete(place, receipt.message_id)
    await stage.shown(stage.room, lambda messages: messages == [])


@proves("tells_members")
async def test_members_of_a_room_are_members_and_others_are_not(stage: Stage) -> None:
    room = stage.platform.room("general")
    place = (await stage.hear("hello", room, mention=True)).place
    space = place.workspace_id or place.channel_id
    assert isinstance(stage.adapter, CanCheckMembership)
    assert await stage.adapter.is_member(space, stage.person.id)
    nobody, nowhere = "999999999999", "999999999999"
    for space_id, person_id in ((space, nobody), (nowhere, stage.person.id), ("-", "?")):
        assert not await stage.adapter.is_member(space_id, person_id)


@proves("names_rooms")
async def test_a_room_has_the_name_that_people_see(stage: Stage) -> None:
    place = (await stage.hear("hello", stage.platform.room("general"), mention=True)).place
    assert isinstance(stage.adapter, CanNameRooms)
    assert "general" in await stage.adapter.room_name(place.channel_id)
    for unknown in ("999999999999", "-"):
        with suppress(DeliveryError):
            assert await stage.adapter.room_name(unknown) == ""


@proves("describes_spaces")
async def test_the_workspace_of_a_room_has_a_title(stage: Stage) -> None:
    place = (await stage.hear("hello", stage.platform.room("general"), mention=True)).place
    assert isinstance(stage.adapter, CanDescribeSpaces)
    about = await stage.adapter.describe_space(place.workspace_id or place.channel_id)
    assert about.title
    for unknown in ("999999999999", "-"):
        with suppress(DeliveryError):
            assert (await stage.adapter.describe_space(unknown)).title == ""


@proves("portraits")
async def test_the_picture_of_a_person_is_fetched_within_a_limit(stage: Stage) -> None:
    adapter, platform = stage.adapter, stage.platform
    assert isinstance(adapter, CanFetchPortraits)
    assert isinstance(platform, CanShowPortraits)
    assert await adapter.portrait(stage.person.id, len(PNG)) == b""
    platform.show_portrait(stage.person, SimFile("me.png", "image/png", PNG))
    assert await adapter.portrait(stage.person.id, len(PNG)) == PNG
    with pytest.raises(BadInput):
        await adapter.portrait(stage.person.id, len(PNG) - 1)
    platform.show_portrait(stage.person, None)
    for person in (stage.person.id, "999999999999", "-"):
        assert await adapter.portrait(person, len(PNG)) == b""


@proves("reads_threads")
async def test_the_earlier_messages_of_a_thread_are_read_and_no_others(stage: Stage) -> None:
    platform, room = stage.platform, stage.platform.room("general")
    bob, adapter = platform.person("Bob"), stage.adapter
    assert isinstance(adapter, CanReadThread)
    thread = await platform.open_thread(stage.person, room, "the deploy failed")
    beside = await platform.open_thread(stage.person, room, "another thread")
    await platform.say(bob, beside, "beside it")
    await platform.say(bob, room, "in the room")
    first = await platform.say(bob, thread, "out of memory")
    gone = await platform.say(bob, thread, "never mind")
    await platform.delete(bob, thread, gone)
    await platform.edit(bob, thread, first, "out of disk")
    question = await stage.hear("what happened?", thread, mention=True)
    await stage.send("I look into it", question.place)
    await platform.say(bob, thread, "said later")
    again = await stage.hear("and now?", thread, mention=True)
    read = await adapter.read_thread(question.place, stage.person.id, question.id, 10)
    texts = [one.message.content for one in (read.first, *read.latest) if one is not None]
    assert [read.title or texts[0], texts[-1]] == ["the deploy failed", "out of disk"]
    assert len(texts) == (1 if read.title else 2)
    assert (read.between, read.newest_missing, read.hidden) == (0, False, False)
    later = await adapter.read_thread(again.place, stage.person.id, again.id, 2)
    assert [(one.own, one.message.content) for one in later.latest] == [
        (True, "I look into it"),
        (False, "said later"),
    ]
    assert later.between > 0


@proves("typing")
@where(lambda case: "typing" in case.methods, "its case names no request for typing")
async def test_people_see_the_typing_indicator(stage: Stage) -> None:
    message = await stage.hear()
    assert isinstance(stage.adapter, CanType)
    await stage.adapter.typing(message.place, message.id)
    await stage.platform.wait_for(stage.room, lambda _: stage.requests("typing") != [])
    assert len(stage.requests("typing")) == 1
    assert stage.requests("typing")[0] < 300


@proves("ends")
async def test_an_answer_is_shown_after_its_message_has_ended(stage: Stage) -> None:
    message = await stage.hear()
    assert isinstance(stage.adapter, CanShowEnd)
    for _ in range(2):
        await stage.adapter.ended(message.place, (message.id, "unknown"))
    await stage.send("the answer", message.place)
    shown = await stage.shown(stage.room, bool)
    assert [one.text for one in shown] == ["the answer"]


@proves("live")
async def test_a_live_answer_is_one_message_that_becomes_complete(stage: Stage) -> None:
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
    seen = await stage.shown(room, lambda messages: any("four" in one.text for one in messages))
    assert [one.text for one in seen] == ["one two three, four"]


@proves("read_marks")
async def test_people_see_the_read_mark(stage: Stage) -> None:
    message = await stage.hear()
    assert isinstance(stage.adapter, CanMarkRead)
    await stage.adapter.mark_read(message.place, message.id)
    assert stage.requests("read") == [200]


@proves("reactions")
async def test_reactions_work_in_both_directions(stage: Stage) -> None:
    message = await stage.hear()
    assert isinstance(stage.adapter, CanReact)
    await stage.adapter.react(message.place, message.id, "👍")
    (status,) = stage.requests("react")
    assert status < 300
    await stage.adapter.unreact(message.place, message.id, "👍")
    assert max(stage.requests("unreact")) < 300
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
async def test_a_file_is_announced_first_and_fetched_within_a_limit(
    stage: Stage, file: SimFile
) -> None:
    await stage.platform.say(stage.person, stage.room, "look", files=(file,))
    message = await stage.sink.message("look")
    (attachment,) = message.attachments
    assert (attachment.kind == "image") == (file.mime == "image/png")
    assert isinstance(stage.adapter, CanFetchFiles)
    assert await stage.adapter.fetch(attachment, len(file.data)) == file.data
    with pytest.raises(BadInput):
        await stage.adapter.fetch(attachment, len(file.data) - 1)


@proves("files_in")
async def test_a_document_is_announced_as_one_and_fetched_whole(stage: Stage) -> None:
    data = b"%PDF-1.7\n" + bytes(range(256)) * 4_000
    file = SimFile("contract.pdf", "application/pdf", data)
    await stage.platform.say(stage.person, stage.room, "read it", files=(file,))
    (attachment,) = (await stage.sink.message("read it")).attachments
    assert attachment.kind == "document"
    assert (attachment.mime, attachment.name) == ("application/pdf", "contract.pdf")
    assert isinstance(stage.adapter, CanFetchFiles)
    assert await stage.adapter.fetch(attachment, len(data)) == data


@proves("files_out")
@pytest.mark.parametrize(
    "file",
    [
        OutboundFile("dot.png", "image/png", PNG),
        OutboundFile("a.txt", "text/plain", b"1,2\n"),
        OutboundFile("a\r\nb.txt", "text/plain", b"1,2\n"),
    ],
    ids=["picture", "text", "line break in the name"],
)
async def test_a_sent_file_arrives_unchanged(stage: Stage, file: OutboundFile) -> None:
    place = (await stage.hear()).place
    await stage.adapter.send(stage.file(file, place))
    (seen,) = await stage.shown(stage.room, bool)
    assert [sent.data for sent in seen.files] == [file.data]


@lacks("files_out")
async def test_without_files_sending_one_is_permanent(stage: Stage) -> None:
    place = (await stage.hear()).place
    with pytest.raises(Permanent):
        await stage.adapter.send(stage.file(OutboundFile("a.txt", "text/plain", b"1"), place))
