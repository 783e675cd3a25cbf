"""A repository, as far as its objects and branches go."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct

from memory.git import refs
from memory.git.errors import GitFailed
from memory.git.location import RepositoryLocation, locate, read_small
from memory.git.object_reader import ObjectInfo, ObjectReader
from memory.git.process import Git, own_git_dir, require_git

MAX_CONFIGURATION: Final = 256 * 1024
"""Bytes of the repository's configuration file."""
MAX_ADDRESS: Final = 500
"""Characters of an address."""
_SHORT_FORM: Final = re.compile(
    r"(?:[\w.-]{1,100}@)?([A-Za-z0-9.-]{1,200}):(?!//)([\w./~+-]{1,300})"
)
"""The short form of SSH, USER@HOST:PATH."""


async def remote_address(location: RepositoryLocation, git: Git) -> str:
    """Return the address of "origin" without credentials; "" without one.

    Git parses the repository's configuration as a file of data, without the files that it includes.
    """
    file = location.common_dir / "config"
    if read_small(file, MAX_CONFIGURATION) is None:
        return ""
    arguments = ("config", "--file", str(file), "--no-includes", "--get", "remote.origin.url")
    status, output = await git.output(*arguments, most=MAX_CONFIGURATION)
    return "" if status else without_credentials(output.decode("utf-8", "replace").strip())


def without_credentials(address: str) -> str:
    """Return an address of https, http, ssh or git without user, password, query and fragment.

    The short form of SSH becomes an address with ssh://. Everything else, such as a folder of this
    machine, gives "".
    """
    if len(address) > MAX_ADDRESS or not address.isprintable():
        return ""
    if short := _SHORT_FORM.fullmatch(address):
        return f"ssh://{short[1]}/{short[2].lstrip('/')}"
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    if parts.scheme not in {"https", "http", "ssh", "git"} or not parts.hostname:
        return ""
    return urlunsplit((parts.scheme, parts.hostname + port, parts.path, "", ""))


MAX_RECORD: Final = 64 * 1024
"""Bytes of a path that git may give."""
MAX_SMALL: Final = 1024 * 1024
"""Bytes of an answer with few lines."""
GONE: Final = "0"
"""The only digit of the id of a path that a commit removes."""
_ENTRY: Final = re.compile(rb"([0-7]{6}) ([a-z]+) ([0-9a-f]+)\t(.*)", re.DOTALL)
_CHANGE: Final = re.compile(rb":[0-7]{6} ([0-7]{6}) [0-9a-f]+ ([0-9a-f]+) [A-Z][0-9]*")
_ABBREVIATION: Final = re.compile(r"[0-9a-f]{4,64}")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

SYMLINK: Final = "120000"
SUBMODULE: Final = "160000"
FOLDER: Final = "040000"


class TreeEntry(Struct, frozen=True):
    """A path in a commit with its mode and the id of its object. `mode` and `id` are "" for a path
    that a change removed."""

    path: bytes
    mode: str
    id: str


class GitRepository:
    """Reads commits, trees and blobs. Every method raises `GitFailed`."""

    def __init__(self, location: RepositoryLocation, git: Git) -> None:
        self.location = location
        self._git = git

    async def head(self) -> refs.Head:
        """Return the checked out branch and commit. Raises `NotARepository`."""
        return await asyncio.to_thread(refs.head, self.location)

    async def tips(self, names: Collection[str]) -> dict[str, str]:
        """Return the commits of branches by name, "" for one that does not exist. Raises
        `NotARepository`."""
        return await asyncio.to_thread(refs.tips, self.location, names)

    def sizes(self) -> ObjectReader:
        """Return a reader of types and sizes."""
        return ObjectReader(self._git, "--batch-check")

    def contents(self) -> ObjectReader:
        """Return a reader of contents."""
        return ObjectReader(self._git, "--batch")

    async def has_commit(self, commit: str) -> bool:
        """True if a commit is there."""
        if not _COMMIT.fullmatch(commit):
            return False
        async with self.sizes() as sizes:
            infos = await sizes.infos([commit])
        return infos.get(commit, ObjectInfo("", 0)).type == "commit"

    async def is_ancestor(self, older: str, newer: str) -> bool:
        """True if the newer commit builds on the older one, as far as git finds out in time."""
        _require_commits(older, newer)
        arguments = ("merge-base", "--is-ancestor", older, newer)
        try:
            status, _ = await self._git.output(*arguments, most=MAX_SMALL)
        except GitFailed:
            return False
        return status == 0

    async def files(self, commit: str, most: int) -> AsyncGenerator[TreeEntry, None]:
        """Yield every path of a commit, links and submodules included, in git's order. Raises
        `LimitExceeded` for more than `most`."""
        _require_commits(commit)
        arguments = ("ls-tree", "-r", "-z", "--full-tree", commit)
        listed = self._git.records(*arguments, longest=MAX_RECORD, most=most)
        async with aclosing(listed) as records:
            async for record in records:
                yield _entry(record)

    async def changes(self, older: str, newer: str, most: int) -> AsyncGenerator[TreeEntry, None]:
        """Yield the paths that differ between two commits, as the newer one has them.

        A renamed file is a removed path and an added one with the same id. Raises `LimitExceeded`
        for more than `most` paths.
        """
        _require_commits(older, newer)
        arguments = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff")
        header: re.Match[bytes] | None = None
        listed = self._git.records(*arguments, older, newer, longest=MAX_RECORD, most=2 * most)
        async with aclosing(listed) as records:
            async for record in records:
                if header is None:
                    header = _CHANGE.fullmatch(record)
                    if header is None:
                        raise GitFailed("git diff-tree gave something that is no change")
                    continue
                id_ = header[2].decode()
                removed = set(id_) == {GONE}
                mode = header[1].decode()
                yield TreeEntry(record, "" if removed else mode, "" if removed else id_)
                header = None

    async def entry(self, commit: str, path: str) -> TreeEntry | None:
        """Return the entry of one path of a commit."""
        entries = await self.entries(commit, path)
        return entries[0] if len(entries) == 1 and entries[0].path == path.encode() else None

    async def entries(self, commit: str, *paths: str) -> list[TreeEntry]:
        """Return the entry of each path, or those directly in a folder for a path that ends with
        "/"; those of the top folder without paths. A path that is not there gives none."""
        _require_commits(commit)
        arguments = ("ls-tree", "-z", "--full-tree", commit, "--")
        status, output = await self._git.output(*arguments, *paths, most=MAX_SMALL)
        if status:
            return []
        return [_entry(record) for record in output.split(b"\0") if record]

    async def small_blob(self, id_: str, most: int) -> bytes | None:
        """Return a blob of at most `most` bytes; None if it is larger or missing."""
        async with self.sizes() as sizes, self.contents() as contents:
            info = (await sizes.infos([id_])).get(id_)
            if info is None or info.type != "blob" or info.size > most:
                return None
            async for _, content in contents.blobs([id_]):
                return content
        return None

    async def commit_text(self, abbreviation: str) -> bytes | None:
        """Return a commit as git stores it; None if there is none, or several have these first
        digits. Raises ValueError for anything else than 4 to 64 hexadecimal digits."""
        if not _ABBREVIATION.fullmatch(abbreviation):
            raise ValueError(f"{abbreviation!r} is no abbreviation of a commit")
        status, kind = await self._git.output("cat-file", "-t", abbreviation, most=MAX_SMALL)
        if status or kind != b"commit\n":
            return None
        status, text = await self._git.output("cat-file", "commit", abbreviation, most=MAX_SMALL)
        return None if status else text

    async def remote(self) -> str:
        """Return the address of the remote "origin" without credentials, "" without one."""
        return await remote_address(self.location, self._git)


@asynccontextmanager
async def opened_repository(folder: Path) -> AsyncIterator[GitRepository]:
    """Open the repository in a folder. Raises `NotARepository`, `GitMissing`."""
    require_git()
    location = await asyncio.to_thread(locate, folder)
    with own_git_dir(await asyncio.to_thread(_is_sha256, location)) as own:
        shallow = location.common_dir / "shallow"
        has_shallow = shallow.is_file() and not shallow.is_symlink()
        yield GitRepository(location, Git(own, location.objects, shallow if has_shallow else None))


def is_file(entry: TreeEntry) -> bool:
    """True for a regular file: no link, no submodule."""
    return entry.mode.startswith("100")


def _is_sha256(location: RepositoryLocation) -> bool:
    """The length of a commit's id tells the format of objects."""
    _, commit = next(refs.branches(location), ("", refs.head(location).commit))
    return len(commit) == 64


def _entry(record: bytes) -> TreeEntry:
    match = _ENTRY.fullmatch(record)
    if match is None:
        raise GitFailed("git ls-tree gave something that is no entry")
    return TreeEntry(match[4], match[1].decode(), match[3].decode())


def _require_commits(*commits: str) -> None:
    for commit in commits:
        if not _COMMIT.fullmatch(commit):
            raise ValueError(f"{commit!r} is not the full id of a commit")
