"""A folder in memory for the files of tests: a disk takes milliseconds to create or delete each
file of a database, and a run has some hundred thousand of them."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

SHARED_MEMORY: Final = Path("/dev/shm")
ROOM: Final = 6 * 1024**3
"""Bytes that have to be free there; a run on three processes has up to three GiB at a time."""
PREFIX: Final = "parley-tests-"


def make(parent: Path, environment: Mapping[str, str], room: int = ROOM) -> Path | None:
    """A folder of this process below `parent`, None where that is no place for it or `TMPDIR`
    names another one. What runs that were killed have left there is deleted."""
    if "TMPDIR" in environment or not os.access(parent, os.W_OK):
        return None
    for left in parent.glob(f"{PREFIX}*"):
        if left.stat().st_uid == os.getuid() and not _runs(left.name.removeprefix(PREFIX)):
            shutil.rmtree(left, ignore_errors=True)
    if shutil.disk_usage(parent).free < room:
        return None
    folder = parent / f"{PREFIX}{os.getpid()}"
    folder.mkdir(mode=0o711)  # the user that PostgreSQL runs as has its folder below
    return folder


def use(folder: Path) -> None:
    """Make it the folder for temporary files, of this process and of those it starts."""
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None


def remove(folder: Path) -> None:
    """Delete it; what comes later goes to the disk."""
    os.environ.pop("TMPDIR", None)
    tempfile.tempdir = None
    shutil.rmtree(folder, ignore_errors=True)


def _runs(pid: str) -> bool:
    return not pid.isdecimal() or Path("/proc", pid).exists()
