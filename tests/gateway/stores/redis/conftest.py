"""Several processes' views of one Redis."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack
from typing import Protocol

import pytest

from gateway.ports.clock import SystemClock
from gateway.stores.redis.hot_state import RedisHotState
from tests.gateway.stores.redis.support import LEASE, clean, hot_state, new_prefix
from tests.gateway.stores.redis.workers import Worker
from tests.support.patience import PATIENCE


class Open(Protocol):
    """Opens the hot state; `lease` is in seconds."""

    def __call__(self, *, lease: float = LEASE) -> Awaitable[RedisHotState]: ...


class Hire(Protocol):
    """Starts a worker."""

    def __call__(
        self, state: RedisHotState, *, closed: bool = False, room: int = 10_000
    ) -> Worker: ...


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis is there, or surely away: what takes long is the machine's."""
    monkeypatch.setattr("gateway.stores.redis.client.TIMEOUT", PATIENCE)


@pytest.fixture
def prefix() -> str:
    return new_prefix()


@pytest.fixture
async def another(redis: str, prefix: str) -> AsyncIterator[Open]:
    """Opens the same hot state once more, as another process does."""
    async with AsyncExitStack() as opened:
        first = await opened.enter_async_context(hot_state(redis, SystemClock(), prefix))

        async def open_(*, lease: float = LEASE) -> RedisHotState:
            state = hot_state(redis, SystemClock(), prefix, lease=lease)
            return await opened.enter_async_context(state)

        yield open_
        await clean(first.client)


@pytest.fixture
async def state(another: Open) -> RedisHotState:
    return await another()


@pytest.fixture
async def hire() -> AsyncIterator[Hire]:
    """Starts workers, and ends them with the test."""
    hired: list[Worker] = []

    def start(state: RedisHotState, *, closed: bool = False, room: int = 10_000) -> Worker:
        worker = Worker(state, closed=closed, room=room)
        worker.start()
        hired.append(worker)
        return worker

    yield start
    for worker in hired:
        await worker.kill()
