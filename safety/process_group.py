"""Starts a program in a process group of its own, and ends it with those that it started."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping, Sequence
    from pathlib import Path

END_SECONDS: Final = 10.0
"""The wait for a killed process; one that waits for a disk can stay."""


def kill_group(leader: int) -> None:
    """Kill the leader of a session with every process of its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


async def started_in_group(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, chunk: int
) -> asyncio.subprocess.Process:
    """Start a command with pipes for input and output, in a session of its own. Raises OSError.

    A cancellation waits for the start: a start that is cancelled before its pipes are connected can
    hang in asyncio (CPython issue 125502). `chunk` is the bytes that are read from it at once.
    """
    import asyncio  # noqa: PLC0415 - commands that start nothing load no library

    starting = asyncio.create_task(
        asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=dict(environment),
            cwd=folder,
            limit=chunk,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with contextlib.suppress(OSError):  # then there is no process
            await end_group(await starting)
        raise


async def end_group(process: asyncio.subprocess.Process) -> None:
    """End a command with every process that it started, and wait for it within the limit."""
    import asyncio  # noqa: PLC0415 - as above

    kill_group(process.pid)
    if process.stdin is not None:
        process.stdin.close()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            await process.wait()
