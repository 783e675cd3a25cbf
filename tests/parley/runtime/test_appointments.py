"""The runner of appointments sleeps until the next one, and wakes for a sooner one."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest

from db.errors import StoreUnavailable
from db.sqlite import SqliteDatabase
from gateway.appointments.appointment import Appointment
from gateway.stores.appointments import AppointmentStore
from parley.app import App
from parley.config import from_mapping
from parley.runtime.appointments import LONGEST, Appointments
from parley.runtime.background import AFTER_FAILURE
from tests.gateway.appointments.values import NINE, appointment
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database, started

AT_NINE = datetime.fromisoformat("2026-11-30T08:00+00:00")


class Due:
    """Implements the step of `DueAppointments`: moves on what it claims."""

    def __init__(self, store: AppointmentStore, clock: FakeClock) -> None:
        self._store = store
        self._clock = clock
        self.done: list[tuple[int, datetime]] = []
        self.steps = 0
        self.failures: list[Exception] = []

    async def step(self) -> int:
        self.steps += 1
        if self.failures:
            raise self.failures.pop()
        claimed = await self._store.claim(self._clock.now())
        for one in claimed:
            self.done.append((one.number, self._clock.now()))
            await self._store.advance(one, None, self._clock.now())
        return len(claimed)


class Stage:
    """A running job at a fake time, half an hour before nine in Zurich."""

    def __init__(self, database: SqliteDatabase) -> None:
        self.clock = FakeClock(AT_NINE - timedelta(minutes=30))
        self.store = AppointmentStore(database)
        self.due = Due(self.store, self.clock)
        self.job = Appointments(self.due, self.store, self.clock)  # type: ignore[arg-type]  # a stand-in

    async def add(self, number: int, due: datetime) -> None:
        stored = await self.store.add(appointment(number, due=due), 50, 200)
        assert isinstance(stored, Appointment)


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with started(sqlite_database(":memory:")) as database:
        made = Stage(database)
        yield made
        await made.job.stop()


async def test_it_sleeps_until_the_next_one(stage: Stage) -> None:
    await stage.add(1, NINE)
    stage.job.start()
    await stage.clock.advance(1_799)
    assert stage.due.done == []
    await stage.clock.advance(1.5)
    assert [number for number, _ in stage.due.done] == [1]
    late = stage.due.done[0][1] - AT_NINE
    assert timedelta() <= late < timedelta(seconds=0.2)


async def test_a_sooner_one_wakes_it(stage: Stage) -> None:
    stage.job.start()
    await stage.clock.advance(2)
    now = stage.clock.now()
    await stage.add(1, NINE - timedelta(minutes=29, seconds=50))
    await stage.clock.advance(9)
    ((number, at),) = stage.due.done
    assert (number, at - now) == (1, timedelta(seconds=8))


async def test_without_appointments_it_looks_twice_a_minute(stage: Stage) -> None:
    stage.job.start()
    await stage.clock.advance(3_600)
    assert stage.due.steps <= 3_600 / LONGEST + 2


async def test_it_goes_on_after_a_failure(stage: Stage) -> None:
    stage.due.failures = [RuntimeError("a bug"), StoreUnavailable("away")]
    await stage.add(1, NINE - timedelta(minutes=29))
    stage.job.start()
    await stage.clock.advance(2 * AFTER_FAILURE + 1)
    assert stage.due.steps >= 3
    await stage.clock.advance(60)
    assert [number for number, _ in stage.due.done] == [1]


async def test_where_appointments_are_off_nothing_runs() -> None:
    off = App(from_mapping({"database": {"url": "memory://"}}))
    assert off.jobs.appointments is None
    assert "reminders" not in {one.name for one in off.services.commands}
    on = App(from_mapping({"database": {"url": "memory://"}, "appointments": {"enabled": True}}))
    assert on.jobs.appointments is not None
    assert "reminders" in {one.name for one in on.services.commands}
