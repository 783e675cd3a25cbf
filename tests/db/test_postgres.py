"""The connections: outages, limits, and errors that show no secret."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from db import Statement, Work, change, execute, fetch
from db.errors import AddressInvalid, StoreUnavailable
from db.postgres import DEADLOCK_TRIES, Connection, PoolLimits, PostgresDatabase
from tests.support.databases import PATIENT, new_database, postgres_database
from tests.support.patience import PATIENCE
from tests.support.servers import PostgresServer, postgres_server

pytestmark = pytest.mark.xdist_group("databases")


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A server that a test may stop."""
    with postgres_server() as server:
        yield server


@asynccontextmanager
async def opened(url: str, limits: PoolLimits) -> AsyncIterator[PostgresDatabase]:
    pool = postgres_database(url, limits)
    await pool.start()
    try:
        yield pool
    finally:
        await pool.stop()


async def answers_within(pool: PostgresDatabase, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            await pool.fetch_raw("SELECT 1")
        except StoreUnavailable:
            continue
        return True
    return False


async def all_can_be_used_at_once(pool: PostgresDatabase, connections: int) -> None:
    together = asyncio.Barrier(connections)

    async def wait_for_the_others(connection: Connection) -> None:
        await connection.execute("SELECT 1")
        await together.wait()

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(
            *(pool.with_connection(wait_for_the_others) for _ in range(connections))
        )


class Sleeping:
    """Work that takes half a minute; `begun` once it has a connection."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def __call__(self, connection: Connection) -> None:
        self.begun.set()
        await connection.execute("SELECT pg_sleep(30)")


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
async def test_a_server_that_returns_is_used_without_a_restart(
    own_server: PostgresServer, kill: bool
) -> None:
    async with opened(own_server.url, PoolLimits(connections=4, checkout=2.0)) as pool:
        await asyncio.gather(*(pool.fetch_raw("SELECT 1") for _ in range(20)))
        own_server.stop(kill=kill)
        began = time.monotonic()
        outcomes = await asyncio.gather(
            *(pool.fetch_raw("SELECT 1") for _ in range(20)), return_exceptions=True
        )
        assert all(isinstance(outcome, StoreUnavailable) for outcome in outcomes)
        assert time.monotonic() - began < 20 * 2.0, "one after the other"
        own_server.start()
        assert await answers_within(pool, PATIENCE)
        await asyncio.gather(*(pool.fetch_raw("SELECT 1") for _ in range(20)))


async def test_a_restart_between_two_calls_is_not_visible(own_server: PostgresServer) -> None:
    async with opened(own_server.url, PoolLimits(connections=4)) as pool:
        await asyncio.gather(*(pool.fetch_raw("SELECT 1") for _ in range(20)))
        own_server.stop()
        own_server.start()
        await asyncio.gather(*(pool.fetch_raw("SELECT 1") for _ in range(20)))


async def test_a_short_outage_delays_calls_without_failures(own_server: PostgresServer) -> None:
    async with opened(own_server.url, PoolLimits(connections=2, checkout=20)) as pool:
        own_server.stop()
        waiting = [asyncio.create_task(pool.fetch_raw("SELECT 1")) for _ in range(5)]
        await asyncio.sleep(0)
        await asyncio.to_thread(own_server.start)
        await asyncio.gather(*waiting)


async def test_a_closed_connection_is_replaced(server: PostgresServer) -> None:
    async with opened(new_database(server), PoolLimits(connections=2)) as pool:
        for _ in range(3):
            await pool.fetch_raw("SELECT 1")
            async with opened(server.url, PoolLimits(connections=1)) as other:
                await other.fetch_raw(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = 'parley' AND pid <> pg_backend_pid()"
                )
            await pool.fetch_raw("SELECT 1")


async def test_a_statement_beyond_the_time_limit_is_ended(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.postgres.CLIENT_GRACE", PATIENCE)
    async with opened(new_database(server), PoolLimits(connections=1, statement=0.2)) as pool:
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match="statement timeout"):
            await pool.with_connection(Sleeping())
        assert time.monotonic() - began < 15
        await pool.fetch_raw("SELECT 1")


async def test_a_wait_for_a_connection_beyond_the_time_limit_is_an_error(
    server: PostgresServer,
) -> None:
    limits = PoolLimits(connections=1, checkout=0.2, statement=4)
    async with opened(new_database(server), limits) as pool:
        work = Sleeping()
        long = asyncio.create_task(pool.with_connection(work))
        await work.begun.wait()
        with pytest.raises(StoreUnavailable, match=r"couldn't get a connection"):
            await pool.fetch_raw("SELECT 1")
        with pytest.raises(StoreUnavailable):
            await long
        await pool.fetch_raw("SELECT 1")


async def test_a_cancelled_job_leaves_the_connection_usable(
    server: PostgresServer,
) -> None:
    async with opened(new_database(server), PoolLimits(connections=1)) as pool:
        work = Sleeping()
        running = asyncio.create_task(pool.with_connection(work))
        await work.begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await asyncio.wait_for(pool.fetch_raw("SELECT 1"), PATIENCE)


async def test_a_job_cancelled_at_any_moment_ends_and_loses_no_connection_and_no_waiting_job(
    server: PostgresServer,
) -> None:
    async def instantly(connection: Connection) -> str:
        await asyncio.sleep(0)
        return connection.info.dbname

    limits = PoolLimits(connections=2, checkout=PATIENCE)
    async with opened(new_database(server), limits) as pool:
        for steps in range(40):
            jobs = [asyncio.create_task(pool.with_connection(instantly)) for _ in range(6)]
            for _ in range(steps):
                await asyncio.sleep(0)
            cancelled = [job for job in jobs[::2] if job.cancel()]
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*jobs, return_exceptions=True)
            assert [job for job in jobs if job.cancelled()] == cancelled
        await all_can_be_used_at_once(pool, limits.connections)


async def test_a_cancellation_while_connections_are_checked_takes_effect_and_loses_none(
    server: PostgresServer,
) -> None:
    limits = PoolLimits(connections=3, checkout=PATIENCE)
    async with opened(new_database(server), limits) as pool:
        assert pool._pool is not None
        for steps in range(0, 100, 2):
            await all_can_be_used_at_once(pool, limits.connections)
            check = asyncio.create_task(pool._replace_broken(pool._pool))
            for _ in range(steps):
                await asyncio.sleep(0)
            runs = check.cancel()
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(check, return_exceptions=True)
            assert check.cancelled() == runs
        await all_can_be_used_at_once(pool, limits.connections)


async def test_a_failed_job_is_rolled_back(server: PostgresServer) -> None:
    async def half(connection: Connection) -> None:
        async with connection.transaction():
            await connection.execute("INSERT INTO spent VALUES ('key', 1)")
            raise RuntimeError("in the middle")

    async with opened(new_database(server), PoolLimits(connections=1)) as pool:
        with pytest.raises(RuntimeError, match="in the middle"):
            await pool.with_connection(half)
        assert await pool.fetch_raw("SELECT * FROM spent") == []


GROW = Statement("UPDATE spent SET micros = micros + 1 WHERE key = :key")
PUT = Statement("INSERT INTO spent VALUES (:key, 0)")
PAUSE = Statement("SELECT CAST(pg_sleep(0.3) AS text)")


async def test_a_job_aborted_by_a_deadlock_is_retried(server: PostgresServer) -> None:
    runs = []

    def work(*keys: str) -> Work[int]:
        runs.append(keys)
        changed = 0
        for key in keys:
            changed += yield from change(GROW, {"key": key})
            yield from fetch(PAUSE)
        return changed

    async with opened(new_database(server), PATIENT) as pool:
        await pool.run(lambda: execute(PUT, {"key": "a"}, {"key": "b"}))
        both = pool.run(lambda: work("a", "b")), pool.run(lambda: work("b", "a"))
        assert list(await asyncio.gather(*both)) == [2, 2]
        assert len(runs) > len(both), "one of them was undone"
        assert await pool.fetch_raw("SELECT DISTINCT micros FROM spent") == [(2,)]


async def test_a_job_that_always_deadlocks_fails_after_some_attempts(
    server: PostgresServer,
) -> None:
    runs = []

    async def deadlock(connection: Connection) -> None:
        runs.append(connection)
        await connection.execute("DO $$ BEGIN RAISE deadlock_detected; END $$")

    async with opened(new_database(server), PoolLimits(connections=1)) as pool:
        with pytest.raises(StoreUnavailable, match="deadlock_detected"):
            await pool.with_connection(deadlock)
        assert len(runs) == DEADLOCK_TRIES


async def test_a_closed_pool_raises_an_error(server: PostgresServer) -> None:
    pool = postgres_database(new_database(server))
    with pytest.raises(StoreUnavailable, match="not open"):
        await pool.fetch_raw("SELECT 1")
    await pool.start()
    await pool.stop()
    await pool.stop()
    with pytest.raises(StoreUnavailable, match="not open"):
        await pool.fetch_raw("SELECT 1")


async def test_an_unreachable_server_is_a_clear_error(own_server: PostgresServer) -> None:
    url = own_server.url.replace("postgres@", "someone:pa55word@")
    own_server.stop()
    with pytest.raises(StoreUnavailable, match=r"cannot open PostgreSQL at 127.0.0.1") as caught:
        await postgres_database(url).start()
    assert "pa55word" not in str(caught.value)


def test_an_invalid_address_is_refused_without_being_shown() -> None:
    with pytest.raises(AddressInvalid, match=r"write postgresql://") as caught:
        postgres_database("postgresql://someone:pa55word@host:x:y/?what=ever")
    assert "pa55word" not in str(caught.value)
    assert caught.value.__cause__ is None
