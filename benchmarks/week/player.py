"""Plays the week, and notes what became of each deed, as the stores and the model's requests show
it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, assert_never

from benchmarks.week.deeds import Asks, Deed, Person, Presses, Result, Says, Uses
from benchmarks.week.world import ID, MONDAY, World, read_text, system_text
from simulators.anthropic import UseTool
from simulators.base import Shown

BETWEEN: Final = timedelta(minutes=3)
"""The time between two deeds of a day."""
KNOWLEDGE: Final = re.compile(r"<memory [^>]*>(.*?)</memory>", re.DOTALL)
BRIEF: Final = re.compile(r"<brief>(.*?)</brief>", re.DOTALL)
LINE: Final = re.compile(r"^- (.*)$", re.MULTILINE)
CODE: Final = re.compile(r"/link ([0-9A-F-]{14})")
STILL_TRUE: Final = "Is this still true?"

MEMORIES: Final = """
    SELECT id, person, content, superseded_by FROM memories WHERE role = '' ORDER BY seq
"""
PAIRS: Final = "SELECT older, newer FROM memory_conflicts WHERE settled_at IS NULL"
WAITING: Final = "SELECT id, person FROM memory_reviews WHERE state = 'pending'"


@dataclass(frozen=True)
class Kept:
    """The lasting memories at a moment: their texts and what replaced them, by id; the open pairs;
    what waits."""

    texts: Mapping[str, str]
    replaced: Mapping[str, str]
    pairs: frozenset[tuple[str, str]]
    waiting: frozenset[str]


@dataclass(frozen=True)
class Outcome:
    """The effect of a deed. `answer` is what the person read. `recalled` are the memories that the
    model read beside the conversation, `brief` those that are in every prompt of the session."""

    day: int
    deed: Deed
    answer: Shown
    result: Result | None = None
    reason: str = ""
    replaced: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    """The memories that a new one may contradict."""
    read: str = ""
    """Everything that the model read in the first request, apart from the person's last words."""
    recalled: tuple[str, ...] = ()
    brief: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    asked: bool = False
    """True if the answer ends with the question which of two memories is true."""


@dataclass
class Player:
    """Plays deeds in a world; `prompts` are the requests of each person's turns, by place."""

    world: World
    outcomes: list[Outcome] = field(default_factory=list)
    prompts: list[tuple[Person, str, str]] = field(default_factory=list)
    first_prompt: str = ""
    """The system part of the first request, when nothing was known of anybody."""

    left: str = ""
    """Every row of the stores at the end."""

    async def play(self, days: Sequence[Sequence[Deed]]) -> None:
        """Play the days, each from eight in the morning."""
        for day, deeds in enumerate(days):
            for number, deed in enumerate(deeds):
                self.world.clock.move_to(MONDAY + timedelta(days=day) + number * BETWEEN)
                self.outcomes.append(await self._do(day, deed))
        self.left = await self.world.stored()

    def _filled(self, arguments: str) -> str:
        """Return the arguments of a command; `CODE` is the newest code that `/link` showed."""
        codes = [code for one in self.outcomes for code in CODE.findall(one.answer.text)]
        return arguments.replace("CODE", codes[-1]) if codes else arguments

    async def kept(self) -> Kept:
        """Return the lasting memories of now."""
        rows = await self.world.rows(MEMORIES)
        return Kept(
            {str(id_): str(content) for id_, _, content, _ in rows},
            {str(id_): str(by) for id_, _, _, by in rows if by},
            frozenset((str(a), str(b)) for a, b in await self.world.rows(PAIRS)),
            frozenset(str(id_) for id_, _ in await self.world.rows(WAITING)),
        )

    async def _do(self, day: int, deed: Deed) -> Outcome:
        place, model = self.world.places[deed.who, deed.where], self.world.model
        before, asked = await self.kept(), len(model.bodies)
        model.results.clear()
        model.calls = lambda body: _tools(deed, body)
        match deed:
            case Says(command=True):
                answer = await place.command("remember", deed.text)
            case Says():
                answer = await place.say(_written(deed))
            case Asks():
                answer = await place.say(deed.text)
            case Uses():
                answer = await place.command(deed.name, self._filled(deed.arguments))
            case Presses():
                answer = await place.press(*_button(await place.shown(), deed.label))
            case _:
                assert_never(deed)
        after, bodies = await self.kept(), model.bodies[asked:]
        self.first_prompt = self.first_prompt or "".join(map(system_text, bodies[:1]))
        self.prompts += [(deed.who, deed.where, read_text(body)) for body in bodies]
        first = bodies[:1]
        return Outcome(
            *(day, deed, answer),
            result=_result(before, after, answer, model.results)
            if isinstance(deed, Says)
            else None,
            reason=_reason(answer, model.results) if isinstance(deed, Says) else "",
            replaced=tuple(after.texts[i] for i in after.replaced.keys() - before.replaced.keys()),
            beside=tuple(after.texts[a] for a, _ in after.pairs - before.pairs),
            read="\n".join(read_text(body) for body in first).replace(_words(deed), ""),
            recalled=tuple(found for body in first for found in KNOWLEDGE.findall(read_text(body))),
            brief=tuple(line for body in first for line in brief_of(body)),
            gone=tuple(before.texts[one] for one in before.texts.keys() - after.texts.keys()),
            back=tuple(
                after.texts[one]
                for one in before.replaced.keys() - after.replaced.keys()
                if one in after.texts
            ),
            asked=STILL_TRUE in answer.text and not isinstance(deed, Uses),
        )


def _words(deed: Deed) -> str:
    return deed.text if isinstance(deed, Asks) else "\0"


def brief_of(body: Mapping[str, Any]) -> list[str]:
    """Return the lines of the brief in a request."""
    return [line for brief in BRIEF.findall(system_text(body)) for line in LINE.findall(brief)]


def _written(deed: Says) -> str:
    """Return the message of a statement, with the pasted text as a quotation below it."""
    quoted = "\n".join(f"> {line}" for line in deed.pasted.splitlines())
    return f"{deed.text}\n\n{quoted}" if quoted else deed.text


def stated(deed: Says) -> str:
    """Return the words that are to be stored."""
    return deed.pasted or deed.text


def _tools(deed: Deed, body: Mapping[str, Any]) -> tuple[UseTool, ...]:
    """Return what the model does about a deed: it stores statements, and recalls nothing by
    itself."""
    if not isinstance(deed, Says) or deed.command:
        return ()
    given: dict[str, object] = {"type": deed.kind.value, "content": deed.content or stated(deed)}
    if not deed.content:
        given["quote"] = stated(deed)
    if deed.names:
        line = next(
            one for one in read_text(body).splitlines() if deed.names in one and ID.search(one)
        )
        named = ID.search(line)
        assert named is not None
        given["supersedes"] = named[0]
    return (UseTool("memory_store", given),)


def _button(shown: Sequence[Shown], label: str) -> tuple[Shown, str]:
    """Return the newest message with a button whose label begins so, and the whole label."""
    for message in reversed(shown):
        for button in message.buttons:
            if button.label.startswith(label):
                return message, button.label
    raise LookupError(f"no button {label!r}: {[m.text for m in shown[-3:]]}")


def _result(
    before: Kept, after: Kept, answer: Shown, results: Sequence[Mapping[str, Any]]
) -> Result:
    if after.texts.keys() - before.texts.keys():
        if after.replaced.keys() - before.replaced.keys():
            return "replaced"
        return "kept both" if after.pairs - before.pairs else "kept"
    if after.waiting - before.waiting:
        return "asked"
    said = f"{answer.text} {_reason(answer, results)}"
    return "known" if any(one in said for one in KNOWN) else "refused"


KNOWN: Final = ("stored already", "already know", "know that already", "remember that already")


def _reason(answer: Shown, results: Sequence[Mapping[str, Any]]) -> str:
    errors = [str(one["error"]) for one in results if "error" in one]
    return " ".join(errors) if results else " ".join(answer.text.split())
