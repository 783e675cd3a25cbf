"""The steps on memories that may contradict each other: people state, settle and restore."""

from collections.abc import Mapping, Sequence
from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import rule

from gateway.errors import BadInput
from memory.model.record import Draft, Kind, Scope, short_id
from memory.service.contradictions import Answer
from memory.service.handle import MemoryHandle
from memory.stores.conflicts import Kept
from memory.turns.footer import RESTORE, TRUE
from tests.memory.isolation.base import Acting, picks, scenes
from tests.memory.isolation.model import Held, Scene

KEPT: Final[Mapping[Answer, Kept]] = {"one": "older", "other": "newer", "both": "both"}
ANSWERS: Final[tuple[Answer, ...]] = ("one", "other", "both")


class Contradicting(Acting):
    """People contradict themselves, and say what is true."""

    def __init__(self) -> None:
        super().__init__()
        self.successors: dict[str, Held] = {}
        """What replaced a word when a pair was settled."""

    @rule(scene=scenes)
    def contradict(self, scene: Scene) -> None:
        """Somebody gives another number for the same thing."""
        for _ in range(2):
            self.state(scene)

    def state(self, scene: Scene) -> None:
        """Somebody gives a number of theirs."""
        word, caller = self.word(), self.caller(scene)
        draft = Draft(f"My gate code is {word}", Kind.FACT)
        result = self.do(self.remembered(caller, draft))
        self.note(scene, caller, word, result, Scope.USER, confirmed=False)

    @rule(scene=scenes, pick=picks, answer=st.sampled_from(ANSWERS), pressed=st.booleans())
    def settle(self, scene: Scene, pick: int, answer: Answer, pressed: bool = False) -> None:
        """Somebody answers a question that may be another person's, by the service or by a button
        that they may have made up."""
        known = {held.id: held for held in self.world.held if held.what == "memory"}
        pairs = [
            (known[older], known[newer])
            for older, newer in self.do(self.opened.pairs(self.rig.tenant))
            if older in known and newer in known
        ]
        if not pairs:
            return
        older, newer = pairs[pick % len(pairs)]
        try:
            self.answer_pair(scene, older, newer, answer, pressed=pressed)
        except BadInput:
            if older.writer not in self.world.same(scene.who):
                self.reach(f"a pair: {'a button ' * pressed}refused, not theirs")
            return
        for held in (older, newer):
            assert self.world.may_read(scene, held), "somebody else's was settled"
            assert held.writer in self.world.same(scene.who), "somebody else's was settled"
        self.reach(f"a pair: settled{' by a button' * pressed}")
        if answer != "both":
            left, stays = (newer, older) if answer == "one" else (older, newer)
            self.world.replaced.add(left.word)
            self.successors[left.word] = stays

    def answer_pair(
        self, scene: Scene, older: Held, newer: Held, answer: Answer, *, pressed: bool
    ) -> None:
        """Answer which of two memories is true: "one" is the older one. Raises `BadInput`."""
        if pressed:
            value = f"{TRUE[KEPT[answer]]}{short_id(older.id)}:{short_id(newer.id)}"
            reply = self.do(self.rig.commands.press(value, self.caller(scene)))
            assert self.said(reply.markdown) <= {older.word, newer.word}
            return
        handle = self.do(self.rig.memory.for_principal(self.caller(scene)))
        decided = self.do(handle.contradictions.settle(older.id, newer.id, answer))
        left = {"one": newer.id, "other": older.id, "both": None}[answer]
        assert left == (None if decided.replaced is None else decided.replaced.id)

    @rule(scene=scenes, pick=picks, pressed=st.booleans())
    def restore(self, scene: Scene, pick: int, pressed: bool = False) -> None:
        """Somebody restores a memory that may be another person's, or not replaced, by the service
        or by a button that they may have made up."""
        old = self.one("memory", pick)
        if old is None:
            return
        caller = self.caller(scene)
        handle = self.do(self.rig.memory.for_principal(caller))
        try:
            if pressed:
                reply = self.do(self.rig.commands.press(f"{RESTORE}{old.id}", caller))
                assert self.said(reply.markdown) <= {old.word}
            else:
                self.do(handle.contradictions.restore(old.id))
        except BadInput:
            if old.word in self.world.replaced and not self.world.may_change(scene, old):
                self.reach(f"a replaced memory: {'a button ' * pressed}refused, not theirs")
            return
        assert self.world.may_read(scene, old), "somebody else's was restored"
        assert self.world.may_change(scene, old), "somebody else's was restored"
        assert old.word in self.world.replaced, "what was not replaced was restored"
        self.world.replaced.discard(old.word)
        self.reach(f"a memory was restored{' by a button' * pressed}")
        marked = old.id in self.do(handle.contradictions.marks())
        self.reach(f"a memory was restored, {'with' if marked else 'without'} another one")
        stays = self.successors.get(old.word)
        if stays is not None and stays.writer in self.world.erased and stays not in self.world.held:
            assert not marked, "a mark names what was erased"
            self.reach("a memory was restored after the erasure of what replaced it")

    def look_at_pairs(self, scene: Scene, handle: MemoryHandle) -> None:
        """See that marks name the person's own memories that may be read here, and nothing else."""
        known: dict[str, Held] = {held.id: held for held in self.world.held if held.id != "?"}
        marks = self.do(handle.contradictions.marks())
        self.look_at_separated(scene, known, marks)
        for name, others in marks.items():
            for id_ in (name, *others):
                held = known.get(id_)
                if held is None:  # approved under an id that the model does not know
                    record = self.do(handle.read.get(id_))
                    assert record is not None, "a mark names what is gone"
                    continue
                assert self.world.may_read(scene, held), f"a mark tells {scene}"
                assert held.writer in self.world.same(scene.who), f"a mark tells {scene}"

    def look_at_separated(
        self, scene: Scene, known: Mapping[str, Held], marks: Mapping[str, Sequence[str]]
    ) -> None:
        """Count pairs of two accounts that are one person no more, for one of the two."""
        for older, newer in self.do(self.opened.pairs(self.rig.tenant)):
            if older not in known or newer not in known:
                continue
            writers = {known[older].writer, known[newer].writer}
            if scene.who in writers and not writers <= self.world.same(scene.who):
                assert not {older, newer} & marks.keys(), "a mark of separated accounts"
                self.reach("a pair of separated accounts was not shown")

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
