"""Files are prepared in processes of their own, and one that ends a process is skipped."""

import pytest

from memory.git.errors import GitFailed
from memory.knowledge.ingest import prepare
from memory.knowledge.ingest.prepare import PreparedFile, RawFile, Workers
from memory.knowledge.model import SkipReason
from tests.memory.knowledge.line_splitter import split_or_end


def raw(path: str) -> RawFile:
    return RawFile(path, "1" * 40, path.encode())


async def test_a_file_that_ends_its_process_is_skipped_and_the_others_are_prepared() -> None:
    files = [raw("a.md"), raw("fatal.md"), raw("b.md"), raw("deep.md")]
    with Workers(split_or_end, True, always=True) as workers:
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
        Workers(split_or_end, True, always=True) as workers,
        pytest.raises(GitFailed, match="ended 1 times"),
    ):
        await workers.prepare([raw("fatal 1.md"), raw("fatal 2.md")])


async def test_a_few_files_are_prepared_without_other_processes() -> None:
    with Workers(split_or_end, True) as workers:
        prepared = await workers.prepare([raw("a.md"), raw("deep.md")])
    assert isinstance(prepared[0], PreparedFile)
    assert prepared[1] is SkipReason.UNREADABLE
