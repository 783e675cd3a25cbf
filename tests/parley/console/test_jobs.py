"""Jobs of the console: one at a time, with progress, and an end for every outcome."""

import asyncio

import pytest

from db.errors import StoreUnavailable
from gateway.errors import BadInput
from parley.console.jobs import BROKEN, JobRunner, Report
from parley.http.api.errors import CallRefused
from tests.support.clock import FakeClock
from tests.support.waiting import eventually


async def ended(runner: JobRunner[str]) -> None:
    await eventually(lambda: runner.latest is not None and runner.latest.ended is not None)


async def test_a_job_reports_its_progress_and_keeps_its_result(clock: FakeClock) -> None:
    runner: JobRunner[str] = JobRunner("x", clock)
    go = asyncio.Event()

    async def work(report: Report) -> str:
        await asyncio.to_thread(report, 3, 10)
        await go.wait()
        return "result"

    runner.start(work)
    await eventually(lambda: runner.latest is not None and runner.latest.done == 3)
    assert runner.latest is not None
    assert (runner.latest.total, runner.latest.ended, runner.latest.result) == (10, None, None)
    with pytest.raises(CallRefused, match="running already"):
        runner.start(work)
    go.set()
    await ended(runner)
    assert (runner.latest.result, str(runner.latest.problem)) == ("result", "")
    runner.start(work)
    assert runner.latest.result is None
    await ended(runner)


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (BadInput("wrong"), "wrong"),
        (StoreUnavailable("gone"), "Parley cannot store anything at this moment."),
        (RuntimeError("a secret"), BROKEN.english),
    ],
)
async def test_a_job_that_fails_says_why(clock: FakeClock, error: Exception, problem: str) -> None:
    runner: JobRunner[str] = JobRunner("x", clock)

    async def work(_: Report) -> str:
        raise error

    runner.start(work)
    await ended(runner)
    assert runner.latest is not None
    assert (runner.latest.result, str(runner.latest.problem)) == (None, problem)


async def test_a_stop_ends_a_job(clock: FakeClock) -> None:
    runner: JobRunner[str] = JobRunner("x", clock)

    async def work(_: Report) -> str:
        await asyncio.sleep(1_000)
        return ""

    runner.start(work)
    await asyncio.sleep(0)
    await runner.stop()
    await runner.stop()
    assert runner.latest is not None
    assert runner.latest.ended is not None
