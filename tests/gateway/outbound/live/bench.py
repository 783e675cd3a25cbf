"""A platform that fails as it likes, and a live answer on it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from gateway.errors import Ambiguous, Permanent, Transient
from gateway.message import Outbound, Part, Place, Receipt
from gateway.outbound.deliverer import Deliverer
from gateway.outbound.live.answer import (
    LAST_WAIT,
    LiveAnswer,
    LiveDependencies,
    LiveTarget,
)
from gateway.outbound.pacing import Pacer
from gateway.outbound.retry_decision import AccountSender, DeliveryRules
from gateway.platforms import discover, renderer_of
from gateway.ports import AdapterState, Capabilities, LiveStyle, LiveView, SendPace
from gateway.render import render
from gateway.stores.sqlite.hot_state import SqliteAdapterStates
from gateway.stores.sqlite.queues import SqliteOutbox
from tests.support.clock import FakeClock, InlineThreads
from tests.support.databases import sqlite_database
from tests.support.messages import place

DISCORD = renderer_of(discover().manifests["discord"])

PIECES = [f"Sentence number {n} of the answer. " for n in range(12)]
WHOLE = "".join(PIECES).strip()
EDITED = LiveStyle(pause=1.0)
NO_PACE = SendPace()
Check = Callable[[], Awaitable[bool]]


async def never() -> bool:
    return False


@dataclass
class Screen:
    """A platform. `troubles` are what happens to the next requests, first in, first out."""

    clock: FakeClock
    platform: str = "test"
    account: str = "main"
    capabilities: Capabilities = field(default_factory=Capabilities)
    style: LiveStyle = EDITED
    messages: dict[str, str] = field(default_factory=dict)
    draft: str = ""
    troubles: list[str] = field(default_factory=list)
    asked: list[tuple[str, float]] = field(default_factory=list)
    orphans: int = 0

    async def connect(self, sink: object) -> None: ...
    async def wait_closed(self) -> None: ...
    async def disconnect(self) -> None: ...

    def live_style(self, place: Place) -> LiveStyle:
        return self.style

    async def show_live(self, view: LiveView) -> str:
        if self.style.fades:
            return await self._request("draft", lambda: self._draft(view.part))
        if view.handle:
            return await self._request("edit", lambda: self._change(view.handle, view.part))
        return await self._request("post", lambda: self._post(view.part))

    async def end_live(self, outbound: Outbound) -> Receipt:
        assert outbound.part is not None
        part = outbound.part
        change = self._request("final edit", lambda: self._change(outbound.replaces, part))
        return Receipt(await change)

    async def send(self, outbound: Outbound) -> Receipt:
        assert outbound.part is not None
        part = outbound.part
        return Receipt(await self._request("send", lambda: self._post(part)))

    async def delete(self, place: Place, message_id: str) -> None:
        self.messages.pop(message_id, None)

    async def _request(self, kind: str, act: Callable[[], str]) -> str:
        self.asked.append((kind, self.clock.monotonic()))
        trouble = self.troubles.pop(0) if self.troubles else ""
        # What the core cannot know of a message that is not its own to find again.
        sure = kind in ("edit", "final edit", "draft")
        if trouble == "slow":
            await self.clock.sleep(LAST_WAIT * 3)
        if trouble == "429":
            raise Transient("429", 7.0)
        if trouble == "cut before" and (sure or kind == "post"):
            raise Ambiguous("cut")
        if trouble == "refused" and kind != "send":
            raise Permanent("no")
        result = act()
        if trouble == "cut after" and (sure or kind == "post"):
            self.orphans += not sure
            raise Ambiguous("cut")
        return result

    def _post(self, part: Part) -> str:
        handle = f"m{len(self.asked)}"
        self.messages[handle] = part.text
        return handle

    def _change(self, handle: str, part: Part) -> str:
        if handle not in self.messages:
            raise Permanent("gone")
        self.messages[handle] = part.text
        return handle

    def _draft(self, part: Part) -> str:
        self.draft = part.text
        return ""


@dataclass
class Bench:
    screen: Screen
    deliverer: Deliverer
    outbox: SqliteOutbox
    line: AccountSender
    clock: FakeClock
    state: AdapterState

    def answer(self, at: Place, *, again: bool = False, silenced: Check = never) -> LiveAnswer:
        means = LiveDependencies(
            adapter=self.screen,
            shower=self.screen,
            pacer=self.line.pacer,
            free=lambda: self.deliverer.quiet(at),
            memory=self.state,
            clock=self.clock,
            count=lambda *_: None,
            silenced=silenced,
        )
        target = LiveTarget("live:e1", at, DISCORD, "q1", again=again)
        return LiveAnswer(target, means, self.screen.style)

    async def deliver(self, live: LiveAnswer, text: str = WHOLE) -> tuple[Outbound, ...]:
        """Deliver an answer as the pipeline does at the end of a turn."""
        parts = render(text, "discord")
        sends = tuple(Outbound(f"r1:{n}", place(), part) for n, part in enumerate(parts))
        sends = live.finished(sends)
        await self.outbox.add(sends)
        self.deliverer.submit(sends)
        await self.clock.advance(3_600)
        return sends


async def on_bench(
    test: Callable[[Bench], Awaitable[None]],
    *,
    style: LiveStyle = EDITED,
    troubles: Sequence[str] = (),
    pace: SendPace = NO_PACE,
) -> None:
    asyncio.get_running_loop().set_default_executor(InlineThreads())
    clock, database = FakeClock(), sqlite_database(":memory:")
    await database.start()
    outbox = SqliteOutbox(database, clock)
    screen = Screen(clock, style=style, troubles=list(troubles))
    line = AccountSender(screen, Pacer(pace, clock))
    line.connected.set()
    deliverer = Deliverer(outbox, {("test", "main"): line}, clock, DeliveryRules(), lambda *_: None)
    try:
        await test(
            Bench(
                screen,
                deliverer,
                outbox,
                line,
                clock,
                SqliteAdapterStates(database, clock).of("test", "main"),
            )
        )
    finally:
        await deliverer.stop()
        await database.stop()


async def write(live: LiveAnswer, clock: FakeClock, gap: float, pieces: Sequence[str]) -> None:
    """The model writes, one piece after the other."""
    live.begin()
    for piece in pieces:
        await live.on_text(piece)
        await clock.advance(gap)


async def closed(live: LiveAnswer, clock: FakeClock) -> None:
    """Close it while time goes on."""
    closing = asyncio.create_task(live.close())
    for _ in range(20):
        if closing.done():
            break
        await clock.advance(1.0)
    await closing
