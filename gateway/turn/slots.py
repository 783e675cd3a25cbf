"""The limit on running turns; a turn that only waits for its model releases its slot."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from contextvars import Context
from typing import Final

MAX_ASIDE: Final = 256
"""Maximum turns that wait without a slot: each keeps its prompt in memory. Further ones keep their
slot while they wait."""
MAX_BYTES_ASIDE: Final = 128 * 1024 * 1024
"""Maximum bytes of files that these turns hold together: a turn has up to 19 MB of pictures. A turn
that would exceed it also keeps its slot."""

NO_WAIT: Final[AbstractAsyncContextManager[None]] = nullcontext()
WAIT_SECONDS: Final = 60.0
"""The longest wait of a stage for a place."""
EACH: Final = 3
"""Stages for each connection to the database: fewer would leave connections unused while stages
compute or wait for Redis."""


class StorePlaces:
    """Lets a few stages use the stores at a time. Many turns that begin together then wait here,
    where it does not count as time of recall or of a store, and not for a connection."""

    def __init__(self, size: int | None) -> None:
        self._free = None if size is None else asyncio.Semaphore(max(1, size))

    @classmethod
    def for_connections(cls, connections: int) -> "StorePlaces":
        """Return the places for a database with so many connections; 0 for no limit."""
        return cls(EACH * connections if connections else None)

    def waiting(self) -> AbstractAsyncContextManager[None]:
        """Hold a place; after `WAIT_SECONDS` go on without one."""
        return NO_WAIT if self._free is None else _held(self._free)


@asynccontextmanager
async def _held(free: asyncio.Semaphore) -> AsyncIterator[None]:
    held = False
    with suppress(TimeoutError):
        async with asyncio.timeout(WAIT_SECONDS):
            held = await free.acquire()
    try:
        yield
    finally:
        if held:
            free.release()


class Slots:
    """A number of slots, one for each running turn. `begin` starts a waiting turn, which takes a
    slot; False if none waits."""

    def __init__(
        self, size: int = 32, most_aside: int = MAX_ASIDE, most_bytes: int = MAX_BYTES_ASIDE
    ) -> None:
        self._size = size
        self._most_aside = most_aside
        self._most_bytes = most_bytes
        self._taken = 0
        self._aside = 0
        self._bytes = 0
        self._returning: deque[asyncio.Future[None]] = deque()
        self._new_first = False
        self.begin: Callable[[], bool] = lambda: False

    @property
    def taken(self) -> int:
        """Turns that are being processed."""
        return self._taken

    @property
    def aside(self) -> int:
        """The number of turns that have begun and wait without a slot."""
        return self._aside

    def take(self) -> None:
        """Take a slot for a new turn."""
        self._taken += 1

    def give(self) -> None:
        """Release the slot of a finished turn."""
        self._taken -= 1
        self.offer()

    def offer(self) -> None:
        """Give free slots alternately to returning and new turns, so that neither waits for all of
        the others."""
        while self._taken < self._size:
            ways = (self._let_back, self._begin_new)
            if self._new_first:
                ways = (self._begin_new, self._let_back)
            if not (ways[0]() or ways[1]()):
                return

    async def without(self, wait: Awaitable[None], held: int = 0) -> None:
        """Release the slot of this turn while it waits, and take one again afterwards. A turn that
        is cancelled meanwhile counts as running until it releases its slot. `held` is the number of
        bytes of its files in memory."""
        if self._aside >= self._most_aside or self._bytes + held > self._most_bytes:
            await wait
            return
        self._aside += 1
        self._bytes += held
        Context().run(self.give)  # the turn that begins then is about another message
        try:
            await wait
            await self._slot_again()
        except BaseException:
            self.take()
            raise
        finally:
            self._aside -= 1
            self._bytes -= held

    async def _slot_again(self) -> None:
        """Wait for a slot for a turn that has begun. After an exception it has none."""
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._returning.append(mine)
        Context().run(self.offer)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.cancelled():
                self._returning = deque(one for one in self._returning if one is not mine)
            else:
                self._taken -= 1
            raise

    def _begin_new(self) -> bool:
        """Start a turn that waits for its first slot; False if there is none."""
        begun = self.begin()
        if begun:
            self._new_first = False
        return begun

    def _let_back(self) -> bool:
        """Give a slot to the returning turn that has waited longest; False if there is none."""
        while self._returning:
            returning = self._returning.popleft()
            if not returning.done():
                self.take()
                self._new_first = True
                returning.set_result(None)
                return True
        return False
