"""Running playgrounds: at most a few, one for each session, gone with the page or the session.

A playground is in the memory of this process. Nothing of it is stored.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

import structlog
from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.background_tasks import BackgroundTasks
from gateway.errors import BadInput
from gateway.people import Role
from gateway.ports import Clock
from gateway.text import (
    NO_TEXT,
    Span,
    Text,
    text,
)
from parley.console.viewer import Viewer

if TYPE_CHECKING:
    from gateway.message import ChatMessage
    from gateway.ports import ModelRequest
    from gateway.turn.services import Services
    from parley.wiring.sandbox import Sandbox, SandboxTurn

MOST: Final = 4
MOST_EACH: Final = 2
"""Playgrounds of all people, and of one person."""
MOST_MESSAGES: Final = 20
"""Messages of one playground."""
SECONDS: Final = 120.0
"""The longest time for one answer."""
MAX_WRITTEN: Final = 40_000
"""Characters of an answer that are shown while it is written."""
LIFE: Final = 3600.0
"""The longest life of a playground, in seconds."""
GRACE: Final = 30.0
"""Seconds after which a playground ends whose page is closed."""
IDLE: Final = 600.0
"""Seconds after which a playground ends whose page has never connected, as without script."""
LOOK: Final = 2.0
SESSION_LOOKS: Final = 5
"""Seconds between two looks, and looks between two checks of the session."""

FULL: Final = text(
    "Too many playgrounds are open: {used} of {most}. Wait until one ends, or end one of your own."
)
BUSY: Final = text("The assistant is still answering. Wait for the end of the answer, or stop it.")
LONG: Final = text("A playground takes {most} messages. End this one, and start a new one.")
TIMED_OUT: Final = text("The answer took longer than {time} and was stopped.")
STOPPED: Final = text("You stopped the answer.")
FAILED: Final = text("The answer failed. The log of the program has the reason.")

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Try:
    """A message in a playground with its answer. `written` is the text so far; `result` is set
    once the answer is complete, `problem` if it never will be."""

    number: int
    message: "ChatMessage"
    role: Role
    own: bool
    title: str
    written: str = ""
    request: "ModelRequest | None" = None
    result: "SandboxTurn | None" = None
    problem: Text = NO_TEXT

    @property
    def state(self) -> Literal["writing", "done", "failed"]:
        """The progress of the answer."""
        if self.problem:
            return "failed"
        return "writing" if self.result is None else "done"


@dataclass(slots=True)
class Playground:
    """The playground of one session. `watchers` are the open connections of its page."""

    owner: "PlaygroundOwner"
    sandbox: "Sandbox"
    since: float
    used: float
    tries: list[Try] = field(default_factory=list)
    watchers: int = 0
    watched: bool = False
    running: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """True while an answer is written."""
        return self.running is not None and not self.running.done()

    async def stop_answer(self) -> None:
        """Stop the answer that is written. A task may be stopped before it has begun."""
        if self.running is not None:
            self.running.cancel()
            await asyncio.wait([self.running])
        for one in self.tries:
            if one.state == "writing":
                one.problem = STOPPED

    @property
    def version(self) -> tuple[int, int, str]:
        """A value that changes whenever the page would show something else."""
        last = self.tries[-1] if self.tries else None
        if last is None:
            return 0, 0, ""
        return last.number, len(last.written), last.state

    def over(self, now: float) -> bool:
        """Return True once nobody looks at it any more."""
        if now - self.since > LIFE:
            return True
        if self.watchers:
            return False
        return now - self.used > (GRACE if self.watched else IDLE)


class PlaygroundOwner(Struct, frozen=True):
    """The owner of the playground: the id of the session, empty for the API."""

    tenant: str
    person: str
    session: str


def owner_of(viewer: Viewer) -> PlaygroundOwner:
    """Return the owner of a viewer's playground."""
    return PlaygroundOwner(viewer.tenant, viewer.person, viewer.session)


class Playgrounds:
    """All playgrounds of this process. `valid` says if a session still exists."""

    def __init__(
        self,
        clock: Clock,
        open_: "Callable[[PlaygroundOwner], Awaitable[Sandbox]]",
        valid: Callable[[PlaygroundOwner], Awaitable[bool]],
    ) -> None:
        self._clock = clock
        self._open = open_
        self._valid = valid
        self._all: dict[PlaygroundOwner, Playground] = {}
        self._opening: set[PlaygroundOwner] = set()
        self._tasks = BackgroundTasks("playground_failed")

    def of(self, owner: PlaygroundOwner) -> Playground | None:
        """Return the playground of a session; this counts as a use."""
        found = self._all.get(owner)
        if found is not None:
            found.used = self._clock.monotonic()
        return found

    async def ask(
        self, owner: PlaygroundOwner, make: Callable[[int], Try], services: "Services"
    ) -> Playground:
        """Begin to answer a message, in a new playground if there is none. Raises `BadInput` if
        too many are open, one is still answering, or has all its messages, and
        `StoreUnavailable`."""
        playground = self.of(owner) or await self._begin(owner)
        if playground.busy:
            raise BadInput(BUSY)
        if len(playground.tries) >= MOST_MESSAGES:
            raise BadInput(LONG.of(most=MOST_MESSAGES))
        one = make(len(playground.tries) + 1)
        playground.tries.append(one)
        playground.running = self._tasks.spawn(self._answer(playground, one, services))
        return playground

    async def stop_answer(self, owner: PlaygroundOwner) -> bool:
        """Stop the answer that is written; False if none is."""
        playground = self.of(owner)
        if playground is None or not playground.busy:
            return False
        await playground.stop_answer()
        return True

    async def end(self, owner: PlaygroundOwner) -> bool:
        """End a playground and forget everything of it; False if there is none."""
        playground = self._all.pop(owner, None)
        if playground is None:
            return False
        await playground.stop_answer()
        await playground.sandbox.stop()
        return True

    async def stop(self) -> None:
        """End all."""
        for owner in list(self._all):
            await self.end(owner)
        await self._tasks.stop()

    def watch(self, owner: PlaygroundOwner) -> Callable[[], None]:
        """Note that a page is open; returns what to call when it is closed."""
        playground = self._all.get(owner)
        if playground is None:
            return lambda: None
        playground.watchers += 1
        playground.watched = True

        def closed() -> None:
            playground.watchers -= 1
            playground.used = self._clock.monotonic()

        return closed

    def version(self, owner: PlaygroundOwner) -> object:
        """Return a value that changes with what the page shows. Looking is no use."""
        playground = self._all.get(owner)
        return None if playground is None else playground.version

    async def _begin(self, owner: PlaygroundOwner) -> Playground:
        if owner in self._opening:
            raise BadInput(BUSY)
        everybody = len(self._all) + len(self._opening)
        own = sum(one.person == owner.person for one in (*self._all, *self._opening))
        if everybody >= MOST or own >= MOST_EACH:
            used, most = (own, MOST_EACH) if own >= MOST_EACH else (everybody, MOST)
            raise BadInput(FULL.of(used=used, most=most))
        self._opening.add(owner)
        try:
            sandbox = await self._open(owner)
        finally:
            self._opening.discard(owner)
        now = self._clock.monotonic()
        playground = self._all[owner] = Playground(owner, sandbox, now, now)
        self._tasks.spawn(self._look_after(playground))
        return playground

    async def _answer(self, playground: Playground, one: Try, services: "Services") -> None:
        from parley.wiring.sandbox import AnswerProgress  # noqa: PLC0415 - loaded with the first use

        def written(text: str) -> None:
            one.written = text[:MAX_WRITTEN]

        def asked(request: "ModelRequest") -> None:
            one.request = request

        try:
            async with asyncio.timeout(SECONDS):
                progress = AnswerProgress(written, asked)
                one.result = await playground.sandbox.ask(one.message, one.role, services, progress)
        except TimeoutError:
            one.problem = TIMED_OUT.of(time=Span(SECONDS))
        except asyncio.CancelledError:
            one.problem = STOPPED
        except Exception:
            log.exception("playground_answer_failed")
            one.problem = FAILED

    async def _look_after(self, playground: Playground) -> None:
        """End a playground whose page or session has ended."""
        looks = 0
        while self._all.get(playground.owner) is playground:
            await asyncio.sleep(LOOK)
            looks += 1
            over = playground.over(self._clock.monotonic())
            if not over and looks % SESSION_LOOKS == 0:
                with contextlib.suppress(StoreUnavailable):  # no page of a session opens meanwhile
                    over = not await self._valid(playground.owner)
            if over:
                await self.end(playground.owner)
