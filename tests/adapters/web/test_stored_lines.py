"""The page agrees with the stored conversations: history, deletions, the list."""

from datetime import datetime, timedelta

import pytest

from adapters.web.page_state import FileLink, FileStore, PageChat, PageChats, PageMessage
from adapters.web.stored_lines import MAX_TITLE, StoredLines, title_of
from gateway.message import Button, Part, Place
from gateway.ports.conversations import MessageName, OwnConversation, OwnMessage
from tests.adapters.web.conftest import NOW

ADA = "web-ada"
CHAT = "chat-0123456789abcdef"


class Stored:
    """Stored conversations that a test fills."""

    def __init__(self) -> None:
        self.kept: dict[str, list[OwnMessage]] = {}

    def tell(self, number: int, text: str, chat: str = "") -> None:
        kept, at = self.kept.setdefault(chat, []), at_minute(number)
        kept.append(OwnMessage(MessageName(f"m{number}", "person"), at, text))
        answer = Part(f"<p>answer {number}</p>", f"answer {number}")
        kept.append(OwnMessage(MessageName(f"m{number}", "assistant"), at, "", (answer,)))

    async def listed(self, place: Place, person: str, limit: int) -> list[OwnConversation]:
        assert place.channel_id == person
        chats = [(chat, kept) for chat, kept in self.kept.items() if kept]
        return [OwnConversation(chat, kept[0].text, kept[-1].at) for chat, kept in chats][:limit]

    async def names(self, place: Place, person: str, limit: int) -> list[MessageName]:
        assert place.channel_id == person
        return [one.name for one in self.kept.get(place.thread_id, [])][-limit:]

    async def messages(self, place: Place, person: str, limit: int) -> list[OwnMessage]:
        assert place.channel_id == person
        return self.kept.get(place.thread_id, [])[-limit:]


class Page:
    """The lines of one account, over a store that a test fills."""

    def __init__(self, limit: int = 10) -> None:
        self.store, self.files = Stored(), FileStore(1_000)
        self.conversations = PageChats(8, limit)
        self.lines = StoredLines(self.store, "main", self.conversations, self.files, limit)

    def of(self, chat: str = "") -> PageChat:
        return self.conversations.of(ADA, chat)

    async def sync(self, chat: str = "") -> list[str]:
        await self.lines.sync(self.of(chat), ADA, chat)
        return texts(self.of(chat))


def at_minute(number: int) -> datetime:
    return NOW + timedelta(minutes=number)


def texts(conversation: PageChat) -> list[str]:
    return [line.text for line in conversation.lines()]


def page_message(number: int, text: str = "said", **more: object) -> PageMessage:
    return PageMessage(f"m{number}", "person", at_minute(number), text, **more)  # type: ignore[arg-type]


def answered(number: int, text: str = "shown", **more: object) -> PageMessage:
    line = PageMessage(f"a-{number}", "assistant", at_minute(number), text, **more)  # type: ignore[arg-type]
    return (
        line
        if line.reply_to
        else PageMessage(
            f"a-{number}",
            "assistant",
            at_minute(number),
            text,
            reply_to=f"m{number}",
            **more,  # type: ignore[arg-type]
        )
    )


@pytest.fixture
def page() -> Page:
    return Page()


async def test_stored_messages_are_restored_in_order(page: Page) -> None:
    page.store.tell(1, "one")
    page.store.tell(3, "three")
    page.of().put(page_message(2, "/help", command=True))
    assert await page.sync() == ["one", "answer 1", "/help", "three", "answer 3"]
    [answer] = [line for line in page.of().lines() if line.text == "answer 1"]
    assert answer.html == "<p>answer 1</p>"


async def test_a_displayed_line_is_not_changed(page: Page) -> None:
    page.of().put(page_message(1, "as typed"))
    page.of().put(answered(1, "with a button", buttons=(Button("Undo", "u"),)))
    page.store.tell(1, "as stored")
    epoch = page.of().epoch
    assert await page.sync() == ["as typed", "with a button"]
    assert page.of().epoch == epoch


async def test_lines_that_are_no_longer_stored_are_removed_with_their_files(page: Page) -> None:
    file = page.files.add(ADA, "a.txt", "text/plain", b"secret")
    link = FileLink(file.id, file.name, file.mime, 6)
    page.of().put(page_message(1, files=(link,)))
    page.of().put(answered(1))
    page.of().put(page_message(2, "not stored yet"))
    page.store.tell(1, "said")
    await page.sync()
    epoch = page.of().epoch
    page.store.kept.clear()
    assert await page.sync() == ["not stored yet"]
    assert page.files.get(file.id, ADA) is None
    assert page.of().epoch > epoch


async def test_a_long_conversation_shows_its_latest_lines_and_is_read_once() -> None:
    page = Page(limit=4)
    for number in range(10):
        page.store.tell(number, f"q{number}")
    assert await page.sync() == ["q8", "answer 8", "q9", "answer 9"]
    epoch = page.of().epoch
    assert await page.sync() == ["q8", "answer 8", "q9", "answer 9"]
    assert page.of().epoch == epoch


async def test_a_replaced_question_is_not_restored(page: Page) -> None:
    page.store.tell(1, "again?")
    await page.sync()
    page.of().repeat(page.of().lines()[0], page_message(2, "again?"), 0.0)
    page.of().supersede("m1", "m2")
    assert await page.sync() == ["again?"]


async def test_an_unfinished_answer_is_not_mistaken_for_a_stored_one(page: Page) -> None:
    page.of().put(answered(1, "so f", live=True))
    page.store.tell(1, "said")
    await page.sync()
    page.store.kept.clear()
    assert "so f" in await page.sync()


async def test_a_deletion_removes_commands_and_keeps_open_questions(page: Page) -> None:
    page.store.tell(1, "kept")
    await page.sync()
    page.of().put(page_message(2, "/remember the salary", command=True))
    page.of().put(answered(2, "Forget it?", buttons=(Button("Forget", "f"),)))
    page.of(CHAT).put(page_message(3, "elsewhere, not stored"))
    page.of().put(page_message(4, "/forget salary", command=True))
    page.lines.drop_unstored(ADA, keep="m4")
    assert texts(page.of()) == ["kept", "answer 1", "Forget it?", "/forget salary"]
    assert texts(page.of(CHAT)) == []


async def test_without_a_store_nothing_is_removed() -> None:
    conversations, files = PageChats(8, 10), FileStore(10)
    lines = StoredLines(None, "main", conversations, files, 10)
    conversations.of(ADA).put(page_message(1))
    lines.drop_unstored(ADA)
    await lines.sync(conversations.of(ADA), ADA, "")
    assert texts(conversations.of(ADA)) == ["said"]


async def test_the_list_has_stored_conversations_and_those_that_begin(page: Page) -> None:
    page.store.tell(1, "stored  in\nlines")
    page.of(CHAT).put(page_message(5, "just begun"))
    page.of("chat-command").put(page_message(6, "/help", command=True))
    page.conversations.of("web-ben", "chat-ben").put(page_message(7, "Ben's"))
    listed = [(one.id, one.title) for one in await page.lines.listed(ADA)]
    assert listed == [(CHAT, "just begun"), ("", "stored in lines")]


async def test_a_deleted_conversation_is_removed_from_the_list(page: Page) -> None:
    page.of().put(page_message(1, "a secret"))
    page.store.tell(1, "a secret")
    await page.sync()
    page.store.kept.clear()
    page.of().put(page_message(2, "/clear", command=True))
    assert await page.lines.listed(ADA) == []


def test_a_title_is_one_short_line() -> None:
    assert title_of("  a\n b\t c ") == "a b c"
    assert len(title_of("x" * 500)) == MAX_TITLE
    assert title_of("x" * 500).endswith("…")
