"""Two gateways never run on one SQLite file."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from db.errors import StoreUnavailable
from gateway.stores.sqlite.lock import GatewayLock

HOLD = (
    "import sys; from gateway.stores.sqlite.lock import GatewayLock;"
    "GatewayLock(sys.argv[1]).acquire(); print('held', flush=True); sys.stdin.read()"
)


def holder(file: Path, program: str = HOLD) -> "subprocess.Popen[str]":
    """A process that holds the lock until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_process_is_refused_and_told_the_owner(tmp_path: Path) -> None:
    file = tmp_path / "data" / "parley.db"
    with GatewayLock(file), pytest.raises(StoreUnavailable, match=rf"\(process {os.getpid()}\)"):
        GatewayLock(file).acquire()
    with GatewayLock(file):
        pass


def test_two_paths_of_one_file_are_one_lock(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "parley.db")
    with GatewayLock(tmp_path / "parley.db"), pytest.raises(StoreUnavailable):
        GatewayLock(tmp_path / "link.db").acquire()


def test_a_killed_process_releases_the_lock(tmp_path: Path) -> None:
    file = tmp_path / "parley.db"
    with holder(file) as process:
        with pytest.raises(StoreUnavailable, match=rf"\(process {process.pid}\)"):
            GatewayLock(file).acquire()
        process.send_signal(signal.SIGKILL)
    with GatewayLock(file) as lock:
        lock.acquire()


def test_children_of_a_killed_process_do_not_hold_the_lock(tmp_path: Path) -> None:
    """A tool server that outlives the gateway must not keep the next one from starting."""
    file = tmp_path / "parley.db"
    child = "import subprocess; subprocess.Popen(['sleep', '5'], stdout=subprocess.DEVNULL);"
    with holder(file, HOLD.replace("print(", f"{child} print(")) as process:
        process.send_signal(signal.SIGKILL)
    with GatewayLock(file):
        pass


def test_releasing_twice_is_safe(tmp_path: Path) -> None:
    lock = GatewayLock(tmp_path / "parley.db")
    lock.acquire()
    lock.release()
    lock.release()


def test_an_impossible_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreUnavailable, match="cannot lock"):
        GatewayLock(tmp_path / "file" / "parley.db").acquire()
