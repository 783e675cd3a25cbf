"""A person's own conversations are listed and read by that person only, in their channel only."""

from datetime import timedelta

import pytest

from gateway.conversation import key_of
from gateway.message import Place
from gateway.people import Audience
from gateway.ports.conversations import MessageName, StoredTurn
from gateway.stores.conversations import Conversations
from gateway.stores.history import MAX_BEGINNING, SqlOwnConversations
from tests.support.databases import Engine
from tests.support.messages import AT

ADA, BEN = "web-ada", "web-ben"


def place(thread: str = "", channel: str = ADA) -> Place:
    return Place("web", "main", channel, Audience.DIRECT, thread_id=thread)


async def told(
    conversations: Conversations,
    number: int,
    text: str,
    where: Place,
    *,
    person: str = ADA,
    tenant: str = "default",
) -> None:
    at = AT + timedelta(minutes=number)
    turn = StoredTurn(f"m{number}", "user", text, at, f"web:main:{person}", "")
    answer = StoredTurn(f"m{number}", "assistant", f"answer {number}", at)
    await conversations.append(key_of(tenant, where), (turn, answer))


@pytest.fixture
def own(engine: Engine) -> SqlOwnConversations:
    return SqlOwnConversations(engine)


async def test_conversations_are_listed_newest_first_by_their_first_words(
    own: SqlOwnConversations, conversations: Conversations
) -> None:
    await told(conversations, 1, "the oldest", place())
    await told(conversations, 2, "", place("chat-b"))
    await told(conversations, 3, "after a file", place("chat-b"))
    await told(conversations, 4, "x" * 1_000, place("chat-c"))
    await told(conversations, 5, "more of the oldest", place())
    result = await own.listed("default", place(), ADA, 10)
    assert [(one.thread_id, one.beginning) for one in result] == [
        ("", "the oldest"),
        ("chat-c", "x" * MAX_BEGINNING),
        ("chat-b", "after a file"),
    ]
    assert result[0].at == AT + timedelta(minutes=5)
    assert [one.thread_id for one in await own.listed("default", place(), ADA, 1)] == [""]


async def test_conversations_of_other_people_are_not_found(
    own: SqlOwnConversations, conversations: Conversations
) -> None:
    await told(conversations, 1, "mine", place("chat-a"))
    await told(conversations, 2, "Ben's", place("chat-a", BEN), person=BEN)
    await told(conversations, 3, "another tenant's", place("chat-a"), tenant="other")
    await told(conversations, 4, "Ben in my channel", place("chat-x"), person=BEN)
    assert [one.beginning for one in await own.listed("default", place(), ADA, 10)] == ["mine"]
    texts = [turn.text for turn in await own.turns("default", place("chat-a"), ADA, 10)]
    assert texts == ["mine", "answer 1"]
    assert await own.names("default", place("chat-a"), BEN, 10) == [MessageName("m1", "assistant")]


async def test_the_latest_messages_of_a_place_are_read_oldest_first(
    own: SqlOwnConversations, conversations: Conversations
) -> None:
    for number in range(1, 4):
        await told(conversations, number, f"question {number}", place("chat-a"))
    await told(conversations, 9, "elsewhere", place("chat-b"))
    turns = await own.turns("default", place("chat-a"), ADA, 3)
    assert [turn.text for turn in turns] == ["answer 2", "question 3", "answer 3"]
    names = await own.names("default", place("chat-a"), ADA, 2)
    assert names == [MessageName("m3", "person"), MessageName("m3", "assistant")]
