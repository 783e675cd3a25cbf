"""`parley doctor`, against simulated platforms and a simulated model."""

import asyncio
import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from aiohttp import web

from gateway.commands.catalogue import APPROVE, CATCHUP, REMINDERS, VOICE
from parley.cli.doctor import check_running, report
from parley.config import Settings, from_mapping
from parley.doctor.machine import Finding
from parley.doctor.models import check_models
from parley.http.health_endpoints import Readiness
from parley.http.local_listener import LocalListener
from parley.wiring.accounts import every_command
from simulators.anthropic import AnthropicSimulator
from simulators.base import PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.openai.server import OpenAISimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.e2e.harness import app_on, simulated
from tests.parley.cli.kit import parley, read_until, started
from tests.support.ports import free_port

PLATFORMS: dict[str, Callable[[], PlatformSimulator]] = {
    "discord": DiscordSimulator,
    "slack": SlackSimulator,
    "telegram": TelegramSimulator,
    "whatsapp": WhatsAppSimulator,
}
CREDENTIAL = {
    "discord": "token",
    "slack": "bot_token",
    "telegram": "bot_token",
    "whatsapp": "access_token",
}
WRONG = {
    "discord": "MTIzNDU2Nzg5MDEyMzQ1Njc4.wrong.token",
    "slack": "xoxb-wrong",
    "telegram": "7000000009:wrong-wrong-wrong-wrong-wrong-wrong",
    "whatsapp": "EAAwrong",
}

TOKEN = "a-token-of-decent-length"


def write(folder: Path, settings: dict[str, object]) -> None:
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "parley.yaml").write_text(yaml.safe_dump(settings))


def test_the_report_numbers_its_lines_and_gives_advice_only_for_problems() -> None:
    text = report(
        [
            Finding("ok", "Python", "3.12.1", "nothing"),
            Finding("note", "model", "none", "Set a key."),
            Finding("broken", "slack: scopes", "chat:write is missing", "Reinstall the app."),
        ]
    )
    assert text == (
        "  1. ok      Python: 3.12.1\n"
        "  2. note    model: none\n"
        "             What to do: Set a key.\n"
        "  3. BROKEN  slack: scopes: chat:write is missing\n"
        "             What to do: Reinstall the app.\n"
        "1 ok, 1 note, 1 broken.\n"
    )


async def test_a_new_folder_has_notes_and_no_problems(tmp_path: Path) -> None:
    ended = await parley("doctor", cwd=tmp_path)
    assert (ended.status, ended.err) == (0, "")
    assert "Set ANTHROPIC_API_KEY" in ended.out
    assert "Run `parley init` to set one up." in ended.out
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("name", list(PLATFORMS))
async def test_valid_credentials_pass_and_wrong_ones_are_problems(
    tmp_path: Path, name: str
) -> None:
    simulator = PLATFORMS[name]()
    await simulator.start()
    try:
        right = simulator.settings()
        write(tmp_path, {"platforms": {name: right}})
        fine = await parley("doctor", cwd=tmp_path)
        write(tmp_path, {"platforms": {name: {**right, CREDENTIAL[name]: WRONG[name]}}})
        broken = await parley("doctor", cwd=tmp_path)
    finally:
        await simulator.stop()
    assert re.search(rf"\d+\. (ok|note) +{name}: ", fine.out)
    assert (fine.status, "BROKEN" in fine.out) == (0, False)
    assert re.search(rf"\d+\. BROKEN +{name}: .*\n +What to do: \S", broken.out)
    assert broken.status == 1
    assert WRONG[name] not in broken.out + broken.err


async def test_the_expected_commands_are_those_that_run_registers(tmp_path: Path) -> None:
    discord = DiscordSimulator()
    await discord.start()
    try:
        settings = {"platforms": {"discord": discord.settings()}, "server": {"port": 0}}
        write(tmp_path, settings)
        before = await parley("doctor", cwd=tmp_path)
        async with started("run", cwd=tmp_path) as process:
            await read_until(process.stdout, "ready gateway")
            after = await parley("doctor", cwd=tmp_path)
    finally:
        await discord.stop()
    off = (APPROVE, CATCHUP, REMINDERS, VOICE)
    offered = [one for one in every_command() if one.name not in {out.name for out in off}]
    assert "note    discord: commands: not registered everywhere" in before.out
    assert f"ok      discord: commands: {len(offered)} registered everywhere" in after.out
    assert (before.status, after.status) == (0, 0)


async def test_an_unavailable_platform_is_a_problem(tmp_path: Path) -> None:
    simulator = TelegramSimulator()
    await simulator.start()
    settings = simulator.settings()
    await simulator.stop()
    write(tmp_path, {"platforms": {"telegram": settings}})
    ended = await parley("doctor", cwd=tmp_path)
    assert ended.status == 1
    assert "BROKEN  telegram: " in ended.out


async def test_every_problem_of_the_configuration_is_one_line(tmp_path: Path) -> None:
    write(tmp_path, {"limit": {}, "platforms": {"slack": {"bot_token": "${NOPE}"}}})
    ended = await parley("doctor", cwd=tmp_path)
    assert ended.status == 1
    assert 'What to do: Did you mean "limits"?' in ended.out
    assert "refers to ${NOPE}, which is not set." in ended.out


async def test_a_listener_beyond_loopback_without_a_token_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, {"server": {"host": "0.0.0.0"}})
    ended = await parley("doctor", cwd=tmp_path)
    assert ended.status == 1
    assert "BROKEN  configuration: server" in ended.out
    assert "needs token" in ended.out


@pytest.mark.parametrize(
    ("key", "name", "status", "said"),
    [
        ("test-key", "", 0, "claude-sonnet-5-5 answers, in "),
        ("wrong-key", "", 1, "the key is refused (HTTP 401)"),
        ("test-key", "claude-of-yesterday", 1, "the model claude-of-yesterday does not exist"),
    ],
)
async def test_the_key_and_name_of_the_model_are_tested(
    tmp_path: Path, key: str, name: str, status: int, said: str
) -> None:
    model = AnthropicSimulator()
    await model.start()
    write(tmp_path, {"model": {"provider": "anthropic", "name": name, "base_url": model.base_url}})
    ended = await parley("doctor", cwd=tmp_path, env={"ANTHROPIC_API_KEY": key})
    await model.stop()
    assert said in ended.out
    assert ended.status == status
    assert key not in ended.out


async def test_a_self_hosted_server_needs_neither_a_key_nor_a_model_list(
    tmp_path: Path,
) -> None:
    model = OpenAISimulator(api_key="", lists_models=False)
    await model.start()
    name = model.models[0]
    section = {"provider": "openai", "name": name, "base_url": model.base_url}
    write(tmp_path, {"model": section})
    ended = await parley("doctor", cwd=tmp_path)
    await model.stop()
    assert f"ok      model: openai: {name} answers, in " in ended.out
    assert " tokens)" in ended.out
    assert ended.status == 0


async def test_a_model_without_an_answer_is_a_problem(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9"
    write(tmp_path, {"model": {"provider": "openai", "name": "m", "base_url": url}})
    ended = await parley("doctor", cwd=tmp_path)
    assert ended.status == 1
    assert f"{url} is not reachable" in ended.out


async def test_secrets_readable_by_others_are_noted(tmp_path: Path) -> None:
    write(tmp_path, {})
    secrets = tmp_path / "config" / ".env"
    secrets.write_text("A=b\n")
    secrets.chmod(0o644)
    assert "chmod 600 config/.env" in (await parley("doctor", cwd=tmp_path)).out
    secrets.chmod(0o600)
    assert "readable by you alone" in (await parley("doctor", cwd=tmp_path)).out


async def test_a_database_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "parley.db").write_text("this is no database, but long enough to be read")
    ended = await parley("doctor", cwd=tmp_path)
    assert ended.status == 1
    assert "BROKEN  database: data/parley.db: file is not a database" in ended.out


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
async def test_a_folder_that_cannot_be_written_is_a_problem(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    ended = await parley("doctor", cwd=tmp_path)
    tmp_path.chmod(0o700)
    assert "cannot be written" in ended.out


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
        assert await findings(port) == [Finding("ok", "running", "the program is ready")]


async def test_quarantined_work_of_a_ready_program_is_reported() -> None:
    problems = {"quarantine": "1 in quarantine, not begun any more"}
    listener = LocalListener(ready=lambda: Readiness(True, {"gateway": "ready"}, problems))
    await listener.start()
    _, note = await findings(listener.port)
    assert (note.status, note.name) == ("note", "running: quarantine")
    assert note.detail == problems["quarantine"]
    await listener.stop()


async def test_a_failing_model_of_a_ready_program_is_named_once() -> None:
    problems = {
        "model: m": "m has given no answer",
        "model finding 1: m": "m takes no tools. Setting: model.without: [tools]",
    }
    listener = LocalListener(ready=lambda: Readiness(True, {"gateway": "ready"}, problems))
    await listener.start()
    _, failing, found = await findings(listener.port)
    assert (failing.name, failing.detail) == ("running", problems["model: m"])
    assert (found.name, found.detail) == ("running", problems["model finding 1: m"])
    await listener.stop()


async def test_the_advice_about_a_fallback_names_the_settings_of_the_fallback() -> None:
    dead = {"provider": "openai", "name": "m", "base_url": f"http://127.0.0.1:{free_port()}/v1"}
    config = from_mapping({"model": {**dead, "fallbacks": [dead]}})
    first, fallback = await check_models(config)
    assert "model.base_url" in first.advice
    assert fallback.name == "model.fallbacks[0]: openai"
    assert "model.fallbacks[0].base_url" in fallback.advice


async def test_each_part_that_is_not_ready_is_a_problem_with_its_reason() -> None:
    state = Readiness(
        False,
        {"gateway": "ready", "slack": "unresponsive", "storage": "unavailable"},
        {"slack": "no ping was answered for 60 s"},
    )
    listener = LocalListener(token=TOKEN, ready=lambda: state)
    await listener.start()
    result = await findings(listener.port, TOKEN)
    assert [(f.status, f.name, f.detail) for f in result] == [
        ("broken", "running: slack", "unresponsive. no ping was answered for 60 s"),
        ("broken", "running: storage", "unavailable."),
    ]
    (strange,) = await findings(listener.port)
    assert strange.status == "note"
    assert "server.token" in strange.advice
    await listener.stop()


async def test_a_program_that_does_not_run_is_reported() -> None:
    (result,) = await findings(free_port())
    assert result.status == "ok"
    assert "no Parley answers" in result.detail
    assert check_running(settings(0)) == []


async def test_a_port_used_by_another_program_is_a_problem() -> None:
    async def hello(_: web.BaseRequest) -> web.Response:
        return web.Response(text="hello")

    runner = web.ServerRunner(web.Server(hello))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    (result,) = await findings(site.port)
    await runner.cleanup()
    assert result.status == "broken"
    assert f"cannot listen on 127.0.0.1:{site.port}" in result.detail
    assert "server.port" in result.advice


def test_a_webhook_port_used_by_another_program_is_a_note() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        config = {"server": {"port": free_port()}, "webhooks": {"port": port}}
        nobody, taken = check_running(from_mapping(config))
    assert nobody.status == "ok"
    assert (taken.status, taken.name) == ("note", "public listener")
    assert "webhooks.port" in taken.advice
