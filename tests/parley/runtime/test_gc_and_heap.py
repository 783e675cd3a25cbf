"""Large blocks return to the system, and objects of the start are not collected again."""

import gc
import platform
import subprocess
import sys

import pytest

from parley.runtime import gc_and_heap

MEGABYTE = 1024 * 1024
GROWN = f"""
import sys
from parley.runtime import gc_and_heap

if sys.argv[1] == "told":
    assert gc_and_heap.return_large_blocks()
first = bytearray(20 * {MEGABYTE})
del first
kept, held = [], []
for _ in range(16):
    kept.append(bytearray({MEGABYTE}))
    held.append(bytearray(1_000))
del kept
status = open("/proc/self/status").read()
print(status.partition("VmRSS:")[2].split()[0])
"""


def left(how: str) -> int:
    """Kilobytes of a process that needed much for a moment, and keeps a little of it."""
    command = [sys.executable, "-c", GROWN, how]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these thresholds")
def test_freed_memory_returns_to_the_system() -> None:
    assert left("not told") - left("told") > 10_000


def test_another_c_library_is_not_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parley.runtime.gc_and_heap.ctypes.CDLL", lambda _: object())
    assert not gc_and_heap.return_large_blocks()


def test_collections_run_after_more_objects_than_by_default() -> None:
    thresholds = gc.get_threshold()
    try:
        gc_and_heap.collect_rarely()
        assert gc.get_threshold() == (gc_and_heap.YOUNG, *thresholds[1:])
    finally:
        gc.set_threshold(*thresholds)


def test_loaded_objects_are_not_scanned_again() -> None:
    kept: list[list[object]] = [[] for _ in range(1_000)]
    try:
        gc_and_heap.freeze_loaded_objects()
        assert gc.get_freeze_count() > len(kept)
        assert len(gc.get_objects()) < len(kept)
    finally:
        gc.unfreeze()


def test_existing_objects_are_frozen_and_later_ones_are_still_collected() -> None:
    thresholds = gc.get_threshold()
    try:
        gc_and_heap.freeze_startup_objects()
        assert gc.get_freeze_count() > 1_000
        ring: list[object] = []
        ring.append(ring)
        del ring
        assert gc.collect() >= 1
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
