"""A worker for tests: takes events, and completes them in order within their conversation."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from gateway.ports.queues import InboxEntry
from gateway.stores.redis.hot_state import RedisHotState
from tests.support.messages import AT, outbound, received
from tests.support.waiting import eventually

DAY = timedelta(days=1)


def entry(number: int, conversations: int) -> InboxEntry:
    message = received(message_id=f"m{number}")
    return InboxEntry(f"id-{number}", f"conversation-{number % conversations}", message, AT)


def number_of(item: InboxEntry) -> int:
    return int(item.id.removeprefix("id-"))


async def feed(state: RedisHotState, numbers: Sequence[int], conversations: int = 50) -> int:
    """Add events, those of a conversation in order; returns how many were new."""
    by_conversation: dict[int, list[int]] = defaultdict(list)
    for number in numbers:
        by_conversation[number % conversations].append(number)

    async def add(mine: list[int]) -> int:
        return sum([await state.inbox.add(entry(number, conversations), DAY) for number in mine])

    return sum(await asyncio.gather(*map(add, by_conversation.values())))


def in_order(items: Sequence[InboxEntry]) -> bool:
    """True when the events of each conversation stand in the order they were added."""
    conversations: dict[str, list[int]] = defaultdict(list)
    for item in items:
        conversations[item.conversation].append(number_of(item))
    return all(numbers == sorted(numbers) for numbers in conversations.values())


async def all_answered(state: RedisHotState, count: int) -> None:
    """Return once nothing is left to do; fails unless so many different sends wait then."""

    async def empty() -> bool:
        return not await state.inbox.unfinished(1)

    await eventually(empty, 45)
    sends = await state.outbox.waiting(count + 1)
    assert len({send.outbound.key for send in sends}) == len(sends) == count


class Worker:
    """Runs the work source of one process. `taken` is everything it was handed, `won` what it
    finished first. `room` bounds what waits; `closed` keeps it from finishing anything."""

    def __init__(self, state: RedisHotState, *, closed: bool = False, room: int = 10_000) -> None:
        self.state = state
        self.taken: list[InboxEntry] = []
        self.won: list[InboxEntry] = []
        self.room = room
        self.gate = asyncio.Event()
        if not closed:
            self.gate.set()
        self._lanes: dict[str, asyncio.Queue[InboxEntry]] = defaultdict(asyncio.Queue)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._running: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        return sum(queue.qsize() for queue in self._lanes.values())

    def start(self) -> None:
        work = self.state.work
        self._running = asyncio.create_task(work.run(self._take, lambda: self.waiting < self.room))

    async def stop(self) -> None:
        """Leave as a process does that was asked to."""
        await self.kill()
        await self.state.work.release()

    async def stall(self) -> None:
        """Renew nothing and read nothing, while the turns go on."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait((self._running,))

    async def kill(self) -> None:
        """Leave as a process does that was killed: nothing is handed back."""
        tasks = [*self._tasks.values(), *([self._running] if self._running else [])]
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task

    def _take(self, item: InboxEntry) -> None:
        self.taken.append(item)
        self._lanes[item.conversation].put_nowait(item)
        if item.conversation not in self._tasks:
            self._tasks[item.conversation] = asyncio.create_task(self._serve(item.conversation))

    async def _serve(self, conversation: str) -> None:
        queue = self._lanes[conversation]
        while True:
            item = await queue.get()
            await self.gate.wait()
            if await self.finish(item):
                self.won.append(item)

    async def finish(self, item: InboxEntry) -> bool:
        """Answer an event; False when somebody else has."""
        answer = outbound(f"{self.state.worker}-{item.id}:0")
        return bool(await self.state.inbox.finish((item.id,), (answer,)))
