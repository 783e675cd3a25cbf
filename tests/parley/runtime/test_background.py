"""Work that makes way for answers."""

from structlog.testing import capture_logs

from db.errors import StoreUnavailable
from parley.runtime.background import (
    AFTER_FAILURE,
    CALM,
    IDLE_PAUSE,
    LATE,
    LATEST,
    LOOK,
    LOOKS,
    QUEUE,
    STEP_PAUSE,
    Background,
)
from tests.support.clock import FakeClock


class Waiting:
    """So many steps have something to take up; `failure` is raised the first time."""

    def __init__(self, steps: int, failure: Exception | None = None) -> None:
        self.left = steps
        self.failure = failure
        self.asked = 0

    async def step(self) -> int:
        self.asked += 1
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure
        self.left -= 1
        return int(self.left >= 0)


class Busy(FakeClock):
    """Wakes everybody late while `rush`."""

    rush = True

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds + (2 * LATE if self.rush else 0))


async def test_waiting_work_is_done_in_steps_and_then_polled() -> None:
    clock, waiting = FakeClock(), Waiting(3)
    work = Background(waiting.step, clock, "some work")
    work.start()
    await clock.advance(IDLE_PAUSE + 3 * STEP_PAUSE)
    assert waiting.asked == 4
    await clock.advance(2 * IDLE_PAUSE)
    assert waiting.asked == 6
    await work.stop()
    await work.stop()
    await clock.advance(2 * IDLE_PAUSE)
    assert waiting.asked == 6


async def test_background_work_waits_while_many_messages_are_queued() -> None:
    clock, waiting, queued = FakeClock(), Waiting(1_000), QUEUE
    work = Background(waiting.step, clock, "some work", lambda: queued)
    work.start()
    await clock.advance(LATEST / 2)
    assert waiting.asked == 0
    queued = QUEUE - 1
    await clock.advance(IDLE_PAUSE + CALM * STEP_PAUSE)
    assert waiting.asked > 0
    await work.stop()


async def test_a_step_waits_for_an_idle_moment_for_a_limited_time() -> None:
    clock, waiting, answering = FakeClock(), Waiting(1_000), 1
    work = Background(waiting.step, clock, "some work", answering=lambda: answering)
    work.start()
    await clock.advance(IDLE_PAUSE + LOOK / 2)
    assert waiting.asked == 0
    answering = 0
    await clock.advance(LOOK)
    assert waiting.asked == 1
    answering = 1
    await clock.advance(STEP_PAUSE + (LOOKS - 1) * LOOK)
    assert waiting.asked == 1
    await clock.advance(2 * LOOK)
    assert waiting.asked == 2
    await work.stop()


async def test_under_load_a_step_is_delayed_but_not_forever() -> None:
    clock, waiting = Busy(), Waiting(1_000)
    work = Background(waiting.step, clock, "some work")
    work.start()
    await clock.advance(LATEST - 2 * IDLE_PAUSE)
    assert waiting.asked == 0
    await clock.advance(4 * IDLE_PAUSE)
    assert waiting.asked > 0
    clock.rush = False
    before = waiting.asked
    await clock.advance(1)
    assert waiting.asked > before
    await work.stop()


async def test_a_failed_step_is_retried_later() -> None:
    for failure in (StoreUnavailable("the disk is full"), ValueError("a bug")):
        clock, waiting = FakeClock(), Waiting(1, failure)
        work = Background(waiting.step, clock, "some work")
        with capture_logs() as logs:
            work.start()
            await clock.advance(IDLE_PAUSE)
            assert waiting.asked == 1
            await clock.advance(AFTER_FAILURE)
            assert waiting.asked == 2
        assert [line["event"] for line in logs] == ["background_work_failed"]
        await work.stop()
