"""Starts the simulators and a Parley that is connected to them."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from parley.app import App
from parley.config import Settings, from_mapping
from parley.demo.api import DemoPages
from parley.demo.player import DemoGateway
from parley.demo.story import USER_PER_MINUTE
from parley.demo.world import World
from simulators.base import PlatformSimulator
from simulators.discord.simulator import DiscordSimulator
from simulators.slack.simulator import SlackSimulator
from simulators.telegram.simulator import TelegramSimulator
from simulators.whatsapp.simulator import WhatsAppSimulator

CHAT_PER_SECOND: Final = 20
"""The simulated platforms allow a higher rate than the real ones."""
ASSISTANT: Final = "Parley"
CONNECT_SECONDS: Final = 20.0
DRAIN_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Demo:
    """The running demo: `url` is the page; `problems` has the platforms that did not connect."""

    world: World
    gateway: DemoGateway
    model: str
    url: str
    problems: Mapping[str, str]


@asynccontextmanager
async def running(port: int, env: Mapping[str, str]) -> AsyncIterator[Demo]:
    """The demo, started here and stopped at the end; it leaves no files.

    Only `ANTHROPIC_API_KEY` of `env` is used. Raises `StartError` when `port` is in use.
    """
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="parley-demo-"))
        simulators = await _start_simulators(stack)
        world = World(simulators)
        settings = demo_settings(simulators, port, Path(folder), env)
        model = model_label(settings)
        app = App(settings)
        pages = DemoPages(world, app, assistant=ASSISTANT, model=model)
        app.local.add_routes(pages.routes())
        stack.push_async_callback(app.stop, DRAIN_SECONDS)
        await app.start()
        stack.callback(pages.close)
        for simulator in simulators.values():
            simulator.attach(app.webhooks.base_url)
        problems = await _wait_connected(simulators)
        yield Demo(world, app, model, app.local.base_url, problems)


def demo_settings(
    simulators: Mapping[str, PlatformSimulator], port: int, folder: Path, env: Mapping[str, str]
) -> Settings:
    """A configuration that connects every platform to its simulator."""
    key = env.get("ANTHROPIC_API_KEY", "").strip()
    return from_mapping(
        {
            "assistant": {"name": ASSISTANT},
            "model": {} if key else {"provider": "offline"},
            "limits": {"user_per_minute": USER_PER_MINUTE},
            "delivery": {"chat_per_second": CHAT_PER_SECOND},
            "invocation": {"triggers": ["mention", "direct_message", "reply", "thread"]},
            "database": {"url": f"sqlite:///{folder / 'demo.db'}"},
            "server": {"host": "127.0.0.1", "port": port},
            "webhooks": {"host": "127.0.0.1", "port": 0},
            "platforms": {
                **{name: simulator.settings() for name, simulator in simulators.items()},
                "web": {"enabled": True},
            },
        },
        {"ANTHROPIC_API_KEY": key} if key else {},
    )


def model_label(settings: Settings) -> str:
    """The model that answers, for people."""
    if settings.model.provider == "offline":
        return "Offline model: no key, no network"
    return f"{settings.model.provider} {settings.model.name}".strip()


async def _start_simulators(stack: AsyncExitStack) -> dict[str, PlatformSimulator]:
    made: tuple[PlatformSimulator, ...] = (
        DiscordSimulator(bot_name=ASSISTANT),
        SlackSimulator(),
        TelegramSimulator(),
        WhatsAppSimulator(),
    )
    for simulator in made:
        await simulator.start()
        stack.push_async_callback(simulator.stop)
    return {simulator.platform: simulator for simulator in made}


async def _wait_connected(simulators: Mapping[str, PlatformSimulator]) -> dict[str, str]:
    """Wait for all platforms in parallel; returns those that did not connect, with the reason."""

    async def connected(name: str, simulator: PlatformSimulator) -> tuple[str, str]:
        try:
            await simulator.wait_connected(CONNECT_SECONDS)
        except TimeoutError as problem:
            return name, str(problem) or f"no client within {CONNECT_SECONDS:.0f} s"
        return name, ""

    results = await asyncio.gather(*(connected(*item) for item in simulators.items()))
    return {name: problem for name, problem in results if problem}
