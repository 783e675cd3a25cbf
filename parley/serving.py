"""The program from its start to its end by a signal."""

import asyncio
import logging
import sys
from collections.abc import Callable

from gateway.observe.logs import configure_logs
from parley import garbage, heap
from parley.app import App
from parley.roles import Role
from parley.settings import Settings
from parley.settings.secrets import secret_values
from parley.signals import end_on_signals


async def serve(
    settings: Settings,
    role: Role = "all",
    platform: str = "",
    *,
    started: Callable[[], None] = lambda: None,
) -> int:
    """Run until SIGTERM or SIGINT; returns the exit status. Prints one line per ready part, and
    where people find the pages.
    `started` is called when everything is there that stays until the end."""
    stopping = asyncio.Event()
    end_on_signals(stopping)
    app = App(settings, role=role, platform=platform)

    def say(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    async def on_ready(name: str) -> None:
        say(f"ready {name}")

    async def start() -> None:
        await app.start(on_ready)
        started()
        for name, problem in app.supervisor.errors.items():
            sys.stderr.write(f"{name} is not connected: {problem}\n")
        for link in app.pages():
            say(f"open {link}")
        say("ready gateway")

    starting, stopped = asyncio.create_task(start()), asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait((starting, stopped), return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            await stopped
    finally:
        for task in (starting, stopped):
            task.cancel()
        await asyncio.wait((starting, stopped))
        await app.stop()
    return 0


def run(settings: Settings, role: Role = "all", platform: str = "") -> int:
    """Run the program; returns its exit status. Raises a `ParleyError` when it cannot start."""
    level = logging.getLevelNamesMapping()[settings.observe.log_level.upper()]
    configure_logs(settings.observe.log_format, level, secrets=secret_values(settings))
    heap.give_large_pieces_back()
    return asyncio.run(serve(settings, role, platform, started=garbage.set_aside))
