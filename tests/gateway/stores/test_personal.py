"""A person's data in the gateway's own tables is exported and erased, in every store."""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

import pytest

from db.sqlite import SqliteDatabase
from gateway.conversation import ConversationKey, key_of
from gateway.immutable import replace
from gateway.message import MessageAuthor, MessageReceived, Receipt
from gateway.observe.correlation import correlation_id
from gateway.policy.budgets import BudgetAccount
from gateway.policy.decision import Decision
from gateway.ports import Usage
from gateway.ports.adapter import AdapterStates
from gateway.ports.conversations import ConversationSummary, ConversationTask, StoredTurn
from gateway.ports.queues import Inbox, InboxEntry, Outbox
from gateway.ports.traces import Trace
from gateway.ports.usage import UsageRow
from gateway.stores.conversations import ConversationNoteStore, Conversations
from gateway.stores.personal_data import HotPersonalData, SqlPersonalData
from gateway.stores.redis.hot_state import RedisHotState
from gateway.stores.sqlite.hot_state import SqliteAdapterStates
from gateway.stores.sqlite.queues import SqliteInbox, SqliteOutbox
from gateway.stores.traces import Traces
from gateway.stores.usage import UsageLedger
from memory.model.record import Tier
from memory.service.read import working_records
from tests.memory.stores.records import access as reach_to
from tests.support.clock import FakeClock
from tests.support.databases import Engine
from tests.support.messages import AT, direct, message, outbound, place

ADA, BOB = "test:main:ada", "test:main:bob"
KEY = ConversationKey("t", "test", "main", "W1", "C1")
DAY = timedelta(days=1)


class Personal(Protocol):
    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]: ...

    async def count(self, tenant: str, persons: Sequence[str]) -> list[tuple[str, int]]: ...

    async def erase(self, tenant: str, persons: Sequence[str], turn_id: str = "") -> int: ...


class Working(Personal, Protocol):
    async def working(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]: ...

    async def clear(self, tenant: str, persons: Sequence[str]) -> int: ...


@pytest.fixture
def lasting(engine: Engine, clock: FakeClock) -> Working:
    return SqlPersonalData(engine, clock)


@pytest.fixture
def moving(hot: SqliteDatabase | RedisHotState, clock: FakeClock) -> Personal:
    if isinstance(hot, SqliteDatabase):
        outbox = SqliteOutbox(hot, clock)
        return HotPersonalData(SqliteInbox(hot, clock), outbox, SqliteAdapterStates(hot, clock))
    return HotPersonalData(hot.inbox, hot.outbox, hot.states)


@pytest.fixture
def notes(engine: Engine) -> ConversationNoteStore:
    return ConversationNoteStore(engine)


def trace(id_: str, message_id: str, key: ConversationKey = KEY) -> Trace:
    decisions = (Decision("access", True, "open"),)
    return Trace(id_, message_id, "test", "main", str(key), "message", AT, decisions, "answered", 1)


def turns(person: str, number: str) -> tuple[StoredTurn, ...]:
    turn = StoredTurn(number, "user", f"{person} asks", AT, person, "Name")
    return turn, StoredTurn(number, "assistant", f"answer to {person}", AT)


def accounts(person: str) -> tuple[BudgetAccount, ...]:
    days = ("2026-11-20", "2026-11-21", "2026-10", "2026-11")
    return tuple(BudgetAccount("limit", f"user:t:{person}:{day}", 100) for day in days)


async def fill(conversations: Conversations, usage: UsageLedger, traces: Traces) -> None:
    for number, person in enumerate((ADA, BOB)):
        await conversations.append(KEY, turns(person, f"m{number}"))
        row = UsageRow("t", person, "W1", "model", Usage(10, 5), 7, AT)
        await usage.settle(f"x{number}", (row,), accounts(person))
        await traces.add(trace(f"x{number}", "other"))
        await traces.add(trace(f"y{number}", f"m{number}"))
        private = key_of("t", direct(person.rpartition(":")[2]))
        await traces.add(
            trace(f"z{number}", "refused", private._replace(channel=private.channel[3:]))
        )


def by_table(rows: list[dict[str, object]]) -> dict[str, int]:
    json.dumps(rows)
    return dict(Counter(str(row["table"]) for row in rows))


async def test_long_lived_data_is_exported_and_erased(
    lasting: Personal, conversations: Conversations, usage: UsageLedger, traces: Traces
) -> None:
    await fill(conversations, usage, traces)
    everything = {"turns": 2, "usage": 1, "traces": 3, "spent": 4, "people_names": 1}
    assert by_table(await lasting.export("t", (ADA,))) == everything
    assert dict(await lasting.count("t", (ADA,))) == everything
    assert await lasting.export("u", (ADA,)) == []
    assert await lasting.count("u", (ADA,)) == []
    assert await lasting.erase("u", (ADA,)) == 0
    assert await lasting.erase("t", (ADA,)) == 2 + 1 + 3 + 2 + 1
    assert by_table(await lasting.export("t", (ADA,))) == {"spent": 2}
    assert by_table(await lasting.export("t", (BOB,))) == everything
    assert [turn.person for turn in await conversations.latest(KEY, 10)] == [BOB, ""]
    assert await usage.spent(accounts(ADA)) == [0, 7, 0, 7]


async def test_only_working_memory_is_shown_and_cleared(
    lasting: Working,
    conversations: Conversations,
    notes: ConversationNoteStore,
    usage: UsageLedger,
    traces: Traces,
) -> None:
    await fill(conversations, usage, traces)
    await notes.set_task(
        KEY, ConversationTask("Plan the trip", ADA, "Ada"), AT + timedelta(seconds=1)
    )
    summary = ConversationSummary("They met.", "m0", "user", AT, (ADA,))
    await notes.set_summary(KEY, summary, AT + timedelta(seconds=1))
    access = reach_to(ADA)
    shown = working_records(await lasting.working("t", (ADA,)), access)
    answers = {(record.content, record.role, record.tags) for record in shown}
    assert answers == {
        ("Plan the trip", "", ("task",)),
        ("They met.", "", ("summary",)),
        (f"{ADA} asks", "user", ()),
        (f"answer to {ADA}", "assistant", ()),
    }
    assert {record.tier for record in shown} == {Tier.WORKING}
    assert len({record.id for record in shown}) == 4
    assert shown == working_records(await lasting.working("t", (ADA,)), access)
    assert working_records(await lasting.working("u", (ADA,)), access) == []
    assert await lasting.clear("u", (ADA,)) == 0
    assert await lasting.clear("t", (ADA,)) == 2 + 1 + 1
    left = {"usage": 1, "traces": 2, "spent": 4, "people_names": 1}
    assert by_table(await lasting.export("t", (ADA,))) == left
    theirs = working_records(await lasting.working("t", (BOB,)), reach_to(BOB))
    assert {record.content for record in theirs} == {f"{BOB} asks", f"answer to {BOB}"}


async def test_a_similar_id_is_not_matched(
    lasting: Personal, conversations: Conversations, usage: UsageLedger, traces: Traces
) -> None:
    await fill(conversations, usage, traces)
    for near in ("test:main:a", "test:main:adam", "test:main:%", "main:ada", "ada", ""):
        assert await lasting.export("t", (near,)) == []
        assert await lasting.erase("t", (near,)) == 0


async def test_questions_to_a_person_are_erased_with_them(
    moving: Personal, states: AdapterStates
) -> None:
    questions = states.of("parley", "memory-questions")
    for person in ("ada", "bob"):
        kept = {"person": f"test:main:{person}", "text": f"the secrets of {person}"}
        await questions.put(f"list:{person}", json.dumps(kept), DAY)
    for number, odd in enumerate(("", "1", "{", "[]", "{}", '{"person": ""}', '{"person": 1}')):
        await questions.put(f"odd:{number}", odd, DAY)
    assert await moving.erase("t", ("",)) == 0
    assert by_table(await moving.export("t", ("test:main:ada",))) == {"adapter_state": 1}
    assert await moving.erase("t", ("test:main:ada",)) == 1
    assert await questions.get("list:ada") is None
    assert await questions.get("list:bob")
    assert await questions.get("odd:1") == "1"


async def test_hot_state_is_exported_and_erased(
    moving: Personal, inbox: Inbox, outbox: Outbox, states: AdapterStates
) -> None:
    for person in ("ada", "bob"):
        sent_message = message(
            f"{person} says", message_id=f"m-{person}", author=person, at=place("C1")
        )
        entry = InboxEntry(
            f"e-{person}", "conversation", MessageReceived(f"e-{person}", sent_message), AT
        )
        await inbox.add(entry, DAY)
        room = replace(
            outbound(f"k1-{person}", "answer", place("C1")), person=f"test:main:{person}"
        )
        alone = replace(outbound(f"k2-{person}", "psst", place("C1")), private_to=person)
        own = replace(outbound(f"k3-{person}", "hi"), place=replace(direct(), channel_id=person))
        await outbox.add((room, alone, own))
        await outbox.dead([alone.key], "gone")
        state = states.of("test", "main")
        await state.put(f"window:{person}", "2026", DAY)
        await state.put(f"phone:49-{person}", person, DAY)
    await outbox.add((outbound("shared", "for all", place("C1")),))
    await outbox.sent("shared", Receipt("p1"))
    results = {"inbox": 1, "outbox": 3, "adapter_state": 2}
    assert by_table(await moving.export("t", ("test:main:ada",))) == results
    assert dict(await moving.count("t", ("test:main:ada",))) == results
    assert await moving.erase("t", ("test:main:ada",)) == 6
    assert await moving.export("t", ("test:main:ada",)) == []
    assert by_table(await moving.export("t", ("test:main:bob",))) == results
    sent_message = message("ada says", message_id="m-ada", author="ada", at=place("C1"))
    again = InboxEntry("e-ada", "conversation", MessageReceived("e-ada", sent_message), AT)
    assert not await inbox.add(again, DAY)
    assert [entry.id for entry in await inbox.unfinished(10)] == ["e-bob"]


async def test_data_that_an_answer_needs_is_kept_until_it_is_sent(
    moving: Personal, inbox: Inbox, outbox: Outbox, states: AdapterStates
) -> None:
    for id_ in ("asks", "waits"):
        sent_message = message("erase", message_id=id_, author="ada", at=direct())
        await inbox.add(
            InboxEntry(id_, "conversation", MessageReceived(id_, sent_message), AT), DAY
        )
    await outbox.add((replace(outbound("k", "hi"), person=ADA),))
    for key in ("window:ada", "address:ada"):
        await states.of("test", "main").put(key, "x", DAY)
    assert await moving.erase("t", (ADA,), correlation_id("asks")) == 3
    assert [entry.id for entry in await inbox.unfinished(10)] == ["asks"]
    assert await inbox.finish(("asks",), (outbound("done"),))
    assert await states.of("test", "main").get("window:ada") == "x"
    assert await states.of("test", "main").get("address:ada") is None


async def test_other_ids_of_a_person_belong_to_them(moving: Personal, inbox: Inbox) -> None:
    sent_message = replace(message("hi"), author=MessageAuthor("bsuid", aliases=("491511",)))
    await inbox.add(InboxEntry("e1", "conversation", MessageReceived("e1", sent_message), AT), DAY)
    assert by_table(await moving.export("t", ("test:main:491511",))) == {"inbox": 1}


async def test_the_number_of_an_uncertain_owner_is_erased_with_the_person(
    moving: Personal, states: AdapterStates
) -> None:
    await states.of("test", "main").put("phone:49151", "?49151.1", DAY)
    assert by_table(await moving.export("t", ("test:main:49151.1",))) == {"adapter_state": 1}
    assert await moving.erase("t", ("test:main:49151.1",)) == 1
    assert await states.of("test", "main").get("phone:49151") is None
