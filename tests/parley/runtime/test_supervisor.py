"""Accounts that connect, fail, hang, die and come back, each on its own."""

import asyncio
from collections import deque

import pytest
from structlog.testing import capture_logs

from gateway.errors import StartError
from gateway.message import InboundEvent
from gateway.ports import EventSink
from parley.runtime.supervisor import FIRST_PAUSE, LONGEST_PAUSE, STABLE_SECONDS, Supervisor
from tests.support.adapter import RecordingAdapter
from tests.support.clock import FakeClock
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually


class Line(RecordingAdapter):
    """An account whose connections end as told: by an error when it connects, or afterwards."""

    def __init__(self, *connects: Exception | None) -> None:
        super().__init__()
        self.connects = deque(connects)
        self.attempts: list[float] = []
        self.clock = FakeClock()
        self.hangs = False
        self.disconnects = 0
        self.dying: asyncio.Queue[Exception | None] = asyncio.Queue()

    async def connect(self, sink: EventSink) -> None:
        self.attempts.append(self.clock.monotonic())
        if self.hangs:
            await asyncio.Event().wait()
        failure = self.connects.popleft() if self.connects else None
        if failure is not None:
            raise failure

    async def wait_closed(self) -> None:
        failure = await self.dying.get()
        if failure is not None:
            raise failure

    async def disconnect(self) -> None:
        self.disconnects += 1


class Watch:
    """A supervisor, and what it tells."""

    def __init__(self, **accounts: Line) -> None:
        self.clock = FakeClock()
        self.told: list[str] = []
        for line in accounts.values():
            line.clock = self.clock
        self.supervisor = Supervisor(
            accounts, self._sink, self.clock, self._ready, self._lost, chance=lambda: 0.0
        )

    async def start(self) -> None:
        starting = asyncio.create_task(self.supervisor.start())
        await self.clock.advance(0)
        assert starting.done()

    async def _sink(self, event: InboundEvent) -> None:
        raise AssertionError("nothing arrives here")

    async def _ready(self, name: str) -> None:
        self.told.append(f"ready {name}")

    def _lost(self, name: str) -> None:
        self.told.append(f"lost {name}")


async def test_each_account_reports_ready_or_its_problem() -> None:
    watch = Watch(good=Line(), bad=Line(StartError("token refused.", "Get a new one.")))
    await watch.start()
    assert watch.told == ["ready good", "lost bad"]
    assert watch.supervisor.states == {"good": "ready", "bad": "reconnecting"}
    assert list(watch.supervisor.errors) == ["bad"]
    assert str(watch.supervisor.errors["bad"]) == "token refused. Get a new one."
    await watch.supervisor.stop()
    assert set(watch.supervisor.states.values()) == {"stopped"}


async def test_pauses_grow_up_to_a_limit_and_reset_after_success() -> None:
    line = Line(*(StartError("no network") for _ in range(9)))
    watch = Watch(line=line)
    await watch.start()
    await watch.clock.advance(300)
    pauses = [b - a for a, b in zip(line.attempts, line.attempts[1:], strict=False)]
    assert pauses == [1, 2, 4, 8, 16, 32, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]
    assert watch.supervisor.states == {"line": "ready"}
    assert watch.supervisor.errors == {}
    await watch.supervisor.stop()


async def test_a_permanent_start_error_is_not_retried() -> None:
    line = Line(StartError("token revoked.", permanent=True))
    watch = Watch(line=line)
    await watch.start()
    await watch.clock.advance(10_000)
    assert len(line.attempts) == 1
    assert watch.supervisor.states == {"line": "failed"}
    await watch.supervisor.stop()


async def test_a_lost_connection_is_restored_and_sends_wait_meanwhile() -> None:
    line = Line()
    watch = Watch(line=line)
    await watch.start()
    line.dying.put_nowait(StartError("socket gone"))
    await watch.clock.advance(0)
    assert (watch.told, line.disconnects) == (["ready line", "lost line"], 1)
    await watch.clock.advance(FIRST_PAUSE)
    assert watch.told[-1] == "ready line"
    await watch.supervisor.stop()


async def test_a_connection_that_fails_repeatedly_is_not_retried_every_second() -> None:
    line = Line()
    watch = Watch(line=line)
    await watch.start()
    for _ in range(5):
        line.dying.put_nowait(StartError("kicked out"))
        await watch.clock.advance(LONGEST_PAUSE)
    pauses = [b - a for a, b in zip(line.attempts, line.attempts[1:], strict=False)]
    assert len(pauses) == 5
    assert sorted(set(pauses)) == pauses
    await watch.supervisor.stop()


async def test_the_pause_resets_after_a_stable_connection() -> None:
    line = Line(*(StartError("no network") for _ in range(5)))
    watch = Watch(line=line)
    await watch.start()
    await watch.clock.advance(31 + STABLE_SECONDS)
    line.dying.put_nowait(None)
    await watch.clock.advance(0)
    died = watch.clock.monotonic()
    await watch.clock.advance(FIRST_PAUSE)
    assert line.attempts[-1] == died + FIRST_PAUSE
    await watch.supervisor.stop()


async def test_a_hanging_account_delays_neither_the_start_nor_other_accounts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("parley.runtime.supervisor.START_SECONDS", 0.05)
    monkeypatch.setattr("parley.runtime.supervisor.CONNECT_SECONDS", 3.0)
    hanging = Line()
    hanging.hangs = True
    watch = Watch(hanging=hanging, good=Line())
    await asyncio.wait_for(watch.supervisor.start(), PATIENCE)
    await eventually(lambda: watch.supervisor.states["good"] == "ready")
    assert not watch.supervisor.reconnects["hanging"]
    assert "still connecting" in str(watch.supervisor.errors["hanging"])
    await eventually(lambda: watch.supervisor.states["hanging"] == "reconnecting")
    assert "no connection within" in str(watch.supervisor.errors["hanging"])
    hanging.hangs = False
    await watch.clock.advance(FIRST_PAUSE)
    assert watch.supervisor.states["hanging"] == "ready"
    assert watch.supervisor.errors == {}
    await watch.supervisor.stop()


@pytest.mark.parametrize("where", ["connect", "afterwards"])
async def test_an_exception_in_an_adapter_affects_only_its_account(where: str) -> None:
    bug = KeyError("bug")
    line = Line(bug) if where == "connect" else Line()
    watch = Watch(line=line, good=Line())
    await watch.start()
    if where == "afterwards":
        line.dying.put_nowait(bug)
    with capture_logs():
        await watch.clock.advance(FIRST_PAUSE)
    assert watch.supervisor.states == {"line": "ready", "good": "ready"}
    await watch.supervisor.stop()


class Clinging(Line):
    """Does not let go: its disconnect raises, or never returns."""

    def __init__(self, failure: Exception | None = None) -> None:
        super().__init__(StartError("no network"))
        self.failure = failure

    async def disconnect(self) -> None:
        if self.failure is not None:
            raise self.failure
        await asyncio.Event().wait()


@pytest.mark.parametrize("failure", [None, OSError("cannot close")])
async def test_an_adapter_that_does_not_disconnect_is_reconnected_and_stop_returns(
    failure: Exception | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parley.runtime.supervisor.DISCONNECT_SECONDS", 0.01)
    watch = Watch(line=Clinging(failure))
    await asyncio.wait_for(watch.supervisor.start(), PATIENCE)
    await eventually(lambda: watch.clock.slept == [FIRST_PAUSE])
    await watch.clock.advance(FIRST_PAUSE)
    assert watch.supervisor.states == {"line": "ready"}
    await asyncio.wait_for(watch.supervisor.stop(), PATIENCE)
    assert watch.supervisor.states == {"line": "stopped"}


async def test_an_account_is_ready_only_when_all_its_parts_are_ready() -> None:
    line, states = Line(), list[str]()

    async def on_ready(name: str) -> None:
        states.append(watch.supervisor.states[name])
        if len(states) == 1:
            raise OSError("the webhook port is taken")

    watch = Watch(line=line)
    watch.supervisor._on_ready = on_ready
    await watch.start()
    assert states == ["starting"]
    assert watch.supervisor.states == {"line": "reconnecting"}
    await watch.clock.advance(FIRST_PAUSE)
    assert watch.supervisor.states == {"line": "ready"}
    await watch.supervisor.stop()


async def test_stop_works_before_start_and_twice() -> None:
    line = Line()
    watch = Watch(line=line)
    await watch.supervisor.stop()
    await watch.supervisor.stop()
    assert line.attempts == []
