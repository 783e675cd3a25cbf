"""Handing a task over: who may, to whom, and what the audit log says."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from gateway.errors import BadInput, NotFound
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience
from memory.agents.handoffs import HandoffManager
from memory.agents.model import (
    AgentLimits,
    AgentType,
    Handoff,
    HandoffStatus,
    RegistryCapacityError,
)
from memory.agents.stores.direct_places import SqlDirectPlaces
from memory.agents.stores.handoffs import SqlHandoffs
from memory.stores.audit import Audit
from memory.stores.people import PeopleStore
from tests.memory.agents.making import ADA, BOB, EVE, Directory, agent, another_task, request_of
from tests.memory.rig import Noted
from tests.support.clock import FakeClock
from tests.support.databases import Engine

HOUR = timedelta(hours=1)
WEEK = 7 * 24 * 3_600


@dataclass
class Access:
    """Serves everybody but those in `blocked`."""

    blocked: set[str] = field(default_factory=set)

    async def served(self, tenant: str, person: str, place: Place) -> bool:
        return tenant == "t" and person not in self.blocked


@dataclass
class Rig:
    """Handoffs between agents that everybody knows."""

    manager: HandoffManager
    agents: Directory
    places: SqlDirectPlaces
    people: PeopleStore
    access: Access
    noted: Noted
    clock: FakeClock

    def audited(self, action: str) -> list[object]:
        entries = [one for one in self.noted.entries if one.action == action]
        return [dict(entry.details)["what"] for entry in entries]

    async def met(self, person: str) -> None:
        """This person wrote to the assistant in a direct message."""
        platform, account, id_ = person.split(":")
        place = Place(platform, account, f"{id_}-dm", Audience.DIRECT)
        await self.places.note("t", person, place, self.clock.now())


@pytest.fixture
def rig(engine: Engine, clock: FakeClock) -> Rig:
    return rig_with(engine, clock)


def rig_with(engine: Engine, clock: FakeClock, limits: AgentLimits | None = None) -> Rig:
    noted, agents, access = Noted(), Directory(), Access()
    places, people = SqlDirectPlaces(engine), PeopleStore(engine, clock)
    audit = Audit(noted.append, b"key", clock)
    manager = HandoffManager(
        SqlHandoffs(engine), agents, places, access.served, audit, clock, limits
    )
    return Rig(manager, agents, places, people, access, noted, clock)


async def handed(rig: Rig, source_id: str, target: str, by: str = ADA) -> Handoff:
    made = await rig.manager.initiate_handoff(request_of(by), source_id, target, another_task())
    assert made is not None
    return made


async def test_one_agent_hands_its_work_to_another(rig: Rig) -> None:
    source, target = agent(ADA), agent(BOB)
    rig.agents.add(source, target)
    made = await handed(rig, source.id, target.id)
    assert len(made.id) == 32
    assert made.until - made.created_at == HOUR
    assert (made.source_owner, made.target_owner) == (ADA, "")
    (seen,) = await rig.manager.get_pending_handoffs(request_of(BOB), target.id) or ()
    assert seen == replace(made, source_owner="", target_owner=BOB)
    step = await rig.manager.accept_handoff(request_of(BOB), made.id, target.id)
    assert step is not None
    assert step.done
    assert await rig.manager.get_pending_handoffs(request_of(BOB), target.id) == ()
    assert await rig.manager.open_handoffs(request_of(BOB), target.id) == (step.handoff,)
    done = await rig.manager.complete_handoff(
        request_of(BOB), made.id, target.id, {"status": "success"}
    )
    assert done is not None
    kept = await rig.manager.get_handoff(request_of(ADA), made.id)
    assert kept is not None
    assert (kept.id, kept.target_owner) == (made.id, "")
    assert kept.result == {"status": "success"}
    assert rig.audited("handoff") == ["initiated", "accepted", "completed"]
    assert "Write the form" not in repr(rig.noted.entries)


async def test_the_source_reads_why_its_handoff_was_rejected(rig: Rig) -> None:
    source, target = agent(ADA), agent(BOB)
    rig.agents.add(source, target)
    made = await handed(rig, source.id, target.id)
    await rig.manager.reject_handoff(request_of(BOB), made.id, target.id, "not today")
    kept = await rig.manager.get_handoff(request_of(ADA), made.id)
    assert kept is not None
    assert (kept.status, kept.reason) == (HandoffStatus.REJECTED, "not today")


async def test_only_its_own_person_uses_an_agent(rig: Rig) -> None:
    source, target = agent(ADA), agent(BOB)
    rig.agents.add(source, target)
    manager, ada, eve = rig.manager, request_of(ADA), request_of(EVE)
    made = await handed(rig, source.id, target.id)
    attempts: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: manager.initiate_handoff(eve, source.id, target.id, another_task()),
        lambda: manager.accept_handoff(ada, made.id, target.id),
        lambda: manager.reject_handoff(ada, made.id, target.id),
        lambda: manager.complete_handoff(ada, made.id, target.id, {}),
        lambda: manager.get_pending_handoffs(ada, target.id),
    )
    for attempt in attempts:
        with pytest.raises(NotFound):
            await attempt()
    assert await manager.get_handoff(eve, made.id) is None
    step = await manager.accept_handoff(ada, made.id, source.id)
    assert step is not None
    assert step.outcome == "unknown"
    assert rig.audited("permission_denied") == ["accepted"]


async def test_an_agent_without_the_capability_gets_none(rig: Rig) -> None:
    pipeline, other = agent(ADA, AgentType.CUSTOM_PIPELINE), agent(ADA)
    rig.agents.add(pipeline, other)
    manager, ada = rig.manager, request_of(ADA)
    assert await manager.initiate_handoff(ada, pipeline.id, other.id, another_task()) is None
    assert await manager.accept_handoff(ada, "x", pipeline.id) is None
    assert await manager.reject_handoff(ada, "x", pipeline.id) is None
    assert await manager.complete_handoff(ada, "x", pipeline.id, {}) is None
    assert await manager.get_pending_handoffs(ada, pipeline.id) is None
    denied = ["handoff_initiate", *["handoff_receive"] * 4]
    assert rig.audited("permission_denied") == denied
    with pytest.raises(BadInput, match="handoff_receive"):
        await manager.initiate_handoff(ada, other.id, pipeline.id, another_task())


async def test_an_unknown_target_and_the_agent_itself_are_refused(rig: Rig) -> None:
    source, hidden = agent(ADA), agent(BOB)
    rig.agents.add(source, hidden)
    rig.agents.common.clear()
    for target in (hidden.id, "0" * 32, "nobody"):
        with pytest.raises(NotFound, match="target"):
            await handed(rig, source.id, target)
    for wrong in (source.id, "", "x" * 301):
        with pytest.raises(BadInput, match="target"):
            await handed(rig, source.id, wrong)


@pytest.mark.parametrize("ttl", [59, WEEK + 1, 0, -1, True, 60.0])
async def test_a_time_out_of_bounds_is_refused(rig: Rig, ttl: int) -> None:
    source, target = agent(ADA), agent(BOB)
    rig.agents.add(source, target)
    with pytest.raises(BadInput, match="ttl_seconds"):
        await rig.manager.initiate_handoff(
            request_of(ADA), source.id, target.id, another_task(), ttl
        )


async def test_the_limits_of_the_source_are_the_defaults(rig: Rig) -> None:
    limits = AgentLimits()
    assert (limits.handoffs, limits.pending_per_target, limits.handoff_seconds) == (
        50_000, 100, 3_600,
    )  # fmt: skip
    source, target = agent(ADA), agent(BOB)
    rig.agents.add(source, target)
    for seconds in (60, WEEK):
        made = await rig.manager.initiate_handoff(
            request_of(ADA), source.id, target.id, another_task(), seconds
        )
        assert made is not None
        assert made.until - made.created_at == timedelta(seconds=seconds)


async def test_an_expired_handoff_says_so_and_is_deleted(rig: Rig) -> None:
    source, target = agent(ADA), agent(BOB)
    rig.agents.add(source, target)
    bob = request_of(BOB)
    accepted, pending = [await handed(rig, source.id, target.id) for _ in range(2)]
    rig.clock.skip(1_800)
    await rig.manager.accept_handoff(bob, accepted.id, target.id)
    rig.clock.skip(1_800)
    late = await rig.manager.accept_handoff(bob, pending.id, target.id)
    assert late is not None
    assert late.outcome == "expired"
    seen = await rig.manager.get_handoff(bob, pending.id)
    assert seen is not None
    assert seen.status is HandoffStatus.EXPIRED
    rig.clock.skip(1_800)
    over = await rig.manager.complete_handoff(bob, accepted.id, target.id, {})
    assert over is not None
    assert over.outcome == "expired"
    assert await rig.manager.cleanup_terminal_handoffs() == 2
    for one in (pending, accepted):
        assert await rig.manager.get_handoff(request_of(ADA), one.id) is None
    assert rig.audited("handoff").count("expired") == 2


async def test_cleanup_keeps_what_is_open_or_ended_lately(rig: Rig) -> None:
    source, target = agent(ADA), agent(BOB)
    rig.agents.add(source, target)
    kept, ended = [await handed(rig, source.id, target.id) for _ in range(2)]
    await rig.manager.reject_handoff(request_of(BOB), ended.id, target.id)
    rig.clock.skip(60)
    assert await rig.manager.cleanup_terminal_handoffs(timedelta(minutes=2)) == 0
    assert await rig.manager.cleanup_terminal_handoffs() == 1
    assert await rig.manager.get_handoff(request_of(ADA), kept.id) == kept
    assert await rig.manager.get_handoff(request_of(ADA), ended.id) is None


async def test_reached_limits_name_themselves(engine: Engine, clock: FakeClock) -> None:
    rig = rig_with(engine, clock, AgentLimits(handoffs=3, pending_per_target=2, person_per_hour=1))
    source, targets = agent(ADA), [agent(BOB), agent(EVE)]
    rig.agents.add(source, *targets)
    await rig.met(BOB)
    await handed(rig, source.id, BOB)
    with pytest.raises(RegistryCapacityError, match="1 handoffs an hour"):
        await handed(rig, source.id, BOB)
    await handed(rig, source.id, targets[0].id)
    await handed(rig, source.id, targets[0].id)
    with pytest.raises(RegistryCapacityError, match="3 handoffs, the maximum"):
        await handed(rig, source.id, targets[1].id)
    rig.clock.skip(3_600)
    await rig.manager.cleanup_terminal_handoffs()
    await handed(rig, source.id, targets[0].id)
    await handed(rig, source.id, targets[0].id)
    with pytest.raises(RegistryCapacityError, match="2 handoffs wait for this receiver"):
        await handed(rig, source.id, targets[0].id)


async def test_a_person_can_be_the_target(rig: Rig) -> None:
    source = agent(ADA)
    rig.agents.add(source)
    await rig.met(BOB)
    made = await handed(rig, source.id, BOB)
    assert (made.target, made.target_person, made.target_owner) == ("", BOB, BOB)
    for person in (ADA, BOB):
        seen = await rig.manager.get_handoff(request_of(person), made.id)
        assert seen is not None
        assert (seen.source_owner, seen.target_owner) == (ADA, BOB), "a person knows who asks"


async def test_a_person_who_cannot_be_written_to_is_refused_with_the_reason(rig: Rig) -> None:
    source = agent(ADA)
    rig.agents.add(source)
    with pytest.raises(BadInput, match="no direct conversation"):
        await handed(rig, source.id, BOB)
    await rig.met(BOB)
    rig.access.blocked.add(BOB)
    with pytest.raises(BadInput, match="may not use the assistant"):
        await handed(rig, source.id, BOB)
    rig.access.blocked.clear()
    await rig.people.turn_memory("t", BOB, on=False)
    with pytest.raises(BadInput, match="turned memory off"):
        await handed(rig, source.id, BOB)
    await rig.people.turn_memory("t", BOB, on=True)
    await rig.people.turn_memory_in("t", BOB, "slack:main::bob-dm", on=False, most=5)
    with pytest.raises(BadInput, match="turned memory off"):
        await handed(rig, source.id, BOB)
    assert rig.audited("permission_denied") == ["handoff_to_person"] * 4


async def test_agents_of_outsiders_write_to_their_own_person_only(rig: Rig) -> None:
    source = agent(ADA)
    rig.agents.add(source)
    await rig.met(ADA)
    await rig.met(BOB)
    outside = request_of(ADA, outside=True)
    with pytest.raises(BadInput, match="not a full member"):
        await rig.manager.initiate_handoff(outside, source.id, BOB, another_task())
    assert await rig.manager.initiate_handoff(outside, source.id, ADA, another_task()) is not None


async def test_the_place_of_a_person_is_the_latest_and_is_forgotten(rig: Rig) -> None:
    await rig.met(BOB)
    newer = Place("slack", "main", "new", Audience.DIRECT)
    await rig.places.note("t", BOB, newer, rig.clock.now())
    assert (await rig.places.contact("t", BOB)).place == newer
    assert (await rig.places.contact("u", BOB)).place is None
    assert (await rig.places.contact("t", EVE)).place is None
    assert await rig.places.prune(rig.clock.now()) == 0
    assert await rig.places.prune(rig.clock.now() + HOUR) == 1
    assert (await rig.places.contact("t", BOB)).place is None


async def test_the_same_task_handed_over_again_is_the_same_handoff(rig: Rig) -> None:
    source, target, other = agent(ADA), agent(BOB), agent(BOB)
    rig.agents.add(source, target, other)

    async def hand(to: str, task: str, **state: object) -> str:
        context = {"task_description": task, "current_state": state}
        made = await rig.manager.initiate_handoff(request_of(ADA), source.id, to, context)
        assert made is not None
        return made.id

    first = await hand(target.id, "Write the form", a=1, b=2)
    assert await hand(target.id, "  write the\nFORM. ", b=2, a=1) == first
    assert rig.audited("handoff") == ["initiated"]
    different = {
        await hand(other.id, "Write the form", a=1, b=2),
        await hand(target.id, "Write the forms", a=1, b=2),
        await hand(target.id, "Write the form", a=1, b=3),
    }
    assert len(different | {first}) == 4
    accepted = await rig.manager.accept_handoff(request_of(BOB), first, target.id)
    assert accepted is not None
    assert accepted.done
    assert await hand(target.id, "Write the form", a=1, b=2) == first
    completed = await rig.manager.complete_handoff(request_of(BOB), first, target.id, {})
    assert completed is not None
    assert completed.done
    assert await hand(target.id, "Write the form", a=1, b=2) != first
