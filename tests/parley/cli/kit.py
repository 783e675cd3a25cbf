"""Runs the real command line as a process of its own."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.parley.cli.warm import COMMANDS, warm
from tests.support.patience import LAUNCH

PROGRAM = (sys.executable, "-c", "from parley.cli.main import main; main()")
ROOT = Path(__file__).parents[3]
NEW_INTERPRETERS = "PARLEY_NEW_INTERPRETERS"
"""A variable that `make nightly` sets, so that every command also imports what it needs. That takes
ten times the processor time."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a run, and its output."""

    status: int
    out: str
    err: str


def environment(env: Mapping[str, str] | None) -> dict[str, str]:
    """Return an environment with only the path of the tester's own."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **(env or {})}


@asynccontextmanager
async def started(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, module: str = COMMANDS
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A running `parley`, or the `main` of another module, in a process that has imported `parley`
    already, without a terminal; killed at the end if it still runs."""
    imported = await asyncio.to_thread(warm, os.environ["PATH"], str(ROOT))
    async with imported.running(arguments, cwd=cwd, env=environment(env), module=module) as process:
        yield process


@asynccontextmanager
async def started_alone(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """The same in an interpreter of its own, which imports what the command does."""
    process = await asyncio.create_subprocess_exec(
        *PROGRAM,
        *arguments,
        cwd=cwd,
        env=environment(env),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        assert process.stdin is not None
        process.stdin.close()
        await process.communicate()


async def parley(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, answers: str = ""
) -> Ended:
    """Run `parley` to its end, in a process that has imported it already, or in an interpreter of
    its own if `NEW_INTERPRETERS` is set; `answers` is what is typed."""
    if NEW_INTERPRETERS in os.environ:
        return await parley_alone(*arguments, cwd=cwd, env=env, answers=answers)
    imported = await asyncio.to_thread(warm, os.environ["PATH"], str(ROOT))
    status, out, err = await imported.run(
        arguments, cwd=cwd, env=environment(env), typed=answers.encode(), seconds=LAUNCH
    )
    return Ended(status, out.decode(), err.decode())


async def parley_alone(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, answers: str = ""
) -> Ended:
    """Run `parley` to its end in an interpreter of its own, which imports what the command does."""
    async with started_alone(*arguments, cwd=cwd, env=env) as process:
        async with asyncio.timeout(LAUNCH):
            out, err = await process.communicate(answers.encode())
        assert process.returncode is not None
        return Ended(process.returncode, out.decode(), err.decode())


async def read_until(stream: asyncio.StreamReader | None, line: str) -> list[str]:
    """The lines up to this one."""
    assert stream is not None
    seen: list[str] = []
    async with asyncio.timeout(LAUNCH):
        while line not in seen:
            raw = await stream.readline()
            assert raw, f"ended before {line!r}: {seen}"
            seen.append(raw.decode().strip())
    return seen
