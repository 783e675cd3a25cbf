"""The receiving side of an account: guarded parsing, order within a conversation, and retries while
the store is unavailable."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeVar

import structlog

from adapters.shared.connection import Backoff
from db.errors import StoreUnavailable
from gateway.message import InboundEvent
from gateway.ports import AdapterContext, EventSink
from gateway.ports.work_guard import WorkItem

STORE_RETRY_SECONDS: Final = 15 * 60.0
"""The time for which `store_with_retry` offers one event to a store that is unavailable."""

T = TypeVar("T")

log = structlog.get_logger(__name__)


class ReceiveQueue:
    """The deliveries of one account: one by one in a conversation, conversations side by side."""

    def __init__(self, platform: str, context: AdapterContext, sink: EventSink) -> None:
        self._platform = platform
        self._context = context
        self._sink = sink
        self._turns: dict[str, deque[asyncio.Future[None]]] = {}
        self._running: set[asyncio.Future[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._held: set[str] = set()
        self._all_held = False

    def __len__(self) -> int:
        """Turns that run or wait."""
        return sum(map(len, self._turns.values()))

    def parse(self, delivery_id: str, parse: Callable[[], T]) -> T | None:
        """The result of `parse`, or None for a delivery that processes died of."""
        guard = self._context.guard
        delivery = WorkItem("payload", f"{self._platform}:{self._context.account}:{delivery_id}")
        if guard.exhausted(delivery):
            self._context.count("quarantined", self._platform)
            return None
        with guard.working(delivery):
            return parse()

    async def store_with_retry(self, event: InboundEvent) -> bool:
        """Store an event that the platform does not send again.

        Retries while the store is unavailable, for `STORE_RETRY_SECONDS`. False, and counted, when
        the event is lost.
        """
        clock, backoff = self._context.clock, Backoff(0.2, 30.0)
        deadline = clock.monotonic() + STORE_RETRY_SECONDS
        while True:
            try:
                await self._sink(event)
            except StoreUnavailable as error:
                self._context.count("store_unavailable", self._platform)
                if clock.monotonic() >= deadline:
                    self._context.count("lost", event.kind)
                    log.error("event_lost", platform=self._platform, error=str(error))
                    return False
                await clock.sleep(backoff.pause())
            except Exception:  # a faulty event must not stop the next one
                self._context.count("failed", event.kind)
                log.exception("event_failed", platform=self._platform, event_kind=event.kind)
                return True
            else:
                return True

    @asynccontextmanager
    async def turn(self, conversation: str) -> AsyncIterator[None]:
        """Wait until every earlier turn of this conversation has ended, then run the body."""
        turns = self._turns.setdefault(conversation, deque())
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        turns.append(turn)
        self._start_next(conversation)
        try:
            await turn
            yield
        finally:
            turns.remove(turn)
            self._running.discard(turn)
            if not turns:
                del self._turns[conversation]
            self._start_next(conversation)
            if not self._running:
                self._idle.set()

    def is_held(self, conversation: str) -> bool:
        """True while the next turn of this conversation does not begin."""
        return self._all_held or conversation in self._held

    def hold_all(self) -> None:
        """Begin no further turn in any conversation."""
        self._all_held = True

    def hold_only(self, conversations: Iterable[str]) -> None:
        """Begin no further turn in these conversations; continue the others."""
        self._all_held, self._held = False, set(conversations)
        for conversation in list(self._turns):
            self._start_next(conversation)

    def release(self, conversation: str) -> None:
        """Continue a conversation that was held."""
        self._held.discard(conversation)
        self._start_next(conversation)

    async def drain(self, seconds: float) -> int:
        """Wait until no turn runs, for at most so many seconds. Returns how many turns are left."""
        await asyncio.sleep(0)  # tasks that were just created ask for their turn first
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        return len(self)

    def _start_next(self, conversation: str) -> None:
        turns = self._turns.get(conversation)
        if turns and not turns[0].done() and not self.is_held(conversation):
            turns[0].set_result(None)
            self._running.add(turns[0])
            self._idle.clear()
