"""Work that a cancellation waits for."""

import asyncio

import pytest

from gateway.store_retry import uninterrupted
from tests.support.clock import settle


async def test_the_result_and_the_exception_are_returned() -> None:
    async def work(fail: bool) -> str:
        if fail:
            raise ValueError("broken")
        return "done"

    assert await uninterrupted(work(fail=False)) == "done"
    with pytest.raises(ValueError, match="broken"):
        await uninterrupted(work(fail=True))


@pytest.mark.parametrize("times", [1, 3])
async def test_a_cancelled_caller_gets_the_result_and_then_the_cancellation(times: int) -> None:
    gate, seen = asyncio.Event(), list[str]()

    async def work() -> str:
        await gate.wait()
        return "stored"

    async def caller() -> None:
        seen.append(await uninterrupted(work()))
        seen.append("routed")
        await asyncio.sleep(0)
        seen.append("never")

    task = asyncio.create_task(caller())
    await settle()
    for _ in range(times):
        task.cancel()
        await settle()
    assert not task.done()
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["stored", "routed"]


async def test_a_time_limit_around_it_still_applies() -> None:
    async def slow() -> None:
        for _ in range(3):
            await asyncio.sleep(0.01)

    async def limited() -> None:
        async with asyncio.timeout(0.005):
            await uninterrupted(slow())
            await asyncio.sleep(1)

    with pytest.raises(TimeoutError):
        await limited()
