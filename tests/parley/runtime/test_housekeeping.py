"""Housekeeping deletes old rows repeatedly in small steps, even if one chore fails."""

import asyncio

import pytest
from structlog.testing import capture_logs

from db.errors import StoreUnavailable
from gateway.ports.work_guard import WorkItem
from parley.runtime.housekeeping import EVERY, MAX_REST, MAX_STEPS, Housekeeping
from tests.support.clock import FakeClock
from tests.support.work import deadly


class Chore:
    """Has so much to forget; `failure` is raised the first time."""

    def __init__(self, *portions: int, failure: Exception | None = None) -> None:
        self.portions = list(portions)
        self.failure = failure
        self.runs = 0

    async def __call__(self) -> int:
        self.runs += 1
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure
        return self.portions.pop(0) if self.portions else 0


async def test_a_round_repeats_each_task_until_nothing_is_left() -> None:
    much, little = Chore(500, 500, 3), Chore(1)
    assert await Housekeeping({"much": much, "little": little}, FakeClock()).round() == 1004
    assert (much.runs, little.runs) == (4, 2)


async def test_a_task_that_never_finishes_is_ended() -> None:
    class Endless(Chore):
        async def __call__(self) -> int:
            self.runs += 1
            return 1

    endless, next_one = Endless(), Chore(1)
    await Housekeeping({"endless": endless, "next": next_one}, FakeClock()).round()
    assert endless.runs == MAX_STEPS
    assert next_one.runs == 2


async def test_a_step_that_deletes_is_followed_by_a_pause_of_three_times_its_time() -> None:
    clock = FakeClock(instant=True)
    seconds = iter((0.05, 0.2, 60.0, 0.4))

    class Slow(Chore):
        async def __call__(self) -> int:
            clock.skip(next(seconds))
            return await super().__call__()

    await Housekeeping({"slow": Slow(1, 1, 1)}, clock).round()
    assert clock.slept == pytest.approx([0.15, 0.6, MAX_REST])


async def test_a_failing_task_is_retried_and_does_not_affect_the_others() -> None:
    clock = FakeClock()
    for failure in (StoreUnavailable("disk full"), ValueError("a bug")):
        broken, other = Chore(7, failure=failure), Chore(1)
        housekeeping = Housekeeping({"broken": broken, "other": other}, clock)
        with capture_logs() as logs:
            housekeeping.start()
            await clock.advance(0)
            assert (broken.runs, other.runs) == (1, 2)
            assert [line["event"] for line in logs] == ["chore_failed"]
            await clock.advance(EVERY)
        assert broken.portions == []
        await housekeeping.stop()


async def test_stop_works_also_before_start() -> None:
    housekeeping = Housekeeping({"chore": Chore()}, FakeClock())
    await housekeeping.stop()
    housekeeping.start()
    await housekeeping.stop()
    await housekeeping.stop()
    assert [task for task in asyncio.all_tasks() if task.get_name() == "housekeeping"] == []


async def test_a_quarantined_task_is_skipped_and_the_others_are_recorded_as_work() -> None:
    guard = deadly("chore", "deadly")
    bad, good = Chore(1), Chore(1)
    await Housekeeping({"deadly": bad, "good": good}, FakeClock(), guard).round()
    assert (bad.runs, good.runs) == (0, 2)
    assert guard.marked == [(WorkItem("chore", "good"),)] * 2
    assert guard.in_work == []
