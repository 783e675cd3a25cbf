"""`parley doctor` checks Redis and PostgreSQL, with advice for each problem."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import yaml

from db.postgres import PoolLimits
from gateway.immutable import replace
from gateway.stores.hot_losses import KnownHotState
from gateway.stores.postgres_status import PostgresStatus
from parley.doctor.stores import EXTRA_CONNECTIONS, of_pair, of_postgres, of_redis
from tests.parley.cli.kit import parley
from tests.support.messages import AT
from tests.support.ports import free_port
from tests.support.servers import (
    PostgresServer,
    RedisServer,
    postgres_server,
    redis_server,
)

pytestmark = pytest.mark.xdist_group("databases")
GOOD = PostgresStatus("18.1", 180_001, True, True, 97, 12, "on", True, 0)


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server(fsync=True) as server:
        yield server


async def report(folder: Path, storage: str, database: str) -> list[str]:
    """The lines about servers, without their numbers."""
    config = folder / "parley.yaml"
    urls = {"storage": {"url": storage}, "database": {"url": database}}
    config.write_text(yaml.safe_dump({**urls, "server": {"port": 0}}))
    ended = await parley("doctor", "--config", "parley.yaml", cwd=folder)
    lines = [line.strip() for line in ended.out.splitlines()]
    about = ("Redis", "PostgreSQL", "What to do: Start it")
    return [
        line.partition(". ")[2] if line[:1].isdigit() else line
        for line in lines
        if any(word in line for word in about)
    ]


async def test_working_servers_pass(
    tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    lines = await report(tmp_path, redis.url, postgres.url)
    assert all(line.startswith("ok") for line in lines), lines
    assert [line.split(":")[1].strip() for line in lines] == [
        *("version", "persistence", "eviction"),
        *("version", "tables", "connections", "fsync", "vectors"),
    ]
    assert "appendfsync everysec: a power failure loses the last second" in lines[1]
    assert "created at the next start" in lines[4]


async def test_unreachable_servers_are_problems(tmp_path: Path) -> None:
    nobody = f"127.0.0.1:{free_port()}"
    lines = await report(tmp_path, f"redis://{nobody}/0", f"postgresql://p:secret@{nobody}/p")
    assert [line.split()[0] for line in lines] == ["BROKEN", "What", "BROKEN", "What"]
    assert "database.url: host, port, user and password" in lines[3]
    assert "secret" not in "".join(lines)


async def test_a_read_only_database_is_a_problem(
    tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute("ALTER ROLE reader SET default_transaction_read_only = on")
    lines = await report(tmp_path, redis.url, postgres.url.replace("postgres@", "reader@"))
    assert any("PostgreSQL: tables: it is read-only" in line for line in lines), lines


@pytest.mark.parametrize(
    ("told", "given", "statuses"),
    [
        ({"aof_enabled": 1}, {"appendfsync": "always"}, ["ok", "ok", "ok"]),
        ({"aof_enabled": 1}, {}, ["ok", "ok", "ok"]),
        ({"aof_enabled": 1}, {"appendfsync": "no"}, ["ok", "note", "ok"]),
        ({"aof_enabled": 0}, {"appendfsync": "everysec"}, ["ok", "broken", "ok"]),
        ({"aof_enabled": 1, "maxmemory_policy": "allkeys-lru"}, {}, ["ok", "ok", "broken"]),
        ({"aof_enabled": 1, "redis_version": "5.0.7"}, {}, ["broken", "ok", "ok"]),
    ],
)
def test_the_settings_of_redis_are_reported(
    told: dict[str, object], given: dict[str, str], statuses: list[str]
) -> None:
    sound = {"redis_version": "7.2.4", "maxmemory_policy": "noeviction"}
    result = of_redis({**sound, **told}, given)
    assert [finding.status for finding in result] == statuses
    assert all(finding.advice for finding in result if finding.status != "ok")


@pytest.mark.parametrize(
    ("standing", "name", "status"),
    [
        (replace(GOOD, version_number=130_000), "version", "broken"),
        (replace(GOOD, missing=3, may_create=False), "tables", "broken"),
        (replace(GOOD, missing=3), "tables", "ok"),
        (replace(GOOD, connections=20), "connections", "note"),
        (replace(GOOD, synchronous_commit="off"), "fsync", "note"),
        (replace(GOOD, fsync=False), "fsync", "broken"),
    ],
)
def test_the_settings_of_postgresql_are_reported(
    standing: PostgresStatus, name: str, status: str
) -> None:
    results = {finding.name: finding for finding in of_postgres(standing)}[f"PostgreSQL: {name}"]
    assert results.status == status
    assert results.status == "ok" or results.advice


def test_the_connections_of_all_processes_are_compared_with_the_server() -> None:
    (found,) = [f for f in of_postgres(GOOD, 4, 10) if f.name == "PostgreSQL: connections"]
    assert found.status == "ok"
    assert all(number in found.detail for number in ("4 processes", "64", "97", "12"))
    (found,) = [f for f in of_postgres(GOOD, 6, 10) if f.name == "PostgreSQL: connections"]
    assert found.status == "note"
    assert "104" in found.advice
    assert PoolLimits().extra == EXTRA_CONNECTIONS


@pytest.mark.parametrize(
    ("epoch", "mark", "status"),
    [("e1", "7", "ok"), ("e1", "9", "ok"), ("e1", "6", "broken"), ("e2", "9", "broken")],
)
def test_a_redis_that_lost_its_data_is_reported(epoch: str, mark: str, status: str) -> None:
    known = KnownHotState("e1", 7, AT, 0, 0, moved=False)
    found = of_pair(known, epoch, mark)
    assert found.status == status
    assert found.status == "ok" or found.advice
    assert of_pair(known, "", "0").status == "broken"
