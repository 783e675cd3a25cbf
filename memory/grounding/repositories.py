"""Finds commits and decision records in git folders on this machine. No data is fetched over the
network."""

import asyncio
import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

SECONDS: Final = 3.0
"""The time limit of one call of git."""
MAX_ENTRIES: Final = 5_000
"""Entries of one folder that are read."""
MAX_EXCERPT: Final = 20_000
"""Bytes."""

_HASH: Final = re.compile(r"[0-9a-f]{7,40}")
_ADR_ID: Final = re.compile(r"ADR-([0-9]{1,5})")
_ADR_FILE: Final = re.compile(
    r"(?:adr[-_ ]?)?([0-9]{1,5})(?:[-_. ].{0,200})?\.(?:md|markdown|adoc|rst|txt)", re.IGNORECASE
)
_BASES: Final = ("", "docs", "doc", "docs/architecture", "doc/architecture", "architecture")
_ADR_FOLDERS: Final = re.compile(r"adrs?[\w-]{0,40}|decisions|decision-records", re.IGNORECASE)


class Repositories:
    """Git folders, which are searched in their order."""

    def __init__(self, folders: Sequence[Path], *, excerpts: bool = False) -> None:
        self._folders = tuple(folder.resolve() for folder in folders)
        self._excerpts = excerpts

    def __bool__(self) -> bool:
        return bool(self._folders)

    async def commit(self, hexadecimal: str) -> str | None:
        """Return the commit's text ("" without excerpts); None if no folder has it, or several have
        it under this abbreviation. Raises OSError without git, TimeoutError if it is too slow."""
        if not _HASH.fullmatch(hexadecimal):
            return None
        for folder in self._folders:
            if await _git(folder, "cat-file", "-t", hexadecimal) == b"commit\n":
                if not self._excerpts:
                    return ""
                text = await _git(folder, "cat-file", "commit", hexadecimal)
                return text.partition(b"\n\n")[2].decode("utf-8", "replace")
        return None

    async def decision_record(self, adr_id: str) -> str | None:
        """Return the record's text ("" without excerpts) for "ADR-003"; None if there is no such
        file.

        It is a file such as docs/adrs/ADR-003-storage.md or doc/adr/0003-storage.md.
        """
        match = _ADR_ID.fullmatch(adr_id)
        if match is None:
            return None
        return await asyncio.to_thread(self._record, int(match[1]))

    def _record(self, number: int) -> str | None:
        for folder in self._folders:
            for path in _decision_records(folder):
                name = _ADR_FILE.fullmatch(path.name)
                if name and int(name[1]) == number:
                    return _beginning(path) if self._excerpts else ""
        return None


async def is_repository(folder: Path) -> bool:
    """True if an absolute path is the top folder of a git repository.

    Raises `OSError` without git, `TimeoutError` if git is too slow.
    """
    return bool((await _git(folder, "rev-parse", "--git-dir")).strip())


def _decision_records(folder: Path) -> Iterator[Path]:
    """Yield the files in the folders of decision records; links are not followed."""
    for base in _BASES:
        for inside in _entries(folder / base):
            if _ADR_FOLDERS.fullmatch(inside.name) and inside.is_dir(follow_symlinks=False):
                for entry in _entries(Path(inside.path)):
                    if entry.is_file(follow_symlinks=False):
                        yield Path(entry.path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    if folder.is_symlink() or not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        return sorted(islice(entries, MAX_ENTRIES), key=lambda entry: entry.name)


def _beginning(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with open(descriptor, "rb") as file:
        return file.read(MAX_EXCERPT).decode("utf-8", "replace")


async def _git(folder: Path, *arguments: str) -> bytes:
    """Return the output of git, empty if it fails. Foreign configuration, hooks and remotes are not
    used: the operator listed the folder, which makes it safe for any owner of its files."""
    process = await asyncio.create_subprocess_exec(
        "git",
        *("-C", str(folder), "-c", f"safe.directory={folder}", "-c", "core.fsmonitor=false"),
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={
            "PATH": os.environ.get("PATH", os.defpath),
            "GIT_CEILING_DIRECTORIES": str(folder.parent),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
        },
    )
    try:
        async with asyncio.timeout(SECONDS):
            return await _all_of(process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _all_of(process: asyncio.subprocess.Process) -> bytes:
    output = bytearray()
    while process.stdout and len(output) < MAX_EXCERPT:
        chunk = await process.stdout.read(MAX_EXCERPT - len(output))
        if not chunk:
            break
        output += chunk
    return bytes(output)
