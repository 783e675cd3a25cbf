"""The program connects to nothing that its configuration does not name: there is no telemetry.

Audit hooks of the interpreter write down each connection and each name that the program looks up.
"""

import json
import os
from pathlib import Path

import psutil
import pytest

from simulators.anthropic import AnthropicSimulator
from simulators.base import PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.e2e.harness import by_bot, configuration, simulated
from tests.e2e.test_program import end, lines_until, written
from tests.parley.cli.kit import ROOT, started_alone
from tests.support.patience import PATIENCE

HOOK = """\
import json, os, sys
def noted(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        target = arguments[1]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        target = arguments[0]
    else:
        return
    if isinstance(target, tuple):
        target = list(target[:2])
    if isinstance(target, bytes):
        target = target.decode("ascii", "replace")
    log = os.open(os.environ["CONNECTIONS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(log, json.dumps([event, target]).encode() + b"\\n")
    os.close(log)
sys.addaudithook(noted)
"""
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def listening() -> set[int]:
    """The ports of the simulators, which run in this process."""
    return {
        one.laddr.port
        for one in psutil.Process().net_connections()
        if one.status == psutil.CONN_LISTEN
    }


def watched(folder: Path) -> dict[str, str]:
    """An environment in which each connection of a program is written to a file."""
    (folder / "hook").mkdir()
    (folder / "hook" / "sitecustomize.py").write_text(HOOK)
    return {
        "PYTHONPATH": f"{folder / 'hook'}{os.pathsep}{ROOT}",
        "CONNECTIONS": str(folder / "connections"),
    }


def connections(folder: Path) -> list[tuple[str, object]]:
    """The connections and look-ups so far."""
    log = folder / "connections"
    lines = log.read_text().splitlines() if log.exists() else []
    return [tuple(json.loads(line)) for line in lines]


def is_configured(event: str, target: object, ports: set[int]) -> bool:
    """True for a port of a simulator on this machine, and for a name of this machine."""
    if event == "socket.connect" and isinstance(target, list):
        return target[0] in LOOPBACK and target[1] in ports
    return event == "socket.getaddrinfo" and target in LOOPBACK


@pytest.mark.parametrize("with_model", [False, True], ids=["offline", "anthropic"])
async def test_the_program_connects_only_to_what_is_configured(
    tmp_path: Path, *, with_model: bool
) -> None:
    platforms: dict[str, PlatformSimulator] = {
        "discord": DiscordSimulator(),
        "slack": SlackSimulator(),
        "telegram": TelegramSimulator(),
        "whatsapp": WhatsAppSimulator(),
    }
    model = AnthropicSimulator()
    await model.start()
    try:
        async with simulated(platforms) as port:
            section = {"provider": "anthropic", "api_key": model.api_key}
            more = {"model": {**section, "base_url": model.base_url}} if with_model else {}
            config = written(tmp_path, configuration(platforms, tmp_path, port, more))
            arguments = ("run", "--config", config)
            async with started_alone(*arguments, cwd=tmp_path, env=watched(tmp_path)) as process:
                await lines_until(process, "ready gateway")
                for platform in platforms.values():
                    await platform.wait_connected()
                    ada = platform.person("Ada")
                    room = platform.direct(ada)
                    await platform.say(ada, room, "/remember I prefer tabs")
                    await platform.say(ada, room, "What do I prefer?")
                    await platform.wait_for(room, lambda seen: len(by_bot(seen)) > 1, PATIENCE)
                ports = listening()
                assert await end(process) == 0
    finally:
        await model.stop()
    seen = connections(tmp_path)
    assert {event for event, _ in seen} >= {"socket.connect"}, "the hook sees connections"
    assert bool(model.requests) is with_model
    assert [one for one in seen if not is_configured(*one, ports)] == []


async def test_without_a_platform_account_and_a_model_it_connects_to_nothing(
    tmp_path: Path,
) -> None:
    settings = {
        "model": {"provider": "offline"},
        "platforms": {"web": {"enabled": True}},
        "database": {"url": f"sqlite:///{tmp_path}/parley.db"},
        "server": {"port": 0},
        "webhooks": {"port": 0},
    }
    config = written(tmp_path, settings)
    arguments = ("run", "--config", config)
    async with started_alone(*arguments, cwd=tmp_path, env=watched(tmp_path)) as process:
        await lines_until(process, "ready gateway")
        assert await end(process) == 0
    assert [one for one in connections(tmp_path) if one[0] == "socket.connect"] == []
    assert [one for one in connections(tmp_path) if one[1] not in LOOPBACK] == []
