"""The doctor asks a running Parley how it is."""

import asyncio
import socket
from pathlib import Path

from aiohttp import web

from parley.cli.doctor.checks import Finding
from parley.cli.doctor.running import check_running
from parley.config import Settings, from_mapping
from parley.http.local_listener import LocalListener, Readiness
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import app_on, simulated
from tests.support.ports import free_port

TOKEN = "a-token-of-decent-length"


def settings(port: int, token: str | None = None) -> Settings:
    server = {"port": port, **({"token": token} if token else {})}
    return from_mapping({"server": server, "webhooks": {"port": 0}})


async def findings(port: int, token: str | None = None) -> list[Finding]:
    return await asyncio.to_thread(check_running, settings(port, token))


async def test_a_running_program_that_is_ready_is_reported(tmp_path: Path) -> None:
    port = free_port()
    platforms = {"telegram": TelegramSimulator()}
    async with (
        simulated(platforms) as hooks,
        app_on(platforms, tmp_path, hooks, {"server": {"port": port}}),
    ):
        assert await findings(port) == [Finding("ok", "running", "it is ready")]


async def test_quarantined_work_of_a_ready_program_is_reported() -> None:
    problems = {"quarantine": "1 in quarantine, not begun any more"}
    listener = LocalListener(ready=lambda: Readiness(True, {"gateway": "ready"}, problems))
    await listener.start()
    _, note = await findings(listener.port)
    assert (note.status, note.name) == ("note", "running: quarantine")
    assert note.detail == problems["quarantine"]
    await listener.stop()


async def test_each_part_that_is_not_ready_is_a_problem_with_its_reason() -> None:
    state = Readiness(
        False,
        {"gateway": "ready", "slack": "deaf", "storage": "unavailable"},
        {"slack": "no ping was answered for 60 s"},
    )
    listener = LocalListener(token=TOKEN, ready=lambda: state)
    await listener.start()
    found = await findings(listener.port, TOKEN)
    assert [(f.status, f.name, f.detail) for f in found] == [
        ("broken", "running: slack", "deaf. no ping was answered for 60 s"),
        ("broken", "running: storage", "unavailable."),
    ]
    (strange,) = await findings(listener.port)
    assert strange.status == "note"
    assert "server.token" in strange.advice
    await listener.stop()


async def test_a_program_that_does_not_run_is_reported() -> None:
    (found,) = await findings(free_port())
    assert found.status == "ok"
    assert "no Parley answers" in found.detail
    assert check_running(settings(0)) == []


async def test_a_port_used_by_another_program_is_a_problem() -> None:
    async def hello(_: web.BaseRequest) -> web.Response:
        return web.Response(text="hello")

    runner = web.ServerRunner(web.Server(hello))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    (found,) = await findings(site.port)
    await runner.cleanup()
    assert found.status == "broken"
    assert f"cannot listen on 127.0.0.1:{site.port}" in found.detail
    assert "server.port" in found.advice


def test_a_webhook_port_used_by_another_program_is_a_note() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        config = {"server": {"port": free_port()}, "webhooks": {"port": port}}
        nobody, taken = check_running(from_mapping(config))
    assert nobody.status == "ok"
    assert (taken.status, taken.name) == ("note", "public listener")
    assert "webhooks.port" in taken.advice
