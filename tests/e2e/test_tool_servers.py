"""Crashed MCP servers are reported in the log, the metrics and `/readyz`, and restarted; results of
their tools are stored without secrets."""

import asyncio
import io
import json
import logging
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import psutil
import pytest

from gateway.observe.logs import configure_logs
from parley.app import App
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import Lab, running
from tests.gateway.turn.test_mcp import PROGRAM, WebServer, children
from tests.support.waiting import eventually

SECRET = "ghp_" + "A7b9C2d4E6f8G1h3J5k7L9m2N4p6Q8r1S3t5"


@pytest.fixture
def web(tmp_path: Path) -> Iterator[WebServer]:
    server = WebServer(tmp_path / "port")
    server.start()
    yield server
    server.stop()


@asynccontextmanager
async def lab_with(folder: Path, servers: dict[str, object]) -> AsyncIterator[Lab]:
    telegram = TelegramSimulator()
    async with running({"telegram": telegram}, folder, {"mcp": {"servers": servers}}) as app:
        yield Lab(app, telegram)


def program() -> dict[str, object]:
    env = {"KEY": SECRET}
    return {"command": sys.executable, "args": [str(PROGRAM), "stdio"], "env": env}


async def told(app: App) -> dict[str, str]:
    """Return the report of `/readyz` about MCP servers; the program is ready in any case."""
    async with (
        aiohttp.ClientSession() as http,
        http.get(f"{app.local.base_url}/readyz") as answer,
    ):
        assert answer.status == 200
        problems = (await answer.json()).get("problems", {})
    return {name: text for name, text in problems.items() if name.startswith("tools: ")}


async def page(app: App) -> str:
    async with (
        aiohttp.ClientSession() as http,
        http.get(f"{app.local.base_url}/metrics") as answer,
    ):
        return await answer.text()


async def missing(app: App, *names: str) -> None:
    """Return once exactly these servers are missing."""

    async def as_expected() -> bool:
        return set(await told(app)) == {f"tools: {name}" for name in names}

    await eventually(as_expected)


async def connected(app: App, count: int) -> None:
    await eventually(lambda: sum(one.connected for one in app.services.toolbox.states()) >= count)


def lost(log: io.StringIO) -> set[str]:
    """The servers that the log calls unavailable."""
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    return {one["server"] for one in lines if one["event"] == "mcp_server_unavailable"}


async def test_killed_servers_are_reported_and_restarted(
    tmp_path: Path, web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.turn.mcp_connection.CHECK_SECONDS", 0.2)
    remote = {"url": web.url, "headers": {"X-Key": "sesame"}}
    log = io.StringIO()
    async with lab_with(tmp_path, {"near": program(), "far": remote}) as lab:
        configure_logs("json", logging.INFO, stream=log)
        await connected(lab.app, 2)
        assert 'parley_mcp_server_up{server="near"} 1.0' in await page(lab.app)
        assert await told(lab.app) == {}

        web.stop()
        for pid in children():
            psutil.Process(pid).kill()
        await eventually(lambda: lost(log) == {"near", "far"})
        await missing(lab.app, "far")  # the other one is started again within a second or two
        assert "until a retry succeeds" in (await told(lab.app))["tools: far"]
        figures = await page(lab.app)
        assert 'parley_mcp_server_up{server="far"} 0.0' in figures
        failures = [line for line in figures.splitlines() if line.startswith("parley_mcp_server_f")]
        assert all(float(line.split()[-1]) >= 1 for line in failures)
        assert len(failures) == 2

        await asyncio.to_thread(web.start)
        await missing(lab.app)
        await connected(lab.app, 2)
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    replies = [(one["event"], one.get("server")) for one in lines]
    assert replies.count(("mcp_server_unavailable", "near")) == 1
    assert ("mcp_server_connected", "far") in replies
    assert "sesame" not in log.getvalue()


async def test_a_missing_server_is_reported_and_the_rest_works(tmp_path: Path) -> None:
    gone = {"command": "/nonexistent/program"}
    async with lab_with(tmp_path, {"gone": gone}) as lab:
        await missing(lab.app, "gone")
        assert (await told(lab.app))["tools: gone"].startswith("the command was not found; ")
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        await lab.platform.say(ada, room, "hello")
        assert (await lab.answer(room)).text


async def test_a_rule_for_a_tool_that_a_server_does_not_have_is_logged(tmp_path: Path) -> None:
    log = io.StringIO()
    rules = {"tools": {"near__ad": {"role": "operator"}}}
    overrides = {"mcp": {"servers": {"near": program()}}, **rules}
    configure_logs("json", logging.WARNING, stream=log)  # before the server can connect
    async with running({"telegram": TelegramSimulator()}, tmp_path, overrides) as app:
        await connected(app, 1)
    (line,) = [json.loads(one) for one in log.getvalue().splitlines() if "tool_rule" in one]
    assert (line["rule"], line["nearest"]) == ("near__ad", "near__add")


async def test_a_secret_in_a_tool_result_is_not_stored(tmp_path: Path) -> None:
    async with lab_with(tmp_path, {"near": program()}) as lab:
        await connected(lab.app, 1)
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        await lab.platform.say(ada, room, 'use the tool near__environment with {"name": "KEY"}')
        assert SECRET in (await lab.answer(room)).text  # so that there is something to be kept
        await lab.idle()
        await lab.platform.say(ada, room, "and what was that?")
        await lab.answer(room, after=1)
        await lab.idle()
        await eventually(lambda: _remembered(lab))
    stored = everything(tmp_path / "parley.db")
    assert "[SECRET_REDACTED]" in stored
    assert SECRET not in stored


async def _remembered(lab: Lab) -> int:
    sql = "SELECT count(*) FROM memories"

    def read(db: sqlite3.Connection) -> int:
        return int(db.execute(sql).fetchone()[0])

    return await lab.app.storage.long_lived.run_job(read)


def everything(file: Path) -> str:
    """Every cell of every table, as a backup would take it along."""
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        cells: list[str] = []
        for (table,) in tables:
            try:
                rows = db.execute(f'SELECT * FROM "{table}"').fetchall()
            except sqlite3.OperationalError:
                continue  # a table of an extension's own
            cells += [
                cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)
                for row in rows
                for cell in row
            ]
    db.close()
    return "\n".join(cells)
