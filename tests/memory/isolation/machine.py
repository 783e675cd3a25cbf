"""Random people who use one memory, and somebody who looks at what they are shown.

The machine lets several people write, link, choose, allow, review and delete at random, and looks
after every step at what two of them are shown: by the store, in the assembled prompt, by the tools
and by the commands. What they may be shown says `model.py`, in words of its own.
"""

import asyncio
import itertools
import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from db.sqlite import SqliteDatabase
from gateway.authorship import Authorship, Material, without_quotations
from gateway.errors import BadInput, ToolError
from gateway.message import Reply
from gateway.people import Role
from gateway.ports.memory import Caller, TurnMemory, WaitingTurn
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import Draft, Kind, Scope
from memory.ports import Filter
from memory.transfer.exporter import personal_file
from memory.transfer.importer import LineOutcome, LineReport, bring_in
from parley.wiring.storage.memory_stores import MemoryStores
from tests.memory.isolation.model import NAMES, SCENES, Held, Scene, What, World
from tests.memory.rig import Rig, rig_on
from tests.support.clock import FakeClock
from tests.support.prompts import prompt_of

NUMBERS: Final = itertools.count(1)
WORD: Final = re.compile(r"mk\d+n\d+z")
T = TypeVar("T")

scenes = st.sampled_from(SCENES)
names = st.sampled_from(NAMES)
scopes = st.sampled_from(list(Scope))
SHOWN: Final[tuple[Authorship, ...]] = (
    *("forwarded", "quoted", "via_bot", "contact", "card", "button", "room"),
    *("file", "tool", "web", "preview"),
)
CITED: Final = "ADR-003"
"""Is there when it is looked up, so that nothing but its authorship keeps a text from memory."""
picks = st.integers(0, 10**6)


@dataclass(frozen=True)
class Opened:
    """Stores that stay open while many worlds are played in them, each a tenant of its own.

    `waiting` reads ids and texts of all that waits in a tenant, past all rules.
    """

    runner: asyncio.Runner
    stores: MemoryStores
    database: SqliteDatabase
    clock: FakeClock
    waiting: Callable[[str], Awaitable[list[tuple[str, str]]]]
    keep: Callable[[WaitingTurn], Awaitable[None]]


class Isolation(RuleBasedStateMachine):
    """`opened` is set by whoever runs it."""

    opened: Opened

    def __init__(self) -> None:
        super().__init__()
        opened = self.opened
        self.rig: Rig = rig_on(opened.stores, opened.database, opened.clock, keep=opened.keep)
        self.number = next(NUMBERS)
        self.rig.tenant = f"t{self.number}"
        self.rig.shelf.there.add(CITED)
        self.rig.asked = self.number * 1_000_000  # exchanges have ids of their own everywhere
        self.world = World()
        self.looks = 0

    # --- what people do -------------------------------------------------------------------------

    @rule(scene=scenes, scope=scopes)
    def remember(self, scene: Scene, scope: Scope) -> None:
        word, caller = self.word(), self.caller(scene)
        draft = Draft(f"{word} stands on the door", Kind.FACT, scope=scope)
        result = self.do(self.remembered(caller, draft))
        self.note(scene, caller, word, result, scope, confirmed=False)

    @rule(scene=scenes, scope=scopes, quoted=st.booleans())
    def infer(self, scene: Scene, scope: Scope, quoted: bool) -> None:
        word = self.word()
        text = f"The cupboard is called {word}"
        caller = self.caller(scene, says=text if quoted else "hello")
        turn = self.do(self.rig.remembrance.turn(caller))
        call = {"type": "fact", "content": text, "quote": text, "scope": scope.value}
        answer = self.call(turn, "memory_store", call)
        if answer.get("success"):
            self.hold(scene, caller, word, "memory", scope, str(answer["id"]))
        elif answer.get("status") == "waiting_for_the_person":
            self.hold(scene, caller, word, "waiting", scope, "?")
        after = self.do(turn.finish(f"Well: {text}", ["memory_store"]))
        self.hold(scene, caller, word, "turn", Scope.USER)
        told = self.said(after.note)
        assert told <= {word}, "a footer speaks of this turn only"

    @rule(scene=scenes)
    def talk(self, scene: Scene) -> None:
        asked, answered = self.word(), self.word()
        caller = self.caller(scene, says=f"What is {asked}?")
        turn = self.do(self.rig.remembrance.turn(caller))
        self.do(turn.finish(f"It is {answered}.", []))
        self.hold(scene, caller, asked, "turn", Scope.USER)
        self.hold(scene, caller, answered, "turn", Scope.USER)

    @rule(
        scene=scenes,
        scope=scopes,
        authorship=st.sampled_from(SHOWN),
        by_sight=st.booleans(),
    )
    def show(self, scene: Scene, scope: Scope, authorship: Authorship, by_sight: bool) -> None:
        """What somebody else wrote is shown or read, and the model quotes it as the person's. It
        cites what is there."""
        word = self.word()
        text = f"Per {CITED}, the cellar is called {word}"
        piece = Material(authorship, text, "Eve")
        caller = self.caller(scene, says="hello", shows=() if by_sight else (piece,))
        turn = self.do(self.rig.remembrance.turn(caller))
        if by_sight:
            turn.reads([piece])
        call = {"type": "instruction", "content": text, "quote": text, "scope": scope.value}
        answer = self.call(turn, "memory_store", call)
        assert not answer.get("success"), "what somebody else wrote was stored at once"
        if answer.get("status") == "waiting_for_the_person":
            self.hold(scene, caller, word, "waiting", scope, "?")
        after = self.do(turn.finish("Fine.", ["memory_store"]))
        if not by_sight:
            self.hold(scene, caller, word, "turn", Scope.USER)
        assert self.said(after.note) <= {word}

    @rule(scene=scenes, scope=scopes, kind=st.sampled_from(("fact", "instruction")))
    def quote(self, scene: Scene, scope: Scope, kind: str) -> None:
        """Somebody cites another one by ">" in a message of their own, and the model quotes it."""
        word = self.word()
        text = f"The attic is called {word}"
        own = without_quotations(f"> {text}\nSo they say.")
        caller = self.caller(scene, says=own)
        turn = self.do(self.rig.remembrance.turn(caller))
        call = {"type": kind, "content": text, "quote": text, "scope": scope.value}
        answer = self.call(turn, "memory_store", call)
        assert not answer.get("success"), "what somebody else wrote was stored at once"
        if answer.get("status") == "waiting_for_the_person":
            self.hold(scene, caller, word, "waiting", scope, "?")
        after = self.do(turn.finish("Fine.", ["memory_store"]))
        assert self.said(after.note) <= {word}

    @rule(scene=scenes)
    def bring_back(self, scene: Scene) -> None:
        """Somebody imports their own export: all of it is there already."""
        if not scene.alone:
            return
        handle = self.do(self.rig.memory.for_principal(self.caller(scene)))
        file, _ = self.do(personal_file(handle))
        fates = {told.fate for told in self.do(everything(bring_in(handle, file)))}
        assert fates <= {LineOutcome.KNOWN, LineOutcome.LEFT, LineOutcome.REFUSED}, fates

    @rule(scene=scenes, pick=picks)
    def bring_forged(self, scene: Scene, pick: int) -> None:
        """Somebody writes a file under the id of a memory, which may be anybody's."""
        old = self.one("memory", pick)
        if old is None or not scene.alone:
            return
        caller, word = self.caller(scene), self.word()
        header = {"format": "parley-memory", "version": 1, "person": str(caller.principal.person)}
        forged = {"content": f"The roof is called {word}", "id": old.id, "supersedes": old.id,
                  "person": self.person(scene), "trust": "high", "proof": "0" * 64}  # fmt: skip
        file = "\n".join(map(json.dumps, (header, forged))).encode()
        handle = self.do(self.rig.memory.for_principal(caller))
        (told,) = self.do(everything(bring_in(handle, file)))
        assert told.fate in (LineOutcome.KNOWN, LineOutcome.REFUSED), (
            "it took the place of a memory"
        )

    @rule(scene=scenes, document=st.sampled_from(("soul", "bible")))
    def rewrite(self, scene: Scene, document: str) -> None:
        word, caller = self.word(), self.caller(scene)
        turn = self.do(self.rig.remembrance.turn(caller))
        content = f"Here it says {word}."
        answer = self.call(turn, "update_customer_brain", {"target": document, "content": content})
        after = self.do(turn.finish("Done.", ["update_customer_brain"]))
        assert not self.said(after.note)
        scope = Scope.USER if document == "soul" else Scope.PROJECT
        if answer.get("success"):
            what: What = "soul" if document == "soul" else "bible"
            self.hold(scene, caller, word, what, scope)
        elif "error" not in answer or "review" in str(answer).lower():
            self.hold(scene, caller, word, "proposed", scope)

    @rule(scene=scenes, pick=picks)
    def supersede(self, scene: Scene, pick: int) -> None:
        old = self.one("memory", pick)
        if old is None:
            return
        word, caller = self.word(), self.caller(scene)
        scope = Scope(old.scope)
        draft = Draft(f"{word} is on the door", Kind.FACT, scope=scope, supersedes=old.id)
        result = self.do(self.remembered(caller, draft))
        if result.outcome is Outcome.STORED:
            assert self.world.may_read(scene, old), "somebody else's was replaced"
            assert self.world.may_change(scene, old), "somebody else's was replaced"
        self.note(scene, caller, word, result, scope, confirmed=False)

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
            gone = self.do(handle.delete([old.id])) == [old.id]
        if gone:
            assert self.world.may_change(scene, old), "somebody else's was deleted"
            self.world.drop([old])

    @rule(scene=scenes, pick=picks)
    def undo(self, scene: Scene, pick: int) -> None:
        """Undo what the assistant may have noted of somebody else."""
        old = self.one("memory", pick)
        if old is None:
            return
        handle = self.do(self.rig.memory.for_principal(self.caller(scene)))
        try:
            undone = self.do(handle.undo(old.id))
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
        asked = self.run(scene, "forget", word)
        mine = [
            held
            for held in self.world.held
            if held.word == word
            and held.what in ("memory", "turn")
            and held.scope == "user"
            and held.writer in self.world.same(scene.who)
            and self.world.may_read(scene, held)
        ]
        assert bool(asked.buttons) == bool(mine)
        if asked.buttons:
            told = self.do(self.rig.commands.press(asked.buttons[0].value, self.caller(scene)))
            assert told.markdown.startswith("Forgotten")
            self.world.drop(mine)

    @rule(scene=scenes, pick=picks, yes=st.booleans())
    def decide(self, scene: Scene, pick: int, yes: bool) -> None:
        """Press a button that may be under somebody else's message."""
        waiting = self.everything_waiting()
        if not waiting:
            return
        review, word = waiting[pick % len(waiting)]
        deed = "keep" if yes else "discard"
        caller = self.caller(scene)
        found = [h for h in self.world.held if h.word == word and h.what in ("waiting", "proposed")]
        assert found, "it waits, but nobody proposed it"
        try:
            told = self.do(self.rig.commands.press(f"memory:{deed}:{review}", caller))
        except BadInput:
            return
        assert self.world.may_decide(scene, found[0]), "somebody else decided"
        assert self.said(told.markdown) <= self.decidable(scene), "somebody else's is asked next"
        if yes and "remember" not in told.markdown.partition("\n\n")[0]:
            return
        self.world.drop(found[:1])
        if yes and found[0].what == "waiting":
            self.world.held.append(replace(found[0], what="memory", confirmed=True, id="?"))
        elif yes:
            what: What = "bible" if found[0].scope == "project" else "soul"
            self.world.held.append(replace(found[0], what=what, writer=scene.who))
            self.world.hands[word].add(scene.who)

    @rule(name=names, other=names)
    def link(self, name: str, other: str) -> None:
        """The code of a Telegram account is entered on Discord, and both confirm."""
        here, there = Scene(name, SCENES[0].place), Scene(other, SCENES[1].place)
        asked = self.entered(here, there)
        if asked is None:
            return
        agreed = self.press(there, asked, 0)
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
        asked = self.entered(here, there)
        if asked is None:
            return
        buttons = [*asked.buttons]
        for scene, agrees in picks:
            if scene.who == here.who:
                continue
            try:
                if agrees:
                    agreed = self.press(there, asked, 0)
                    buttons += [b for notice in agreed.notices for b in notice.buttons]
                for button in buttons[::2]:
                    self.do(self.rig.commands.press(button.value, self.caller(scene)))
            except BadInput:
                continue

    def entered(self, here: Scene, there: Scene) -> Reply | None:
        """The question that a code leads to; None where it may lead to none."""
        for scene in (here, there):
            with suppress(BadInput):
                self.run(scene, "link", "cancel")
        code = self.run(here, "link").markdown.rsplit("/link ", 1)[1].split("`")[0]
        try:
            asked = self.run(there, "link", code)
        except BadInput:
            assert not self.world.may_link(here.who, there.who)
            return None
        assert self.world.may_link(here.who, there.who)
        return asked

    def press(self, scene: Scene, under: Reply, number: int) -> Reply:
        value = under.buttons[number].value
        return self.do(self.rig.commands.press(value, self.caller(scene)))

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

    def person(self, scene: Scene) -> str:
        return f"{scene.place.platform}:{scene.place.account}:{scene.name}"

    @rule(pick=picks)
    def unsay(self, pick: int) -> None:
        """A message is deleted in the chat."""
        if not self.world.held:
            return
        said = self.world.held[pick % len(self.world.held)]
        if not said.message:
            return
        platform, channel = said.channel.split(" ")
        place = next(scene.place for scene in SCENES if scene.place.platform == platform)
        place = type(place)(platform, "main", channel, place.audience)
        self.do(self.rig.remembrance.deleted(self.rig.tenant, place, [said.message]))
        self.world.drop(
            [
                held
                for held in self.world.held
                if (held.channel, held.message) == (said.channel, said.message)
                and held.what in ("memory", "turn", "waiting")
                and not held.confirmed
            ]
        )

    @rule(scene=scenes)
    def erase(self, scene: Scene) -> None:
        if not scene.alone:
            return
        everybody = {scene.who}
        asked = self.run(scene, "privacy", "erase")
        surely = self.do(self.rig.commands.press(asked.buttons[0].value, self.caller(scene)))
        done = self.do(self.rig.commands.press(surely.buttons[0].value, self.caller(scene)))
        assert "erased" in done.markdown
        world = self.world
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

    @rule()
    def rest(self) -> None:
        """Half an hour goes by: the next turn begins a new session."""
        self.do(self.rig.clock.advance(31 * 60))

    # --- what they are shown --------------------------------------------------------------------

    @invariant()
    def look(self) -> None:
        """At two scenes after every step; over the steps, at all of them."""
        for _ in range(2):
            self.looks += 1
            self.look_at(SCENES[self.looks * 7 % len(SCENES)])

    def teardown(self) -> None:
        """At all of them in the end, unless something was found already."""
        if sys.exc_info()[0] is None:
            for scene in SCENES:
                self.look_at(scene)

    def look_at(self, scene: Scene) -> None:
        caller = self.caller(scene)
        handle = self.do(self.rig.memory.for_principal(caller))
        world = self.world
        found = self.do(handle.search(Filter(superseded=True, limit=1_000)))
        stored = {word for match in found for word in self.said(match.record.content)}
        meant = world.words(scene, "memory", "turn")
        assert stored == meant, f"{scene}: shown {stored - meant}, not found {meant - stored}"
        for word in world.everything[-3:]:
            wanted = Filter(text=word, superseded=True, limit=100)
            sought = {
                w for m in self.do(handle.search(wanted)) for w in self.said(m.record.content)
            }
            assert (word in sought) == (word in stored), f"looking for {word} as {scene}"
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
        waiting = world.words(scene, "waiting", "proposed")
        assert self.said(self.run(scene, "memories", "review").markdown) <= waiting
        if scene.alone:
            self.look_at_export(scene)

    def look_at_export(self, scene: Scene) -> None:
        (file,) = self.run(scene, "privacy", "export").files
        everybody = self.world.same(scene.who)
        mine = {word for word, hands in self.world.hands.items() if hands & everybody}
        assert self.said(file.data.decode()) <= mine, f"the export gives {scene}"

    # --- helpers --------------------------------------------------------------------------------

    def do(self, work: Awaitable[T]) -> T:
        async def wait() -> T:
            return await work

        return self.opened.runner.run(wait())

    def caller(self, scene: Scene, says: str = "", shows: tuple[Material, ...] = ()) -> Caller:
        role = Role.OPERATOR if scene.operates else Role.MEMBER
        self.world.arrives(scene)
        return self.rig.caller(
            scene.name,
            at=scene.place,
            says=says,
            role=role,
            shows=shows,
            outside=scene.outside,
        )

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

    def run(self, scene: Scene, name: str, arguments: str = "") -> Reply:
        return self.do(self.rig.commands.run(name, arguments, self.caller(scene)))

    async def remembered(self, caller: Caller, draft: Draft) -> WriteResult:
        return await (await self.rig.memory.for_principal(caller)).remember(draft)

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
        found = [(id_, word) for id_, text in rows for word in self.said(text)]
        return sorted(found, key=lambda one: self.world.everything.index(one[1]))

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


async def everything(told: AsyncIterator[LineReport]) -> list[LineReport]:
    """All that is told."""
    return [one async for one in told]
