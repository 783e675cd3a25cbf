"""The steps with repositories: they are registered, rooms are bound, and everybody searches.

The rule is written here once more, in words of its own.
"""

import json
from contextlib import suppress
from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from gateway.errors import BadInput
from gateway.people import Audience
from tests.memory.isolation.base import Acting, scenes
from tests.memory.isolation.model import GENERAL, SCENES, Scene

MOST = 12
"""Repositories of one world: all of them fit into one result."""
TEXT = "# ADR-{number}: Use a queue\n\nStatus: Accepted\n\nWe use a queue because of {word}.\n"


@dataclass(frozen=True)
class Shelved:
    """A repository with a secret word in it."""

    word: str
    project: str
    private: bool
    rooms: frozenset[str]


@dataclass
class Shelves:
    """The repositories of a world, and the projects that channels are bound to."""

    shelved: list[Shelved] = field(default_factory=list)
    bound: dict[str, str] = field(default_factory=dict)


def channel_of(scene: Scene) -> str:
    """The channel of a room, together with its threads; empty at home."""
    place = scene.place
    if scene.alone:
        return ""
    return f"{place.platform}:{place.account}:{place.workspace_id}:{place.channel_id}"


def room_of(scene: Scene) -> str:
    """The room itself; a closed thread is one of its own."""
    channel = channel_of(scene)
    return f"{channel}:{scene.place.thread_id}" if scene.place.closed_thread else channel


class Repositories(Acting):
    """People register, bind and search."""

    def __init__(self) -> None:
        super().__init__()
        self.shelves = Shelves()

    @initialize()
    def shelve_the_first(self) -> None:
        """Every world has a private and a public repository of a project, and of everybody."""
        scene = next(one for one in SCENES if one.place == GENERAL)
        for whole in (True, False):
            for private in (True, False):
                self.shelve_one(scene, whole, private, None)

    @rule(scene=scenes, whole=st.booleans(), private=st.booleans(), named=st.none() | scenes)
    def shelve(self, scene: Scene, whole: bool, private: bool, named: Scene | None) -> None:
        """The operator of the program registers a repository of a project or of everybody."""
        self.shelve_one(scene, whole, private, named)

    def shelve_one(self, scene: Scene, whole: bool, private: bool, named: Scene | None) -> None:
        """Register a repository of the scene's project, or of everybody."""
        number = len(self.shelves.shelved)
        if number == MOST:
            return
        word, project = self.word(), "" if whole else self.world.project(scene)
        rooms = frozenset({room_of(named)} - {""}) if named is not None else frozenset()
        texts = {f"docs/adrs/ADR-{number}.md": TEXT.format(number=number, word=word)}
        self.do(
            self.opened.library.add(
                texts,
                id=f"{self.rig.tenant}-{number}",
                name=word,
                tenant=self.rig.tenant,
                project=project,
                private=private,
                rooms=tuple(sorted(rooms)),
            )
        )
        self.shelves.shelved.append(Shelved(word, project, private, rooms))

    @rule(scene=scenes, other=scenes)
    def bind_room(self, scene: Scene, other: Scene) -> None:
        """Somebody binds the room in which they are to the project of another place."""
        project = self.world.project(other)
        if not project or scene.alone:
            return
        may = scene.operates and not scene.outside and not scene.place.outsiders
        try:
            self.run(scene, "project", f"bind {project}")
        except BadInput:
            assert not may, f"{scene} could not bind"
            return
        assert may, f"{scene} could bind"
        self.shelves.bound[channel_of(scene)] = project

    @rule(scene=scenes)
    def unbind_room(self, scene: Scene) -> None:
        if scene.alone:
            return
        with suppress(BadInput):
            self.run(scene, "project", "unbind")
            self.shelves.bound.pop(channel_of(scene), None)

    def may_search(self, scene: Scene, shelved: Shelved) -> bool:
        """The rule."""
        project = self.world.project(scene)
        projects = {project, self.shelves.bound.get(channel_of(scene), "")} if project else set()
        if shelved.project and shelved.project not in projects:
            return False
        if not shelved.private:
            return True
        if scene.outside:
            return False
        if room_of(scene) in shelved.rooms:
            return True
        if scene.alone:
            return True
        closed = scene.place.audience is Audience.PRIVATE_ROOM and not scene.place.outsiders
        return closed and bool(shelved.project)

    def look_at_repositories(self, scene: Scene) -> None:
        """The findings of a person, and the repositories that they may search."""
        caller = self.caller(scene)
        meant = {one.word for one in self.shelves.shelved if self.may_search(scene, one)}
        turn = self.do(self.rig.remembrance.turn(caller))
        answer = json.loads(
            self.text(turn, "search_decisions", {"query": "why a queue?", "limit": 20})
        )
        result = self.said(json.dumps(answer))
        assert result == meant, f"{scene}: found {result - meant}, not found {meant - result}"
        assert self.said(self.run(scene, "project").markdown) <= meant, f"/project tells {scene}"
        offered = {tool.name for tool in self.do(turn.tools.tools())}
        assert ("search_decisions" in offered) == bool(meant)
