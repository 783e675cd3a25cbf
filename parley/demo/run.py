"""Plays the demo on a terminal: starts the simulators and a Parley that is connected to them."""

import asyncio
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct
from rich.console import Console

from db.errors import StoreUnavailable
from gateway.errors import ParleyError, StartError
from gateway.observe.logs import configure_logs
from gateway.text import Text, text, verbatim
from parley.app import App
from parley.config import Settings, from_mapping
from parley.demo.agents import DemoAgents
from parley.demo.api import DemoPages
from parley.demo.knowledge import DemoKnowledge
from parley.demo.player import Player, SceneOutcome
from parley.demo.story import (
    AGENTS,
    CATCHUP,
    CHARTS,
    DOCUMENTS,
    KNOWLEDGE,
    OPERATOR,
    STORY,
    USER_PER_MINUTE,
)
from parley.demo.terminal import show_outcome, show_summary
from parley.demo.voice import section_of, speech_service
from parley.demo.world import World
from simulators.base import PlatformSimulator
from simulators.discord.simulator import DiscordSimulator
from simulators.slack.simulator import SlackSimulator
from simulators.telegram.simulator import TelegramSimulator
from simulators.whatsapp.simulator import WhatsAppSimulator

FIRST_PORT: Final = 8080
PORTS_TRIED: Final = 20
ONCE: Final = "Without --once, the demo also serves a page on which you write messages."

CHAT_PER_SECOND: Final = 20
"""The simulated platforms allow a higher rate than the real ones."""
ASSISTANT: Final = "Parley"
CHART_SERVER: Final = Path(__file__).with_name("chart_server.py")
CONNECT_SECONDS: Final = 20.0
DRAIN_SECONDS: Final = 2.0


class Demo(Struct, frozen=True):
    """The running demo: `url` is the page; `problems` has the platforms that did not connect."""

    world: World
    app: App
    agents: DemoAgents
    knowledge: DemoKnowledge
    model: Text
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
        service = speech_service()
        await service.start()
        stack.push_async_callback(service.stop)
        voice = section_of(service)
        settings = demo_settings(simulators, port, Path(folder), env, voice)
        model = model_label(settings)
        app = App(settings)
        pages = DemoPages(
            world,
            app.decisions,
            app.console_link,
            assistant=ASSISTANT,
            model=model,
            languages=lambda: app.policies.value.languages,
        )
        app.local.add_routes(pages.routes())
        stack.push_async_callback(app.stop, DRAIN_SECONDS)
        await app.start()
        stack.callback(pages.close)
        for simulator in simulators.values():
            simulator.attach(app.webhooks.base_url)
        problems = await _wait_connected(simulators)
        knowledge = DemoKnowledge(settings, Path(folder) / "repositories")
        yield Demo(world, app, DemoAgents(app), knowledge, model, app.local.base_url, problems)


def demo_settings(
    simulators: Mapping[str, PlatformSimulator],
    port: int,
    folder: Path,
    env: Mapping[str, str],
    voice: Mapping[str, object] | None = None,
) -> Settings:
    """A configuration that connects every platform to its simulator; `voice` is its section."""
    key = env.get("ANTHROPIC_API_KEY", "").strip()
    return from_mapping(
        {
            "assistant": {"name": ASSISTANT},
            "model": {} if key else {"provider": "offline"},
            "access": {"operators": _operators(simulators)},
            "catchup": {"enabled": True},
            "limits": {"user_per_minute": USER_PER_MINUTE},
            "appointments": {"enabled": True},
            "delivery": {"chat_per_second": CHAT_PER_SECOND},
            "invocation": {"triggers": ["mention", "direct_message", "reply", "thread"]},
            "voice": dict(voice or {}),
            "database": {"url": f"sqlite:///{folder / 'demo.db'}"},
            "server": {"host": "127.0.0.1", "port": port},
            "mcp": {
                "servers": {"charts": {"command": sys.executable, "args": [str(CHART_SERVER)]}}
            },
            "webhooks": {"host": "127.0.0.1", "port": 0},
            "platforms": {
                **{name: simulator.settings() for name, simulator in simulators.items()},
                "web": {"enabled": True},
            },
        },
        {"ANTHROPIC_API_KEY": key} if key else {},
    )


def _operators(simulators: Mapping[str, PlatformSimulator]) -> list[str]:
    discord = simulators.get("discord")
    return [f"discord:{discord.person(OPERATOR).id}"] if discord else []


def model_label(settings: Settings) -> Text:
    """The model that answers, for people."""
    if settings.model.provider == "offline":
        return text("Offline model: no key, no network")
    return verbatim(f"{settings.model.provider} {settings.model.name}".strip())


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


def play(*, once: bool, port: int | None) -> int:
    """Run the demo; 0 when every scene went as expected, 1 when one did not, 2 when it could not
    start, 130 when it was interrupted during the story. `port` None takes the first free one."""
    console = Console(highlight=False)
    configure_logs(level=logging.ERROR, audited=False)
    try:
        return asyncio.run(_run(console, once, port))
    except StartError as error:
        console.print(f"[bold red]The demo cannot start:[/] {error.problem} Choose another --port.")
        return 2
    except (ParleyError, StoreUnavailable) as error:
        console.print(f"[bold red]The demo cannot start:[/] {error}")
        return 2
    except (KeyboardInterrupt, asyncio.CancelledError):
        console.print("\nStopped.")
        return 130


def free_port(first: int = FIRST_PORT, tried: int = PORTS_TRIED) -> int:
    """The first free port of 127.0.0.1 from `first` on; 0 (any) when none of `tried` is."""
    for port in range(first, first + tried):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    return 0


async def _run(console: Console, once: bool, port: int | None) -> int:
    _cancel_on_signals()
    chosen = port if port is not None else (0 if once else free_port())
    console.print("[bold]Parley[/]: starting four simulated platforms and their real clients …")
    async with running(chosen, os.environ) as demo:
        for platform, problem in demo.problems.items():
            console.print(f"[bold red]{platform} is not connected:[/] {problem}")
        status = await _tell(console, demo)
        if once:
            console.print(f"\n{ONCE}")
        else:
            await _serve(console, demo)
    return status


def _cancel_on_signals() -> None:
    """Cancel the task at Ctrl-C and SIGTERM, also where a script started it with SIGINT ignored."""
    task = asyncio.current_task()
    if task is None:
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)


async def _tell(console: Console, demo: Demo) -> int:
    """Play the story; 0 when every scene went as expected, otherwise 1."""
    console.print(f"Model: {demo.model.english}.")
    outcomes: list[SceneOutcome] = []
    story = (
        *STORY,
        *DOCUMENTS,
        *CHARTS,
        *CATCHUP,
        *AGENTS,
        *(KNOWLEDGE if shutil.which("git") else ()),
    )
    player = Player(demo.world, demo.app.decisions, demo.agents.hand_over, demo.knowledge.ready)
    async for outcome in player.play(story):
        show_outcome(console, outcome, ASSISTANT)
        outcomes.append(outcome)
    show_summary(console, outcomes)
    return 1 if demo.problems or not all(outcome.ok for outcome in outcomes) else 0


async def _serve(console: Console, demo: Demo) -> None:
    """Keep the page up until Ctrl-C or SIGTERM."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    console.print(f"\nWrite messages yourself: [bold]{demo.url}[/] (Ctrl-C ends the demo)")
    console.print("The button [bold]Open the console[/] on that page signs you in to the console.")
    await stopping.wait()
    console.print("\nStopping …")
