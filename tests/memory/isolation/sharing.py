"""The steps of agents: they register, join pools, share, update, leave and are unregistered."""

from contextlib import suppress
from typing import Final

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from gateway.errors import BadInput, NotFound
from gateway.immutable import replace
from gateway.ports.memory import Caller
from memory.agents.model import (
    AgentLimits,
    AgentType,
    Permission,
    PoolInvitation,
    RegistryCapacityError,
    SharedMemory,
    SharedScope,
    SharedUpdate,
    ShareWaits,
    UpdateOutcome,
)
from memory.model.record import Draft, Kind, Scope, Trust
from memory.model.scope import RequestScope
from memory.ports.memories import Filter
from memory.ports.recall import Query
from memory.service.handle import MemoryHandle
from memory.turns.turn import MemoryTurn, TurnRules
from parley.wiring.agents import wire_agents
from tests.memory.isolation.base import CITED, names, picks
from tests.memory.isolation.deciding import Deciding
from tests.memory.isolation.memberships import Memberships
from tests.memory.isolation.model import DISCORD, GENERAL, OPERATORS, SCENES, Held, Scene
from tests.memory.isolation.pool_model import (
    GLOBAL,
    PRIVATE,
    PROJECT,
    TEAM,
    USER,
    HeldAgent,
    HeldInvitation,
    HeldPool,
    HeldShare,
    Pools,
)
from tests.memory.isolation.reached import situation
from tests.support.prompts import prompt_of

HOMES: Final = tuple(scene for scene in SCENES if scene.alone)
homes = st.sampled_from(HOMES)
widths = st.sampled_from(list(SharedScope))
additions = st.sampled_from((None, *Permission))
MOST: Final = 2
"""Agents of one person, and pools of one owner."""


class Sharing(Deciding, Memberships):
    """Agents share."""

    def __init__(self) -> None:
        super().__init__()
        rig = self.rig
        wired = wire_agents(rig.stores, rig.people, rig.path, rig.clock, AgentLimits())
        self.registry, self.pool_registry = wired.registry, wired.pools
        self.handoffs = wired.handoffs
        self.shared = Pools(self.world)
        self.versions: dict[tuple[str, str], int] = {}
        self.asked_agents = 0
        self.asked_pools = 0

    def handle_of(self, scene: Scene) -> MemoryHandle:
        return self.do(self.rig.memory.for_principal(self.caller(scene)))

    def request_of(self, scene: Scene) -> RequestScope:
        return self.handle_of(scene).request

    def agent(self, pick: int) -> HeldAgent | None:
        some = list(self.shared.agents.values())
        return some[pick % len(some)] if some else None

    def pool(self, pick: int) -> HeldPool | None:
        some = list(self.shared.pools.values())
        return some[pick % len(some)] if some else None

    @rule(scene=homes)
    def register(self, scene: Scene) -> None:
        if sum(one.who == scene.who for one in self.shared.agents.values()) >= MOST:
            return
        request = self.request_of(scene)
        agent = self.do(self.registry.register_agent(request, AgentType.CLAUDE_CODE))
        self.shared.agents[agent.id] = HeldAgent(agent.id, scene)

    @rule(scene=homes, scope=widths)
    def open_pool(self, scene: Scene, scope: SharedScope) -> None:
        if sum(one.owner == scene.who for one in self.shared.pools.values()) >= MOST:
            return
        request = self.request_of(scene)
        project = self.world.project(scene) if scope.value == PROJECT else ""
        allowed = {GLOBAL: scene.operates, TEAM: not scene.outside, PROJECT: bool(project)}
        try:
            pool = self.do(self.pool_registry.create_pool(request, "pool", scope))
        except BadInput:
            assert not allowed.get(scope.value, True), "a pool was refused"
            return
        assert allowed.get(scope.value, True), "a pool was allowed"
        self.shared.pools[pool.id] = HeldPool(pool.id, scene.who, scope.value, project)

    @rule(
        scene=homes,
        by_owner=st.booleans(),
        agent=picks,
        pool=picks,
        writes=st.booleans(),
        agrees=st.booleans(),
    )
    def join(
        self,
        scene: Scene,
        by_owner: bool,
        agent: int,
        pool: int,
        writes: bool,
        agrees: bool = True,
    ) -> None:
        """The owner of the pool adds an agent, or anybody tries. The person of another one's agent
        `agrees`, or has not answered yet."""
        held, one = self.agent(agent), self.pool(pool)
        if held is None or one is None:
            return
        if by_owner:
            scene = next(home for home in HOMES if home.who == one.owner)
        elif writes:
            scene = held.scene
        permission = Permission.WRITE if writes else Permission.READ
        self.joined(scene, held, one, permission, agrees=agrees)

    def joined(
        self,
        scene: Scene,
        agent: HeldAgent,
        pool: HeldPool,
        permission: Permission,
        *,
        agrees: bool = True,
    ) -> None:
        request, shared = self.request_of(scene), self.shared
        owned = shared.owns(scene.who, pool)
        own = agent.who in self.world.same(scene.who)
        known = shared.covers(scene, pool) and (own or (owned and pool.scope >= PROJECT))
        full = pool.scope == PRIVATE and any(
            member.pool == pool.id and member.agent != agent.id
            for member in shared.members.values()
        )
        asks = known and not own and (pool.id, agent.id) not in shared.members
        wanted = self.pool_registry.join_pool(request, pool.id, agent.id, permission)
        try:
            joined = self.do(wanted)
        except RegistryCapacityError:
            assert known
            assert full or asks
            return
        except NotFound:
            assert not known, "somebody who may join was refused"
            return
        except BadInput:
            assert asks, "an own agent was not added"
            self.reach("a pool may not invite an agent again yet")
            return
        assert known, "somebody joined who may not"
        writes = permission is Permission.WRITE
        assert isinstance(joined, PoolInvitation) is asks, "somebody was added without being asked"
        if isinstance(joined, PoolInvitation):
            shared.invited[pool.id, agent.id] = HeldInvitation(
                *(joined.id, pool.id, agent.id, writes, joined.until)
            )
            if agrees:
                place = list(shared.invited).index((pool.id, agent.id))
                self.answer_invitation(agent.scene, place, accepts=True)
            return
        assert joined is (owned or not writes)
        if joined:
            assert not full
            shared.join(pool, agent.id, writes=writes, owned=owned)

    @rule(scene=homes, pick=picks, accepts=st.booleans())
    def answer_invitation(self, scene: Scene, pick: int, accepts: bool) -> None:
        """Anybody tries to answer any invitation."""
        shared, some = self.shared, list(self.shared.invited.values())
        if not some:
            return
        one = some[pick % len(some)]
        waits = shared.waits(one.pool, one.agent, self.rig.clock.now())
        held = shared.agents.get(one.agent)
        theirs = held is not None and held.who in self.world.same(scene.who)
        invitations, request = self.pool_registry.invitations, self.request_of(scene)
        answer = invitations.accept if accepts else invitations.decline
        try:
            self.do(answer(request, one.id))
        except NotFound:
            assert waits is None or not theirs, "the own invitation was unknown"
            if not theirs:
                self.reach("an invitation: refused, not theirs")
            return
        except RegistryCapacityError:
            assert accepts
            return
        assert theirs, "somebody answered the invitation of another person"
        assert waits is not None, "an invitation that had ended was answered"
        del shared.invited[one.pool, one.agent]
        self.reach("an invitation: accepted" if accepts else "an invitation: declined")
        if accepts:
            shared.join(shared.pools[one.pool], one.agent, writes=one.writes, owned=True)

    @rule(agent=picks, pool=picks, memory=picks, scope=widths, mine=st.booleans())
    def share(self, agent: int, pool: int, memory: int, scope: SharedScope, mine: bool) -> None:
        held, one = self.agent(agent), self.pool(pool)
        if held is None or one is None:
            return
        word = self.one("memory", memory)
        if mine:
            word = self.own_memory(held, memory)
        if word is None:
            return
        shared, scene = self.shared, held.scene
        request = self.request_of(scene)
        member = shared.members.get((one.id, held.id))
        project = one.project or self.world.project(scene)
        there = shared.shares.get((one.id, word.word))
        there = there if there in list(shared.alive()) else None
        allowed = (
            shared.covers(scene, one)
            and scope.value <= one.scope
            and (scope.value != PROJECT or bool(project))
            and shared.may_see(held, word)
            and self.world.may_change(scene, word)
            and not word.keeper
            and not word.confined
            and member is not None
            and member.writes
            and (there is None or not there.updated)
        )
        done: SharedMemory | ShareWaits | bool | None = False
        with suppress(BadInput):
            done = self.do(
                self.pool_registry.share_memory(request, one.id, word.id, held.id, scope)
            )
        if not isinstance(done, SharedMemory):
            assert not allowed or word.word in self.world.replaced, "an own memory was not shared"
            return
        assert allowed, "somebody shared what they may not share"
        assert member is not None
        self.put(held, one, word.word, scope, project if scope.value == PROJECT else "")

    def put(
        self, agent: HeldAgent, pool: HeldPool, word: str, scope: SharedScope, project: str
    ) -> None:
        serial = self.shared.members[pool.id, agent.id].serial
        self.versions[pool.id, word] = 1
        self.shared.shares[pool.id, word] = HeldShare(
            *(pool.id, word, agent.id, agent.who, scope.value, project, serial, word, serial)
        )

    @rule(
        scene=homes,
        other=homes,
        scope=st.sampled_from((USER, TEAM)),
        width=widths,
        permission=st.sampled_from(Permission),
    )
    def collaborate(
        self, scene: Scene, other: Scene, scope: int, width: SharedScope, permission: Permission
    ) -> None:
        """The owner of a pool adds the agents of two people, and one of them shares a memory."""
        self.work_together(scene, other, SharedScope(scope), width, permission)

    @rule(name=names, other=names, width=widths, added=additions)
    def meet(self, name: str, other: str, width: SharedScope, added: Permission | None) -> None:
        """Two people of one server choose its project, and their agents join its pool."""
        scene, reader = Scene(name, DISCORD), Scene(other, DISCORD)
        for home in (scene, reader):
            self.handle_of(Scene(home.name, GENERAL))
            self.choose(home, 1)
        self.work_together(scene, reader, SharedScope.PROJECT, width, added)

    @rule(name=st.sampled_from(OPERATORS), other=homes, width=widths, added=additions)
    def announce(
        self, name: str, other: Scene, width: SharedScope, added: Permission | None
    ) -> None:
        """An operator shares something in a pool that everybody may join."""
        scene = Scene(name, DISCORD)
        self.work_together(scene, other, SharedScope.GLOBAL, width, added)

    @rule(
        name=st.sampled_from(OPERATORS),
        other=st.sampled_from([home for home in HOMES if home.outside]),
        scope=st.sampled_from((TEAM, GLOBAL)),
        added=additions,
    )
    def receive(self, name: str, other: Scene, scope: int, added: Permission | None) -> None:
        """An operator shares with the agent of an outside person."""
        width = SharedScope(scope)
        self.work_together(Scene(name, DISCORD), other, width, width, added)

    @rule(share=picks)
    def erase_who_shares(self, share: int) -> None:
        """Somebody whose agent shares a memory erases everything."""
        alive = list(self.shared.alive())
        if alive:
            who = alive[share % len(alive)].who
            self.erase(next(home for home in HOMES if home.who == who))

    @rule(name=names)
    def leave_the_choice(self, name: str) -> None:
        """Somebody chooses no project any more."""
        scene = Scene(name, DISCORD)
        self.run(scene, "project", "none")
        for one in self.world.same(scene.who):
            self.world.chosen[one] = ""

    def work_together(
        self,
        scene: Scene,
        other: Scene,
        scope: SharedScope,
        width: SharedScope,
        added: Permission | None = None,
    ) -> None:
        """The other agent is `added` with this permission, or joins by itself."""
        if len(self.shared.agents) > 6 or len(self.shared.pools) > 6:
            return
        before = set(self.shared.pools)
        for home in (scene, other):
            self.register(home)
        self.open_pool(scene, scope)
        pools = [one for id_, one in self.shared.pools.items() if id_ not in before]
        agents = self.shared.agents.values()
        sharer = next((one for one in agents if one.who == scene.who), None)
        reader = next((one for one in reversed(agents) if one.who == other.who), None)
        if not pools or sharer is None or reader is None:
            return
        pool = pools[0]
        self.joined(scene, sharer, pool, Permission.WRITE)
        self.joined(scene if added else other, reader, pool, added or Permission.READ)
        word, caller = self.word(), self.caller(scene)
        result = self.do(self.remembered(caller, Draft(f"{word} hangs on the wall", Kind.FACT)))
        self.note(scene, caller, word, result, Scope.USER, confirmed=False)
        mine = [held.word for held in self.own_memories(sharer)]
        if word in mine:
            order = list(self.shared.agents).index(sharer.id)
            place = list(self.shared.pools).index(pool.id)
            width = width if scope.includes(width) else scope
            self.share(order, place, mine.index(word), width, True)
            self.overstep(reader, pool, word, place, width)

    def overstep(
        self, reader: HeldAgent, pool: HeldPool, word: str, place: int, width: SharedScope
    ) -> None:
        """A member that may only read, perhaps, tries to share and to update what it reads."""
        order = list(self.shared.agents).index(reader.id)
        self.share(order, place, 0, width, True)
        shares = [(one.pool, one.word) for one in self.shared.alive()]
        if (pool.id, word) in shares:
            self.update(order, shares.index((pool.id, word)), 0, True)

    def own_memories(self, agent: HeldAgent) -> list[Held]:
        return [
            held
            for held in self.world.held
            if held.what == "memory" and held.id.startswith("mem") and held.writer == agent.who
        ]

    def own_memory(self, agent: HeldAgent, pick: int) -> Held | None:
        some = self.own_memories(agent)
        return some[pick % len(some)] if some else None

    @rule(agent=picks, keeps=st.booleans())
    def write(self, agent: int, keeps: bool) -> None:
        """An agent writes for its person, or keeps something for itself."""
        held = self.agent(agent)
        if held is None:
            return
        caller, word = self.caller(held.scene), self.word()
        handle = self.do(self.rig.memory.for_principal(caller)).for_agent(held.id)
        text = f"Per {CITED}, the pantry is called {word}"
        draft = Draft(text, Kind.FACT, agent_private=keeps)
        result = self.do(handle.write.remember(draft))
        self.note(held.scene, caller, word, result, Scope.USER, confirmed=False)
        if keeps and self.world.held and self.world.held[-1].word == word:
            self.world.held[-1] = replace(self.world.held[-1], keeper=held.id)
            if result.memory_id:
                self.share_kept(held, word)

    def share_kept(self, agent: HeldAgent, word: str) -> None:
        """An agent tries to share what it keeps for itself, where it may share."""
        pools = [one.pool for one in self.shared.members.values() if one.agent == agent.id]
        mine = [held.word for held in self.own_memories(agent)]
        for pool in pools[:2]:
            order = list(self.shared.agents).index(agent.id)
            place = list(self.shared.pools).index(pool)
            self.share(order, place, mine.index(word), SharedScope.AGENT_PRIVATE, True)

    @rule(agent=picks, share=picks, ahead=st.sampled_from((-1, 0, 0, 1)), cites=st.booleans())
    def update(self, agent: int, share: int, ahead: int, cites: bool) -> None:
        """An agent gives a shared memory another text, for its version or for another one."""
        held, alive = self.agent(agent), list(self.shared.alive())
        if held is None or not alive:
            return
        there = alive[share % len(alive)]
        pool = self.shared.pools.get(there.pool)
        old = next(one for one in self.world.held if one.word == there.shows)
        if pool is None or old.scope != "user":
            return
        caller = self.caller(held.scene)
        request = self.do(self.rig.memory.for_principal(caller)).request
        inside = bool(pool.project) and self.shared.in_project(held.scene, pool.project)
        member = self.shared.members.get((pool.id, held.id))
        memory = next(one for one in self.world.held if one.word == there.word)
        shown = there.shows in self.shared.shown_in(held, pool, inside=inside)
        word = self.word()
        text = f"Per {CITED if cites else 'hearsay'}, the loft is called {word}"
        version = self.version_of(there) + ahead
        try:
            done = self.do(
                self.pool_registry.update_shared(
                    request, pool.id, memory.id, held.id, version, text
                )
            )
        except NotFound:
            return
        if not isinstance(done, SharedUpdate):
            return
        assert shown, "somebody updated what they do not see"
        assert self.said(done.text) <= {word, there.shows}
        assert (done.outcome is UpdateOutcome.CONFLICT) is (ahead != 0)
        self.reach(f"update: {done.outcome.value}")
        if done.outcome is UpdateOutcome.UPDATED:
            assert member is not None
            assert member.writes, "somebody updated without permission"
            self.updated(held, caller, there, word, member.serial)
        elif done.outcome is UpdateOutcome.REVIEW:
            self.hold(held.scene, caller, word, "waiting", Scope.USER, done.review_id)

    def version_of(self, share: HeldShare) -> int:
        return self.versions.get((share.pool, share.word), 1)

    def updated(
        self, agent: HeldAgent, caller: Caller, share: HeldShare, word: str, writer: int
    ) -> None:
        if share.updated:  # what an agent wrote before may be superseded
            self.world.replaced.add(share.shows)
        self.hold(agent.scene, caller, word, "memory", Scope.USER, "?")
        key = share.pool, share.word
        self.shared.shares[key] = replace(share, agent=agent.id, shows=word, writer=writer)
        self.versions[key] = self.version_of(share) + 1

    @rule(scene=homes, share=picks)
    def unshare(self, scene: Scene, share: int) -> None:
        alive = list(self.shared.alive())
        if not alive:
            return
        there = alive[share % len(alive)]
        memory = next(one for one in self.world.held if one.word == there.word)
        pool = self.shared.pools[there.pool]
        gone = self.do(self.pool_registry.unshare(self.request_of(scene), there.pool, memory.id))
        allowed = self.shared.owns(scene.who, pool) or there.who in self.world.same(scene.who)
        assert gone is allowed
        if gone:
            self.reach("a share ended")
            del self.shared.shares[there.pool, there.word]

    @rule(scene=homes, agent=picks, pool=picks, mine=st.booleans())
    def leave_pool(self, scene: Scene, agent: int, pool: int, mine: bool) -> None:
        held, one = self.agent(agent), self.pool(pool)
        if held is None or one is None:
            return
        scene = held.scene if mine else scene
        member = (one.id, held.id) in self.shared.members
        allowed = self.shared.owns(scene.who, one) or held.who in self.world.same(scene.who)
        owns = self.shared.owns(scene.who, one)
        waits = self.shared.waits(one.id, held.id, self.rig.clock.now())
        request = self.request_of(scene)
        left = self.do(self.pool_registry.leave_pool(request, one.id, held.id))
        withdrawn = not member and owns and waits is not None
        assert left is ((member and allowed) or withdrawn)
        if withdrawn:
            del self.shared.invited[one.id, held.id]
            self.reach("an invitation: withdrawn")
        elif left:
            self.ends("its agent left the pool", agent=held.id, pool=one.id)
            del self.shared.members[one.id, held.id]

    @rule(scene=homes, agent=picks)
    def unregister(self, scene: Scene, agent: int) -> None:
        held = self.agent(agent)
        if held is None:
            return
        gone = self.do(self.registry.unregister_agent(self.request_of(scene), held.id))
        assert gone is (held.who in self.world.same(scene.who))
        if gone:
            self.unregistered(held)

    def unregistered(self, agent: HeldAgent) -> None:
        self.ends("its agent was unregistered", agent=agent.id)
        self.shared.remove_agent(agent.id)

    @rule(scene=homes, pool=picks)
    def close_pool(self, scene: Scene, pool: int) -> None:
        one = self.pool(pool)
        if one is None:
            return
        gone = self.do(self.pool_registry.delete_pool(self.request_of(scene), one.id))
        assert gone is (scene.operates or self.shared.owns(scene.who, one))
        if gone:
            self.ends("its pool was deleted", pool=one.id)
            self.shared.remove_pool(one.id)

    def deleted(self, old: Held) -> None:
        self.ends("its memory was deleted", word=old.word)

    def ends(self, why: str, *, agent: str = "", pool: str = "", word: str = "") -> None:
        """Count shares that end."""
        for one in self.shared.alive():
            if (
                agent in {"", one.agent}
                and pool in {"", one.pool}
                and word in {"", one.word, one.shows}
            ):
                self.reach(f"a share ended because {why}")

    def erased(self, scene: Scene) -> None:
        if any(one.who == scene.who for one in self.shared.alive()):
            self.reach("a share ended because its person was erased")
        self.shared.erase(scene.who)

    @rule()
    def clean_up(self) -> None:
        """Shares without a reader are deleted, and no others."""
        while self.do(self.pool_registry.prune()):
            self.reach("ended shares were deleted")

    @rule(scene=homes, agent=picks, pool=picks)
    def spy(self, scene: Scene, agent: int, pool: int) -> None:
        """Somebody of another tenant, and somebody with the id of another person's agent."""
        held, one = self.agent(agent), self.pool(pool)
        if held is None or one is None:
            return
        caller = self.caller(scene)
        abroad = replace(caller, principal=replace(caller.principal, tenant=f"{self.rig.tenant}x"))
        request = self.do(self.rig.memory.for_principal(abroad)).request
        spy = self.do(self.registry.register_agent(request, AgentType.HUMAN))
        asks = [(request, spy.id), (request, held.id)]
        if held.who not in self.world.same(scene.who):
            asks.append((self.request_of(scene), held.id))
        for who, id_ in asks:
            if id_ == held.id:
                with pytest.raises(NotFound):
                    self.do(self.registry.own(who, id_))
            with pytest.raises(NotFound):
                self.do(self.pool_registry.query_shared(who, one.id, id_, SharedScope.GLOBAL))
        with pytest.raises(NotFound):
            self.do(self.pool_registry.join_pool(request, one.id, spy.id, Permission.READ))
        handle = self.do(self.rig.memory.for_principal(abroad)).for_agent(spy.id)
        everything = Filter(superseded=True, limit=1_000)
        assert not self.do(handle.read.search(everything)), "another tenant reads it"
        self.reach("another tenant, or another person's agent, was refused")

    def look_at_agents(self, most: int) -> None:
        """At what agents are shown by a search, a recall, a prompt and a query."""
        agents = list(self.shared.agents.values())
        for _ in range(min(most, len(agents))):
            self.asked_agents += 1
            self.look_at_agent(agents[self.asked_agents % len(agents)])

    def look_at_agent(self, agent: HeldAgent) -> None:
        caller = self.caller(agent.scene)
        handle = self.do(self.rig.memory.for_principal(caller)).for_agent(agent.id)
        self.count_shares(agent)
        meant = self.shared.words(agent, turns=True)
        stored = self.found(handle, Filter(superseded=True, limit=1_000))
        assert stored == meant, f"{agent}: shown {stored - meant}, not found {meant - stored}"
        words = {held.id: held.word for held in self.world.held if held.id.startswith("mem")}
        there = self.do(self.rig.stores.memories.visible(handle.access, list(words)))
        by_id = {words[id_] for id_ in there}
        assert by_id <= meant, f"{agent} reads {by_id - meant} by id"
        latest = self.world.everything[-3:]
        for word in latest:
            sought = self.found(handle, Filter(text=word, superseded=True, limit=100))
            assert (word in sought) == (word in stored), f"looking for {word} as {agent}"
        query = Query(" ".join(latest), caller.at)
        recalled = self.do(handle.read.recall(query)).results
        told = {word for one in recalled for word in self.said(one.record.content)}
        assert told <= meant, f"{agent} recalls {told - meant}"
        for one in recalled:
            said = one.record.provenance
            assert not said.person or said.person in handle.access.persons
            shared = not said.person and one.record.scope is Scope.USER
            assert not shared or said.trust is not Trust.HIGH, "a share has high trust"
        parts, briefs = self.rig.memory._dependencies, self.rig.remembrance.briefs
        turn = MemoryTurn(caller, handle, parts, briefs, TurnRules(episodic=False, notes=False))
        prompt = self.said(self.do(prompt_of(turn, " ".join(latest))))
        known = meant | self.world.words(agent.scene, "soul", "bible")
        assert prompt <= known, f"the prompt tells {agent} {prompt - known}"
        for pool in list(self.shared.pools.values()):
            self.look_at_pool(agent, pool)

    def count_shares(self, agent: HeldAgent) -> None:
        """Count what an agent reads of other agents, or of itself at the narrowest scope."""
        project = self.world.project(agent.scene)
        for share in self.shared.alive():
            member = self.shared.members.get((share.pool, agent.id))
            own = share.agent == agent.id
            if member is None or own is not (share.scope == PRIVATE):
                continue
            reads = self.shared.reads_share(agent, share, project)
            self.reach(situation(share.scope, reads, member.granted, outside=agent.scene.outside))

    def look_at_pool(self, agent: HeldAgent, pool: HeldPool) -> None:
        member = (pool.id, agent.id) in self.shared.members
        covers = self.shared.covers(agent.scene, pool)
        inside = bool(pool.project) and self.shared.in_project(agent.scene, pool.project)
        request = self.request_of(agent.scene)
        self.asked_pools += 1
        widest = SharedScope(max(0, GLOBAL - self.asked_pools % 8))
        try:
            found = self.do(self.pool_registry.query_shared(request, pool.id, agent.id, widest))
        except NotFound:
            assert not covers
            return
        assert covers, f"{agent} knows of {pool}"
        assert (found is False) is not member
        for one in found or ():
            own = self.shared.owns(agent.who, pool) and bool(one.record.provenance.person)
            assert own or one.record.provenance.trust is not Trust.HIGH, "a share has high trust"
        shown = {word for one in found or () for word in self.said(one.record.content)}
        meant = self.shared.shown_in(agent, pool, inside=inside, widest=widest.value)
        if meant != self.shared.shown_in(agent, pool, inside=inside):
            self.reach("a query left out wider shares")
        assert shown <= meant, f"{pool} shows {agent} {shown - meant}"
        assert meant - shown <= self.world.replaced, f"{pool} hides from {agent} {meant - shown}"
        if meant - shown:
            self.reach("a pool did not show a replaced memory")

    def found(self, handle: MemoryHandle, filters: Filter) -> set[str]:
        return {
            word
            for match in self.do(handle.read.search(filters))
            for word in self.said(match.record.content)
        }
