"""`parley sync PROJECT`."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

from gateway.errors import BadInput
from gateway.ports.clock import SystemClock
from parley.config import Settings, load


def run(project: str, config: Path | None, env: Mapping[str, str]) -> int:
    """Fetch the project's figures now, also while Parley runs; print what HEARTBEAT says."""
    settings = load(config, env)
    if not settings.memory.enabled:
        raise BadInput("memory.enabled is off: there is no HEARTBEAT.")
    sys.stdout.write(asyncio.run(_sync(settings, project)) + "\n")
    return 0


async def _sync(settings: Settings, project: str) -> str:
    # Opens nothing until it is needed, and is not loaded for other commands.
    from parley.extensions import load_extensions  # noqa: PLC0415 - start-up stays short
    from parley.runtime.heartbeats import wire_heartbeats  # noqa: PLC0415
    from parley.wiring.memory import wire_memory  # noqa: PLC0415
    from parley.wiring.storage import Storage  # noqa: PLC0415

    clock = SystemClock()
    storage = Storage(settings, clock)
    states = storage.stores.states
    memory = wire_memory(settings, storage.memory, storage.personal, states, storage.history, clock)
    heartbeats = wire_heartbeats(settings, storage, memory.sync, load_extensions(settings), clock)
    if heartbeats is None:
        raise BadInput("There is no memory to write a HEARTBEAT to.")
    heartbeats.check(project)
    try:
        await storage.start(exclusive=False)
        return await heartbeats.sync_site(project)
    finally:
        await storage.stop()
