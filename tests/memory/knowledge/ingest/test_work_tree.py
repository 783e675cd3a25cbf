"""An ingest in a work tree: the files that it leaves, and the places where it writes nothing."""

import os
from pathlib import Path

import pytest

from memory.git.repository import opened_repository
from memory.knowledge.ingest import work_tree
from memory.knowledge.ingest.work_tree import clear_state, note_ingest
from memory.knowledge.model import BranchOutcome, Mode
from tests.memory.knowledge.values import AT
from tests.support.git import TestRepository, new_repository


async def note(git: TestRepository) -> str:
    commit = git.git("rev-parse", "HEAD")
    async with opened_repository(git.folder) as opened:
        await note_ingest(opened, BranchOutcome("main", commit, "", Mode.CHANGES, read=3), AT)
    return commit


async def test_the_commit_and_a_line_of_the_log_are_left_and_ignored(tmp_path: Path) -> None:
    git = new_repository(tmp_path / "a")
    git.commit({"a.md": "a"})
    (git.folder / ".git" / "info" / "exclude").write_text("*.orig")
    commit = await note(git)
    assert await note(git) == commit
    assert (git.folder / ".agent/state/last_ingest_sha").read_text() == f"{commit}\n"
    lines = (git.folder / ".agent/logs/ingestion.log").read_text().splitlines()
    line = f"2026-11-23T08:00:00Z {commit[:12]} mode=changes read=3 kept=0 removed=0 skipped=0"
    assert lines == [line, line]
    exclude = (git.folder / ".git" / "info" / "exclude").read_text()
    assert exclude == "*.orig\n/.agent/state/\n/.agent/logs/\n"
    assert git.git("status", "--porcelain") == ""


async def test_the_log_is_bounded_and_keeps_its_newest_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_tree, "MAX_LOG", 2_000)
    git = new_repository(tmp_path / "a")
    git.commit({"a.md": "a"})
    log = git.folder / ".agent/logs/ingestion.log"
    log.parent.mkdir(parents=True)
    log.write_text("".join(f"line {number}\n" for number in range(500)))
    await note(git)
    lines = log.read_text().splitlines()
    assert len(log.read_bytes()) < 2_000
    assert lines[0].startswith("line ")
    assert lines[-2] == "line 499"
    assert "mode=changes" in lines[-1]


@pytest.mark.parametrize(
    "link", [".agent", ".agent/state", ".agent/state/last_ingest_sha", ".agent/logs/ingestion.log"]
)
async def test_nothing_is_written_through_a_link(tmp_path: Path, link: str) -> None:
    git = new_repository(tmp_path / "a")
    git.commit({"a.md": "a"})
    outside = tmp_path / "outside"
    place = git.folder / link
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.suffix or place.name == "last_ingest_sha":
        outside.write_text("mine")
    else:
        outside.mkdir()
    place.symlink_to(outside)
    await note(git)
    clear_state(git.folder)
    if outside.is_dir():
        assert list(outside.iterdir()) == []
    else:
        assert outside.read_text() == "mine"
        assert place.is_symlink()


async def test_a_file_with_a_second_name_and_a_pipe_are_left_alone(tmp_path: Path) -> None:
    git = new_repository(tmp_path / "a")
    git.commit({"a.md": "a"})
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (git.folder / ".agent/state").mkdir(parents=True)
    os.link(outside, git.folder / ".agent/state/last_ingest_sha")
    (git.folder / ".agent/logs").mkdir()
    os.mkfifo(git.folder / ".agent/logs/ingestion.log")
    await note(git)
    clear_state(git.folder)
    assert outside.read_text() == "mine"


async def test_files_that_the_repository_has_committed_are_not_changed(tmp_path: Path) -> None:
    git = new_repository(tmp_path / "a")
    git.commit({".agent/state/last_ingest_sha": "theirs", ".agent/logs/ingestion.log": "theirs"})
    await note(git)
    assert git.git("status", "--porcelain") == ""
    assert (git.folder / ".agent/state/last_ingest_sha").read_text() == "theirs"


async def test_a_bare_repository_gets_no_files(tmp_path: Path) -> None:
    git = new_repository(tmp_path / "a")
    git.commit({"a.md": "a"})
    git.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    await note(TestRepository(tmp_path / "bare"))
    assert not (tmp_path / "bare" / ".agent").exists()
