"""A session of `parley demo`: the scripted conversation, then the page. See `docs/demo.md`."""

import asyncio
import logging
import os
import signal
import socket
from typing import Final

from rich.console import Console

from db.errors import StoreUnavailable
from gateway.errors import ParleyError, StartError
from gateway.observe.logs import configure_logs
from parley.demo.player import Outcome, Player
from parley.demo.run import ASSISTANT, Demo, running
from parley.demo.story import STORY
from parley.demo.terminal import show_outcome, show_summary

FIRST_PORT: Final = 8080
PORTS_TRIED: Final = 20
ONCE: Final = "Without --once, the demo also serves a page on which you write messages."


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
    console.print(f"Model: {demo.model}.")
    outcomes: list[Outcome] = []
    async for outcome in Player(demo.world, demo.gateway).play(STORY):
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
    console.print(f"\nNow you: [bold]{demo.url}[/] (Ctrl-C ends the demo)")
    await stopping.wait()
    console.print("\nStopping …")
