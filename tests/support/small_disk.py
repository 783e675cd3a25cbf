"""A small disk in memory, for tests of a full one."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

BLOCK = b"x" * 4096


@dataclass(frozen=True)
class Disk:
    """A small disk in memory."""

    folder: Path

    @property
    def used(self) -> int:
        """The bytes in use."""
        disk = os.statvfs(self.folder)
        return (disk.f_blocks - disk.f_bfree) * disk.f_frsize

    def limit(self, size: int) -> None:
        """Change the size, in bytes."""
        command = ("mount", "-o", f"remount,size={size}", str(self.folder))
        subprocess.run(command, check=True, capture_output=True)

    @property
    def filler(self) -> Path:
        """The file that `fill` writes."""
        return self.folder / "filler"

    def fill(self) -> None:
        """Write until there is no free block."""
        with self.filler.open("ab", buffering=0) as file:
            try:
                while file.write(BLOCK):
                    pass
            except OSError:
                pass

    def free(self) -> None:
        """Delete what `fill` wrote."""
        self.filler.unlink(missing_ok=True)


@contextmanager
def small_disk(size: int) -> Iterator[Disk]:
    """A disk of this many bytes until the end; the test is skipped where there can be none."""
    folder = Path(tempfile.mkdtemp(prefix="parley-disk-"))
    mount = ("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    try:
        if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("this user cannot mount a disk")
        try:
            folder.chmod(0o755)
            yield Disk(folder)
        finally:
            subprocess.run(("umount", "--lazy", str(folder)), check=True)
    finally:
        folder.rmdir()
