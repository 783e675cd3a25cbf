"""The rules of access to memories, in a short model of its own.

Nothing here comes from `memory/model/scope.py`: it is what the machine of
`test_isolation_machine.py`
holds memory to. Every secret is one word that occurs nowhere else.
"""

from dataclasses import dataclass, field
from typing import Final, Literal

from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience

SERVER, OTHER = "guild", "other-guild"
TELEGRAM: Final = Place("telegram", "main", "", Audience.DIRECT)
DISCORD: Final = Place("discord", "main", "", Audience.DIRECT)
GENERAL: Final = Place("discord", "main", "general", Audience.PUBLIC_ROOM, SERVER)
RANDOM: Final = Place("discord", "main", "random", Audience.PUBLIC_ROOM, SERVER)
STAFF: Final = Place("discord", "main", "staff", Audience.PRIVATE_ROOM, SERVER)
ASIDE: Final = replace(GENERAL, thread_id="t1", closed_thread=True)
ABROAD: Final = Place("discord", "main", "abroad", Audience.PUBLIC_ROOM, OTHER)
GROUP: Final = Place("telegram", "main", "-100", Audience.PRIVATE_ROOM)
SHARED: Final = replace(GENERAL, channel_id="shared", outsiders=True)
TOPICS: Final = tuple(
    replace(GROUP, channel_id="-200", thread_id=topic, closed_thread=True, outsiders=True)
    for topic in ("1", "2")
)
PLACES: Final = (TELEGRAM, DISCORD, GENERAL, RANDOM, STAFF, ASIDE, ABROAD, GROUP)
NAMES: Final = ("ada", "ben", "eve", "root")
OPERATORS: Final = ("eve", "root")

What = Literal["memory", "turn", "waiting", "soul", "bible", "proposed"]
Who = tuple[str, str]
"""A name and the platform it is known on: two platforms are two people, until they are linked."""


@dataclass(frozen=True, repr=False)
class Scene:
    """Somebody, somewhere."""

    name: str
    place: Place
    outside: bool = False

    def __repr__(self) -> str:
        return f"<{self.name} in {self.channel} {self.place.thread_id}>"

    @property
    def who(self) -> Who:
        return self.name, self.place.platform

    @property
    def alone(self) -> bool:
        return self.place.audience is Audience.DIRECT

    @property
    def room(self) -> str:
        """The room, in which all members read everything; empty in private."""
        place = self.place
        return "" if self.alone else f"{place.platform} {place.channel_id} {place.thread_id}"

    @property
    def channel(self) -> str:
        inside = f"{self.name}-dm" if self.alone else self.place.channel_id
        return f"{self.place.platform} {inside}"

    @property
    def operates(self) -> bool:
        return self.name in OPERATORS


SCENES: Final = (
    *(Scene(name, place) for name in NAMES for place in PLACES),
    *(Scene("mal", place, outside=True) for place in (DISCORD, GENERAL, SHARED)),
    *(Scene(name, SHARED) for name in ("ada", "root")),
    *(Scene(name, topic) for name, topic in zip(("ada", "ben"), TOPICS, strict=True)),
)
"""Everybody everywhere; somebody of another company, and where such people read along."""


@dataclass(frozen=True)
class Held:
    """A secret word in one of the things that memory holds."""

    word: str
    what: What
    writer: Who
    scope: str
    room: str
    project: str
    channel: str
    message: str
    id: str = ""
    confirmed: bool = False
    keeper: str = ""
    """The agent that keeps it for itself."""
    supersedes: str = ""
    """The word that it replaces."""
    confined: bool = False
    """A client wrote it that could read a repository which not everybody may read."""


@dataclass
class World:
    """Everything that was told, who is linked with whom, and who chose what."""

    held: list[Held] = field(default_factory=list)
    humans: list[set[Who]] = field(default_factory=list)
    open_hearted: set[Who] = field(default_factory=set)
    chosen: dict[Who, str] = field(default_factory=dict)
    everything: list[str] = field(default_factory=list)
    seen: set[tuple[Who, str]] = field(default_factory=set)
    """People and the projects that they were seen in, and are not known to have left."""
    gone: set[tuple[Who, str]] = field(default_factory=set)
    """People and the projects that they are in no longer, told or not."""
    hands: dict[str, set[Who]] = field(default_factory=dict)
    """The persons who wrote a word, or put it into a project's document: it may be in their
    export."""
    erased: set[Who] = field(default_factory=set)
    """Who erased everything of theirs at some time."""
    replaced: set[str] = field(default_factory=set)
    """The words that another one replaced. People still find them; pools show them no more."""

    def same(self, who: Who) -> set[Who]:
        """All identities of a human being."""
        return next((human for human in self.humans if who in human), {who})

    def project(self, scene: Scene) -> str:
        """The project in this scene."""
        place = scene.place
        if scene.outside or place.outsiders:
            return ""
        if scene.alone:
            return self.chosen.get(scene.who, "")
        return f"{place.platform}:{place.account}:{place.workspace_id or place.channel_id}"

    def belongs(self, who: Who, project: str) -> bool:
        """True when one of their identities was seen in a project and is still in it."""
        there = {one for one in self.same(who) if (one, project) in self.seen}
        here = {one for one in there if (one, project) not in self.gone}
        self.seen -= {(one, project) for one in there - here}
        return bool(here)

    def arrives(self, scene: Scene) -> None:
        """Somebody says something: in a room they are seen, at home a lost project is left."""
        project = self.project(scene)
        if project and not scene.alone:
            self.seen.add((scene.who, project))
        elif project and not self.belongs(scene.who, project):
            for one in self.same(scene.who):
                self.chosen[one] = ""

    def shows(self, scene: Scene) -> bool:
        """Return True if a person's own memory may be shown: to them alone, or in rooms that they
        allowed."""
        return scene.alone or all(one in self.open_hearted for one in self.same(scene.who))

    def may_read(self, scene: Scene, held: Held) -> bool:
        """The rule."""
        if held.what in ("waiting", "proposed"):
            return self.may_decide(scene, held)
        if held.confined:
            return scene.alone and held.writer in self.same(scene.who)
        if held.scope == "global":
            return True
        if held.scope == "project":
            return bool(held.project) and held.project == self.project(scene)
        here = bool(held.room) and held.room == scene.room
        if held.what == "turn" and here:
            return True
        mine = held.writer in self.same(scene.who)
        return mine and (self.shows(scene) or here)

    def may_decide(self, scene: Scene, held: Held) -> bool:
        """Return the persons who may decide about an entry."""
        if held.confined:
            return scene.alone and held.writer in self.same(scene.who)
        if held.scope == "user":
            here = bool(held.room) and held.room == scene.room
            return held.writer in self.same(scene.who) and (self.shows(scene) or here)
        within = held.scope == "global" or (
            bool(held.project) and held.project == self.project(scene)
        )
        return scene.operates and within

    def may_change(self, scene: Scene, held: Held) -> bool:
        """Return the persons who may replace or delete it."""
        if held.scope == "user":
            return held.writer in self.same(scene.who)
        return scene.operates and self.may_read(scene, held)

    def words(self, scene: Scene, *what: What) -> set[str]:
        """The secrets in things of these sorts that may be read in a scene. What an agent keeps for
        itself waits for its person's decision, and is only in their lists afterwards."""
        return {
            h.word
            for h in self.held
            if h.what in what
            and self.may_read(scene, h)
            and (not h.keeper or h.what in ("waiting", "proposed"))
        }

    def may_link(self, one: Who, other: Who) -> bool:
        """Two of one account are never one human being."""
        return not {where for _, where in self.same(one)} & {where for _, where in self.same(other)}

    def link(self, one: Who, other: Who) -> None:
        """Both are one human being from now on."""
        both = self.same(one) | self.same(other)
        self.humans = [human for human in self.humans if not human & both] + [both]

    def unlink(self, one: Who) -> None:
        """An identity is a human being of its own again."""
        others = self.same(one) - {one}
        self.humans = [human for human in self.humans if one not in human]
        if len(others) > 1:
            self.humans.append(others)

    def replaces(self, word: str, old: str) -> None:
        """A word that waits replaces an older one once it is approved."""
        self.held = [
            replace(held, supersedes=old) if held.word == word else held for held in self.held
        ]

    def drop(self, gone: list[Held]) -> None:
        """It is deleted: nobody may read it in there any more."""
        self.held = [held for held in self.held if held not in gone]
