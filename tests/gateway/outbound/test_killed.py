"""A program that is killed between any two steps of its event loop: no answer is lost, and nothing
that may stand already is repeated without the repeat note above it."""

import asyncio
import contextlib
import random
import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from db.sqlite import SqliteDatabase
from gateway.errors import Ambiguous, DeliveryError, Permanent, PlatformFailed, Transient
from gateway.message import Outbound, Part, Place, Receipt
from gateway.outbound.deliverer import Deliverer
from gateway.outbound.live.answer import LiveAnswer, LiveDependencies, LiveTarget
from gateway.outbound.pacing import Pacer
from gateway.outbound.retry_decision import REPEAT_NOTE, AccountSender, DeliveryRules
from gateway.platforms import discover, renderer_of
from gateway.ports import Capabilities, LiveStyle, LiveView, SendPace
from gateway.ports.queues import InboxEntry
from gateway.stores.sqlite.hot_state import SqliteAdapterStates
from gateway.stores.sqlite.queues import SqliteInbox, SqliteOutbox
from tests.support.clock import FakeClock, InlineThreads
from tests.support.databases import sqlite_database
from tests.support.messages import conversation, place, received

RENDERER: Final = renderer_of(discover().manifests["discord"])
QUESTIONS: Final = 3
LIVES: Final = 5
"""The number of times that the program is killed; the next start runs to its end."""
LONGEST: Final = 260
"""Steps of the event loop after which every life that may be killed has been."""
ENDLESS: Final = 100_000
BETWEEN: Final = "fetch one piece after the other"
TROUBLES: Final = ("refused", "cut before", "cut after", "failed before", "failed after")


@dataclass
class Message:
    """A message on the platform, or on its way there."""

    text: str
    arrived: bool = False
    deleted: bool = False


@dataclass
class Platform:
    """Survives the program. `messages` are in the order in which the program sent them;
    `on_the_way` are the requests without an effect so far. `troubles` is the share of the requests
    that fail."""

    luck: random.Random
    troubles: float
    messages: list[Message] = field(default_factory=list)
    on_the_way: list[Callable[[], str]] = field(default_factory=list)

    def post(self, text: str) -> Callable[[], str]:
        """Send a message; the result lets it arrive."""
        message, handle = Message(text), str(len(self.messages))
        self.messages.append(message)

        def arrives() -> str:
            message.arrived = True
            return handle

        return arrives

    def change(self, handle: str, text: str) -> str:
        message = self.messages[int(handle)]
        if message.deleted:
            raise Permanent("gone")
        message.text = text
        return handle

    def delete(self, handle: str) -> str:
        self.messages[int(handle)].deleted = True
        return handle

    def receive_the_rest(self) -> None:
        """The sends of a killed program arrive, or are lost with its connection."""
        waiting, self.on_the_way = self.on_the_way, []
        for request in waiting:
            if self.luck.random() < 0.7:
                with contextlib.suppress(Permanent):
                    request()

    def shown(self) -> list[str]:
        return [one.text for one in self.messages if one.arrived and not one.deleted]


class Adapter:
    """The connection of one life to the platform."""

    platform = "test"
    account = "main"
    capabilities = Capabilities()

    def __init__(self, platform: Platform) -> None:
        self._there = platform
        self.killed = False

    async def connect(self, sink: object) -> None: ...
    async def wait_closed(self) -> None: ...
    async def disconnect(self) -> None: ...

    def live_style(self, place: Place) -> LiveStyle:
        return LiveStyle(pause=1.0)

    async def send(self, outbound: Outbound) -> Receipt:
        text = _text(outbound)
        return Receipt(await self._request(self._there.post(text)))

    async def show_live(self, view: LiveView) -> str:
        text, handle = view.part.text, view.handle
        if handle:
            return await self._request(lambda: self._there.change(handle, text), edits=True)
        return await self._request(self._there.post(text))

    async def end_live(self, outbound: Outbound) -> Receipt:
        text, handle = _text(outbound), outbound.replaces
        return Receipt(await self._request(lambda: self._there.change(handle, text), edits=True))

    async def delete(self, place: Place, message_id: str) -> None:
        await self._request(lambda: self._there.delete(message_id), edits=True)

    async def _request(self, act: Callable[[], str], *, edits: bool = False) -> str:
        if self.killed:
            await asyncio.Event().wait()
        there, luck = self._there, self._there.luck
        fails = luck.random() < there.troubles
        trouble = luck.choice((*TROUBLES, *(["no edits"] * edits))) if fails else ""
        there.on_the_way.append(act)
        try:
            await self._hops()
        finally:  # cancelled, it had no effect
            if act in there.on_the_way:
                there.on_the_way.remove(act)
        _raise_if(trouble, before=True)
        result = act()
        await self._hops()
        _raise_if(trouble, before=False)
        return result

    async def _hops(self) -> None:
        for _ in range(self._there.luck.randint(0, 12)):
            await asyncio.sleep(0)


def _raise_if(trouble: str, *, before: bool) -> None:
    errors: dict[str, DeliveryError] = {
        "refused": Transient("429", 1.0),
        "no edits": Permanent("too old"),
        "cut before": Ambiguous("cut"),
        "failed before": PlatformFailed("503"),
    }
    later: dict[str, DeliveryError] = {
        "cut after": Ambiguous("cut"),
        "failed after": PlatformFailed("503"),
    }
    result = (errors if before else later).get(trouble)
    if result is not None:
        raise result


def _text(outbound: Outbound) -> str:
    assert outbound.part is not None
    return outbound.part.text


@dataclass
class Life:
    """One run of the program, on a file that outlives it."""

    platform: Platform
    database: SqliteDatabase
    clock: FakeClock
    adapter: Adapter

    async def run(self) -> None:
        """Answer what is unanswered, and send what is unsent."""
        await self.database.start()
        since = self.clock.now()
        inbox = SqliteInbox(self.database, self.clock)
        states = SqliteAdapterStates(self.database, self.clock)
        line = AccountSender(self.adapter, Pacer(SendPace(), self.clock))
        line.connected.set()
        outbox = SqliteOutbox(self.database, self.clock)
        deliverer = Deliverer(
            outbox, {("test", "main"): line}, self.clock, DeliveryRules(), lambda *_: None
        )
        await deliverer.start()
        for entry in await inbox.unfinished(QUESTIONS):
            means = LiveDependencies(
                self.adapter,
                self.adapter,
                line.pacer,
                lambda: deliverer.quiet(place()),
                states.of("test", "main"),
                self.clock,
                lambda *_: None,
            )
            again = entry.received_at < since
            live = LiveAnswer(
                LiveTarget(f"live:{entry.id}", place(), RENDERER, again=again),
                means,
                self.adapter.live_style(place()),
            )
            sends = await self._answer(live, entry.id)
            begun = deliverer.immediate_send_key(sends)
            if await inbox.finish((entry.id,), sends, begun):
                deliverer.submit(sends, begun)
        while not deliverer.idle:
            await asyncio.sleep(0)
        await deliverer.stop()
        await self.database.stop()

    async def _answer(self, live: LiveAnswer, question: str) -> tuple[Outbound, ...]:
        """The sends of an answer of two parts; the model writes quickly, or slowly."""
        slowly = self.platform.luck.random() < 0.6
        live.begin()
        for piece in (f"{question} part one: ", *[f"the {BETWEEN}, "] * 3):
            await live.on_text(piece)
            for _ in range(6 * slowly):
                await self.clock.sleep(0.2)
        await live.close()
        parts = (f"{question} part one: {BETWEEN}", f"{question} part two: {BETWEEN}")
        return live.finished(
            tuple(
                Outbound(f"{question}:{number}", place(), Part(text, text))
                for number, text in enumerate(parts)
            )
        )

    def end_without_a_word(self, loop: asyncio.AbstractEventLoop) -> None:
        """Kill it: nothing more reaches the file or the platform from here on."""
        self.adapter.killed = True
        connection, self.database._connection = self.database._connection, None
        self.database._refuse(sqlite3.OperationalError("killed"))
        if connection is not None:
            connection.close()
        self.platform.receive_the_rest()
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        loop.run_until_complete(_ended(tasks))


async def _ended(tasks: Collection[asyncio.Task[object]]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)


def unannounced(shown: Sequence[str]) -> list[str]:
    """Return the messages that repeat the beginning of an earlier one without a note above them."""
    seen: set[str] = set()
    results = []
    for above, text in zip(["", *shown], shown, strict=False):
        subject = text.partition(":")[0]
        if text != REPEAT_NOTE.english:
            if subject in seen and above != REPEAT_NOTE.english:
                results.append(text)
            seen.add(subject)
    return results


def repeats(shown: Sequence[str]) -> int:
    """Return how many messages repeat the beginning of an earlier one."""
    subjects = [text.partition(":")[0] for text in shown if text != REPEAT_NOTE.english]
    return len(subjects) - len(set(subjects))


async def _asked(file: Path, clock: FakeClock) -> None:
    database = sqlite_database(file)
    await database.start()
    inbox = SqliteInbox(database, clock)
    for number in range(QUESTIONS):
        event = received(f"question {number}", message_id=f"m{number}")
        entry = InboxEntry(f"q{number}", conversation(), event, clock.now())
        await inbox.add(entry, timedelta(hours=1))
    await database.stop()


def lives(folder: Path, seed: int, troubles: float) -> list[str]:
    """Kill the program `LIVES` times at moments that `seed` determines; return what people see."""
    luck = random.Random(seed)
    platform, clock, file = Platform(luck, troubles), FakeClock(instant=True), folder / f"{seed}.db"
    asyncio.run(_asked(file, clock))
    clock.skip(1.0)
    for life in range(LIVES + 1):
        steps = ENDLESS if life == LIVES else luck.randint(1, LONGEST)
        if _live(Life(platform, sqlite_database(file), clock, Adapter(platform)), steps):
            break
        clock.skip(1.0)
    for left in folder.glob(f"{seed}.db*"):
        left.unlink()
    return platform.shown()


def _live(life: Life, steps: int) -> bool:
    """Run so many steps of the event loop; True if the program came to its end before."""
    loop = asyncio.new_event_loop()
    loop.set_default_executor(InlineThreads())
    try:
        running = loop.create_task(life.run())
        for _ in range(steps):
            if running.done():
                running.result()
                return True
            loop.call_soon(loop.stop)
            loop.run_forever()
        life.end_without_a_word(loop)
        return False
    finally:
        loop.close()


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer waits for no live request that still runs."""
    monkeypatch.setattr("gateway.outbound.live.answer.LAST_WAIT", 0.0)


SMALL: Final = range(80)
LARGE: Final = range(80, 1_500)


@pytest.mark.parametrize("troubles", [0.0, 0.2])
@pytest.mark.parametrize("seeds", [SMALL, pytest.param(LARGE, marks=pytest.mark.nightly)])
def test_a_killed_program_loses_nothing_and_repeats_only_below_a_note(
    tmp_path: Path, seeds: range, troubles: float
) -> None:
    repeated = 0
    for seed in seeds:
        shown = lives(tmp_path, seed, troubles)
        assert unannounced(shown) == [], f"seed {seed}: {shown}"
        for number in range(QUESTIONS):
            for part in ("one", "two"):
                whole = f"q{number} part {part}: {BETWEEN}"
                assert whole in shown, f"seed {seed}: {shown}"
        repeated += repeats(shown)
    assert repeated > len(seeds) / 10
