"""The real program as a process of its own: from `ready` to SIGTERM, or worse."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import yaml

from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault, PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.e2e.harness import by_bot, configuration, simulated
from tests.parley.cli.kit import started
from tests.support.patience import LAUNCH, PATIENCE


async def lines_until(process: asyncio.subprocess.Process, last: str) -> list[str]:
    """Return the output of the program up to this line."""
    assert process.stdout is not None
    seen: list[str] = []
    async with asyncio.timeout(LAUNCH):
        while last not in seen:
            raw = await process.stdout.readline()
            assert raw, f"it ended after {seen}"
            seen.append(raw.decode().rstrip("\n"))
    return seen


async def end(process: asyncio.subprocess.Process) -> int | None:
    """Exit status after SIGTERM."""
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(PATIENCE):
        await process.wait()
    return process.returncode


def written(folder: Path, settings: dict[str, object]) -> str:
    """The configuration as a file."""
    path = folder / "parley.yaml"
    path.write_text(yaml.safe_dump(settings))
    return str(path)


async def test_four_platforms_report_ready_answer_and_disconnect_at_shutdown(
    tmp_path: Path,
) -> None:
    platforms: dict[str, PlatformSimulator] = {
        "discord": DiscordSimulator(),
        "slack": SlackSimulator(),
        "telegram": TelegramSimulator(),
        "whatsapp": WhatsAppSimulator(),
    }
    async with simulated(platforms) as port:
        config = written(tmp_path, configuration(platforms, tmp_path, port))
        async with started("run", "--config", config, cwd=tmp_path) as process:
            reply = await lines_until(process, "ready gateway")
            assert sorted(reply[:-1]) == sorted(f"ready {name}" for name in platforms)
            for platform in platforms.values():
                await platform.wait_connected()
                ada = platform.person("Ada")
                await platform.say(ada, platform.direct(ada), "hello")
                await platform.wait_for(
                    platform.direct(ada), lambda shown: bool(by_bot(shown)), PATIENCE
                )
            status = await end(process)
            assert process.stderr is not None
            errors = (await process.stderr.read()).decode()
        assert status == 0, errors
        assert "disconnect_failed" not in errors, "it took longer than an adapter may"
        assert "Traceback" not in errors


@asynccontextmanager
async def slow_model() -> AsyncIterator[AnthropicSimulator]:
    model = AnthropicSimulator()
    await model.start()
    try:
        yield model
    finally:
        await model.stop()


async def test_a_killed_program_loses_no_accepted_message(tmp_path: Path) -> None:
    telegram = TelegramSimulator()
    ada = telegram.person("Ada")
    room = telegram.direct(ada)
    async with simulated({"telegram": telegram}) as port, slow_model() as model:
        section = {"provider": "anthropic", "api_key": model.api_key, "base_url": model.base_url}
        settings = configuration({"telegram": telegram}, tmp_path, port, {"model": section})
        config = written(tmp_path, settings)
        model.faults.add(Fault("messages", "slow", delay=60))
        async with started("run", "--config", config, cwd=tmp_path) as process:
            await lines_until(process, "ready gateway")
            await telegram.say(ada, room, "do not forget me")
            await model.wait_for_requests(1, LAUNCH)
            process.kill()
            await process.wait()
        assert by_bot(telegram.shown(room)) == []
        async with started("run", "--config", config, cwd=tmp_path) as process:
            shown = await telegram.wait_for(room, lambda seen: bool(by_bot(seen)), LAUNCH)
            assert "do not forget me" in by_bot(shown)[0].text
            status = await end(process)
        assert status == 0
        assert len(by_bot(telegram.shown(room))) == 1
