"""The place of the record of work; a program without one runs all the same."""

from pathlib import Path

from structlog.testing import capture_logs

from parley.config import from_mapping
from parley.runtime.watchdog import record_location, work_record

REDIS = {"storage": {"url": "redis://h:1/0"}, "database": {"url": "postgresql://u:p@h/d"}}


def test_the_record_is_in_the_folder_of_the_database(tmp_path: Path) -> None:
    settings = from_mapping(
        {"database": {"url": f"sqlite:///{tmp_path}/parley.db?synchronous=full"}}
    )
    assert record_location(settings) == (tmp_path, "parley.db")


def test_programs_with_other_servers_have_separate_records() -> None:
    folder, name = record_location(from_mapping(REDIS))
    assert folder == Path()
    assert (folder, name) == record_location(from_mapping(REDIS))
    other = {**REDIS, "storage": {"url": "redis://h:1/1"}}
    assert record_location(from_mapping(other))[1] != name


def test_the_folder_can_be_chosen(tmp_path: Path) -> None:
    settings = from_mapping({**REDIS, "watchdog": {"folder": str(tmp_path / "new")}})
    record, crashes = work_record(settings)
    with record:
        assert record.path is not None
        assert record.path.parent == tmp_path / "new"
        assert (record.path.stat().st_mode & 0o777, crashes) == (0o600, [])


def test_without_a_writable_folder_the_record_is_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = from_mapping({**REDIS, "watchdog": {"folder": str(tmp_path / "file")}})
    with capture_logs() as logs:
        record, crashes = work_record(settings)
    with record:
        assert (record.path, crashes) == (None, [])
    assert [line["event"] for line in logs] == ["work_record_missing"]
