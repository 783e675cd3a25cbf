"""The background process of the hooks."""

import os
from pathlib import Path

import pytest

from memory.knowledge.hooks.script import GONE, LOG, MAX_LOG, REWRITTEN, WAITING, run_once


def test_a_commit_during_an_ingest_starts_another_process(tmp_path: Path) -> None:
    (tmp_path / WAITING).write_text(f"{os.getpid()}\n")
    seen = []

    def ingest(rewritten: bool) -> int:
        seen.append(((tmp_path / WAITING).exists(), rewritten))
        return 0

    assert run_once(tmp_path, ingest) == 0
    assert seen == [(False, False)]


def test_the_mark_of_another_process_stays(tmp_path: Path) -> None:
    (tmp_path / WAITING).write_text("1234567\n")
    assert run_once(tmp_path, lambda _: 0) == 0
    assert (tmp_path / WAITING).exists()


def test_a_process_ends_the_mark_of_a_program_that_was_gone(tmp_path: Path) -> None:
    (tmp_path / GONE).touch()
    assert run_once(tmp_path, lambda _: 0) == 0
    assert not (tmp_path / GONE).exists()


def test_two_processes_do_not_ingest_at_once(tmp_path: Path) -> None:
    waited: list[float] = []

    def second(_: bool) -> int:
        raise AssertionError("it ran beside the first one")

    def first(_: bool) -> int:
        (tmp_path / WAITING).write_text(f"{os.getpid()}\n")
        assert run_once(tmp_path, second, wait=1.0, sleep=waited.append) == 1
        return 0

    assert run_once(tmp_path, first) == 0
    assert sum(waited) == pytest.approx(1.0)
    assert (tmp_path / WAITING).exists(), "a process that did not begin to read stays marked"


class Ingest:
    """Notes what it is told, and returns `status`."""

    def __init__(self) -> None:
        self.told: list[bool] = []
        self.status = 0

    def __call__(self, rewritten: bool) -> int:
        self.told.append(rewritten)
        return self.status


def test_a_rebase_is_told_once(tmp_path: Path) -> None:
    ingest = Ingest()
    (tmp_path / REWRITTEN).touch()
    run_once(tmp_path, ingest)
    run_once(tmp_path, ingest)
    assert ingest.told == [True, False]


def test_a_rebase_is_told_again_after_a_failure(tmp_path: Path) -> None:
    ingest = Ingest()
    ingest.status = 5
    (tmp_path / REWRITTEN).touch()
    assert run_once(tmp_path, ingest) == 5
    with pytest.raises(OSError, match="disk"):
        run_once(tmp_path, lambda _: fails())
    run_once(tmp_path, ingest)
    assert ingest.told == [True, True]


def fails() -> int:
    raise OSError("the disk is full")


def test_a_rebase_during_an_ingest_is_told_to_the_next_one(tmp_path: Path) -> None:
    def ingest(_: bool) -> int:
        (tmp_path / REWRITTEN).touch()
        return 0

    (tmp_path / REWRITTEN).touch()
    run_once(tmp_path, ingest)
    assert (tmp_path / REWRITTEN).exists()


def test_the_lock_is_not_taken_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        run_once(tmp_path, lambda _: 0)
    assert not (tmp_path / "elsewhere").exists()


def test_the_log_begins_again_when_it_is_long(tmp_path: Path) -> None:
    (tmp_path / LOG).write_bytes(b"x" * (MAX_LOG + 1))
    run_once(tmp_path, lambda _: 0)
    assert (tmp_path / LOG).stat().st_size == 0
