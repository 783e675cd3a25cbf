"""Fixtures for all tests."""

import gc
import logging
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, settings
from xdist.remote import Producer

from db.postgres import PostgresDatabase
from db.sqlite import SqliteDatabase
from gateway.observe.logs import configure_logs
from tests.attacks.report import summary, tried_in
from tests.support import by_day, memory_disk, shared_reading
from tests.support.clock import FakeClock
from tests.support.databases import (
    PATIENT,
    Engine,
    end_of_test,
    migrated_database,
    postgres_database,
    sqlite_database,
    started,
    wait_for_connections,
)
from tests.support.property_cases import NIGHT, cases
from tests.support.scheduling import Scheduling
from tests.support.servers import PostgresServer, RedisServer, postgres_server, redis_server
from tests.support.start_caches import reuse_results_of_starts

NIGHTLY_SECONDS = 1_800
"""For tests marked `nightly`, however they are run: 12,000 cases take a calm machine a minute."""

AT_NIGHT = ("nightly or hypothesis", "nightly")
"""The expression of `make nightly` for marks, by which Hypothesis marks property tests, and the
shorter one without those of the day."""
NEW_OBJECTS = 10_000
"""New objects between two small collections: with Python's 700 they take a test a twentieth of its
time. `parley run` has 50,000."""
MANY = 100
"""Cases of a property test that gives no number."""

# How fast cases come up and run says something of the machine's load and nothing of the code. They
# are the same in every run, so that a change fails by what it does; new ones are the night's work.
settings.register_profile(
    "any load",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    max_examples=cases(MANY),
)
settings.register_profile(
    NIGHT, settings.get_profile("any load"), derandomize=False, max_examples=MANY
)


def at_night(config: pytest.Config) -> bool:
    """True for a run of long tests."""
    return config.getoption("markexpr") in AT_NIGHT


def pytest_configure(config: pytest.Config) -> None:
    """Choose how cases are found and where files go, before any test is read."""
    folder = memory_disk.make(memory_disk.SHARED_MEMORY, os.environ)
    if folder is not None:
        memory_disk.use(folder)
        config.add_cleanup(lambda: memory_disk.remove(folder))
    settings.load_profile(NIGHT if at_night(config) else "any load")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Share the work on source files with other processes. Keep the garbage collector away from
    what is read and stays until the end: thousands of modules and tests, which it would walk
    through again and again."""
    gc.disable()
    part = shared_reading.own_part(session.config)
    if part is not None:
        shared_reading.compile_part(session.config, shared_reading.source_files(), *part)
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])
        gc.enable()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Share the tests out as pytest-xdist does with `--dist loadgroup`, only faster."""
    return Scheduling(config, log) if config.getoption("dist") == "loadgroup" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to the night what need not run for each change, and give long tests their time."""
    part = shared_reading.own_part(config)
    if part is not None:  # just before Hypothesis reads them in this hook
        shared_reading.read_constants(*part)
    by_day.leave_forms_to_the_night(items)
    for item in items:
        long = item.get_closest_marker("nightly") or at_night(config)
        if long and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(NIGHTLY_SECONDS))


def pytest_runtest_logfinish() -> None:
    """Let the next test have what this one used."""
    end_of_test()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table of attacks, where any were tried."""
    lines = summary(tried_in(terminalreporter.stats))
    if lines:
        terminalreporter.section("attacks")
    for line in lines:
        terminalreporter.write_line(line)


@pytest.fixture(autouse=True, scope="session")
def quick_starts() -> Iterator[None]:
    """Results that all starts of a program have in common are made once."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        reuse_results_of_starts(monkeypatch)
        yield


@pytest.fixture(autouse=True, scope="session")
def patient_connections() -> Iterator[None]:
    """Connections to PostgreSQL may take long."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        wait_for_connections(monkeypatch)
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """The PostgreSQL server of this process, which no test takes away or fills: each makes a
    database of its own."""
    with postgres_server() as server:
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[None]:
    """The browser of this process, in which each test opens windows of its own."""
    from tests.parley.demo.browser import launched  # noqa: PLC0415 - loaded only where it is needed

    async with launched():
        yield


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    """A Redis server of the test's own."""
    with redis_server() as server:
        yield server


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    """A file with the tables of all domains."""
    async with started(sqlite_database(tmp_path / "test.db")) as opened:
        yield opened


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> str:
    """The URL of a PostgreSQL database with the tables of all domains."""
    return migrated_database(postgres)


@pytest.fixture
async def pool(postgres_url: str) -> AsyncIterator[PostgresDatabase]:
    """Connections to that database."""
    async with started(postgres_database(postgres_url, PATIENT)) as opened:
        yield opened


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Either database: a test of what lasts runs once on each."""
    opened: Engine = request.getfixturevalue("sqlite" if request.param == "sqlite" else "pool")
    return opened


@pytest.fixture
async def second_engine(request: pytest.FixtureRequest, engine: Engine) -> AsyncIterator[Engine]:
    """The same database over connections of its own, as another process has it."""
    if isinstance(engine, SqliteDatabase):
        async with started(sqlite_database(engine.path)) as other:
            yield other
    else:
        url = request.getfixturevalue("postgres_url")
        async with started(postgres_database(url, PATIENT)) as pool:
            yield pool


@pytest.fixture(autouse=True)
def quiet_logs() -> None:
    """Log warnings and errors only, also after another choice of an earlier test; pytest shows them
    for a failed test."""
    configure_logs(level=logging.WARNING)
