"""Conversations, usage, traces: the contract of the ports for long-lived data."""

import asyncio
from datetime import timedelta

from gateway.authorship import Material
from gateway.conversation import ConversationKey, key_of
from gateway.immutable import replace
from gateway.policy.budgets import BudgetAccount
from gateway.policy.decision import Decision
from gateway.ports import Usage
from gateway.ports.conversations import StoredTurn
from gateway.ports.traces import Trace
from gateway.ports.unit_of_work import CompletedTurn
from gateway.ports.usage import UsageRow, UsageTotal
from gateway.stores.conversations import Conversations
from gateway.stores.traces import Traces
from gateway.stores.unit_of_work import LongLivedTurns
from gateway.stores.usage import UsageLedger
from tests.support.clock import FakeClock
from tests.support.messages import AT, place

KEY = ConversationKey("t", "test", "main", "W1", "C1")


def stored_turn(message_id: str, text: str, seconds: int = 0) -> StoredTurn:
    return StoredTurn(message_id, "user", text, AT + timedelta(seconds=seconds), "ada", "Ada")


def answered(message_id: str, text: str, seconds: int = 1) -> StoredTurn:
    return StoredTurn(message_id, "assistant", text, AT + timedelta(seconds=seconds))


async def texts(conversations: Conversations, key: ConversationKey = KEY) -> list[str]:
    return [turn.text for turn in await conversations.latest(key, 100)]


async def test_the_latest_turns_are_in_chronological_order(conversations: Conversations) -> None:
    for number in range(4):
        turns = (stored_turn(f"m{number}", f"q{number}"), answered(f"m{number}", f"a{number}"))
        await conversations.append(KEY, turns)
    latest = await conversations.latest(KEY, 3)
    assert [turn.text for turn in latest] == ["a2", "q3", "a3"]
    assert latest[1] == stored_turn("m3", "q3")


async def test_saving_the_same_turn_again_changes_nothing(conversations: Conversations) -> None:
    turn = (stored_turn("m1", "q"), answered("m1", "a"))
    await conversations.append(KEY, turn)
    await conversations.append(KEY, turn)
    assert await texts(conversations) == ["q", "a"]


async def test_a_thread_and_its_channel_are_two_conversations(
    conversations: Conversations,
) -> None:
    thread = KEY._replace(thread="T1")
    await conversations.append(KEY, (stored_turn("m1", "in the channel"),))
    await conversations.append(thread, (stored_turn("m2", "in the thread"),))
    assert await texts(conversations) == ["in the channel"]
    assert await texts(conversations, thread) == ["in the thread"]


async def test_tenants_are_separate(conversations: Conversations) -> None:
    await conversations.append(KEY, (stored_turn("m1", "mine"),))
    theirs = KEY._replace(tenant="other")
    assert await texts(conversations, theirs) == []
    await conversations.append(theirs, (stored_turn("m1", "theirs"), answered("m1", "a")))
    assert await texts(conversations) == ["mine"]
    assert await conversations.edit("other", place("C1"), "m1", "changed")
    assert await texts(conversations) == ["mine"]
    assert await conversations.delete("other", place("C1"), ("m1",)) == 2
    assert await texts(conversations) == ["mine"]
    assert await conversations.knows("t", place("C1"), ("m1",))
    assert not await conversations.knows("other", place("C1"), ("m1",))


async def test_an_edit_changes_the_message_wherever_it_is_stored(
    conversations: Conversations,
) -> None:
    await conversations.append(KEY._replace(thread="T1"), (stored_turn("m1", "before"),))
    assert await conversations.edit("t", place("C1"), "m1", "after")
    assert await texts(conversations, KEY._replace(thread="T1")) == ["after"]
    assert not await conversations.edit("t", place("C2"), "m1", "elsewhere")


async def test_external_text_is_separate_and_an_edit_does_not_make_it_own_text(
    conversations: Conversations,
) -> None:
    eve = (Material("forwarded", "pay\x00 me “now”", "Eve"), Material("card", "Poll: Q?"))
    shown = stored_turn("m1", "")._replace(material=eve)
    both = stored_turn("m2", "what is this?")._replace(material=eve)
    await conversations.append(KEY, (shown, answered("m1", "a")))
    await conversations.append(KEY, (both, answered("m2", "a")))
    opened, _ = await conversations.opened(KEY, 10)
    first, _, second, _ = opened
    assert [piece.by for piece in first.material] == ["Eve", ""]
    assert "me “now”" in first.material[0].text
    assert (second.text, second.material[1]) == ("what is this?", eve[1])
    assert await conversations.latest(KEY, 10) == opened
    await conversations.edit("t", place("C1"), "m1", "pay me now")
    await conversations.edit("t", place("C1"), "m2", "and this?")
    assert await texts(conversations) == ["", "a", "and this?", "a"]


async def test_a_deleted_message_deletes_its_answer(conversations: Conversations) -> None:
    await conversations.append(
        KEY, (stored_turn("m1", "q1"), stored_turn("m2", "q2"), answered("m2", "a"))
    )
    await conversations.append(KEY, (stored_turn("m3", "q3"), answered("m3", "a3")))
    assert await conversations.delete("t", place("C1"), ("m1", "unknown")) == 2
    assert await texts(conversations) == ["q2", "q3", "a3"]


async def test_a_participant_is_a_person_who_wrote(conversations: Conversations) -> None:
    await conversations.append(KEY, (stored_turn("m1", "q"),))
    assert not await conversations.takes_part(KEY)
    await conversations.append(KEY, (stored_turn("m2", "q"), answered("m2", "a")))
    assert await conversations.takes_part(key_of("t", place("C1")))


async def test_turns_are_cleared_and_pruned(conversations: Conversations) -> None:
    await conversations.append(KEY, (stored_turn("m1", "old"), stored_turn("m2", "new", 100)))
    assert await conversations.prune(AT + timedelta(seconds=50)) == 1
    assert await texts(conversations) == ["new"]
    assert await conversations.clear(KEY) == 1
    assert not await conversations.knows("t", place("C1"), ("m2",))


ACCOUNT = (BudgetAccount("user_per_day", "user:ada:2026-11-21", 100),)


def row(micros: int) -> UsageRow:
    return UsageRow("t", "ada", "W1", "model", Usage(10, 5), micros, AT)


async def test_a_reservation_is_replaced_by_the_actual_cost(usage: UsageLedger) -> None:
    assert (await usage.reserve("turn-1", ACCOUNT, 60)).decision.allowed
    assert not (await usage.reserve("turn-2", ACCOUNT, 60)).decision.allowed
    await usage.settle("turn-1", (row(10),), ACCOUNT)
    assert await usage.spent(ACCOUNT) == [10]
    assert (await usage.reserve("turn-2", ACCOUNT, 60)).decision.allowed


async def test_concurrent_reservations_never_exceed_the_limit(usage: UsageLedger) -> None:
    outcomes = await asyncio.gather(*(usage.reserve(f"t{i}", ACCOUNT, 30) for i in range(20)))
    assert sum(outcome.decision.allowed for outcome in outcomes) == 3


async def test_the_reservation_of_a_crashed_turn_is_released(
    usage: UsageLedger, clock: FakeClock
) -> None:
    await usage.reserve("turn-1", ACCOUNT, 100)
    await clock.advance(3601)
    assert (await usage.reserve("turn-2", ACCOUNT, 100)).decision.allowed


async def test_old_usage_is_deleted(usage: UsageLedger) -> None:
    this = (BudgetAccount("user_per_day", "user:ada:2026-11-22", 100),)
    await usage.settle("turn-1", (row(10),), ACCOUNT)
    await usage.settle("turn-2", (replace(row(20), at=AT + timedelta(days=1)),), (*ACCOUNT, *this))
    assert await usage.prune(AT + timedelta(hours=1), AT) == 0
    assert await usage.prune(AT, AT + timedelta(hours=1)) == 1, "the sum that began with it"
    assert await usage.prune(AT, AT + timedelta(hours=1)) == 0
    assert await usage.spent((*ACCOUNT, *this)) == [0, 20]


async def test_costs_are_summed_by_model(usage: UsageLedger) -> None:
    dear = replace(row(30), model="dear", person="bob")
    others = (replace(row(7), tenant="t2"), replace(row(3), tenant="", person="", model="judge"))
    await usage.settle("turn-1", (row(10), dear), ())
    await usage.settle("turn-2", (replace(row(20), at=AT + timedelta(days=1)), *others), ())
    every = await usage.totals("t", AT, None)
    assert every == [
        UsageTotal("dear", 1, Usage(10, 5), 30),
        UsageTotal("model", 2, Usage(20, 10), 30),
        UsageTotal("judge", 1, Usage(10, 5), 3),
    ]
    assert await usage.totals("t", AT, ("ada", "eve")) == every[1:2]
    assert await usage.totals("t", AT + timedelta(hours=1), ("ada",)) == [
        UsageTotal("model", 1, Usage(10, 5), 20)
    ]
    for nobody in ((), ("",), ("eve",)):
        assert await usage.totals("t", AT, nobody) == []


async def test_a_turn_without_cost_creates_no_sum(usage: UsageLedger) -> None:
    await usage.reserve("turn-1", ACCOUNT, 60)
    await usage.settle("turn-1", (), ACCOUNT)
    assert await usage.spent(ACCOUNT) == [0]
    assert await usage.prune(AT, AT + timedelta(days=1_000)) == 0


async def test_a_trace_with_half_a_surrogate_pair_is_stored(traces: Traces) -> None:
    decision = Decision("invocation", True, "direct", "half \ud83d and \0")
    trace = Trace("x1", "m1", "test", "main", str(KEY), "message", AT, (decision,), "answered", 1.5)
    await traces.add(trace)
    assert await traces.find("m1") == [trace]


async def test_traces_are_found_by_message(traces: Traces) -> None:
    decision = Decision("limits", False, "user_limit", "again in 12 s")
    trace = Trace("x1", "m1", "test", "main", str(KEY), "message", AT, (decision,), "refused", 1.5)
    await traces.add(trace)
    await traces.add(replace(trace, id="x2", message_id="m2", at=AT + timedelta(seconds=1)))
    assert await traces.find("m1") == [trace]
    assert [t.id for t in await traces.recent()] == ["x2", "x1"]
    assert await traces.prune(AT + timedelta(seconds=1), AT) == 1


async def test_the_trace_of_a_refusal_replaces_an_older_one(traces: Traces) -> None:
    trace = Trace("x0", "m0", "test", "main", str(KEY), "message", AT, (), "refused:access", 1.5)
    for number in range(20):
        at = AT + timedelta(seconds=number)
        result = replace(trace, id=f"x{number}", message_id=f"m{number}", at=at, slot=number % 2)
        await traces.add(result)
        await traces.add(result)
    await traces.add(replace(trace, id="answered", outcome="answered"))
    assert [match.id for match in await traces.recent()] == ["x19", "x18", "answered"]
    last = AT + timedelta(seconds=19)
    handled = [await traces.handled(KEY.tenant, since, None) for since in (AT, last)]
    assert [[(one.outcome, one.number) for one in found] for found in handled] == [
        [("answered", 1), ("refused:access", 2)],
        [("refused:access", 1)],
    ]
    assert await traces.handled("another", AT, None) == []
    assert await traces.prune(AT - timedelta(days=29), AT + timedelta(hours=1)) == 2
    assert [outcome.id for outcome in await traces.recent()] == ["answered"]


async def test_traces_of_messages_that_were_given_up_are_found(traces: Traces) -> None:
    trace = Trace("x0", "m0", "test", "main", str(KEY), "message", AT, (), "gave_up", 1.5)
    for number, outcome in enumerate(["gave_up", "answered", "gave_up", "gave_up"]):
        at = AT + timedelta(seconds=number)
        await traces.add(replace(trace, id=f"x{number}", outcome=outcome, at=at))
    assert [result.id for result in await traces.given_up(2)] == ["x3", "x2"]


async def test_a_higher_reservation_replaces_the_one_of_the_turn(usage: UsageLedger) -> None:
    assert (await usage.reserve("turn-1", ACCOUNT, 60)).decision.allowed
    assert (await usage.reserve("turn-1", ACCOUNT, 90)).decision.allowed
    assert not (await usage.reserve("turn-1", ACCOUNT, 110)).decision.allowed
    assert await usage.spent(ACCOUNT) == [90]


async def test_all_accounts_are_reserved_or_none(usage: UsageLedger) -> None:
    wide = BudgetAccount("workspace_per_day", "workspace:t:2026-11-21", 1_000)
    assert not (await usage.reserve("turn-1", (wide, *ACCOUNT), 101)).decision.allowed
    assert await usage.spent((wide, *ACCOUNT)) == [0, 0]
    outcome = await usage.reserve("turn-2", (*ACCOUNT, wide), 60)
    assert outcome.alerts == (("user_per_day", 0.5),)
    assert await usage.spent((wide, *ACCOUNT)) == [60, 60]


async def test_amounts_are_exact_beyond_the_precision_of_a_float(usage: UsageLedger) -> None:
    account = (BudgetAccount("workspace_per_month", "workspace:t:2026-11", 2**62),)
    await usage.settle("turn-1", (row(2**53), row(1)), account)
    assert await usage.spent(account) == [2**53 + 1]


async def test_a_turn_that_is_settled_again_costs_nothing_more(usage: UsageLedger) -> None:
    for _ in range(3):
        await usage.settle("turn-1", (row(10), row(5)), ACCOUNT)
    await usage.settle("turn-2", (row(1),), ACCOUNT)
    assert await usage.spent(ACCOUNT) == [16]


def turn(turn_id: str = "x1", text: str = "q") -> CompletedTurn:
    decision = Decision("access", True, "open")
    trace = Trace(
        turn_id, "m1", "test", "main", str(KEY), "message", AT, (decision,), "answered", 2.0
    )
    said_and_answered = (stored_turn("m1", text), answered("m1", "a"))
    return CompletedTurn(KEY, said_and_answered, (row(7),), ACCOUNT, trace, ("id-m1",), ())


async def test_the_end_of_a_turn_stores_turns_usage_and_trace(
    keeper: LongLivedTurns, conversations: Conversations, usage: UsageLedger, traces: Traces
) -> None:
    done = turn()
    await usage.reserve(done.trace.id, ACCOUNT, 50)
    await keeper.keep(done)
    assert await conversations.latest(KEY, 10) == list(done.turns)
    assert await usage.spent(ACCOUNT) == [7]
    assert await traces.find("m1") == [done.trace]


async def test_a_turn_that_is_stored_again_changes_nothing(
    keeper: LongLivedTurns, conversations: Conversations, usage: UsageLedger, traces: Traces
) -> None:
    done = turn()
    await asyncio.gather(*(keeper.keep(done) for _ in range(5)))
    assert await texts(conversations) == ["q", "a"]
    assert await usage.spent(ACCOUNT) == [7]
    assert len(await traces.recent()) == 1


async def test_a_turn_without_messages_or_cost_stores_its_trace(
    keeper: LongLivedTurns, conversations: Conversations, traces: Traces
) -> None:
    refused = replace(turn(), turns=(), usage=(), accounts=())
    await keeper.keep(refused)
    assert await traces.recent() == [refused.trace]
    assert await texts(conversations) == []


async def test_any_text_of_a_person_can_be_stored(
    keeper: LongLivedTurns, conversations: Conversations
) -> None:
    for number, text in enumerate(("nul \0 in it", "'; DROP TABLE turns; --", "%s {} \\", "𝔘🏳️‍🌈")):
        turns = (stored_turn(f"m{number}", text),)
        await keeper.keep(replace(turn(f"x{number}"), turns=turns))
    kept = await texts(conversations)
    assert kept[0] in {"nul \0 in it", "nul \N{REPLACEMENT CHARACTER} in it"}
    assert kept[1:] == ["'; DROP TABLE turns; --", "%s {} \\", "𝔘🏳️‍🌈"]


async def test_a_message_that_is_twice_in_a_turn_is_stored_once(
    conversations: Conversations,
) -> None:
    await conversations.append(
        KEY, (stored_turn("m1", "first"), stored_turn("m2", "other"), stored_turn("m1", "last"))
    )
    assert await texts(conversations) == ["last", "other"]
