"""The adapter shows sent messages on the page, and reports impossible requests."""

import asyncio
from contextlib import ExitStack

import pytest

from adapters.web.chats import MAX_STREAMS, STREAMS_PER_PERSON
from adapters.web.connection import WebAdapter
from adapters.web.manifest import MANIFEST, WebSettings
from db.errors import StoreUnavailable
from gateway.errors import BadInput, Permanent, Transient
from gateway.immutable import replace
from gateway.message import (
    Attachment,
    Button,
    ButtonPressed,
    MessageReceived,
    Outbound,
    OutboundFile,
    Part,
    Place,
)
from gateway.people import Audience
from gateway.ports import CanDelete, CanFetchFiles, CanType, PlatformAdapter
from tests.adapters.web.conftest import Inbox, answer, context
from tests.adapters.web.test_stored_lines import Stored
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually

ADA = "web-ada"
PLACE = Place("web", "main", ADA, Audience.DIRECT)
ID = "0123456789abcdef"


@pytest.fixture
async def adapter() -> WebAdapter:
    made = WebAdapter(WebSettings(enabled=True), context())
    await made.connect(Inbox())
    return made


def test_the_page_is_off_by_default() -> None:
    assert not WebSettings().configured()
    assert WebSettings(enabled=True).configured()


def test_the_adapter_matches_its_manifest(adapter: WebAdapter) -> None:
    assert isinstance(adapter, PlatformAdapter)
    for ability in (CanDelete, CanType, CanFetchFiles):
        assert isinstance(adapter, ability)
    assert adapter.capabilities == MANIFEST.capabilities
    assert MANIFEST.load == f"{WebAdapter.__module__}:{WebAdapter.__name__}"


async def test_the_same_send_twice_is_one_message(adapter: WebAdapter) -> None:
    first = await adapter.send(answer(ADA, "<p>Hi</p>"))
    again = await adapter.send(answer(ADA, "<p>Hi</p>"))
    await adapter.send(answer(ADA, "<p>More</p>", key="turn-1/1"))
    assert first.message_id == again.message_id
    assert [line.html for line in adapter.chats.conversations.of(ADA).lines()] == [
        "<p>Hi</p>",
        "<p>More</p>",
    ]


async def test_a_live_answer_grows_and_can_be_deleted(adapter: WebAdapter) -> None:
    sent = await adapter.send(answer(ADA, "<p>Hi</p>"))
    await adapter.end_live(
        Outbound("k", PLACE, Part("<p>Hi there</p>", "Hi there"), replaces=sent.message_id)
    )
    [line] = adapter.chats.conversations.of(ADA).lines()
    assert line.html == "<p>Hi there</p>"
    await adapter.delete(PLACE, sent.message_id)
    [line] = adapter.chats.conversations.of(ADA).lines()
    assert (line.html, line.deleted) == ("", True)
    with pytest.raises(Permanent):
        await adapter.end_live(
            Outbound("k", PLACE, Part("<p>back</p>", "back"), replaces=sent.message_id)
        )


async def test_the_typing_indicator_ends_with_the_answer(adapter: WebAdapter) -> None:
    await adapter.typing(PLACE, ID)
    conversation = adapter.chats.conversations.of(ADA)
    assert conversation.typing_until > asyncio.get_running_loop().time()
    await adapter.send(answer(ADA, "<p>Hi</p>"))
    assert conversation.typing_until == 0.0


async def test_a_message_is_awaited_until_it_has_ended(adapter: WebAdapter) -> None:
    conversation = adapter.chats.conversations.of(ADA)
    first, second = "first-message", "second-message"
    for one in (first, second):
        await adapter.chats.act(ADA, {"type": "message", "id": one, "text": "hello"})
    assert conversation.is_writing(0.0)
    await adapter.send(answer(ADA, "<p>Hi</p>", reply_to_id=first))
    assert list(conversation.awaited) == [second]
    await adapter.ended(PLACE, (second,))
    assert not conversation.is_writing(0.0)
    await adapter.chats.act(ADA, {"type": "message", "id": second, "text": "hello"})
    assert not conversation.is_writing(0.0), "it was sent again, and has ended"


async def test_nobody_waits_for_a_message_that_is_not_accepted(adapter: WebAdapter) -> None:
    adapter.chats.sink = Inbox(fail=StoreUnavailable("down"))
    with pytest.raises(StoreUnavailable):
        await adapter.chats.act(ADA, {"type": "message", "id": ID, "text": "hello"})
    assert not adapter.chats.conversations.of(ADA).is_writing(0.0)


async def test_a_refused_question_can_be_asked_again_at_once(adapter: WebAdapter) -> None:
    conversation = adapter.chats.conversations.of(ADA)
    await adapter.chats.act(ADA, {"type": "message", "id": ID, "text": "hello"})
    await adapter.send(answer(ADA, "<p>Hi</p>", reply_to_id=ID))
    again = {"type": "regenerate", "id": "second-message", "message_id": ID}
    await adapter.chats.act(ADA, again)
    assert conversation.is_writing(0.0)
    await adapter.ended(PLACE, ("second-message",))
    assert not conversation.is_writing(0.0)
    await adapter.chats.act(ADA, {**again, "id": "third-message"})


async def test_blocks_other_places_and_huge_answers_are_refused(adapter: WebAdapter) -> None:
    elsewhere = Place("web", "main", "C012", Audience.PUBLIC_ROOM)
    for outbound in (
        Outbound("k", PLACE, Part({"blocks": []}, "x")),
        Outbound("k", elsewhere, Part("<p>x</p>", "x")),
        Outbound("k", PLACE, Part("x" * 400_001, "x")),
    ):
        with pytest.raises(Permanent):
            await adapter.send(outbound)


async def test_files_are_sent_in_both_directions_and_stay_with_their_owner(
    adapter: WebAdapter,
) -> None:
    stored = adapter.chats.files.add(ADA, "notes.txt", "text/plain", b"hello")
    mine = Attachment("document", f"{ADA}/{stored.id}", "notes.txt")
    assert await adapter.fetch(mine, limit=5) == b"hello"
    with pytest.raises(BadInput):
        await adapter.fetch(mine, limit=4)
    with pytest.raises(Permanent):
        await adapter.fetch(Attachment("document", f"web-ben/{stored.id}"), limit=5)
    await adapter.send(Outbound("k", PLACE, file=OutboundFile("a.csv", "text/csv", b"1,2")))
    [line] = adapter.chats.conversations.of(ADA).lines()
    [link] = line.files
    assert adapter.chats.files.get(link.id, ADA) is not None


async def test_only_displayed_buttons_can_be_pressed() -> None:
    inbox = Inbox()
    adapter = WebAdapter(WebSettings(enabled=True), context())
    await adapter.connect(inbox)
    sent = await adapter.send(answer(ADA, "<p>?</p>", buttons=(Button("Yes", "confirm:1"),)))
    press = {"type": "button", "id": ID, "message_id": sent.message_id}
    await adapter.chats.act(ADA, {**press, "value": "confirm:1", "label": "forged"})
    [event] = inbox.events
    assert isinstance(event, ButtonPressed)
    assert (event.value, event.label) == ("confirm:1", "Yes")
    for person, value in ((ADA, "confirm:2"), ("web-ben", "confirm:1")):
        with pytest.raises(BadInput):
            await adapter.chats.act(person, {**press, "value": value})


async def test_a_message_that_was_not_stored_is_not_shown() -> None:
    inbox = Inbox(fail=StoreUnavailable("full"))
    adapter = WebAdapter(WebSettings(enabled=True), context())
    await adapter.connect(inbox)
    hello = {"type": "message", "id": ID, "text": "Hello"}
    with pytest.raises(StoreUnavailable):
        await adapter.chats.act(ADA, hello)
    assert adapter.chats.conversations.of(ADA).lines() == []
    await adapter.chats.act(ADA, hello)
    inbox.fail = StoreUnavailable("full")
    with pytest.raises(StoreUnavailable):
        await adapter.chats.act(
            ADA, {"type": "edit", "id": "e" * 8, "message_id": ID, "text": "Bye"}
        )
    [line] = adapter.chats.conversations.of(ADA).lines()
    assert (line.text, line.edited) == ("Hello", False)


async def test_a_reply_contains_the_replied_message() -> None:
    inbox = Inbox()
    adapter = WebAdapter(WebSettings(enabled=True), context())
    await adapter.connect(inbox)
    sent = await adapter.send(answer(ADA, "<p>Hi</p>"))
    await adapter.chats.act(
        ADA, {"type": "message", "id": ID, "text": "why?", "reply_to": sent.message_id}
    )
    [event] = inbox.events
    assert isinstance(event, MessageReceived)
    assert event.message.quote is not None
    assert (event.message.quote.text, event.message.quote.by_this_bot) == ("plain", True)


async def test_people_cannot_change_the_lines_of_others(adapter: WebAdapter) -> None:
    sent = await adapter.send(answer(ADA, "<p>Hi</p>"))
    for action in (
        {"type": "edit", "id": ID, "message_id": sent.message_id, "text": "x"},
        {"type": "delete", "id": ID, "message_id": sent.message_id},
        {"type": "delete", "id": ID, "message_id": "unknown-1"},
    ):
        with pytest.raises(BadInput):
            await adapter.chats.act(ADA, action)


async def test_after_disconnect_nothing_is_accepted_and_it_can_connect_again() -> None:
    adapter = WebAdapter(WebSettings(enabled=True), context())
    await adapter.disconnect()
    inbox = Inbox()
    await adapter.connect(inbox)
    await adapter.disconnect()
    await adapter.disconnect()
    async with asyncio.timeout(PATIENCE):
        await adapter.wait_closed()
    with pytest.raises(Transient):
        await adapter.send(answer(ADA, "<p>Hi</p>"))
    with pytest.raises(Transient):
        await adapter.chats.act(ADA, {"type": "message", "id": ID, "text": "Hello"})
    await adapter.connect(inbox)
    await adapter.chats.act(ADA, {"type": "message", "id": ID, "text": "Hello"})
    assert len(inbox.events) == 1


async def test_one_person_can_open_few_pages_and_others_can_still_open_theirs(
    adapter: WebAdapter,
) -> None:
    with ExitStack() as pages:
        for _ in range(STREAMS_PER_PERSON):
            pages.enter_context(adapter.chats.watching(ADA))
        with pytest.raises(Transient, match="too many open pages"):
            pages.enter_context(adapter.chats.watching(ADA))
        pages.enter_context(adapter.chats.watching("web-ben"))
    with adapter.chats.watching(ADA) as conversation:
        assert conversation.watchers == 1


async def test_all_pages_together_leave_connections_to_the_listener(adapter: WebAdapter) -> None:
    with ExitStack() as pages:
        for number in range(MAX_STREAMS):
            pages.enter_context(adapter.chats.watching(f"web-{number}"))
        with pytest.raises(Transient, match="too many open pages"):
            pages.enter_context(adapter.chats.watching(ADA))


async def test_lines_that_are_not_stored_go_after_the_last_page_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("adapters.web.chats.UNSTORED_SECONDS", 0.0)
    store = Stored()
    made = WebAdapter(WebSettings(enabled=True), replace(context(), own_conversations=store))
    await made.connect(Inbox())
    store.tell(1, "stored")
    await made.chats.lines(ADA, "")
    await made.chats.act(ADA, {"type": "message", "id": ID, "text": "not stored"})
    with made.chats.watching(ADA) as conversation:
        with made.chats.watching(ADA):
            pass
        await asyncio.sleep(0.01)
        assert "not stored" in [line.text for line in conversation.lines()]
    await eventually(lambda: [line.text for line in conversation.lines()] == ["stored", "answer 1"])


async def test_without_a_store_a_closed_page_keeps_its_lines(
    adapter: WebAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.web.chats.UNSTORED_SECONDS", 0.0)
    await adapter.chats.act(ADA, {"type": "message", "id": ID, "text": "kept"})
    with adapter.chats.watching(ADA) as conversation:
        pass
    await asyncio.sleep(0.01)
    assert [line.text for line in conversation.lines()] == ["kept"]
