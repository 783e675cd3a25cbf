"""Finds commits and decision records in git repositories on this machine, as they are committed.
No data is fetched over the network."""

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Final

from memory.git.errors import NotARepository
from memory.git.repository import FOLDER, GitRepository, TreeEntry, is_file, opened_repository

MAX_EXCERPT: Final = 20_000
"""Bytes."""
MAX_RECORD: Final = 1024 * 1024
"""Bytes of a decision record; a larger one has no excerpt."""

_HASH: Final = re.compile(r"[0-9a-f]{7,40}")
_ADR_ID: Final = re.compile(r"ADR-([0-9]{1,5})")
_ADR_FILE: Final = re.compile(
    r"(?:adr[-_ ]?)?([0-9]{1,5})(?:[-_. ].{0,200})?\.(?:md|markdown|adoc|rst|txt)", re.IGNORECASE
)
_BASES: Final = ("", "docs", "doc", "docs/architecture", "doc/architecture", "architecture")
_ADR_FOLDERS: Final = re.compile(r"adrs?[\w-]{0,40}|decisions|decision-records", re.IGNORECASE)


class Repositories:
    """Git repositories, which are searched in their order. One that cannot be read has nothing."""

    def __init__(self, folders: Sequence[Path], *, excerpts: bool = False) -> None:
        self._folders = tuple(folders)
        self._excerpts = excerpts

    def __bool__(self) -> bool:
        return bool(self._folders)

    async def commit(self, hexadecimal: str) -> str | None:
        """Return the commit's text ("" without excerpts); None if no repository has it, or several
        have it under this abbreviation. Raises `GitError` if git is missing, too slow or fails."""
        if not _HASH.fullmatch(hexadecimal):
            return None
        async with aclosing(self._opened()) as repositories:
            async for git in repositories:
                text = await git.commit_text(hexadecimal)
                if text is not None:
                    message = text.partition(b"\n\n")[2][:MAX_EXCERPT]
                    return message.decode("utf-8", "replace") if self._excerpts else ""
        return None

    async def decision_record(self, adr_id: str) -> str | None:
        """Return the record's text ("" without excerpts) for "ADR-003"; None if there is no such
        file. Raises `GitError` if git is missing, too slow or fails.

        It is a file such as docs/adrs/ADR-003-storage.md or doc/adr/0003-storage.md in the commit
        that is checked out. What is not committed proves nothing.
        """
        match = _ADR_ID.fullmatch(adr_id)
        if match is None:
            return None
        async with aclosing(self._opened()) as repositories:
            async for git in repositories:
                for entry in await _decision_records(git):
                    name = _ADR_FILE.fullmatch(_name(entry))
                    if name and int(name[1]) == int(match[1]):
                        return await _beginning(git, entry) if self._excerpts else ""
        return None

    async def _opened(self) -> AsyncGenerator[GitRepository, None]:
        for folder in self._folders:
            try:
                async with opened_repository(folder) as git:
                    yield git
            except NotARepository:
                continue


async def _decision_records(git: GitRepository) -> list[TreeEntry]:
    """Return the files in the folders of decision records of the checked out commit."""
    commit = (await git.head()).commit
    if not commit:
        return []
    inside = [
        *await git.entries(commit),
        *await git.entries(commit, *(f"{base}/" for base in _BASES if base)),
    ]
    folders = [
        f"{entry.path.decode()}/"
        for entry in inside
        if entry.mode == FOLDER and entry.path.isascii() and _ADR_FOLDERS.fullmatch(_name(entry))
    ]
    if not folders:
        return []
    return [entry for entry in await git.entries(commit, *folders) if is_file(entry)]


async def _beginning(git: GitRepository, entry: TreeEntry) -> str:
    content = await git.small_blob(entry.id, MAX_RECORD) or b""
    return content[:MAX_EXCERPT].decode("utf-8", "replace")


def _name(entry: TreeEntry) -> str:
    return entry.path.rpartition(b"/")[2].decode("utf-8", "replace")
