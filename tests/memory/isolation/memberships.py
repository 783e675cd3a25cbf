"""The steps that change who is one person, and who belongs to which project."""

from contextlib import suppress

from hypothesis import strategies as st
from hypothesis.stateful import rule

from gateway.errors import BadInput
from memory.service.links import TOO_MANY_TRIES
from tests.memory.isolation.base import Acting, names, scenes
from tests.memory.isolation.model import SCENES, Scene
from tests.memory.rig import EnglishReply


class Memberships(Acting):
    """People link accounts, choose projects, join and leave."""

    @rule(name=names, other=names)
    def link(self, name: str, other: str) -> None:
        """The code of a Telegram account is entered on Discord, and both confirm."""
        here, there = Scene(name, SCENES[0].place), Scene(other, SCENES[1].place)
        question = self.entered(here, there)
        if question is None:
            return
        agreed = self.press(there, question, 0)
        (notice,) = agreed.notices
        assert notice.person == str(self.caller(here).principal.person)
        done = self.do(self.rig.commands.press(notice.buttons[0].value, self.caller(here)))
        assert "Linked" in done.markdown
        self.world.link(here.who, there.who)

    @rule(name=names, other=names, picks=st.lists(st.tuples(scenes, st.booleans()), max_size=4))
    def enter(self, name: str, other: str, picks: list[tuple[Scene, bool]]) -> None:
        """A code is entered and confirmed by who entered it, and others press what they can: that
        links nobody, because its maker never confirms."""
        here, there = Scene(name, SCENES[0].place), Scene(other, SCENES[1].place)
        question = self.entered(here, there)
        if question is None:
            return
        buttons = [*question.buttons]
        for scene, agrees in picks:
            if scene.who == here.who:
                continue
            try:
                if agrees:
                    agreed = self.press(there, question, 0)
                    buttons += [b for notice in agreed.notices for b in notice.buttons]
                for button in buttons[::2]:
                    self.do(self.rig.commands.press(button.value, self.caller(scene)))
            except BadInput:
                continue

    def entered(self, here: Scene, there: Scene) -> EnglishReply | None:
        """The question that a code leads to; None where it may lead to none."""
        for scene in (here, there):
            with suppress(BadInput):
                self.run(scene, "link", "cancel")
        code = self.run(here, "link").markdown.rsplit("/link ", 1)[1].split("`")[0]
        try:
            question = self.run(there, "link", code)
        except BadInput as refusal:
            limited = TOO_MANY_TRIES.english in str(
                refusal
            )  # codes of the own account count as wrong ones
            assert limited or not self.world.may_link(here.who, there.who)
            return None
        assert self.world.may_link(here.who, there.who)
        return question

    @rule(scene=scenes)
    def unlink(self, scene: Scene) -> None:
        if scene.alone:
            self.run(scene, "link", "off")
            self.world.unlink(scene.who)

    @rule(scene=scenes, on=st.booleans())
    def rooms(self, scene: Scene, on: bool) -> None:
        self.run(scene, "privacy", "rooms on" if on else "rooms off")
        everybody = self.world.same(scene.who)
        if on:
            self.world.open_hearted |= everybody
        else:
            self.world.open_hearted -= everybody

    @rule(scene=scenes, number=st.integers(1, 4))
    def choose(self, scene: Scene, number: int) -> None:
        if not scene.alone:
            return
        caller = self.caller(scene)
        handle = self.do(self.rig.memory.for_principal(caller))
        known = self.do(self.rig.people.projects(handle.request))
        if number > len(known):
            return
        project = known[number - 1][0]
        belongs = self.world.belongs(scene.who, project)
        try:
            self.run(scene, "project", str(number))
        except BadInput:
            assert not belongs, "somebody who belongs to a project could not choose it"
            return
        assert belongs, "somebody chose a project that they left"
        for one in self.world.same(scene.who):
            self.world.chosen[one] = project

    @rule(scene=scenes)
    def leave(self, scene: Scene) -> None:
        """Somebody leaves, and the platform tells."""
        project = self.world.project(scene)
        if scene.alone or not project:
            return
        person = self.person(scene)
        self.do(self.rig.remembrance.left(self.rig.tenant, scene.place, person))
        self.world.seen.discard((scene.who, project))
        self.vanish(scene, project)

    @rule(scene=scenes)
    def be_removed(self, scene: Scene) -> None:
        """Somebody is put out, and nobody hears of it."""
        project = self.world.project(scene)
        if not scene.alone and project:
            self.vanish(scene, project)

    @rule(scene=scenes)
    def rejoin(self, scene: Scene) -> None:
        project = self.world.project(scene)
        if not scene.alone and project:
            self.world.gone.discard((scene.who, project))
            self.rig.members.gone.discard((self.person(scene), project))

    @rule(scene=scenes)
    def expel_the_assistant(self, scene: Scene) -> None:
        project = self.world.project(scene)
        if scene.alone or not project:
            return
        self.do(self.rig.remembrance.left(self.rig.tenant, scene.place))
        self.world.seen = {(who, where) for who, where in self.world.seen if where != project}

    def vanish(self, scene: Scene, project: str) -> None:
        self.world.gone.add((scene.who, project))
        self.rig.members.gone.add((self.person(scene), project))
