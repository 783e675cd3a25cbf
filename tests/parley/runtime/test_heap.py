"""What is large goes back when it is freed."""

import platform
import subprocess
import sys

import pytest

from parley.runtime import heap

MEGABYTE = 1024 * 1024
GROWN = f"""
import sys
from parley import heap

if sys.argv[1] == "told":
    assert heap.return_large_blocks()
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
def test_what_was_needed_for_a_moment_goes_back() -> None:
    assert left("not told") - left("told") > 10_000


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parley.runtime.heap.ctypes.CDLL", lambda _: object())
    assert not heap.return_large_blocks()
