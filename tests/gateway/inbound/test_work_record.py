"""The record of work outlives its process, and is read once."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from gateway.inbound.work_record import MAX_PROCESSES, SIZE, SLOTS, WorkRecord, open_record
from gateway.observe.logs import MAX_VALUE
from gateway.ports.work_guard import MAX_ID, WorkItem
from tests.support.small_disk import small_disk

FIRST, SECOND = WorkItem("message", "a1"), WorkItem("waiting_turn", "b2")

DYING = """
import os, signal, sys
from pathlib import Path
from gateway.inbound.work_record import open_record
from gateway.ports.work_guard import WorkItem
record, _ = open_record(Path(sys.argv[1]), "parley.db")
with record.working(WorkItem("message", "done")):
    pass
outer, inner = WorkItem("message", "outer"), WorkItem("waiting_turn", "inner")
with record.working(outer), record.working(inner):
    record.name_running()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_process_reads_the_work_in_progress_and_the_running_work(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", DYING, str(tmp_path)], check=False)
    assert ended.returncode == -9
    record, (crash,) = open_record(tmp_path, "parley.db")
    with record:
        assert set(crash.in_work) == {
            WorkItem("message", "outer"),
            WorkItem("waiting_turn", "inner"),
        }
        assert crash.named == (WorkItem("waiting_turn", "inner"),)
        assert not crash.hung, "no stack was written"
    again, crashes = open_record(tmp_path, "parley.db")
    again.close()
    assert crashes == [], "it is read once"


def test_a_normal_end_leaves_an_empty_record(tmp_path: Path) -> None:
    record, _ = open_record(tmp_path, "parley.db")
    record.working(FIRST).__enter__()
    record.close()
    record.close()
    record, crashes = open_record(tmp_path, "parley.db")
    record.close()
    assert crashes == []


def test_concurrent_processes_have_separate_records(tmp_path: Path) -> None:
    one, _ = open_record(tmp_path, "parley.db")
    with one, one.working(FIRST):
        two, crashes = open_record(tmp_path, "parley.db")
        with two:
            assert crashes == [], "the other one lives"
            assert two.path != one.path
            other, crashes = open_record(tmp_path, "other.db")
            with other:
                assert (crashes, other.path) == ([], tmp_path / "other.db.in-work")
        assert one.in_work() == (FIRST,)


def test_a_process_reads_the_records_of_crashed_processes(tmp_path: Path) -> None:
    living, _ = open_record(tmp_path, "p")
    dead, _ = open_record(tmp_path, "p")
    dead.working(SECOND).__enter__()
    dead._map.close()  # the lock goes with both, as at a crash; the content stays
    os.close(dead._descriptor)
    with living:
        record, (crash,) = open_record(tmp_path, "p")
        with record:
            assert crash.in_work == (SECOND,)


def test_a_recorded_stack_means_a_hang(tmp_path: Path) -> None:
    (tmp_path / "p.in-work.stack").write_text("Timeout!\n  File x\n")
    record, (crash,) = open_record(tmp_path, "p")
    record.close()
    assert (crash.hung, crash.stack, crash.in_work) == (True, "Timeout!\n  File x", ())


def test_a_stack_that_is_logged_names_what_runs_in_each_thread(tmp_path: Path) -> None:
    def thread(name: str, frames: int) -> str:
        lines = [f'  File "/srv/parley/{name}.py", line 1 in {name}{n}' for n in range(frames)]
        return "\n".join([f"Thread 0x{name} (most recent call first):", *lines])

    dumped = "\n\n".join([thread("hanging", 10), thread("idle", 4), thread("main", 40)])
    (tmp_path / "p.in-work.stack").write_text(dumped)
    record, (crash,) = open_record(tmp_path, "p")
    record.close()
    assert crash.stack.startswith("Thread 0xmain")
    assert all(f"in {name}0" in crash.stack[:MAX_VALUE] for name in ("main", "hanging", "idle"))


def test_a_symbolic_link_or_a_special_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("precious")
    (tmp_path / "p.in-work").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"p\.in-work"):
        open_record(tmp_path, "p")
    assert (tmp_path / "elsewhere").read_text() == "precious"


@given(st.binary(max_size=5_000))
def test_an_invalid_file_is_not_a_crash(content: bytes) -> None:
    import tempfile  # noqa: PLC0415 - a folder for each example

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "p.in-work").write_bytes(content)
        record, crashes = open_record(Path(folder), "p")
        record.close()
        assert crashes == []


@given(st.text(max_size=3 * MAX_ID))
def test_any_id_is_read_back_up_to_its_maximum_length(id_: str) -> None:
    record = WorkRecord()
    with record.working(WorkItem("chore", id_)):
        (result,) = record.in_work()
    clean = id_.encode("utf-8", "replace").decode("utf-8", "replace")
    assert result == WorkItem("chore", clean[:MAX_ID])
    assert record.in_work() == ()


def test_work_beyond_the_capacity_is_not_recorded_and_raises_nothing() -> None:
    record = WorkRecord()
    many = [WorkItem("message", str(number)) for number in range(SLOTS + 5)]
    with record.working(*many):
        assert len(record.in_work()) == SLOTS
    assert record.in_work() == ()
    with record.working(FIRST):
        assert record.in_work() == (FIRST,)


async def test_running_work_is_named_also_in_tasks_that_it_started() -> None:
    record = WorkRecord()
    named: list[tuple[WorkItem, ...]] = []

    async def inside() -> None:
        await asyncio.sleep(0)
        named.append(record.name_running())

    with record.working(FIRST, SECOND):
        task = asyncio.create_task(inside())
        with record.working(WorkItem("send", "x:0")):
            named.append(record.name_running())
        await task
    await inside()
    assert [set(items) for items in named] == [{WorkItem("send", "x:0")}, {FIRST, SECOND}, set()]


def test_a_folder_has_records_for_a_limited_number_of_processes(tmp_path: Path) -> None:
    records = [open_record(tmp_path, "p")[0] for _ in range(MAX_PROCESSES)]
    with pytest.raises(OSError, match="processes"):
        open_record(tmp_path, "p")
    for record in records:
        record.close()


def test_the_room_of_a_record_is_reserved_so_that_a_full_disk_keeps_it() -> None:
    with small_disk(4 * SIZE) as disk:
        record, _ = open_record(disk.folder, "p")
        disk.fill()
        many = [WorkItem("message", str(number)) for number in range(SLOTS)]
        record.working(*many).__enter__()
        assert record.problem == ""
        os.close(record._descriptor)  # the lock goes, as at a crash
        record, (crash,) = open_record(disk.folder, "p")
        with record:
            assert set(crash.in_work) == set(many)
            assert record.problem == "", "the room of the dead process is kept"


CONTENTS = {"missing": None, "empty": b"", "of an older version, without room": b"PARLEYW1"}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_without_room_the_record_is_kept_in_memory_until_there_is_some(
    content: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.inbound.work_record.RETRY_SECONDS", 0.0)
    with small_disk(4 * SIZE) as disk:
        if content is not None:
            (disk.folder / "p.in-work").write_bytes(content)
            os.truncate(disk.folder / "p.in-work", SIZE if content else 0)
        disk.fill()
        with capture_logs() as logs:
            record, crashes = open_record(disk.folder, "p")
            many = [WorkItem("message", str(number)) for number in range(SLOTS - 1)]
            with record, record.working(*many):
                assert len(record.in_work()) == SLOTS - 1
                assert "No space left on device" in record.problem
                assert str(disk.folder) in record.problem
                disk.free()
                with record.working(FIRST):
                    pass
                assert record.problem == ""
                written = (disk.folder / "p.in-work").read_bytes()
                assert len(written) == SIZE
                assert b"message\x000" in written, "also what began before there was room"
        assert crashes == []
    assert [line["event"] for line in logs] == ["work_record_not_written"], "it is said once"


def test_a_record_whose_file_is_cut_by_somebody_else_keeps_running(tmp_path: Path) -> None:
    record, _ = open_record(tmp_path, "p")
    with record:
        os.truncate(tmp_path / "p.in-work", 0)
        with record.working(FIRST, SECOND):
            assert set(record.in_work()) == {FIRST, SECOND}
