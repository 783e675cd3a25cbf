"""The steps that delete memories, and those that decide about pending ones."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from gateway.errors import BadInput
from gateway.immutable import replace
from tests.memory.isolation.base import Acting, picks, scenes
from tests.memory.isolation.model import SCENES, Held, Scene, What


class Deciding(Acting):
    """People delete, undo, forget, decide and erase."""

    @rule(scene=scenes, pick=picks, by_model=st.booleans())
    def delete(self, scene: Scene, pick: int, by_model: bool) -> None:
        old = self.one("memory", pick)
        if old is None:
            return
        caller = self.caller(scene)
        if by_model:
            turn = self.do(self.rig.remembrance.turn(caller))
            gone = bool(self.call(turn, "memory_delete", {"id": old.id}).get("success"))
        else:
            handle = self.do(self.rig.memory.for_principal(caller))
            gone = self.do(handle.erasure.delete([old.id])) == [old.id]
        if gone:
            assert self.world.may_change(scene, old), "somebody else's was deleted"
            self.deleted(old)
            self.world.drop([old])

    @rule(scene=scenes, pick=picks)
    def undo(self, scene: Scene, pick: int) -> None:
        """Undo what the assistant may have noted of somebody else."""
        old = self.one("memory", pick)
        if old is None:
            return
        handle = self.do(self.rig.memory.for_principal(self.caller(scene)))
        try:
            undone = self.do(handle.write.undo(old.id))
        except BadInput:
            return
        assert [one.id for one in undone.gone] == [old.id], "more than that was undone"
        assert self.world.may_change(scene, old), "somebody else's was undone"
        assert old.writer in self.world.same(scene.who), "somebody else's was undone"
        self.world.drop([old])

    @rule(scene=scenes, pick=picks)
    def forget(self, scene: Scene, pick: int) -> None:
        if not self.world.everything:
            return
        word = self.world.everything[pick % len(self.world.everything)]
        question = self.run(scene, "forget", word)
        mine = [
            held
            for held in self.world.held
            if held.word == word
            and held.what in ("memory", "turn", "waiting")
            and held.scope == "user"
            and held.writer in self.world.same(scene.who)
            and self.world.may_read(scene, held)
        ]
        assert bool(question.buttons) == bool(mine)
        if question.buttons:
            reply = self.do(self.rig.commands.press(question.buttons[0].value, self.caller(scene)))
            assert reply.markdown.startswith("I deleted")
            self.world.drop(mine)

    @rule(scene=scenes, pick=picks, yes=st.booleans())
    def decide(self, scene: Scene, pick: int, yes: bool) -> None:
        """Press a button that may be under somebody else's message."""
        waiting = self.everything_waiting()
        if not waiting:
            return
        review, word = waiting[pick % len(waiting)]
        decision = "keep" if yes else "discard"
        caller = self.caller(scene)
        results = [
            h for h in self.world.held if h.word == word and h.what in ("waiting", "proposed")
        ]
        assert results, "it waits, but nobody proposed it"
        try:
            reply = self.do(self.rig.commands.press(f"memory:{decision}:{review}", caller))
        except BadInput:
            return
        assert self.world.may_decide(scene, results[0]), "somebody else decided"
        assert self.said(reply.markdown) <= self.decidable(scene), "somebody else's is asked next"
        if yes and "remember" not in reply.markdown.partition("\n\n")[0]:
            return
        self.world.drop(results[:1])
        if yes and results[0].what == "waiting":
            self.world.held.append(replace(results[0], what="memory", confirmed=True, id="?"))
            self.world.replaced.add(results[0].supersedes)
        elif yes:
            what: What = "bible" if results[0].scope == "project" else "soul"
            self.world.held.append(replace(results[0], what=what, writer=scene.who))
            self.world.hands[word].add(scene.who)

    @rule(pick=picks)
    def unsay(self, pick: int) -> None:
        """A message is deleted in the chat."""
        if not self.world.held:
            return
        reply = self.world.held[pick % len(self.world.held)]
        if not reply.message:
            return
        platform, channel = reply.channel.split(" ")
        place = next(scene.place for scene in SCENES if scene.place.platform == platform)
        place = type(place)(platform, "main", channel, place.audience)
        self.do(self.rig.remembrance.deleted(self.rig.tenant, place, [reply.message]))
        self.world.drop(
            [
                held
                for held in self.world.held
                if (held.channel, held.message) == (reply.channel, reply.message)
                and held.what in ("memory", "turn", "waiting")
                and not held.confirmed
            ]
        )

    def deleted(self, old: Held) -> None:
        """A memory is gone."""

    def erased(self, scene: Scene) -> None:
        """Everything of a person is gone, but still in the model."""

    @rule(scene=scenes)
    def erase(self, scene: Scene) -> None:
        if not scene.alone:
            return
        everybody = {scene.who}
        question = self.run(scene, "privacy", "erase")
        surely = self.do(self.rig.commands.press(question.buttons[0].value, self.caller(scene)))
        done = self.do(self.rig.commands.press(surely.buttons[0].value, self.caller(scene)))
        assert "erased" in done.markdown
        world = self.world
        world.erased |= everybody
        self.erased(scene)
        world.drop(
            [
                held
                for held in world.held
                if held.writer in everybody
                and (held.scope == "user" or held.what in ("waiting", "proposed"))
            ]
        )
        world.held = [  # what is the project's stays, without its writer and their message
            replace(held, message="") if held.writer in everybody else held for held in world.held
        ]
        world.unlink(scene.who)
        world.open_hearted -= everybody
        world.seen = {(who, where) for who, where in world.seen if who not in everybody}
        for one in everybody:
            world.chosen.pop(one, None)
