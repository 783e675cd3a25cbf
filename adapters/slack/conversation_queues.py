"""Things of one channel happen one after the other, in the order they came."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class ConversationQueues:
    """One queue per key, there only while somebody waits in it."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._users: dict[str, int] = {}
        self._idle = asyncio.Event()
        self._idle.set()

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[None]:
        """Wait for one's turn in the lane of `key`."""
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._users[key] = self._users.get(key, 0) + 1
        self._idle.clear()
        try:
            async with lock:
                yield
        finally:
            self._users[key] -= 1
            if not self._users[key]:
                del self._users[key], self._locks[key]
            if not self._users:
                self._idle.set()

    async def drained(self, timeout: float) -> bool:
        """True once nobody is in a lane, False if that takes longer than `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True
