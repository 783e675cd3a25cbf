"""A disk that is almost full is said before it is full, with the next step."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from parley.config import from_mapping
from parley.runtime.disk_space import DiskMonitor, DiskSpace, disks_of, written_folders
from tests.support.clock import FakeClock
from tests.support.small_disk import small_disk

GB = 10**9


@pytest.mark.parametrize(
    ("free", "size", "files", "low", "full"),
    [
        (201_000_000, 500 * GB, None, False, False),
        (199_000_000, 500 * GB, None, True, False),
        (60_000_000, 500_000_000, None, False, False),
        (40_000_000, 500_000_000, None, True, False),
        (900_000, 500 * GB, None, True, True),
        (400 * GB, 500 * GB, 3, True, True),
    ],
)
def test_a_disk_is_low_by_its_free_space_and_its_places_for_files(
    free: int, size: int, files: int | None, low: bool, full: bool
) -> None:
    disk = DiskSpace("/data", free, size, files)
    assert (disk.is_low, disk.is_full, bool(disk.problem)) == (low, full, low)
    assert not low or "/data" in str(disk.problem)


def test_a_disk_with_several_folders_is_looked_at_once(tmp_path: Path) -> None:
    (only,) = disks_of((tmp_path / "not yet" / "there", tmp_path))
    assert only.folder == str(tmp_path / "not yet" / "there")


def test_the_folders_are_those_of_the_databases_the_record_and_the_keys(tmp_path: Path) -> None:
    settings = from_mapping(
        {
            "database": {"url": f"sqlite:///{tmp_path}/a/parley.db"},
            "storage": {"url": f"sqlite:///{tmp_path}/b/hot.db"},
            "watchdog": {"folder": f"{tmp_path}/c"},
            "server": {"key_folder": f"{tmp_path}/d"},
        }
    )
    assert {folder.name for folder in written_folders(settings)} == {"a", "b", "c", "d"}


async def test_the_monitor_says_a_full_disk_once_and_until_there_is_room() -> None:
    with small_disk(8_000_000) as disk:
        monitor = DiskMonitor((disk.folder,), FakeClock())
        with capture_logs() as logs:
            await monitor.look()
            assert monitor.problems == {}
            disk.fill()
            await monitor.look()
            await monitor.look()
            (problem,) = monitor.problems.values()
            assert "free" in str(problem)
            assert str(disk.folder) in str(problem)
            disk.free()
            await monitor.look()
        assert monitor.problems == {}
    assert [line["event"] for line in logs] == ["disk_full"]
