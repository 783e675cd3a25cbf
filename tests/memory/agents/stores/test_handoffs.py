"""Handoffs in the store: states, one winner, limits; the contract on both engines."""

import asyncio
from datetime import timedelta

import pytest

from db import Statement
from gateway.immutable import replace
from memory.agents.model import AgentLimits, EventKind, Handoff, HandoffContext, HandoffStatus
from memory.agents.stores.handoffs import HandoffReceiver, SqlHandoffs
from memory.stores.personal_data import SqlMemoryPersonalData
from tests.memory.agents.making import ADA, AT, BOB, EVE, agent, handoff
from tests.support.databases import Engine

LIMITS = AgentLimits()
MINUTE = timedelta(minutes=1)
SOURCE, TARGET = agent(ADA), agent(BOB)
TO_TARGET, TO_BOB = HandoffReceiver("t", TARGET.id), HandoffReceiver("t", persons=(BOB, EVE))
KINDS = Statement("SELECT kind FROM agent_events ORDER BY number")


@pytest.fixture
def handoffs(engine: Engine) -> SqlHandoffs:
    return SqlHandoffs(engine)


async def added(handoffs: SqlHandoffs, made: Handoff) -> Handoff:
    assert await handoffs.add(made, LIMITS, made.created_at) == "stored"
    return made


async def test_a_handoff_is_accepted_and_completed_with_everything_it_names(
    handoffs: SqlHandoffs, engine: Engine
) -> None:
    context = HandoffContext("Zeile 🙂\nzwei", {"a": [1, None]}, ("m1",), ("src/a.py",), ("sql:x",))
    made = await added(handoffs, handoff(SOURCE, TARGET, context=context))
    assert await handoffs.open(TO_TARGET, AT, 10) == [made]
    accepted = await handoffs.accept(TO_TARGET, made.id, AT + MINUTE)
    until = AT + MINUTE + timedelta(hours=1)
    assert accepted.handoff == replace(made, status=HandoffStatus.ACCEPTED, until=until)
    done = await handoffs.complete(TO_TARGET, made.id, {"status": "ok"}, AT + 2 * MINUTE)
    assert done.done
    kept = await handoffs.find("t", made.id)
    assert kept == done.handoff
    assert kept is not None
    assert (kept.status, kept.result) == (HandoffStatus.COMPLETED, {"status": "ok"})
    assert await handoffs.open(TO_TARGET, AT, 10) == []
    kinds = [row[0] for row in await engine.fetch(KINDS)]
    assert kinds == ["handoff.initiated", "handoff.accepted", "handoff.completed"]


async def test_a_rejected_handoff_keeps_the_reason_and_ends(handoffs: SqlHandoffs) -> None:
    made = await added(handoffs, handoff(SOURCE, TARGET))
    step = await handoffs.reject(TO_TARGET, made.id, "no time", AT)
    assert step.handoff == replace(made, status=HandoffStatus.REJECTED, reason="no time")
    assert (await handoffs.accept(TO_TARGET, made.id, AT)).outcome == "not_open"
    assert (await handoffs.reject(TO_TARGET, made.id, "again", AT)).outcome == "not_open"


async def test_a_step_out_of_order_changes_nothing(handoffs: SqlHandoffs) -> None:
    made = await added(handoffs, handoff(SOURCE, TARGET))
    assert (await handoffs.complete(TO_TARGET, made.id, {}, AT)).outcome == "not_open"
    assert (await handoffs.accept(TO_TARGET, made.id, AT)).done
    assert (await handoffs.reject(TO_TARGET, made.id, "late", AT)).outcome == "not_open"
    assert (await handoffs.complete(TO_TARGET, made.id, {}, AT)).done
    assert (await handoffs.complete(TO_TARGET, made.id, {}, AT)).outcome == "not_open"


async def test_only_the_target_may_take_a_step(handoffs: SqlHandoffs) -> None:
    made = await added(handoffs, handoff(SOURCE, TARGET))
    question = await added(handoffs, handoff(SOURCE, BOB))
    others = (
        HandoffReceiver("t", SOURCE.id),
        HandoffReceiver("u", TARGET.id, (BOB,)),
        HandoffReceiver("t"),
        HandoffReceiver("t", SOURCE.id, (BOB,)),  # an agent does not answer for its person
        HandoffReceiver("t", persons=(ADA,)),
        HandoffReceiver("t", persons=("",)),
        HandoffReceiver("u", persons=(BOB,)),
    )
    for other in others:
        for one in (made, question):
            assert (await handoffs.accept(other, one.id, AT)).outcome == "unknown"
            assert (await handoffs.reject(other, one.id, "", AT)).outcome == "unknown"
        assert await handoffs.open(other, AT, 10) == []
    assert (await handoffs.accept(TO_BOB, made.id, AT)).outcome == "unknown"
    assert (await handoffs.accept(TO_TARGET, question.id, AT)).outcome == "unknown"
    assert (await handoffs.accept(TO_BOB, question.id, AT)).done
    assert (await handoffs.accept(TO_TARGET, made.id, AT)).done
    for other in others:
        for one in (made, question):
            assert (await handoffs.complete(other, one.id, {}, AT)).outcome == "unknown"
    assert (await handoffs.complete(TO_BOB, question.id, {}, AT)).done
    assert (await handoffs.complete(TO_TARGET, made.id, {}, AT)).done


async def test_handoffs_of_another_tenant_are_not_there(handoffs: SqlHandoffs) -> None:
    made = await added(handoffs, handoff(SOURCE, TARGET))
    assert await handoffs.find("t", made.id) == made
    assert await handoffs.find("u", made.id) is None


async def test_a_step_that_comes_too_late_fails_before_the_housekeeping(
    handoffs: SqlHandoffs,
) -> None:
    made, other = [await added(handoffs, handoff(SOURCE, TARGET)) for _ in range(2)]
    later = AT + timedelta(hours=1)
    assert (await handoffs.accept(TO_TARGET, made.id, AT)).done
    assert (await handoffs.accept(TO_TARGET, other.id, later)).outcome == "expired"
    assert (await handoffs.reject(TO_TARGET, other.id, "", later)).outcome == "expired"
    assert (await handoffs.complete(TO_TARGET, made.id, {}, later)).outcome == "expired"
    assert await handoffs.open(TO_TARGET, later, 10) == []


async def test_pending_and_accepted_handoffs_expire_after_their_own_time(
    handoffs: SqlHandoffs, engine: Engine
) -> None:
    made = [await added(handoffs, handoff(SOURCE, TARGET)) for _ in range(2)]
    last = AT + timedelta(minutes=59)
    assert (await handoffs.accept(TO_TARGET, made[0].id, last)).done
    later = AT + timedelta(hours=1)
    assert (await handoffs.accept(TO_TARGET, made[1].id, later)).outcome == "expired"
    assert [one.id for one in await handoffs.expire(later)] == [made[1].id]
    assert (await handoffs.reject(TO_TARGET, made[1].id, "", later)).outcome == "expired"
    end = last + timedelta(hours=1)
    assert (await handoffs.complete(TO_TARGET, made[0].id, {}, end)).outcome == "expired"
    assert [one.status for one in await handoffs.expire(end)] == [HandoffStatus.EXPIRED]
    assert await handoffs.expire(end) == []
    assert [row[0] for row in await engine.fetch(KINDS)].count("handoff.expired") == 2


@pytest.mark.parametrize("person", [False, True])
async def test_one_of_many_who_accept_at_once_wins(
    engine: Engine, second_engine: Engine, person: bool
) -> None:
    stores = (SqlHandoffs(engine), SqlHandoffs(second_engine))
    receiver = TO_BOB if person else TO_TARGET
    for round_ in range(5):
        at = AT + round_ * timedelta(hours=2)
        made = handoff(SOURCE, BOB if person else TARGET, created_at=at)
        await added(stores[0], made)
        steps = await asyncio.gather(
            *(stores[n % 2].accept(receiver, made.id, at) for n in range(16)),
            *(stores[n % 2].reject(receiver, made.id, "no", at) for n in range(16)),
        )
        assert [step.outcome for step in steps].count("done") == 1
        assert {step.outcome for step in steps} == {"done", "not_open"}
        rows = await engine.fetch(KINDS)
        assert len(rows) == 2 * (round_ + 1)


async def test_limits_hold_for_concurrent_writers_of_two_processes(
    engine: Engine, second_engine: Engine
) -> None:
    stores = (SqlHandoffs(engine), SqlHandoffs(second_engine))
    few = AgentLimits(handoffs=7, pending_per_target=5)
    made = [handoff(SOURCE, TARGET) for _ in range(16)]
    outcomes = await asyncio.gather(
        *(stores[n % 2].add(one, few, AT) for n, one in enumerate(made))
    )
    assert outcomes.count("stored") == 5
    assert outcomes.count("target_full") == 11
    others = [handoff(SOURCE, agent(EVE)) for _ in range(16)]
    outcomes = await asyncio.gather(
        *(stores[n % 2].add(one, few, AT) for n, one in enumerate(others))
    )
    assert outcomes.count("stored") == 2
    assert outcomes.count("full") == 14
    assert (await stores[0].clean(AT + MINUTE)).total() == 0
    later = AT + timedelta(hours=2)
    assert len(await stores[1].expire(later)) == 7
    assert (await stores[0].clean(later + MINUTE)).total() == 7
    assert await stores[1].add(handoff(SOURCE, TARGET), few, AT) == "stored"


async def test_an_answered_or_expired_handoff_leaves_the_limit_of_its_target(
    handoffs: SqlHandoffs,
) -> None:
    few = AgentLimits(pending_per_target=2)
    made = [handoff(SOURCE, TARGET) for _ in range(2)]
    for one in made:
        assert await handoffs.add(one, few, AT) == "stored"
    assert await handoffs.add(handoff(SOURCE, TARGET), few, AT) == "target_full"
    assert (await handoffs.accept(TO_TARGET, made[0].id, AT)).done
    assert await handoffs.add(handoff(SOURCE, TARGET), few, AT) == "stored"
    assert await handoffs.add(handoff(SOURCE, TARGET), few, AT) == "target_full"
    assert await handoffs.add(handoff(SOURCE, TARGET), few, AT + timedelta(hours=1)) == "stored"


async def test_a_person_receives_a_bounded_number_in_an_hour(handoffs: SqlHandoffs) -> None:
    few = AgentLimits(person_per_hour=2, person_per_hour_all=3)
    for _ in range(2):
        made = handoff(SOURCE, BOB)
        assert await handoffs.add(made, few, AT) == "stored"
        assert (await handoffs.reject(TO_BOB, made.id, "", AT)).done
    assert await handoffs.add(handoff(SOURCE, BOB), few, AT) == "too_often"
    assert await handoffs.add(handoff(agent(ADA), BOB), few, AT) == "too_often"
    assert await handoffs.add(handoff(SOURCE, TARGET), few, AT) == "stored"
    assert await handoffs.add(handoff(agent(EVE), BOB), few, AT) == "stored"
    assert await handoffs.add(handoff(agent("x:y:z"), BOB), few, AT) == "too_often"
    assert await handoffs.add(handoff(SOURCE, EVE), few, AT) == "stored"
    assert await handoffs.add(handoff(SOURCE, BOB), few, AT + timedelta(hours=1)) == "stored"


async def test_limits_of_a_person_count_for_all_linked_identities(handoffs: SqlHandoffs) -> None:
    few = AgentLimits(person_per_hour=2, pending_per_target=2)
    for person in (BOB, EVE):
        assert await handoffs.add(handoff(SOURCE, person), few, AT, (BOB, EVE)) == "stored"
    assert await handoffs.add(handoff(SOURCE, EVE), few, AT, (BOB, EVE)) == "target_full"
    many = AgentLimits(person_per_hour=2)
    assert await handoffs.add(handoff(SOURCE, EVE), many, AT, (BOB, EVE)) == "too_often"
    assert await handoffs.add(handoff(SOURCE, EVE), many, AT) == "stored"


async def test_the_agents_of_one_person_leave_room_for_those_of_others(
    handoffs: SqlHandoffs,
) -> None:
    few = AgentLimits(pending_from_person=1, handoffs_per_person=3)
    made = handoff(SOURCE, TARGET)
    assert await handoffs.add(made, few, AT) == "stored"
    assert await handoffs.add(handoff(agent(ADA), TARGET), few, AT) == "target_full_of_yours"
    assert await handoffs.add(handoff(agent(EVE), TARGET), few, AT) == "stored"
    assert (await handoffs.accept(TO_TARGET, made.id, AT)).done
    assert await handoffs.add(handoff(SOURCE, TARGET), few, AT) == "stored"
    own = agent(ADA)
    assert await handoffs.add(handoff(SOURCE, own), few, AT) == "stored"
    assert await handoffs.add(handoff(agent(ADA), own), few, AT) == "person_full"
    for _ in range(2):
        assert await handoffs.add(handoff(agent(EVE), agent(EVE)), few, AT) == "stored"


async def test_people_are_told_once(handoffs: SqlHandoffs) -> None:
    questions = [await added(handoffs, handoff(SOURCE, BOB)) for _ in range(2)]
    await added(handoffs, handoff(SOURCE, TARGET))
    assert await handoffs.unnotified(AT, 10) == questions
    await handoffs.notified([questions[0].id])
    assert await handoffs.unnotified(AT, 10) == [questions[1]]
    assert await handoffs.unnotified(AT + timedelta(hours=1), 10) == []


async def test_a_person_exports_and_erases_their_handoffs(
    handoffs: SqlHandoffs, engine: Engine
) -> None:
    personal = SqlMemoryPersonalData(engine)
    sent = await added(handoffs, handoff(SOURCE, BOB))
    received = await added(handoffs, handoff(agent(EVE), ADA))
    own = HandoffReceiver("t", persons=(ADA,))
    assert (await handoffs.accept(own, received.id, AT)).done
    assert (await handoffs.complete(own, received.id, {"text": "private"}, AT)).done
    rows = await personal.export("t", (ADA,))
    tables = [row["table"] for row in rows]
    assert tables == ["agent_handoffs"] * 2 + ["agent_events"] * 4
    assert {row.get("id") for row in rows[:2]} == {sent.id, received.id}
    assert await personal.erase("t", (ADA,)) == 6
    assert await personal.export("t", (ADA,)) == []
    assert await handoffs.find("t", sent.id) is None
    kept = await handoffs.find("t", received.id)
    assert kept is not None
    assert (kept.target_person, kept.target_owner, kept.result) == ("", "", None)
    assert kept.status is HandoffStatus.COMPLETED


async def test_the_open_handoff_of_an_erased_receiver_ends(
    handoffs: SqlHandoffs, engine: Engine
) -> None:
    made = await added(handoffs, handoff(SOURCE, BOB))
    await SqlMemoryPersonalData(engine).erase("t", (BOB,))
    kept = await handoffs.find("t", made.id)
    assert kept is not None
    assert kept.status is HandoffStatus.EXPIRED
    assert (await handoffs.accept(TO_BOB, made.id, AT)).outcome == "unknown"
    assert await handoffs.unnotified(AT, 10) == []


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("none", None),
        ("accept", HandoffStatus.EXPIRED),
        ("complete", HandoffStatus.COMPLETED),
        ("reject", HandoffStatus.REJECTED),
    ],
)
async def test_what_a_receiver_did_stays_theirs_when_the_source_is_erased(
    handoffs: SqlHandoffs, engine: Engine, answer: str, state: HandoffStatus | None
) -> None:
    made = await added(handoffs, handoff(SOURCE, BOB))
    if answer in ("accept", "complete"):
        assert (await handoffs.accept(TO_BOB, made.id, AT)).done
    if answer == "complete":
        assert (await handoffs.complete(TO_BOB, made.id, {"text": "by Bob"}, AT)).done
    if answer == "reject":
        assert (await handoffs.reject(TO_BOB, made.id, "no time", AT)).done
    personal = SqlMemoryPersonalData(engine)
    await personal.erase("t", (ADA,))
    assert await personal.export("t", (ADA,)) == []
    kept = await handoffs.find("t", made.id)
    if state is None:
        assert kept is None
        return
    assert kept is not None
    assert (kept.status, kept.target_owner) == (state, BOB)
    assert (kept.source, kept.source_owner, kept.source_name) == ("", "", "")
    assert kept.context == HandoffContext("")
    assert kept.result == ({"text": "by Bob"} if answer == "complete" else None)
    assert kept.reason == ("no time" if answer == "reject" else "")
    assert (await handoffs.clean(AT + timedelta(days=8))).total() == 1


def test_event_kinds_of_handoffs_name_their_states() -> None:
    states = {kind.value.partition(".")[2] for kind in EventKind if kind.value.startswith("hand")}
    assert states == {"initiated", *(one.value for one in HandoffStatus)} - {"pending"}
