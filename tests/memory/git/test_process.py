"""Requests to git: each ends in time, together with everything that it started."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from memory.git import object_reader, process
from memory.git.errors import GitFailed, LimitExceeded
from memory.git.object_reader import ObjectReader
from memory.git.process import Git
from tests.support.waiting import eventually

ID = "a" * 40
SILENT = "sleep 300 & echo $! > {child}; sleep 300"
DRIPPING = "sleep 300 & echo $! > {child}; while :; do printf 'x\\0'; sleep 0.05; done"
LEFT_BEHIND = "sleep 300 & echo $! > {child}; exit 0"


@pytest.fixture
def slow_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Git]:
    """Makes git a script, which starts a process that stays; a request may take half a second."""
    for module in (process, object_reader):
        monkeypatch.setattr(module, "SECONDS", 0.5)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def made(script: str) -> Git:
        program = tmp_path / "git"
        program.write_text(f"#!/bin/sh\n{script.format(child=tmp_path / 'child')}\n")
        program.chmod(0o755)
        return Git(tmp_path, tmp_path, None)

    return made


async def listed(git: Git) -> None:
    async for _ in git.records("ls-tree", longest=100, most=1_000_000):
        pass


async def is_over(child: Path) -> bool:
    """True if the process whose number is in a file has ended."""
    try:
        state = Path(f"/proc/{child.read_text().strip()}/stat").read_text().rpartition(")")[2]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state.split()[0] in "ZX"


@pytest.mark.parametrize("script", [SILENT, DRIPPING, LEFT_BEHIND])
@pytest.mark.parametrize(
    "request_of", [listed, lambda git: git.output("merge-base", most=1_000_000)]
)
async def test_a_request_ends_in_time_with_the_processes_that_git_started(
    slow_git: Callable[[str], Git],
    tmp_path: Path,
    script: str,
    request_of: Callable[[Git], Awaitable[object]],
) -> None:
    git, files = slow_git(script), len(os.listdir("/proc/self/fd"))
    began = time.monotonic()
    with pytest.raises(GitFailed, match=r"did not end within 0\.5 seconds"):
        await request_of(git)
    assert time.monotonic() - began < 5
    await eventually(lambda: is_over(tmp_path / "child"))

    async def closed() -> bool:
        return len(os.listdir("/proc/self/fd")) <= files

    await eventually(closed)


async def test_a_request_for_an_object_ends_in_time(
    slow_git: Callable[[str], Git], tmp_path: Path
) -> None:
    async with ObjectReader(slow_git(SILENT), "--batch") as reader:
        assert [pair async for pair in reader.blobs([ID])] == [(ID, None)]
    await eventually(lambda: is_over(tmp_path / "child"))


async def test_a_request_that_is_cancelled_ends_git(
    slow_git: Callable[[str], Git], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "SECONDS", 60.0)
    task = asyncio.create_task(slow_git(SILENT).output("merge-base", most=10))

    async def begun() -> bool:
        return bool((tmp_path / "child").exists() and (tmp_path / "child").read_text().strip())

    await eventually(begun)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(lambda: is_over(tmp_path / "child"))


@pytest.mark.parametrize("is_slow", [False, True])
async def test_a_request_that_is_cancelled_while_git_starts_ends_it(
    slow_git: Callable[[str], Git], tmp_path: Path, is_slow: bool
) -> None:
    """A start that is cancelled before its pipes are connected can hang in asyncio (CPython issue
    125502)."""
    git = slow_git(SILENT)
    for step in range(1, 13):
        (tmp_path / "child").unlink(missing_ok=True)
        task = asyncio.create_task(git.output("merge-base", most=10))
        for _ in range(step):
            if is_slow:  # the script has begun before the loop goes on
                time.sleep(0.01)
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 5)
        await eventually(lambda: is_over(tmp_path / "child"))


async def test_a_list_of_too_many_parts_is_given_up_before_it_is_read(
    slow_git: Callable[[str], Git],
) -> None:
    git = slow_git("while :; do printf 'a path\\0'; done")
    with pytest.raises(LimitExceeded):
        await anext(git.records("ls-tree", longest=100, most=1_000))
