"""Unresponsive connections are detected by missing proofs of liveness, and connections without
messages are kept."""

import asyncio
from dataclasses import dataclass, field
from typing import Self

import pytest
from structlog.testing import capture_logs

from gateway.message import InboundEvent
from gateway.ports import EventSink, Liveness
from gateway.text import verbatim
from parley.runtime.supervisor import CHECK_EVERY, LONGEST_PAUSE, RESTART_AFTER, Supervisor
from tests.support.adapter import RecordingAdapter
from tests.support.clock import FakeClock
from tests.support.patience import PATIENCE

HOUR = 3600.0


@dataclass
class Socket:
    """The state of a platform's socket: it hears, and it recovers when it is cut."""

    hears: bool = True
    recovers: bool = False
    broken: bool = False
    uncuttable: bool = False
    last: float = 0.0
    connects: list[float] = field(default_factory=list)
    cuts: int = 0


class Proving(RecordingAdapter):
    """An account whose socket answers pings while it hears."""

    def __init__(self, socket: Socket, clock: FakeClock) -> None:
        super().__init__()
        self.socket = socket
        self.clock = clock

    async def connect(self, sink: EventSink) -> None:
        await super().connect(sink)
        self.socket.connects.append(self.clock.monotonic())

    def alive(self) -> Liveness:
        if self.socket.broken:
            raise KeyError("a bug")
        if self.socket.hears:
            self.socket.last = self.clock.monotonic()
        since = self.clock.monotonic() - self.socket.last
        return Liveness(self.socket.hears, "" if self.socket.hears else "no ping answered", since)


class Reviving(Proving):
    """One that resumes when it is cut."""

    async def reconnect(self) -> None:
        self.socket.cuts += 1
        if self.socket.uncuttable:
            raise OSError("cannot be cut")
        self.socket.hears = self.socket.recovers


class Watch:
    """A supervisor of one account that can prove itself, and one that cannot."""

    def __init__(self, kind: type[Proving] = Proving) -> None:
        self.clock = FakeClock()
        self.socket = Socket()
        self.quiet = RecordingAdapter()
        self.told: list[str] = []
        self.supervisor = Supervisor(
            {"slack": kind(self.socket, self.clock), "web": self.quiet},
            self._sink,
            self.clock,
            self._ready,
            lambda name: self.told.append(f"lost {name}"),
            chance=lambda: 0.0,
        )

    async def _sink(self, event: InboundEvent) -> None:
        raise AssertionError("nobody writes here")

    async def _ready(self, name: str) -> None:
        self.told.append(f"ready {name}")

    async def __aenter__(self) -> Self:
        await self.supervisor.start()
        self.told.clear()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.supervisor.stop()

    @property
    def state(self) -> str:
        return self.supervisor.states["slack"]


async def test_a_workspace_without_messages_is_not_restarted() -> None:
    async with Watch() as watch:
        for _ in range(6):
            await watch.clock.advance(HOUR)
        assert watch.told == []
        assert watch.socket.connects == [0.0]
        assert watch.supervisor.states == {"slack": "ready", "web": "ready"}
        assert watch.supervisor.reconnects == {"slack": 0, "web": 0}


async def test_an_unresponsive_connection_is_reported_within_seconds_and_restored() -> None:
    async with Watch() as watch:
        await watch.clock.advance(HOUR)
        watch.socket.hears = False
        with capture_logs() as logs:
            await watch.clock.advance(CHECK_EVERY)
        assert watch.state == "unresponsive"
        assert watch.supervisor.errors == {"slack": verbatim("no ping answered")}
        assert [line["event"] for line in logs] == ["adapter_unresponsive"]
        assert watch.told == []
        await watch.clock.advance(RESTART_AFTER + CHECK_EVERY)
        watch.socket.hears = True
        await watch.clock.advance(LONGEST_PAUSE)
        assert watch.told == ["lost slack", "ready slack"]
        assert watch.state == "ready"
        assert watch.supervisor.errors == {}
        assert watch.supervisor.reconnects == {"slack": 1, "web": 0}
        assert watch.supervisor.states["web"] == "ready"


async def test_a_connection_that_recovers_by_itself_is_not_restarted() -> None:
    async with Watch() as watch:
        for _ in range(20):
            watch.socket.hears = False
            await watch.clock.advance(RESTART_AFTER - CHECK_EVERY)
            assert watch.state == "unresponsive"
            watch.socket.hears = True
            await watch.clock.advance(CHECK_EVERY)
            assert watch.state == "ready"
        assert watch.told == []
        assert len(watch.socket.connects) == 1


async def test_a_connection_that_can_resume_is_cut_once_and_not_restarted() -> None:
    async with Watch(Reviving) as watch:
        watch.socket.recovers = True
        watch.socket.hears = False
        await watch.clock.advance(CHECK_EVERY * 3)
        assert (watch.state, watch.socket.cuts, watch.told) == ("ready", 1, [])


@pytest.mark.parametrize("uncuttable", [False, True])
async def test_a_connection_that_stays_unresponsive_after_the_cut_is_restarted(
    uncuttable: bool,
) -> None:
    async with Watch(Reviving) as watch:
        watch.socket.hears, watch.socket.uncuttable = False, uncuttable
        await watch.clock.advance(CHECK_EVERY)
        assert (watch.socket.cuts, watch.told) == (1, [])
        await watch.clock.advance(RESTART_AFTER + CHECK_EVERY)
        assert "lost slack" in watch.told


async def test_a_hanging_cut_does_not_stop_the_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parley.runtime.supervisor.REVIVE_SECONDS", 0.01)

    class Hanging(Reviving):
        async def reconnect(self) -> None:
            await asyncio.Event().wait()

    async with Watch(Hanging) as watch:
        watch.socket.hears = False
        await watch.clock.advance(CHECK_EVERY)
        async with asyncio.timeout(PATIENCE):
            while "lost slack" not in watch.told:
                await watch.clock.advance(RESTART_AFTER)
                await asyncio.sleep(0.005)


async def test_an_adapter_without_a_liveness_report_counts_as_connected() -> None:
    async with Watch() as watch:
        watch.socket.broken = True
        with capture_logs() as logs:
            await watch.clock.advance(HOUR)
        assert (watch.state, watch.told) == ("ready", [])
        assert {line["event"] for line in logs} == {"liveness_check_failed"}


async def test_pauses_have_jitter_and_never_exceed_the_pause_without_it() -> None:
    chances = iter([0.0, 1.0, 0.5])
    clock = FakeClock()
    socket = Socket()

    async def sink(event: InboundEvent) -> None: ...

    async def on_ready(name: str) -> None: ...

    class Refusing(Proving):
        async def connect(self, sink: EventSink) -> None:
            await super().connect(sink)
            raise ConnectionError

    supervisor = Supervisor(
        {"slack": Refusing(socket, clock)},
        sink,
        clock,
        on_ready,
        lambda _: None,
        chance=lambda: next(chances),
    )
    with capture_logs():
        await supervisor.start()
        await clock.advance(1.0 + 1.0 + 3.0)
        await supervisor.stop()
    assert socket.connects == [0.0, 1.0, 2.0, 5.0]
