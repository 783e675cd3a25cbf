"""The steps on memories that may contradict each other: people state, settle and restore."""

from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import rule

from gateway.errors import BadInput
from memory.model.record import Draft, Kind, Scope
from memory.service.contradictions import Answer
from memory.service.handle import MemoryHandle
from tests.memory.isolation.base import Acting, picks, scenes
from tests.memory.isolation.model import Held, Scene

ANSWERS: Final[tuple[Answer, ...]] = ("one", "other", "both")


class Contradicting(Acting):
    """People contradict themselves, and say what is true."""

    @rule(scene=scenes)
    def contradict(self, scene: Scene) -> None:
        """Somebody gives another number for the same thing."""
        for _ in range(2):
            word, caller = self.word(), self.caller(scene)
            draft = Draft(f"My gate code is {word}", Kind.FACT)
            result = self.do(self.remembered(caller, draft))
            self.note(scene, caller, word, result, Scope.USER, confirmed=False)

    @rule(scene=scenes, pick=picks, answer=st.sampled_from(ANSWERS))
    def settle(self, scene: Scene, pick: int, answer: Answer) -> None:
        """Somebody answers a question that may be another person's."""
        asked = [held for held in self.world.held if held.what == "memory" and held.id != "?"]
        pairs = [
            (one, other)
            for one in asked
            for other in asked
            if other.id in self.noticed.get(one.id, ())
        ]
        if not pairs:
            return
        one, other = pairs[pick % len(pairs)]
        handle = self.do(self.rig.memory.for_principal(self.caller(scene)))
        try:
            decided = self.do(handle.contradictions.settle(one.id, other.id, answer))
        except BadInput:
            if one.writer not in self.world.same(scene.who):
                self.reach("a pair: refused, not theirs")
            return
        for held in (one, other):
            assert self.world.may_read(scene, held), "somebody else's was settled"
            assert held.writer in self.world.same(scene.who), "somebody else's was settled"
        self.reach("a pair: settled")
        if decided.replaced is not None:
            left = one if decided.replaced.id == one.id else other
            self.world.replaced.add(left.word)

    @rule(scene=scenes, pick=picks)
    def restore(self, scene: Scene, pick: int) -> None:
        """Somebody restores a memory that may be another person's, or not replaced."""
        old = self.one("memory", pick)
        if old is None:
            return
        handle = self.do(self.rig.memory.for_principal(self.caller(scene)))
        try:
            self.do(handle.contradictions.restore(old.id))
        except BadInput:
            if old.word in self.world.replaced and not self.world.may_change(scene, old):
                self.reach("a replaced memory: refused, not theirs")
            return
        assert self.world.may_read(scene, old), "somebody else's was restored"
        assert self.world.may_change(scene, old), "somebody else's was restored"
        assert old.word in self.world.replaced, "what was not replaced was restored"
        marked = old.id in self.do(handle.contradictions.marks())
        self.reach(f"a memory was restored, {'with' if marked else 'without'} another one")

    @property
    def noticed(self) -> dict[str, set[str]]:
        """The pairs of everybody by the id of one memory, past all rules."""
        rows = self.do(self.opened.pairs(self.rig.tenant))
        found: dict[str, set[str]] = {}
        for one, other in rows:
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
        return found

    def look_at_pairs(self, scene: Scene, handle: MemoryHandle) -> None:
        """See that marks name the person's own memories that may be read here, and nothing else."""
        known: dict[str, Held] = {held.id: held for held in self.world.held if held.id != "?"}
        for name, others in self.do(handle.contradictions.marks()).items():
            for id_ in (name, *others):
                held = known.get(id_)
                if held is None:  # approved under an id that the model does not know
                    record = self.do(handle.read.get(id_))
                    assert record is not None, "a mark names what is gone"
                    continue
                assert self.world.may_read(scene, held), f"a mark tells {scene}"
                assert held.writer in self.world.same(scene.who), f"a mark tells {scene}"

    def asked_about(self, scene: Scene) -> set[str]:
        """The words that a question which of two memories is true may quote."""
        if not scene.alone:
            return set()
        same = self.world.same(scene.who)
        return {
            held.word
            for held in self.world.held
            if held.what == "memory" and held.writer in same and self.world.may_read(scene, held)
        }
