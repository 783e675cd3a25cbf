"""The steps of handoffs: agents hand tasks to agents and people, who accept, reject and complete
them, or are too late."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from hypothesis import strategies as st
from hypothesis.stateful import rule

from gateway.errors import BadInput, NotFound
from gateway.immutable import replace
from gateway.message import Place
from memory.agents.handoffs import HandoffManager
from memory.agents.model import (
    AgentLimits,
    HandoffContext,
    HandoffStep,
    RegistryCapacityError,
)
from memory.commands.handoffs import receiver_of
from tests.memory.isolation.base import picks, scenes
from tests.memory.isolation.model import Scene, Who
from tests.memory.isolation.pool_model import HeldAgent
from tests.memory.isolation.sharing import HOMES, Sharing, homes

State = Literal["pending", "accepted", "over"]
LASTS = timedelta(hours=1)


@dataclass(frozen=True)
class Handed:
    """A task with a word of its own, from an agent to another one, or to a person: then `target` is
    empty."""

    id: str
    word: str
    source: str
    target: str
    giver: Who
    taker: Who
    state: State
    until: datetime

    @property
    def to(self) -> str:
        """The kind of the receiver."""
        return "an agent" if self.target else "a person"


async def everybody_is_served(_tenant: str, _person: str, _place: Place) -> bool:
    """Return True."""
    return True


class Handing(Sharing):
    """Agents hand over."""

    def __init__(self) -> None:
        super().__init__()
        self.handed: dict[str, Handed] = {}
        rig = self.rig
        self.handoffs = HandoffManager(
            *(rig.stores.handoffs, self.registry, rig.stores.direct_places, everybody_is_served),
            *(rig.path.audit, rig.clock, AgentLimits()),
        )

    def known(self, agent: HeldAgent, other: HeldAgent) -> bool:
        """True if an agent may hand tasks to another one: of the same person, or in a pool of their
        person, or in one whose owner let the agent in."""
        everybody = self.world.same(agent.who)
        if other.who in everybody:
            return True
        return any(
            self.shared.owns(agent.who, self.shared.pools[pool]) or self.lets_in(pool, agent)
            for pool, id_ in self.shared.members
            if id_ == other.id
        )

    def lets_in(self, pool: str, agent: HeldAgent) -> bool:
        """True if the owner of a pool added or invited an agent of it."""
        member = self.shared.members.get((pool, agent.id))
        return member is not None and member.granted

    @rule(source=picks, receiver=picks, memory=picks)
    def hand_over(self, source: int, receiver: int, memory: int) -> None:
        """An agent hands over a task that names a memory, which may be anybody's."""
        giver, taker = self.agent(source), self.agent(receiver)
        if giver is None or taker is None or giver.id == taker.id:
            return
        word, named = self.word(), self.one("memory", memory)
        memories = (named.id,) if named else ()
        context = HandoffContext(f"Find out about {word}", relevant_memories=memories)
        request = self.request_of(giver.scene)
        expected = self.handoffs.initiate_handoff(request, giver.id, taker.id, context)
        try:
            handoff = self.do(expected)
        except RegistryCapacityError:
            return
        except NotFound:
            assert not self.known(giver, taker), "a known agent was refused"
            return
        assert handoff is not None
        assert self.known(giver, taker), "a task went to an unknown agent"
        until = self.rig.clock.now() + LASTS
        self.hand(
            Handed(handoff.id, word, giver.id, taker.id, giver.who, taker.who, "pending", until)
        )

    def hand(self, one: Handed) -> None:
        self.world.hands.setdefault(one.word, set()).update((one.giver, one.taker))
        self.handed[one.id] = one
        self.reach(f"handoff to {one.to}: initiated")

    @rule(source=picks, home=homes)
    def hand_to_person(self, source: int, home: Scene) -> None:
        """An agent hands a task to a person."""
        giver = self.agent(source)
        if giver is None:
            return
        self.request_of(home)
        word, request = self.word(), self.request_of(giver.scene)
        context = HandoffContext(f"Find out about {word}")
        expected = self.handoffs.initiate_handoff(request, giver.id, self.person(home), context)
        refused = giver.scene.outside and home.who not in self.world.same(giver.who)
        try:
            handoff = self.do(expected)
        except RegistryCapacityError:
            assert not refused
            return
        except BadInput:
            assert refused, "a person who can be written to was refused"
            self.reach("handoff to a person: refused, from outside")
            return
        assert handoff is not None
        assert not refused, "an outside person wrote to somebody"
        until = self.rig.clock.now() + LASTS
        self.hand(Handed(handoff.id, word, giver.id, "", giver.who, home.who, "pending", until))

    @rule(scene=scenes, pick=picks, step=st.sampled_from(("accept", "reject", "complete")))
    def answer_as_person(self, scene: Scene, pick: int, step: str) -> None:
        """Any person tries to answer any handoff."""
        some = list(self.handed.values())
        if not some:
            return
        one, request = some[pick % len(some)], self.request_of(scene)
        manager, receiver = self.handoffs, receiver_of(request)
        tried = {
            "accept": lambda: manager.accept_as(request, receiver, one.id),
            "reject": lambda: manager.reject_as(request, receiver, one.id, "no time"),
            "complete": lambda: manager.complete_as(request, receiver, one.id, {"ok": True}),
        }
        done = self.do(tried[step]())
        theirs = not one.target and one.taker in self.world.same(scene.who)
        self.answered(one, step, done, theirs=theirs)

    @rule(agent=picks, to=picks, steps=st.sampled_from((1, 2, 3)), by_person=st.booleans())
    def work_off(self, agent: int, to: int, steps: int, by_person: bool) -> None:
        """An agent hands over, and the receiver does what is to be done."""
        before = set(self.handed)
        if by_person:
            self.hand_to_person(agent, HOMES[to % len(HOMES)])
        else:
            self.hand_over(agent, to, 0)
        new = [one for id_, one in self.handed.items() if id_ not in before]
        if not new:
            return
        place = list(self.handed).index(new[0].id)
        for step in {1: ("reject",), 2: ("accept",), 3: ("accept", "complete")}[steps]:
            if by_person:
                home = next(home for home in HOMES if home.who == new[0].taker)
                self.answer_as_person(home, place, step)
            else:
                self.answer(list(self.shared.agents).index(new[0].target), place, step)

    @rule(pick=picks, steps=st.sampled_from((1, 2, 3)))
    def work_in_a_pool(self, pick: int, steps: int) -> None:
        """A member of a pool hands over to another one, who does what is to be done."""
        order = list(self.shared.agents)
        pairs = [
            (order.index(one), order.index(other))
            for pool, one in self.shared.members
            for there, other in self.shared.members
            if pool == there and one != other
        ]
        if pairs:
            source, receiver = pairs[pick % len(pairs)]
            self.work_off(source, receiver, steps, by_person=False)

    @rule()
    def be_late(self) -> None:
        """More than an hour goes by, and those who have a task try to take it."""
        self.do(self.rig.clock.advance(LASTS.total_seconds() + 60))
        for place, one in list(enumerate(self.handed.values())):
            if one.state != "pending":
                continue
            if not one.target:
                home = next(home for home in HOMES if home.who == one.taker)
                self.answer_as_person(home, place, "accept")
            elif one.target in self.shared.agents:
                self.answer(list(self.shared.agents).index(one.target), place, "accept")

    @rule()
    def expire(self) -> None:
        """The housekeeping ends what is over."""
        self.do(self.handoffs.expire())

    @rule(agent=picks, pick=picks, step=st.sampled_from(("accept", "reject", "complete")))
    def answer(self, agent: int, pick: int, step: str) -> None:
        """Any agent tries to answer any handoff."""
        held, some = self.agent(agent), list(self.handed.values())
        if held is None or not some:
            return
        one, request = some[pick % len(some)], self.request_of(held.scene)
        manager = self.handoffs
        tried = {
            "accept": lambda: manager.accept_handoff(request, one.id, held.id),
            "reject": lambda: manager.reject_handoff(request, one.id, held.id, "no time"),
            "complete": lambda: manager.complete_handoff(request, one.id, held.id, {"ok": True}),
        }
        done = self.do(tried[step]())
        assert done is not None
        self.answered(one, step, done, theirs=one.target == held.id)

    def answered(self, one: Handed, step: str, done: HandoffStep, *, theirs: bool) -> None:
        """Compare the outcome of a step with the model."""
        needed = "accepted" if step == "complete" else "pending"
        now = self.rig.clock.now()
        allowed = theirs and one.state == needed and one.until > now
        assert done.done is allowed, f"{step} of {one}: {done.outcome}"
        if not theirs:
            assert done.outcome == "unknown", "somebody learned of a handoff of others"
            self.reach(f"handoff to {one.to}: refused, not theirs")
        elif one.state != "over" and one.until <= now:
            assert done.outcome == "expired"
            self.reach(f"handoff to {one.to}: expired")
        if done.done:
            state: State = "accepted" if step == "accept" else "over"
            self.handed[one.id] = replace(one, state=state, until=now + LASTS)
            self.reach(f"handoff to {one.to}: {step.rstrip('e')}ed")

    def unregistered(self, agent: HeldAgent) -> None:
        super().unregistered(agent)
        for one in list(self.handed.values()):
            if one.state == "pending" and agent.id in (one.source, one.target):
                self.handed[one.id] = replace(one, state="over")
                self.reach(f"handoff to {one.to}: ended with its agent")

    def erased(self, scene: Scene) -> None:
        super().erased(scene)
        self.handed = {
            id_: one for id_, one in self.handed.items() if scene.who not in (one.giver, one.taker)
        }

    def look_at_agent(self, agent: HeldAgent) -> None:
        """At the tasks that an agent has, and at those of others by their ids."""
        super().look_at_agent(agent)
        request, now = self.request_of(agent.scene), self.rig.clock.now()
        result = self.do(self.handoffs.open_handoffs(request, agent.id)) or ()
        answers = {word for one in result for word in self.said(one.context.task_description)}
        assert answers >= {
            one.word
            for one in self.handed.values()
            if one.target == agent.id and one.state != "over" and one.until > now
        }
        assert answers <= {one.word for one in self.handed.values() if one.target == agent.id}
        everybody = self.world.same(agent.who)
        for one in list(self.handed.values())[-5:]:
            seen = self.do(self.handoffs.get_handoff(request, one.id))
            takes_part = bool(everybody & {one.giver, one.taker})
            assert (seen is not None) is takes_part, f"{agent} sees a handoff of others"
            for other, owner in ((one.giver, "source_owner"), (one.taker, "target_owner")):
                known = not one.target or other in everybody
                assert seen is None or bool(getattr(seen, owner)) is known

    def look_at_tasks(self, scene: Scene) -> None:
        """At the tasks that wait for a person."""
        now, everybody = self.rig.clock.now(), self.world.same(scene.who)
        answer = self.said(self.run(scene, "handoffs").markdown)
        assert answer == {
            one.word
            for one in self.handed.values()
            if not one.target and one.taker in everybody and one.state != "over" and one.until > now
        }
