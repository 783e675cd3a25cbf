"""Tasks with an owner."""

import asyncio

import structlog
from structlog.testing import capture_logs

from gateway.background_tasks import BackgroundTasks
from tests.support.clock import settle


async def test_an_exception_of_a_task_is_logged_and_stops_no_other() -> None:
    async def broken() -> None:
        raise RuntimeError("oops")

    structlog.reset_defaults()
    tasks = BackgroundTasks("work_failed")
    with capture_logs() as logs:
        tasks.spawn(broken())
        assert await tasks.drain(5)
    assert [line["event"] for line in logs] == ["work_failed"]
    assert len(tasks) == 0


async def test_stop_ends_all_tasks_also_new_and_unstarted_ones() -> None:
    tasks, ends = BackgroundTasks("failed"), list[str]()

    async def last() -> None:
        await asyncio.sleep(0)
        ends.append("last words")

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            tasks.spawn(last())
            ends.append("ended")

    tasks.spawn(work())
    await settle()
    tasks.spawn(work())
    await tasks.stop()
    assert ends == ["ended", "last words"]
    assert len(tasks) == 0


async def test_draining_has_a_time_limit() -> None:
    tasks = BackgroundTasks("failed")
    tasks.spawn(asyncio.sleep(30))
    assert not await tasks.drain(0.01)
    await tasks.stop()
