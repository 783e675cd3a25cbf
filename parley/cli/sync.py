"""`parley sync PROJECT`."""

import asyncio
import sys
from typing import Annotated

import typer

from gateway.errors import UsageError
from gateway.ports.clock import SystemClock
from parley.cli.options import Config
from parley.cli.stores import opened, read_settings
from parley.config import Settings
from parley.wiring.extensions import load_extensions
from parley.wiring.heartbeats import wire_heartbeats
from parley.wiring.memory import wire_memory
from parley.wiring.storage import Storage


def sync(
    project: Annotated[
        str, typer.Argument(help="A project as under heartbeat.sources: slack:main:T0123.")
    ],
    config: Config = None,
) -> int:
    """Fetch the project's figures now, also while Parley runs, and print the status."""
    settings = read_settings(config)
    if not settings.memory.enabled:
        raise UsageError("memory.enabled is off: no project has a status.")
    sys.stdout.write(asyncio.run(_sync(settings, project)) + "\n")
    return 0


async def _sync(settings: Settings, project: str) -> str:
    clock = SystemClock()
    storage = Storage(settings, clock)
    memory = wire_memory(settings, storage, clock)
    heartbeats = wire_heartbeats(settings, storage, memory.sync, load_extensions(settings), clock)
    if heartbeats is None:
        raise UsageError("Memory is off, so no status can be written.")
    heartbeats.check(project)
    async with opened(storage):
        return await heartbeats.sync_site(project)
