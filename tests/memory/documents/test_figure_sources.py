"""Figures over HTTP, from SQLite and from PostgreSQL: results, and forbidden actions."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from datetime import datetime
from pathlib import Path

import psycopg
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from db.errors import StoreUnavailable
from gateway.errors import ConfigurationError
from gateway.ports import ProjectActivity
from memory.documents.figure_sources import (
    PERIOD,
    GatewaySource,
    HttpSource,
    PostgresSource,
    SourceFailed,
    SqliteSource,
)
from tests.support.clock import FakeClock
from tests.support.databases import new_database
from tests.support.patience import PATIENCE
from tests.support.servers import PostgresServer

Answering = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def served(answer: Answering) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    async with TestServer(app) as server:
        yield str(server.make_url("/figures.json"))


def answering(body: str | bytes, status: int = 200) -> Answering:
    async def answer(_request: web.Request) -> web.Response:
        data = body.encode() if isinstance(body, str) else body
        return web.Response(body=data, status=status, content_type="application/json")

    return answer


# --- HTTP ---------------------------------------------------------------------------------------


async def test_an_object_is_fetched_with_the_token() -> None:
    seen: list[str | None] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization"))
        return web.json_response({"members": 142, "mrr": {"usd": 4850.5}})

    async with served(answer) as url:
        source = HttpSource(url, "figures-token", allow_private=True)
        assert await source.figures() == {"members": 142, "mrr": {"usd": 4850.5}}
    assert seen == ["Bearer figures-token"]


async def test_a_private_network_is_reached_only_if_configured() -> None:
    async with served(answering("{}")) as url:
        with pytest.raises(SourceFailed, match="not a public address"):
            await HttpSource(url).figures()


async def test_a_redirect_to_another_host_is_not_followed() -> None:
    questions: list[str] = []

    async def elsewhere(request: web.Request) -> web.Response:
        questions.append(request.path)
        return web.json_response({"members": 1})

    async with served(elsewhere) as other:

        async def redirect(_request: web.Request) -> web.Response:
            raise web.HTTPFound(other)

        async with served(redirect) as url:
            with pytest.raises(SourceFailed, match="not one of the allowed hosts"):
                await HttpSource(url, "token", allow_private=True).figures()
    assert questions == []


@pytest.mark.parametrize("url", ["http://169.254.169.254/latest", "http://[fd00:ec2::254]/"])
async def test_a_metadata_service_is_never_reached(url: str) -> None:
    with pytest.raises(SourceFailed):
        await HttpSource(url, allow_private=True).figures()


@pytest.mark.parametrize("url", ["http://0x7f000001/", "http://2130706433/", "http://127.1/"])
def test_an_unusual_spelling_of_a_host_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="heartbeat"):
        HttpSource(url, allow_private=True)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (answering("nonsense"), "did not answer with JSON"),
        (answering("[" * 50_000), "did not answer with JSON"),
        (answering('{"members": NaN}'), "did not answer with JSON"),
        (answering("9" * 5_000), "did not answer with JSON"),
        (answering(b"\xff\xfe"), "did not answer with JSON"),
        (answering("[1, 2]"), "not an object"),
        (answering("{}", 500), "status 500"),
        (answering("x" * 70_000), "larger than"),
    ],
)
async def test_an_invalid_response_is_a_failure_with_a_reason(
    answer: Answering, words: str
) -> None:
    async with served(answer) as url:
        with pytest.raises(SourceFailed, match=words):
            await HttpSource(url, allow_private=True).figures()


async def test_a_failure_contains_neither_path_nor_token() -> None:
    async with served(answering("nonsense")) as url:
        with pytest.raises(SourceFailed) as failed:
            await HttpSource(f"{url}?key=abc", "figures-token", allow_private=True).figures()
    assert "key" not in str(failed.value)
    assert "token" not in str(failed.value)


# --- SQLite -------------------------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "the shop's #1?.db"
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE members (name TEXT)")
        database.executemany("INSERT INTO members VALUES (?)", [("ada",), ("bob",)])
        database.commit()
    return file


async def test_the_first_row_of_a_query_is_the_figures(shop: Path) -> None:
    query = "SELECT count(*) AS members, 4850.5 AS mrr FROM members UNION ALL SELECT 7, 8;"
    assert await SqliteSource(str(shop), query).figures() == {"members": 2, "mrr": 4850.5}


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM members",
        "INSERT INTO members VALUES ('eve') RETURNING name",
        "SELECT 1; DELETE FROM members",
        "DROP TABLE members",
        "ATTACH DATABASE '/etc/passwd' AS other",
        "PRAGMA writable_schema = 1",
        "VACUUM INTO 'COPY'",
        "BEGIN EXCLUSIVE",
        "SELECT load_extension('evil')",
        "nonsense",
        "",
    ],
)
async def test_only_one_select_is_run_in_sqlite(shop: Path, query: str) -> None:
    copy = shop.with_name("copy.db")
    with pytest.raises(SourceFailed):
        await SqliteSource(str(shop), query.replace("COPY", str(copy))).figures()
    assert not copy.exists()
    with closing(sqlite3.connect(shop)) as database:
        assert database.execute("SELECT count(*) FROM members").fetchone() == (2,)


async def test_a_query_without_end_is_stopped(shop: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with pytest.raises(SourceFailed, match="interrupted"):
        await SqliteSource(str(shop), endless, seconds=0.2).figures()


async def test_a_value_that_is_too_large_is_refused(shop: Path) -> None:
    with pytest.raises(SourceFailed, match="too big"):
        await SqliteSource(str(shop), "SELECT zeroblob(200000) AS x").figures()


async def test_a_missing_row_or_file_is_a_failure(shop: Path) -> None:
    with pytest.raises(SourceFailed, match="no row"):
        await SqliteSource(str(shop), "SELECT name FROM members WHERE false").figures()
    missing = shop.with_name("missing.db")
    with pytest.raises(SourceFailed, match="unable to open"):
        await SqliteSource(str(missing), "SELECT 1 AS one").figures()
    assert not missing.exists()


# --- PostgreSQL ---------------------------------------------------------------------------------


@pytest.fixture
async def warehouse(postgres: PostgresServer) -> str:
    url = new_database(postgres)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("CREATE TABLE members (name text)")
        await connection.execute("INSERT INTO members VALUES ('ada'), ('bob')")
        await connection.execute(
            "CREATE FUNCTION forget() RETURNS bigint LANGUAGE sql"
            " AS $$ DELETE FROM members; SELECT 1::bigint $$"
        )
    return url


@pytest.mark.xdist_group("postgres")
async def test_the_first_row_of_a_query_in_postgres_is_the_figures(warehouse: str) -> None:
    query = "SELECT count(*) AS members, 48.5 AS mrr, '100%' AS up FROM members;"
    result = await PostgresSource(warehouse, query).figures()
    assert {name: str(value) for name, value in result.items()} == {
        "members": "2",
        "mrr": "48.5",
        "up": "100%",
    }
    thousands = ", ".join(f"generate_series(1, 3000) AS {name}" for name in "abc")
    many = f"SELECT a AS number FROM {thousands}"
    assert await PostgresSource(warehouse, many, seconds=PATIENCE).figures() == {"number": 1}


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM members",
        "INSERT INTO members VALUES ('eve') RETURNING name",
        "WITH gone AS (DELETE FROM members RETURNING name) SELECT count(*) FROM gone",
        "SELECT 1; DELETE FROM members",
        "SELECT 1; COMMIT; DELETE FROM members",
        "SELECT forget()",
        "COMMIT",
        "SET TRANSACTION READ WRITE",
        "nonsense",
        "SELECT name FROM members WHERE false",
    ],
)
async def test_only_one_select_is_run_in_postgres(warehouse: str, query: str) -> None:
    with pytest.raises(SourceFailed):
        await PostgresSource(warehouse, query).figures()
    async with await psycopg.AsyncConnection.connect(warehouse) as connection:
        row = await (await connection.execute("SELECT count(*) FROM members")).fetchone()
    assert row == (2,)


@pytest.mark.xdist_group("postgres")
async def test_a_slow_query_is_stopped_by_the_server(
    warehouse: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.documents.figure_sources.ON_THE_WAY", PATIENCE)
    with pytest.raises(SourceFailed, match="statement timeout"):
        await PostgresSource(warehouse, "SELECT pg_sleep(30)", seconds=1).figures()


async def test_an_unreachable_server_is_a_failure_without_its_password() -> None:
    url = "postgresql://reader:figures-password@127.0.0.1:9/shop"
    with pytest.raises(SourceFailed) as failed:
        await PostgresSource(url, "SELECT 1", seconds=2).figures()
    assert "figures-password" not in str(failed.value)


# --- the gateway --------------------------------------------------------------------------------


class Log:
    """Implements `gateway.ports.ActivityLog`."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, datetime]] = []
        self.away = False

    async def of_project(self, tenant: str, project: str, since: datetime) -> ProjectActivity:
        if self.away:
            raise StoreUnavailable("the database is away")
        self.asked.append((tenant, project, since))
        return ProjectActivity(42, 5, 12_345, 1_234_567)


async def test_the_gateway_reports_its_last_seven_days() -> None:
    log, clock = Log(), FakeClock()
    source = GatewaySource(log, "t", "slack:main:T1", clock)
    assert list((await source.figures()).values()) == [42, 5, 12_345, 1.23]
    assert log.asked == [("t", "slack:main:T1", clock.now() - PERIOD)]
    log.away = True
    with pytest.raises(SourceFailed, match="away"):
        await source.figures()
