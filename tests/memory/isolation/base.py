"""People of the isolation machine: the data for a step, and its effect in the model."""

import asyncio
import itertools
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine

from db.sqlite import SqliteDatabase
from gateway.authorship import Material
from gateway.errors import ToolError
from gateway.people import Role
from gateway.ports.memory import Caller, TurnMemory, WaitingTurn
from memory.knowledge.access import KnowledgeReader
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import Draft, Scope
from parley.wiring.storage import MemoryStores
from tests.memory.isolation.model import NAMES, SCENES, Held, Scene, What, World
from tests.memory.knowledge.search.conftest import Library
from tests.memory.rig import EnglishReply, Rig, rig_on
from tests.support.clock import FakeClock

NUMBERS: Final = itertools.count(1)
WORD: Final = re.compile(r"mk\d+n\d+z")
T = TypeVar("T")

CITED: Final = "ADR-003"
"""Is there when it is looked up, so that nothing but its authorship keeps a text from memory."""

scenes = st.sampled_from(SCENES)
names = st.sampled_from(NAMES)
scopes = st.sampled_from(list(Scope))
picks = st.integers(0, 10**6)


@dataclass(frozen=True)
class Opened:
    """Stores that stay open while many worlds are played in them, each a tenant of its own.

    `waiting` reads ids and texts of all that waits in a tenant, and `pairs` the ids of memories
    that may contradict each other, past all rules. `reached` counts the situations of
    `reached.py`.
    """

    runner: asyncio.Runner
    stores: MemoryStores
    database: SqliteDatabase
    clock: FakeClock
    waiting: Callable[[str], Awaitable[list[tuple[str, str]]]]
    pairs: Callable[[str], Awaitable[list[tuple[str, str]]]]
    keep: Callable[[WaitingTurn], Awaitable[None]]
    library: Library
    reached: Counter[str] = field(default_factory=Counter)


class Acting(RuleBasedStateMachine):
    """`opened` is set by the test that runs the machine."""

    opened: Opened

    def __init__(self) -> None:
        super().__init__()
        opened = self.opened
        library, bound = opened.library, opened.stores.room_bindings
        self.rig: Rig = rig_on(
            opened.stores,
            opened.database,
            opened.clock,
            keep=opened.keep,
            repositories=KnowledgeReader(library, bound),
        )
        self.number = next(NUMBERS)
        self.rig.tenant = f"t{self.number}"
        self.rig.verifier.known.add(CITED)
        self.rig.asked = self.number * 1_000_000  # turns have ids of their own everywhere
        self.world = World()
        self.looks = 0

    def reach(self, situation: str) -> None:
        """Count a situation of the walk."""
        self.opened.reached[situation] += 1

    def do(self, work: Awaitable[T]) -> T:
        async def wait() -> T:
            return await work

        return self.opened.runner.run(wait())

    def caller(
        self,
        scene: Scene,
        says: str = "",
        shows: tuple[Material, ...] = (),
        *,
        client: bool = False,
    ) -> Caller:
        role = Role.OPERATOR if scene.operates else Role.MEMBER
        self.world.arrives(scene)
        return self.rig.caller(
            scene.name,
            at=scene.place,
            says=says,
            role=role,
            shows=shows,
            outside=scene.outside,
            client=client,
        )

    def person(self, scene: Scene) -> str:
        return f"{scene.place.platform}:{scene.place.account}:{scene.name}"

    def word(self) -> str:
        """A secret that occurs in no other world, nor anywhere else in this one."""
        word = f"mk{self.number}n{len(self.world.everything)}z"
        self.world.everything.append(word)
        return word

    def decidable(self, scene: Scene) -> set[str]:
        waiting = [held for held in self.world.held if held.what in ("waiting", "proposed")]
        return {held.word for held in waiting if self.world.may_decide(scene, held)}

    def said(self, text: str) -> set[str]:
        return set(WORD.findall(text))

    def one(self, what: What, pick: int) -> Held | None:
        some = [held for held in self.world.held if held.what == what and held.id.startswith("mem")]
        return some[pick % len(some)] if some else None

    def run(self, scene: Scene, name: str, arguments: str = "") -> EnglishReply:
        return self.do(self.rig.commands.run(name, arguments, self.caller(scene)))

    def press(self, scene: Scene, under: EnglishReply, number: int) -> EnglishReply:
        value = under.buttons[number].value
        return self.do(self.rig.commands.press(value, self.caller(scene)))

    async def remembered(self, caller: Caller, draft: Draft) -> WriteResult:
        return await (await self.rig.memory.for_principal(caller)).write.remember(draft)

    def text(self, turn: TurnMemory, name: str, arguments: Mapping[str, object]) -> str:
        return self.do(turn.tools.call(name, arguments))

    def call(
        self, turn: TurnMemory, name: str, arguments: Mapping[str, object]
    ) -> dict[str, object]:
        try:
            answer: dict[str, object] = json.loads(self.text(turn, name, arguments))
        except ToolError as error:
            return {"error": str(error)}
        return answer

    def everything_waiting(self) -> list[tuple[str, str]]:
        """Ids and words of all that waits."""
        rows = self.do(self.opened.waiting(self.rig.tenant))
        results = [(id_, word) for id_, text in rows for word in self.said(text)]
        return sorted(results, key=lambda one: self.world.everything.index(one[1]))

    def note(
        self,
        scene: Scene,
        caller: Caller,
        word: str,
        result: WriteResult,
        scope: Scope,
        *,
        confirmed: bool,
    ) -> None:
        if result.outcome is Outcome.STORED:
            self.hold(scene, caller, word, "memory", scope, result.memory_id, confirmed)
        elif result.outcome is Outcome.REVIEW:
            self.hold(scene, caller, word, "waiting", scope, result.review_id)

    def hold(
        self,
        scene: Scene,
        caller: Caller,
        word: str,
        what: What,
        scope: Scope,
        id_: str = "",
        confirmed: bool = False,
    ) -> None:
        project = self.world.project(scene) if scope is Scope.PROJECT else ""
        message = caller.message_ids[-1]
        self.world.hands.setdefault(word, set()).add(scene.who)
        self.world.held.append(
            Held(
                *(word, what, scene.who, scope.value, scene.room, project),
                *(scene.channel, message, id_, confirmed),
            )
        )
