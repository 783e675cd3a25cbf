"""Random people and agents who use one memory, and somebody who looks at what they are shown.

The machine lets several people write, link, choose, allow, review and delete at random, and their
agents join pools, share, update, hand over and leave. It looks after every step at what two of the
people and one of the agents are shown: by the store, in the assembled prompt, by the tools, by the
commands, by the pools, in handoffs and in repositories. What they may be shown say `model.py`,
`pool_model.py` and `repositories.py`, in words of their own.
"""

import sys

from hypothesis.stateful import invariant, rule

from memory.ports.memories import Filter
from tests.memory.isolation.clients import Clients
from tests.memory.isolation.model import SCENES, Scene
from tests.memory.isolation.repositories import Repositories
from tests.memory.isolation.writing import Writing
from tests.support.prompts import prompt_of


class Isolation(Writing, Clients, Repositories):
    """All steps, and a look at what people are shown after each."""

    @rule()
    def rest(self) -> None:
        """Half an hour goes by: the next turn begins a new session."""
        self.do(self.rig.clock.advance(31 * 60))

    @invariant()
    def look(self) -> None:
        """At two scenes after every step; over the steps, at all of them."""
        for _ in range(2):
            self.looks += 1
            scene = SCENES[self.looks * 7 % len(SCENES)]
            self.look_at(scene)
            self.look_at_repositories(scene)
        self.look_at_agents(1)

    def teardown(self) -> None:
        """At all of them in the end, unless something was found already."""
        if sys.exc_info()[0] is None:
            for scene in SCENES:
                self.look_at(scene)
                self.look_at_repositories(scene)
            self.look_at_agents(len(self.shared.agents))

    def look_at(self, scene: Scene) -> None:
        caller = self.caller(scene)
        handle = self.do(self.rig.memory.for_principal(caller))
        world = self.world
        result = self.do(handle.read.search(Filter(superseded=True, limit=1_000)))
        stored = {word for match in result for word in self.said(match.record.content)}
        meant = world.words(scene, "memory", "turn")
        assert stored == meant, f"{scene}: shown {stored - meant}, not found {meant - stored}"
        for word in world.everything[-3:]:
            filters = Filter(text=word, superseded=True, limit=100)
            sought = {
                w for m in self.do(handle.read.search(filters)) for w in self.said(m.record.content)
            }
            assert (word in sought) == (word in stored), f"looking for {word} as {scene}"
        self.look_at_pairs(scene, handle)
        turn = self.do(self.rig.remembrance.turn(caller))
        prompt = self.said(self.do(prompt_of(turn, " ".join(world.everything[-3:]))))
        known = world.words(scene, "memory", "soul", "bible")
        recalled = known | world.words(scene, "turn")
        assert prompt <= recalled, f"the prompt tells {scene} {prompt - recalled}"
        assert self.said(self.text(turn, "memory_brief", {})) <= known, f"the brief tells {scene}"
        everything = {"include_superseded": True, "limit": 100}
        assert self.said(self.text(turn, "memory_search", everything)) <= stored
        mine = {
            held.word
            for held in world.held
            if held.writer in world.same(scene.who) and world.may_read(scene, held)
        }
        assert self.said(self.run(scene, "memories").markdown) <= mine
        waiting = world.words(scene, "waiting", "proposed") | mine  # the old text is named
        assert self.said(self.run(scene, "memories", "review").markdown) <= waiting
        if scene.alone:
            self.look_at_tasks(scene)
            self.look_at_export(scene)

    def look_at_export(self, scene: Scene) -> None:
        (file,) = self.run(scene, "privacy", "export").files
        everybody = self.world.same(scene.who)
        mine = {word for word, hands in self.world.hands.items() if hands & everybody}
        assert self.said(file.data.decode()) <= mine, f"the export gives {scene}"
