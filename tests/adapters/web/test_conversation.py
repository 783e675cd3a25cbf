"""Conversations and files have limits, and waiting pages learn about changes."""

import asyncio
from datetime import UTC, datetime

import pytest

from adapters.web.page_state import FileStore, PageChat, PageChats, PageMessage
from gateway.errors import BadInput

NOW = datetime(2026, 11, 3, tzinfo=UTC)


def line(name: str, text: str = "x") -> PageMessage:
    return PageMessage(name, "person", NOW, text)


def test_the_oldest_lines_are_removed_first() -> None:
    conversation = PageChat(limit=3)
    for name in "abcde":
        conversation.put(line(name))
    assert [kept.id for kept in conversation.lines()] == ["c", "d", "e"]


def test_since_returns_each_changed_line_once_in_the_order_of_changes() -> None:
    conversation = PageChat(limit=10)
    seen = conversation.put(line("a")).version
    conversation.put(line("b"))
    conversation.put(line("a", "changed"))
    assert [(kept.id, kept.text) for kept in conversation.since(seen)] == [
        ("b", "x"),
        ("a", "changed"),
    ]


async def test_waiting_ends_at_the_next_change() -> None:
    conversation = PageChat(limit=10)
    waiting = asyncio.create_task(conversation.changed(5.0))
    await asyncio.sleep(0)
    conversation.put(line("a"))
    assert await waiting
    assert not await conversation.changed(0.01)


def test_versions_increase_across_a_restart() -> None:
    before = PageChats(4, 10, first_version=1_000).of("web-a").put(line("a")).version
    after = PageChats(4, 10, first_version=2_000).of("web-a").put(line("a")).version
    assert after > before


def test_the_least_recently_used_conversation_is_deleted_unless_a_page_shows_it() -> None:
    conversations = PageChats(max_people=2, history=10)
    conversations.of("web-watched").watchers = 1
    conversations.of("web-quiet").put(line("a"))
    conversations.of("web-new")
    assert len(conversations) == 2
    assert conversations.of("web-quiet").lines() == []


def test_the_oldest_files_are_deleted_and_each_owner_sees_their_own() -> None:
    files = FileStore(max_bytes=10)
    first = files.add("web-a", "one", "text/plain", b"123456")
    second = files.add("web-a", "two", "text/plain", b"123456")
    assert files.get(first.id, "web-a") is None
    assert files.get(second.id, "web-a") == second
    assert files.get(second.id, "web-b") is None
    with pytest.raises(BadInput):
        files.add("web-a", "huge", "text/plain", b"x" * 11)
