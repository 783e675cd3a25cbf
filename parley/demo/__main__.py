"""`python -m parley.demo [--once] [--port N]`: see `docs/demo.md`."""

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; 0 when every scene went as expected, 1 when one did not, 2 when it could not
    start, 130 when it was interrupted during the story."""
    options = _options(arguments)
    console = Console(highlight=False)
    configure_logs(level=logging.ERROR, audited=False)
    try:
        return asyncio.run(_run(console, options.once, options.port))
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


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m parley.demo",
        description="Parley on four simulated platforms: a scripted conversation, then a page.",
    )
    parser.add_argument(
        "--once", action="store_true", help="end after the scripted conversation, with its result"
    )
    parser.add_argument(
        "--port", type=_port, default=None, help=f"the page's port (default {FIRST_PORT} or next)"
    )
    return parser.parse_args(arguments)


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65_535:
        raise argparse.ArgumentTypeError("a port is a number from 0 (any) to 65535")
    return int(text)


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


if __name__ == "__main__":
    sys.exit(main())
