"""The place where tests write: in memory if it has room, and nothing of it stays."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support import memory_disk
from tests.support.memory_disk import PREFIX


def test_a_folder_of_this_process_is_created_if_there_is_space(tmp_path: Path) -> None:
    folder = memory_disk.make(tmp_path, {}, room=1)
    assert folder == tmp_path / f"{PREFIX}{os.getpid()}"
    assert folder.is_dir()
    assert memory_disk.make(tmp_path, {}, room=2**62) is None


def test_a_folder_named_by_the_environment_is_used(tmp_path: Path) -> None:
    assert memory_disk.make(tmp_path, {"TMPDIR": "/tmp"}, room=1) is None
    assert memory_disk.make(tmp_path / "absent", {}, room=1) is None
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_killed_run_is_deleted_and_that_of_a_running_one_is_kept(
    tmp_path: Path,
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left, mine = tmp_path / f"{PREFIX}{ended.pid}", tmp_path / f"{PREFIX}{os.getppid()}"
    for folder in (left, mine, tmp_path / "other"):
        folder.mkdir()
        (folder / "file").touch()
    memory_disk.make(tmp_path, {}, room=2**62)
    assert sorted(tmp_path.iterdir()) == sorted([mine, tmp_path / "other"])
