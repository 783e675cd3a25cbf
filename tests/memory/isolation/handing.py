"""The steps of handoffs: agents hand tasks to each other, accept, reject and complete them."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from hypothesis import strategies as st
from hypothesis.stateful import rule

from gateway.errors import NotFound
from memory.agents.model import HandoffContext, RegistryCapacityError
from tests.memory.isolation.base import picks
from tests.memory.isolation.model import Scene, Who
from tests.memory.isolation.pool_model import HeldAgent
from tests.memory.isolation.sharing import Sharing

State = Literal["pending", "accepted", "over"]
LASTS = timedelta(hours=1)


@dataclass(frozen=True)
class Handed:
    """A task with a word of its own, from one agent to another."""

    id: str
    word: str
    source: str
    target: str
    giver: Who
    taker: Who
    state: State
    until: datetime


class Handing(Sharing):
    """Agents hand over."""

    def __init__(self) -> None:
        super().__init__()
        self.handed: dict[str, Handed] = {}

    def known(self, agent: HeldAgent, other: HeldAgent) -> bool:
        """True if an agent may know another one: of the same person, or in a common pool."""
        everybody = self.world.same(agent.who)
        if other.who in everybody:
            return True
        theirs = {pool for pool, id_ in self.shared.members if id_ == other.id}
        common = {
            pool for pool, id_ in self.shared.members if self.shared.agents[id_].who in everybody
        }
        owned = {pool.id for pool in self.shared.pools.values() if pool.owner in everybody}
        return bool(theirs & (common | owned))

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
        wanted = self.handoffs.initiate_handoff(request, giver.id, taker.id, context)
        try:
            handoff = self.do(wanted)
        except RegistryCapacityError:
            return
        except NotFound:
            assert not self.known(giver, taker), "a known agent was refused"
            return
        assert handoff is not None
        assert self.known(giver, taker), "a task went to an unknown agent"
        until = self.rig.clock.now() + LASTS
        self.world.hands.setdefault(word, set()).update((giver.who, taker.who))
        self.handed[handoff.id] = Handed(
            *(handoff.id, word, giver.id, taker.id, giver.who, taker.who, "pending", until)
        )

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
        needed = "accepted" if step == "complete" else "pending"
        now = self.rig.clock.now()
        allowed = one.target == held.id and one.state == needed and one.until > now
        assert done is not None
        assert done.done is allowed, f"{step} by {held}: {done.outcome}"
        if done.done:
            state: State = "accepted" if step == "accept" else "over"
            self.handed[one.id] = replace(one, state=state, until=now + LASTS)

    def erased(self, scene: Scene) -> None:
        super().erased(scene)
        self.handed = {
            id_: one for id_, one in self.handed.items() if scene.who not in (one.giver, one.taker)
        }

    def look_at_agent(self, agent: HeldAgent) -> None:
        """At the tasks that an agent has, and at those of others by their ids."""
        super().look_at_agent(agent)
        request, now = self.request_of(agent.scene), self.rig.clock.now()
        found = self.do(self.handoffs.open_handoffs(request, agent.id)) or ()
        told = {word for one in found for word in self.said(one.context.task_description)}
        assert told >= {
            one.word
            for one in self.handed.values()
            if one.target == agent.id and one.state != "over" and one.until > now
        }
        assert told <= {one.word for one in self.handed.values() if one.target == agent.id}
        everybody = self.world.same(agent.who)
        for one in list(self.handed.values())[-5:]:
            seen = self.do(self.handoffs.get_handoff(request, one.id))
            takes_part = bool(everybody & {one.giver, one.taker})
            assert (seen is not None) <= takes_part, f"{agent} sees a handoff of others"
