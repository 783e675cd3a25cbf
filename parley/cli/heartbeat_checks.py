"""Whether the sources of HEARTBEATs give figures, for `parley doctor`; nothing is written."""

import asyncio
from datetime import UTC, datetime

from gateway.errors import ConfigurationError
from memory.brain.figure_sources import SourceFailed
from memory.brain.heartbeat import read_figures
from parley.cli.checks import Finding
from parley.config import Settings
from parley.config.memory import HeartbeatSource
from parley.runtime.heartbeats import AT_ONCE, external_source


async def heartbeats(settings: Settings) -> list[Finding]:
    """One finding per project, `AT_ONCE` side by side."""
    room = asyncio.Semaphore(AT_ONCE)

    async def asked(project: str, wanted: HeartbeatSource) -> Finding:
        async with room:
            return await _asked(project, wanted)

    return await asyncio.gather(
        *(asked(project, wanted) for project, wanted in settings.heartbeat.sources.items())
    )


async def _asked(project: str, wanted: HeartbeatSource) -> Finding:
    name = f"heartbeat: {project}"
    try:
        source = external_source(wanted)
        if source is None:
            return Finding("ok", name, "figures of this assistant's own use")
        found = read_figures(await source.figures(), datetime.now(UTC))
    except (SourceFailed, ConfigurationError, ValueError) as error:
        advice = f"Correct heartbeat.sources.{project}; its HEARTBEAT stays as it is until then."
        return Finding("broken", name, str(error), advice)
    return Finding("ok", name, f"{len(found.figures)} figures")
