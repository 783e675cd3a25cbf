"""Directed walks: fixed sequences of the machine's steps, which reach every situation.

Each walk is a generator. Wherever it yields, every invariant is checked and all its agents are
looked at. A walk takes steps only: the machine itself counts a situation when it observes it.
Numbers are positions in the order in which agents registered, pools opened and so on.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from gateway.immutable import replace
from memory.agents.model import Permission, SharedScope
from memory.model.record import Scope
from tests.memory.isolation.base import Opened
from tests.memory.isolation.machine import Isolation
from tests.memory.isolation.model import DISCORD, GENERAL, TELEGRAM, Scene
from tests.memory.isolation.pool_model import TEAM
from tests.memory.isolation.reached import (
    ACCESS,
    CLIENTS,
    ENDS,
    HANDOFFS,
    INVITATIONS,
    LINKED_PAIRS,
    PAIRS,
    REPLACED,
    UPDATES,
)

ROOT: Final = Scene("root", DISCORD)
ADA: Final = Scene("ada", DISCORD)
BEN: Final = Scene("ben", DISCORD)
EVE: Final = Scene("eve", DISCORD)
MAL: Final = Scene("mal", DISCORD, outside=True)


@dataclass(frozen=True)
class Walk:
    """A directed walk, and the situations that it has to reach."""

    steps: Callable[[Isolation], Iterator[None]]
    reaches: tuple[str, ...]

    def play(self, opened: Opened) -> Counter[str]:
        """Take the steps in a new world; return the situations that were reached."""
        reached: Counter[str] = Counter()
        machine = type("Directed", (Isolation,), {"opened": replace(opened, reached=reached)})
        world: Isolation = machine()
        world.shelve_the_first()
        for _ in self.steps(world):
            for one in world.invariants:
                one.function(world)
            world.look_at_agents(len(world.shared.agents) - 1)  # beside the one of the invariant
        for scene in {agent.scene for agent in world.shared.agents.values()}:
            world.look_at(scene)
        return reached


def access(world: Isolation) -> Iterator[None]:
    """An operator shares at each scope, with agents that were added and agents that joined."""
    for scene in (ROOT, BEN):
        world.talk(Scene(scene.name, GENERAL))
    world.choose(ROOT, 1)
    world.open_pool(ROOT, SharedScope.GLOBAL)
    members = (ROOT, True), (ROOT, True), (ADA, True), (BEN, False), (MAL, False), (MAL, True)
    for number, (scene, added) in enumerate(members):
        world.register(scene)
        world.join(scene, added, number, 0, writes=number == 0)
    for number, scope in enumerate(SharedScope):
        world.remember(ROOT, Scope.USER)
        world.share(0, 0, number, scope, mine=True)
    yield
    world.choose(BEN, 1)
    yield
    world.spy(BEN, 0, 0)
    yield


def invitations(world: Isolation) -> Iterator[None]:
    """The owner of a pool invites agents of others, who accept, decline or leave; others try to
    answer, and the owner withdraws and invites again."""
    for scene in (ADA, BEN, EVE):
        world.register(scene)
    world.open_pool(ADA, SharedScope.TEAM)
    world.join(ADA, True, 0, 0, writes=True)
    world.remember(ADA, Scope.USER)
    world.share(0, 0, 0, SharedScope.TEAM, mine=True)
    for agent in (1, 2):
        world.join(ADA, True, agent, 0, writes=True, agrees=False)
    yield
    for scene in (ADA, EVE):
        world.answer_invitation(scene, 0, accepts=True)
    yield
    world.leave_pool(ADA, 1, 0, mine=False)
    world.join(ADA, True, 1, 0, writes=True)
    yield
    world.answer_invitation(EVE, 0, accepts=False)
    world.join(ADA, True, 2, 0, writes=True)
    yield
    world.open_pool(ADA, SharedScope.PROJECT)
    world.open_pool(ADA, SharedScope.TEAM)
    world.join(ADA, True, 1, 1, writes=True)
    yield
    world.leave_pool(BEN, 1, 1, mine=True)
    yield


def updates(world: Isolation) -> Iterator[None]:
    """Members update a shared memory, and one of them may only read. Then the member leaves whose
    text is shown, and later the member that shared it."""
    world.collaborate(ADA, BEN, TEAM, SharedScope.TEAM, Permission.WRITE)
    world.register(EVE)
    world.join(EVE, False, 2, 0, writes=False)
    world.update(1, 0, 1, cites=True)
    world.update(1, 0, 0, cites=False)
    world.update(2, 0, 0, cites=True)
    yield
    world.update(1, 0, 0, cites=True)
    yield
    world.leave_pool(BEN, 1, 0, mine=True)
    yield
    world.join(ADA, True, 1, 0, writes=True)
    world.share(0, 0, 0, SharedScope.TEAM, mine=True)
    world.update(1, 0, 0, cites=True)
    world.leave_pool(ADA, 0, 0, mine=True)
    yield


def replacements(world: Isolation) -> Iterator[None]:
    """A shared memory is replaced, and restored: the pool shows it again."""
    world.collaborate(ADA, BEN, TEAM, SharedScope.TEAM, Permission.READ)
    world.supersede(ADA, 0)
    for _ in range(4):  # a query of each scope
        yield
    world.restore(ADA, 0)
    for _ in range(4):
        yield


def contradictions(world: Isolation) -> Iterator[None]:
    """People settle and restore their own memories, and try it with those of others; one of two is
    deleted, and a whole account."""
    for scene in (ADA, Scene("ada", GENERAL), BEN):
        world.contradict(scene)
        yield
    world.rooms(ADA, on=True)
    yield
    for scene in (EVE, BEN, Scene("ada", GENERAL), ADA):
        world.settle(scene, 0, "other")
    yield
    for scene in (EVE, ROOT, ADA):
        world.restore(scene, 0)
    yield
    for scene in (EVE, Scene("ben", GENERAL), ADA):
        world.settle(scene, 0, "other", pressed=True)
    yield
    for scene in (EVE, Scene("ben", GENERAL), ADA):
        world.restore(scene, 0, pressed=True)
    yield
    world.settle(ADA, 0, "other")
    world.delete(ADA, 1, by_model=False)
    yield
    for number in range(3):
        world.restore(ADA, number)
    yield
    world.talk(BEN)
    world.erase(ADA)
    yield


def linked_contradictions(world: Isolation) -> Iterator[None]:
    """Two linked accounts of one person contradict each other; they are separated and linked again,
    one of them settles, the other one is erased, and what it replaced is restored."""
    there = Scene("ada", TELEGRAM)
    world.link("ada", "ada")
    world.state(there)
    world.state(ADA)
    yield
    world.unlink(ADA)
    for scene in (ADA, there):
        world.look_at(scene)
        world.settle(scene, 0, "other")
    yield
    world.link("ada", "ada")
    yield
    world.settle(there, 0, "other")
    world.erase(ADA)
    yield
    for scene in (BEN, ADA, there):
        world.restore(scene, 0)
    yield


def approvals(world: Isolation) -> Iterator[None]:
    """An agent gives a shared text of its own another one, which its person approves: the pool
    keeps the text that it has."""
    world.collaborate(ADA, BEN, TEAM, SharedScope.TEAM, Permission.WRITE)
    world.update(1, 0, 0, cites=False)
    yield
    world.decide(BEN, 0, yes=True)
    for _ in range(4):
        yield


def ends(world: Isolation) -> Iterator[None]:
    """A share ends for each reason, while another agent is a member."""
    world.collaborate(ADA, BEN, TEAM, SharedScope.TEAM, Permission.READ)
    world.unshare(ADA, 0)
    yield
    world.share(0, 0, 0, SharedScope.TEAM, mine=True)
    world.delete(ADA, 0, by_model=False)
    yield
    world.remember(ADA, Scope.USER)
    world.share(0, 0, 0, SharedScope.TEAM, mine=True)
    world.leave_pool(ADA, 0, 0, mine=True)
    yield
    world.join(ADA, True, 0, 0, writes=True)
    yield
    world.share(0, 0, 0, SharedScope.TEAM, mine=True)
    world.unregister(ADA, 0)
    yield
    world.register(EVE)
    world.join(ADA, True, 1, 0, writes=True)
    world.talk(Scene("eve", GENERAL))
    world.choose(EVE, 1)
    for number, scope in enumerate((Scope.USER, Scope.PROJECT)):  # the project's stays
        world.remember(EVE, scope)
        world.share(1, 0, number, SharedScope.TEAM, mine=True)
    world.clean_up()
    yield
    world.erase(EVE)
    yield
    world.collaborate(ROOT, BEN, TEAM, SharedScope.TEAM, Permission.READ)
    world.close_pool(ROOT, 1)
    yield


def handoffs(world: Isolation) -> Iterator[None]:
    """An agent hands over to another one and to a person; these and others answer."""
    for scene in (ADA, ADA, BEN, MAL):
        world.register(scene)
    for number, steps in enumerate((("complete", "accept", "complete"), ("reject", "accept"))):
        world.hand_over(0, 1, 0)
        world.hand_to_person(0, BEN)
        yield
        for step in steps:
            world.answer(2, 2 * number, step)
            world.answer_as_person(EVE, 2 * number + 1, step)
            world.answer(1, 2 * number, step)
            world.answer_as_person(BEN, 2 * number + 1, step)
            yield
    world.hand_to_person(3, BEN)
    world.hand_over(0, 1, 0)
    world.hand_to_person(0, BEN)
    world.be_late()
    yield
    world.expire()
    yield
    world.hand_over(0, 1, 0)
    world.hand_over(1, 0, 0)
    world.hand_to_person(0, BEN)
    world.unregister(ADA, 0)
    yield


def clients(world: Isolation) -> Iterator[None]:
    """A client of ada stores and proposes, and tries to write for others in every way."""
    for scene in (ADA, BEN):
        world.talk(Scene(scene.name, GENERAL))
        world.choose(scene, 1)
    world.collaborate(ADA, BEN, TEAM, SharedScope.TEAM, Permission.WRITE)
    for scope in Scope:
        world.store_by_client(ADA, scope, waits=False)
    world.store_by_client(ADA, Scope.USER, waits=True)
    yield
    world.decide(ADA, 0, yes=True)
    yield
    for document in ("soul", "bible"):
        world.rewrite_by_client(ADA, document)
    world.share_by_client(0, 0, 0)
    world.update_by_client(1, 0)
    yield
    for home in (ADA, BEN):
        world.hand_over_by_client(0, home)
    world.hand_over(1, 0, 0)
    world.answer(0, 1, "accept")
    world.complete_by_client(1)
    yield
    world.rooms(ADA, on=True)
    for waits in (False, True):
        world.store_by_client(ADA, Scope.USER, waits=waits)
    world.look_at(Scene("ada", GENERAL))
    yield


WALKS: Final = (
    Walk(access, ACCESS),
    Walk(invitations, INVITATIONS),
    Walk(updates, UPDATES),
    Walk(replacements, REPLACED),
    Walk(contradictions, PAIRS),
    Walk(linked_contradictions, LINKED_PAIRS),
    Walk(approvals, UPDATES[2:]),
    Walk(ends, ENDS),
    Walk(handoffs, HANDOFFS),
    Walk(clients, CLIENTS),
)
