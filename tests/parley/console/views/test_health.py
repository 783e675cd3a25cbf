"""Checks, the log of a message and backups from the console."""

import asyncio
import sqlite3
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import BadInput
from gateway.ports.clock import SystemClock
from parley.config.overrides import REMOVE, Override
from parley.console.views import health as view
from parley.doctor.machine import Finding
from tests.parley.console.kit import (
    OPERATOR,
    OWNER,
    PERSON,
    Console,
    console_in,
    console_settings,
)
from tests.parley.console.talk import ROOM, Talk, direct
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually


async def health(console: Console, name: str, query: str = "") -> dict[str, Any]:
    answer = await console.program.api_client(name)("GET", f"/console/health{query}")
    assert answer.status == 200, answer.json
    found: dict[str, Any] = answer.json
    return found


async def ended(console: Console, part: str) -> dict[str, Any]:
    """Wait for the end of a job of the owner."""
    found: dict[str, Any] = {}

    async def done() -> bool:
        found.update((await health(console, OWNER))[part])
        return found["state"] in ("done", "failed")

    await eventually(done)
    return found


async def test_operators_run_the_checks_and_see_the_next_step(either_console: Console) -> None:
    client, live = either_console.signed_in(OPERATOR), either_console.app.configuration
    live.state = await live.with_overrides([Override(("limits", "user_per_minute"), -1)])
    assert (await health(either_console, OPERATOR))["checks"]["state"] == "never"
    assert (await client("POST", "/console/health/check")).status == 200
    found = await ended(either_console, "checks")
    assert (found["state"], found["problem"]) == ("done", "")
    names = {one["name"]: one for one in found["findings"]}
    assert {"Python", "SQLite", "local listener", "model: offline"} <= set(names)
    assert names["model: offline"]["advice"].startswith("Set ANTHROPIC_API_KEY")
    assert names["Python"]["advice"] == ""
    wrong = "limits.user_per_minute = -1: should be at least 0. It is ignored."
    assert (names["override"]["detail"], names["override"]["advice"]) == (wrong, REMOVE.english)
    olga = await either_console.visitor(OPERATOR)
    page = await olga.get("/health")
    assert "Set ANTHROPIC_API_KEY" in page.text
    again = await client("POST", "/console/health/check")
    assert (again.status, again.code) == (409, "too_soon")
    refused = await olga.post("/health/check")
    assert "ran less than five minutes ago" in refused.text


async def test_the_checks_run_one_at_a_time_and_end_with_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, refused = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    async def slow(*_: object) -> list[Finding]:  # in a thread of its own
        loop.call_soon_threadsafe(begun.set)
        refused.wait(PATIENCE)
        return [Finding("broken", "x", "y", "<b>z</b>")]

    monkeypatch.setattr(view, "contact", slow)
    monkeypatch.setattr(view, "CHECKS_EVERY", timedelta(0))
    async with console_in(console_settings(tmp_path)) as console:
        olga = await console.visitor(OPERATOR)
        started = await olga.post("/health/check")
        assert started.location == "/console/health/progress"
        async with asyncio.timeout(30):
            await begun.wait()
        page = await olga.get("/health/progress")
        assert 'hx-trigger="every 1s"' in page.text
        second = await console.signed_in(OPERATOR)("POST", "/console/health/check")
        assert (second.status, second.code) == (409, "running")
        refused.set()
        await ended(console, "checks")
        page = await olga.get("/health/progress")
        assert 'hx-trigger="every 1s"' not in page.text
        assert "&lt;b&gt;z&lt;/b&gt;" in page.text


async def test_the_log_of_a_message_is_found_by_its_id(either_console: Console) -> None:
    talk = Talk(either_console.app)
    turn = await talk(direct(PERSON), PERSON, "a private question")
    await talk(ROOM, PERSON, "another", tenant="other")
    found = await health(either_console, OPERATOR, "?message=m1")
    (log,) = found["logs"]
    assert (log["turn"], log["platform"]) == (turn, "web")
    assert [line["part"] for line in log["lines"]][-1] == "outcome"
    assert "private question" not in str(found)
    assert (await health(either_console, OPERATOR, "?message=m2"))["logs"] == []
    olga = await either_console.visitor(OPERATOR)
    page = await olga.get("/health?message=m1")
    assert f"/conversations/{turn}/message" in page.text
    assert "journalctl -u parley" in page.text
    page = await olga.get("/health?message=nothing")
    assert "No record of this message is stored." in page.text
    assert (await (await either_console.visitor(PERSON)).get("/health?message=m1")).status == 403


async def test_an_owner_backs_up_and_the_copy_is_sound(tmp_path: Path) -> None:
    async with console_in(console_settings(tmp_path)) as console:
        await Talk(console.app)(direct(PERSON), PERSON, "kept")
        assert (await health(console, OPERATOR))["backup"] is None
        refused = await console.signed_in(OPERATOR)("POST", "/console/health/backup")
        assert refused.status == 403
        oona = await console.visitor(OWNER)
        assert (await oona.post("/health/backup")).status == 303
        found = await ended(console, "backup")
        assert (found["state"], found["problem"]) == ("done", "")
        copy = Path(found["files"][0]["path"])
        assert copy.parent == Path(found["folder"])
        assert copy.stat().st_mode & 0o777 == 0o600
        with closing(sqlite3.connect(copy)) as db:
            assert db.execute("SELECT count(*) FROM traces").fetchone() == (1,)
        page = await oona.get("/health")
        assert str(copy) in page.text


async def test_a_backup_is_refused_without_space_a_file_or_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console_in(console_settings(tmp_path)) as console:
        client = console.signed_in(OWNER)
        folder = view.folder_of(console.app.settings)
        assert folder is not None
        folder.mkdir()
        for number in range(view.MAX_BACKUPS):
            (folder / f"parley-{number}.db").write_text("")
        full = await client("POST", "/console/health/backup")
        assert (full.status, "holds 10 backups already" in str(full.json)) == (422, True)
        (folder / "parley-0.db").unlink()
        monkeypatch.setattr(view, "SPARE", 1e12)
        small = await client("POST", "/console/health/backup")
        assert (small.status, "and the backup needs" in str(small.json)) == (422, True)
        assert (await health(console, OWNER))["backup"]["state"] == "never"
    at = SystemClock().now()
    elsewhere = console_settings(tmp_path, database={"url": "postgresql://x@localhost/y"})
    with pytest.raises(BadInput, match="pg_dump"):
        view.new_file(elsewhere, at)
