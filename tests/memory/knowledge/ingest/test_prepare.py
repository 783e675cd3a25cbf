"""Files are prepared in processes of their own, and one that ends a process is skipped."""

import asyncio
import sys
from pathlib import Path

import psutil
import pytest

from memory.git.errors import GitFailed
from memory.knowledge.ingest import prepare
from memory.knowledge.ingest.prepare import FileWorkers, PreparedFile, RawFile
from memory.knowledge.model import SkipReason
from tests.memory.knowledge.line_splitter import split_or_end
from tests.support.patience import LAUNCH
from tests.support.waiting import eventually

PROGRAM = """
import asyncio, sys
from memory.knowledge.ingest.prepare import FileWorkers, RawFile
from tests.memory.knowledge.line_splitter import split_slowly

async def main():
    files = [RawFile(path, "1" * 40, sys.argv[1].encode()) for path in ("slow.md", "a.md", "b.md")]
    with FileWorkers(split_slowly, True, always=True) as workers:
        await workers.prepare(files)

asyncio.run(main())
"""


def raw(path: str) -> RawFile:
    return RawFile(path, "1" * 40, path.encode())


async def test_a_file_that_ends_its_process_is_skipped_and_the_others_are_prepared() -> None:
    files = [raw("a.md"), raw("fatal.md"), raw("b.md"), raw("deep.md")]
    with FileWorkers(split_or_end, True, always=True) as workers:
        prepared = await workers.prepare(files)
        assert isinstance(prepared[0], PreparedFile)
        assert prepared[0].file.split.chunks[0].text == "a.md"
        assert prepared[1] is SkipReason.UNREADABLE
        assert isinstance(prepared[2], PreparedFile)
        assert prepared[3] is SkipReason.UNREADABLE


async def test_it_is_given_up_when_processes_end_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prepare, "MAX_BROKEN", 1)
    with (
        FileWorkers(split_or_end, True, always=True) as workers,
        pytest.raises(GitFailed, match="ended 1 times"),
    ):
        await workers.prepare([raw("fatal 1.md"), raw("fatal 2.md")])


async def test_a_few_files_are_prepared_without_other_processes() -> None:
    with FileWorkers(split_or_end, True) as workers:
        prepared = await workers.prepare([raw("a.md"), raw("deep.md"), raw("defect.md")])
    assert isinstance(prepared[0], PreparedFile)
    assert prepared[1:] == [SkipReason.UNREADABLE, SkipReason.UNREADABLE]


async def test_the_processes_end_with_the_one_that_started_them_even_if_that_is_killed(
    tmp_path: Path,
) -> None:
    begun = tmp_path / "begun"
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, str(begun))
    await eventually(begun.exists, LAUNCH)
    started = psutil.Process(program.pid).children(recursive=True)
    program.kill()
    assert await program.wait() == -9
    try:
        assert len(started) >= 2, "a process for files, and the one that counts what they share"
        await eventually(lambda: not any(map(_runs, started)))
    finally:
        for one in filter(_runs, started):
            one.kill()


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
