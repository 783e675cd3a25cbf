"""Plays a story on the simulated platforms and records the outcome."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final

from msgspec import Struct

from gateway.immutable import replace
from gateway.people import PersonId
from gateway.policy.refusals import TOO_MANY
from gateway.ports.traces import Trace
from gateway.text import text, verbatim
from parley.config.sections import MAIN
from parley.demo.documents import file_of
from parley.demo.story import DECISION, Expect, Scene
from parley.demo.voice import WORDS, voice_file
from parley.demo.world import DemoRefused, Seen, Where, World
from simulators.base import ApiCall

ANSWER_SECONDS: Final = 45.0
"""Time limit for the answer of a scene; a real model may be slow."""
QUIET_SECONDS: Final = 0.3
"""An answer counts as complete after this time without a change."""
LOOK_SECONDS: Final = 0.05
TRACES: Final = 100
CLOCK: Final = "⏰"
"""The beginning of a reminder."""


Decisions = Callable[[int], Awaitable[list[Trace]]]
"""Returns the latest traces, at most so many, newest first, those of ignored messages included."""


class SceneOutcome(Struct, frozen=True):
    """The outcome of a scene. `traces` and `calls` are oldest first."""

    scene: Scene
    where: Where
    written: tuple[str, ...]
    answers: tuple[Seen, ...]
    traces: tuple[Trace, ...]
    calls: tuple[ApiCall, ...]
    seconds: float
    ok: bool


class Player:
    """Plays scenes one after the other; later ones can continue the thread of earlier ones.

    `hand_over` hands a task over to a person, for scenes of agents; `read_repositories` lets the
    program read the repositories of the demo, for scenes about them.
    """

    def __init__(
        self,
        world: World,
        decisions: Decisions,
        hand_over: Callable[[PersonId, str], Awaitable[None]] | None = None,
        read_repositories: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._world = world
        self._decisions = decisions
        self._hand_over = hand_over
        self._read_repositories = read_repositories
        self._message_of: dict[str, str] = {}

    async def play(self, story: Sequence[Scene]) -> AsyncIterator[SceneOutcome]:
        """The outcome of every scene, at its end. A failed scene does not end the story."""
        for scene in story:
            yield await self._play(scene)

    async def _play(self, scene: Scene) -> SceneOutcome:
        if scene.repositories and self._read_repositories is not None:
            await self._read_repositories()
        where = await self._place(scene)
        seen_before = {one.shown.id for one in self._world.seen(where)}
        decided_before = {trace.id for trace in await self._decisions(TRACES)}
        calls = self._world.simulator(where.platform).calls
        calls_before = len(calls)
        clock = asyncio.get_running_loop().time
        began = clock()
        written = await self._write(scene, where)
        if written:
            self._message_of[scene.name] = written[0]
        answered = await self._wait(scene, where, seen_before, decided_before)
        seconds = clock() - began
        await self._world.settled(where, QUIET_SECONDS, ANSWER_SECONDS)
        answers = tuple(
            one
            for one in self._world.seen(where)
            if one.shown.by_bot and one.shown.id not in seen_before
        )
        traces = tuple(await self._new_traces(where, decided_before))
        return SceneOutcome(
            scene,
            where,
            written,
            answers,
            traces,
            tuple(list(calls)[calls_before:]),
            seconds,
            ok=answered and as_expected(scene, answers, len(traces)),
        )

    async def _place(self, scene: Scene) -> Where:
        if scene.thread:
            key = await self._world.open_thread(scene.where, scene.thread)
            return replace(scene.where, room=key)
        if scene.below:
            return replace(scene.where, thread=self._message_of.get(scene.below, ""))
        return scene.where

    async def _write(self, scene: Scene, where: Where) -> tuple[str, ...]:
        """Perform the scene; returns the ids of its messages."""
        simulator = self._world.simulator(where.platform)
        person = self._world.person(where.platform, where.person)
        room = self._world.room(where)
        if scene.agent and self._hand_over is not None:
            await self._hand_over(PersonId(where.platform, MAIN, person.id), scene.agent)
            return ()
        if scene.deliveries > 1:
            simulator.duplicate_next(scene.deliveries - 1)
        if scene.command:
            name, _, arguments = scene.command.partition(" ")
            await self._world.command(where, name, arguments)
            return ()
        if scene.press:
            below = message_with_button(self._world.seen(where), scene.press)
            await self._world.press(where, below, scene.press)
            return ()
        written = []
        for number in range(1, scene.times + 1):
            text = scene.text.format(number=number)
            files = (file_of(scene.file),) if scene.file else ()
            files = (voice_file(),) if scene.voice else files
            said = await simulator.say(person, room, text, mention=scene.mention, files=files)
            written.append(said)
        return tuple(written)

    async def _wait(
        self, scene: Scene, where: Where, seen_before: set[str], decided_before: set[str]
    ) -> bool:
        """True when the expected number of decisions was made, and an answer appeared where one is
        expected, or an answer and a reminder. A redelivered message counts as one decision, a task
        of an agent as none."""
        expected = 0 if scene.agent else scene.times
        answers = 2 if scene.expect is Expect.REMINDED else 1
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                while len(await self._new_traces(where, decided_before)) < expected:
                    await self._world.changed(where, self._world.seen(where), LOOK_SECONDS)
                while scene.expect is not Expect.SILENCE and answers > sum(
                    one.shown.by_bot and one.shown.id not in seen_before
                    for one in self._world.seen(where)
                ):
                    await self._world.changed(where, self._world.seen(where), LOOK_SECONDS)
        except TimeoutError:
            return False
        return True

    async def _new_traces(self, where: Where, before: set[str]) -> list[Trace]:
        latest = await self._decisions(TRACES)
        fresh = [t for t in latest if t.id not in before and t.platform == where.platform]
        return list(reversed(fresh))


def as_expected(scene: Scene, answers: Sequence[Seen], decided: int) -> bool:
    """True when these answers, after this number of turns, are what the scene expects."""
    limited = sum(is_limit_notice(answer) for answer in answers)
    texts = [answer.shown.text for answer in answers]
    match scene.expect:
        case Expect.SILENCE:
            return not answers
        case Expect.ONCE:
            return bool(texts) and len(texts) == len(set(texts)) and decided == 1
        case Expect.REMINDED:
            return len(texts) == 2 and texts[1].startswith(CLOCK)
        case Expect.LIMIT:
            return limited == 1 and len(answers) > 1
        case Expect.PICTURE:
            files = [file for answer in answers for file in answer.shown.files]
            return any(texts) and any(file.mime.startswith("image/") for file in files)
        case Expect.MISSED:
            return any("Thursday" in text for text in texts) and any(
                "https://discord.com/channels/" in one.shown.html + one.shown.text
                for one in answers
            )
        case Expect.FROM_PAGE:
            return bool(scene.page) and any(scene.page in text for text in texts)
        case Expect.CITED:
            return any(DECISION in text for text in texts)
        case Expect.SPOKEN:
            spoken = any(answer.shown.files for answer in answers)
            return spoken and any(WORDS in text for text in texts)
        case Expect.NOT_CITED:
            return bool(texts) and not limited and all(DECISION not in text for text in texts)
        case _:
            return bool(answers) and not limited


def is_limit_notice(answer: Seen) -> bool:
    """True for the notice of a reached limit."""
    return TOO_MANY.msgid.partition(".")[0] in answer.shown.text


def message_with_button(seen: Sequence[Seen], label: str) -> str:
    """The newest message with this button. Raises `DemoRefused`."""
    for one in reversed(seen):
        if any(button.label == label for button in one.shown.buttons):
            return one.shown.id
    raise DemoRefused(text("there is no button {name}", name=verbatim(repr(label))))
