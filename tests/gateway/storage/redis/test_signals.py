"""Signals reach every process that listens."""

import asyncio

from tests.gateway.storage.redis.conftest import Open
from tests.gateway.storage.redis.support import eventually
from tests.support.patience import PATIENCE


async def test_a_stop_is_heard_by_all_workers(another: Open) -> None:
    states = [await another() for _ in range(3)]
    heard: list[list[str]] = [[], []]
    listening = [
        asyncio.create_task(state.signals.listen(lanes.append))
        for state, lanes in zip(states, heard, strict=False)
    ]
    for state in states[:2]:
        await asyncio.wait_for(state.signals.listening.wait(), PATIENCE)
    assert await states[2].signals.publish_stop("a lane") == 2
    await eventually(lambda: heard == [["a lane"], ["a lane"]])
    for task in listening:
        task.cancel()
    await asyncio.wait(listening)
    assert not states[0].signals.listening.is_set()


async def test_a_listener_that_fails_hears_the_next_signal(another: Open) -> None:
    state = await another()
    heard: list[str] = []

    def listen(lane: str) -> None:
        heard.append(lane)
        raise ValueError(lane)

    task = asyncio.create_task(state.signals.listen(listen))
    await asyncio.wait_for(state.signals.listening.wait(), PATIENCE)
    await state.signals.publish_stop("one")
    await state.signals.publish_stop("zwei ü")
    await eventually(lambda: heard == ["one", "zwei ü"])
    task.cancel()
    await asyncio.wait((task,))
