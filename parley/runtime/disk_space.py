"""The free space on the disks that the program writes to, and a warning before they are full."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from gateway.ports import Clock
from gateway.text import NO_TEXT, Size, Text, counted, text, verbatim
from parley.config import Settings
from parley.config.sections import sqlite_file
from parley.runtime.background import BackgroundJob
from parley.runtime.watchdog import record_location

MEGABYTE: Final = 1_000_000
LOW: Final = 200 * MEGABYTE
"""Bytes below which a disk is almost full: three times the largest log of SQLite (64 MB)."""
LOW_SHARE: Final = 0.1
"""On a disk of less than 2 GB, the share of it instead."""
NO_SPACE: Final = MEGABYTE
"""Bytes below which a disk counts as full."""
FEW_FILES: Final = 100
"""Free places for files below which a disk counts as full: a disk can run out of these first."""
EVERY: Final = 5.0
"""Seconds between two looks."""
FULL_TEXT: Final = text(
    "The disk of {folder} is full ({left}). No message is accepted until there is room: free more "
    "than 100 MB there, for example old logs and backups. Parley then continues by itself."
)
LOW_TEXT: Final = text(
    "The disk of {folder} is almost full ({left}). Free space there, for example old logs and "
    "backups; on a full disk Parley accepts no messages."
)

log = structlog.get_logger(__name__)


class DiskSpace(Struct, frozen=True):
    """The disk of a folder: `free` and `size` in bytes; `files` are the files that can still be
    created, None where the file system has no limit."""

    folder: str
    free: int
    size: int
    files: int | None = None

    @property
    def is_full(self) -> bool:
        """True if a small write may fail."""
        return self.free < NO_SPACE or (self.files is not None and self.files < FEW_FILES)

    @property
    def is_low(self) -> bool:
        """True if the disk is full, or will be soon."""
        return self.is_full or self.free < min(LOW, self.size * LOW_SHARE)

    @property
    def left(self) -> Text:
        """The free space, for people."""
        free, size = Size(self.free), Size(self.size)
        if self.files is not None and self.files < FEW_FILES:
            return counted(
                "{free} of {size} are free, and room for {count} more file",
                "{free} of {size} are free, and room for {count} more files",
                free=free,
                size=size,
                count=self.files,
            )
        return text("{free} of {size} are free", free=free, size=size)

    @property
    def problem(self) -> Text:
        """The problem with its next step; empty if there is enough space."""
        if not self.is_low:
            return NO_TEXT
        said = FULL_TEXT if self.is_full else LOW_TEXT
        return said.of(folder=verbatim(self.folder), left=self.left)


def written_folders(settings: Settings) -> tuple[Path, ...]:
    """The folders that the program writes to: of the SQLite files, of the record of work in
    progress, and of the keys."""
    files = (sqlite_file(settings.database.url), sqlite_file(settings.storage_url))
    folders = [Path(file).absolute().parent for file in files if file]
    folders.append(record_location(settings)[0].absolute())
    if settings.server.key_folder is not None:
        folders.append(Path(settings.server.key_folder).absolute())
    return tuple(dict.fromkeys(folders))


def disks_of(folders: Iterable[Path]) -> list[DiskSpace]:
    """The disks of these folders, each once; a folder that cannot be looked at is left out."""
    disks: dict[int, DiskSpace] = {}
    for folder in folders:
        existing = next((one for one in (folder, *folder.parents) if one.exists()), folder)
        try:
            device, state = existing.stat().st_dev, os.statvfs(existing)
        except OSError:
            continue
        free, size = state.f_bavail * state.f_frsize, state.f_blocks * state.f_frsize
        files = state.f_favail if state.f_files else None
        disks.setdefault(device, DiskSpace(str(folder), free, size, files))
    return list(disks.values())


class DiskMonitor(BackgroundJob):
    """Looks at the disks repeatedly. `disks` is the latest look."""

    def __init__(self, folders: Iterable[Path], clock: Clock) -> None:
        super().__init__("disk-watch")
        self._folders = tuple(folders)
        self._clock = clock
        self._known: Mapping[str, bool] = {}
        self.disks: tuple[DiskSpace, ...] = ()

    @property
    def problems(self) -> dict[str, Text]:
        """By name of a part ("disk: FOLDER"): the problem with its next step."""
        return {f"disk: {one.folder}": one.problem for one in self.disks if one.is_low}

    async def look(self) -> None:
        """Look once, on a thread: a network file system may take seconds."""
        self.disks = tuple(await asyncio.to_thread(disks_of, self._folders))
        now = {one.folder: one.is_full for one in self.disks if one.is_low}
        for one in self.disks:
            if one.is_low and self._known.get(one.folder) is not one.is_full:
                name = "disk_full" if one.is_full else "disk_almost_full"
                log.warning(name, folder=one.folder, problem=str(one.problem))
            elif one.folder in self._known and not one.is_low:
                log.info("disk_has_space_again", folder=one.folder, left=str(one.left))
        self._known = now

    def start(self) -> None:
        """Start to look, at once; without folders nothing starts."""
        if self._folders:
            super().start()

    async def _run(self) -> None:
        while True:
            await self.look()
            await self._clock.sleep(EVERY)
