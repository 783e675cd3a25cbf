"""The rules of agents and pools, in a short model of its own.

Like `model.py`, nothing here comes from `memory/model/scope.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from gateway.immutable import replace
from tests.memory.isolation.model import Held, Scene, Who, World

PRIVATE, USER, PROJECT, TEAM, GLOBAL = range(5)


@dataclass(frozen=True)
class HeldAgent:
    """An agent, and its person in private."""

    id: str
    scene: Scene

    @property
    def who(self) -> Who:
        return self.scene.who


@dataclass(frozen=True)
class HeldPool:
    """A pool of somebody."""

    id: str
    owner: Who
    scope: int
    project: str


@dataclass(frozen=True)
class Membership:
    """An agent in a pool. `serial` is another one after it left and joined again."""

    pool: str
    agent: str
    writes: bool
    granted: bool
    serial: int


@dataclass(frozen=True)
class HeldInvitation:
    """An invitation of an agent into a pool, until it ends."""

    id: str
    pool: str
    agent: str
    writes: bool
    until: datetime


@dataclass(frozen=True)
class HeldShare:
    """A word that an agent shared; `shows` is the word that an update put in its place."""

    pool: str
    word: str
    agent: str
    who: Who
    scope: int
    project: str
    serial: int
    shows: str
    writer: int

    @property
    def updated(self) -> bool:
        return self.shows != self.word


@dataclass
class Pools:
    """Agents, pools and what is shared in them."""

    world: World
    agents: dict[str, HeldAgent] = field(default_factory=dict)
    pools: dict[str, HeldPool] = field(default_factory=dict)
    members: dict[tuple[str, str], Membership] = field(default_factory=dict)
    shares: dict[tuple[str, str], HeldShare] = field(default_factory=dict)
    invited: dict[tuple[str, str], HeldInvitation] = field(default_factory=dict)
    joined: int = 0

    def owns(self, who: Who, pool: HeldPool) -> bool:
        return pool.owner in self.world.same(who)

    def covers(self, scene: Scene, pool: HeldPool) -> bool:
        """True if a person may know of a pool."""
        if self.owns(scene.who, pool) or pool.scope == GLOBAL:
            return True
        if pool.scope == TEAM and not scene.outside:
            return True
        if pool.scope == PROJECT and self.in_project(scene, pool.project):
            return True
        everybody = self.world.same(scene.who)
        return any(
            self.agents[one.agent].who in everybody
            for one in self.members.values()
            if one.pool == pool.id
        )

    def in_project(self, scene: Scene, project: str) -> bool:
        if self.world.project(scene) == project:
            return True
        return not scene.outside and self.world.belongs(scene.who, project)

    def join(self, pool: HeldPool, agent: str, *, writes: bool, owned: bool) -> None:
        there = self.members.get((pool.id, agent))
        if there is None:
            self.joined += 1
            there = Membership(pool.id, agent, writes, owned, self.joined)
        elif owned:
            there = replace(there, writes=writes, granted=True)
        self.members[pool.id, agent] = there

    def waits(self, pool: str, agent: str, now: datetime) -> HeldInvitation | None:
        """The invitation of an agent into a pool, if both are there and it has not expired."""
        one = self.invited.get((pool, agent))
        there = one is not None and pool in self.pools and agent in self.agents
        return one if there and one is not None and one.until > now else None

    def alive(self) -> Iterator[HeldShare]:
        """The shares whose agents are still members, of words that are still there."""
        serials = {one.serial for one in self.members.values()}
        words = {held.word for held in self.world.held if held.what == "memory"}
        for share in self.shares.values():
            if {share.serial, share.writer} <= serials and {share.word, share.shows} <= words:
                yield share

    def reads_share(self, agent: HeldAgent, share: HeldShare, project: str) -> bool:
        """True if an agent reads a share."""
        member = self.members.get((share.pool, agent.id))
        if member is None:
            return False
        match share.scope:
            case 0:
                return share.agent == agent.id
            case 1:
                return share.who in self.world.same(agent.who)
            case 2:
                return member.granted or (bool(share.project) and share.project == project)
            case 3:
                return member.granted or not agent.scene.outside
            case _:
                return True

    def shown_in(
        self, agent: HeldAgent, pool: HeldPool, *, inside: bool, widest: int = GLOBAL
    ) -> set[str]:
        """The words that an agent may read in a pool at this scope or narrower; `inside`: its
        person is in the pool's project."""
        project = self.world.project(agent.scene)
        if pool.project and inside:
            project = pool.project
        return {
            share.shows
            for share in self.alive()
            if share.pool == pool.id
            and share.scope <= widest
            and self.reads_share(agent, share, project)
        }

    def words(self, agent: HeldAgent, *, turns: bool) -> set[str]:
        """The words that an agent may read at all."""
        project = self.world.project(agent.scene)
        own = {
            held.word
            for held in self.world.held
            if held.what in (("memory", "turn") if turns else ("memory",))
            and held.keeper in {"", agent.id}
            and self.world.may_read(agent.scene, held)
        }
        return own | {
            share.shows for share in self.alive() if self.reads_share(agent, share, project)
        }

    def may_see(self, agent: HeldAgent, held: Held) -> bool:
        return held.word in self.words(agent, turns=True)

    def remove_agent(self, agent: str) -> None:
        del self.agents[agent]
        self.members = {key: one for key, one in self.members.items() if one.agent != agent}

    def remove_pool(self, pool: str) -> None:
        del self.pools[pool]
        self.members = {key: one for key, one in self.members.items() if one.pool != pool}

    def erase(self, who: Who) -> None:
        """Everything of a person is gone."""
        for agent in [one.id for one in self.agents.values() if one.who == who]:
            self.remove_agent(agent)
        for pool in [one.id for one in self.pools.values() if one.owner == who]:
            self.remove_pool(pool)
        self.shares = {key: one for key, one in self.shares.items() if one.who != who}
