"""Files in the folders of owners. No symbolic link is followed, and a write is complete or absent.

Folders: `TENANT/people/PERSON`, `TENANT/projects/PROJECT`, `TENANT/everybody/all`, each with a file
`.owner` that names the id. Only files that end in `.md` directly in these folders are read.
"""

import os
import secrets
import shutil
import stat
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import time_ns
from typing import Final

from gateway.ports.memory_backend import MAX_STATEMENTS, StatementScope
from parley_memory_markdown.names import folder_name
from parley_memory_markdown.notes import Owner

MAX_FILE: Final = 64_000
"""Bytes of a file that are read."""
MAX_FOLDERS: Final = 10_000
MAX_CACHED: Final = 20_000
SETTLED_NS: Final = 2_000_000_000
"""A file that changed less than two seconds before it was read is read again next time: a second
change within one tick of the file system's clock would not show."""
SUFFIX: Final = ".md"
OWNER: Final = ".owner"
TEMPORARY: Final = ".writing-"
SHELVES: Final[dict[StatementScope, str]] = {
    "user": "people",
    "project": "projects",
    "global": "everybody",
}
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class FolderFull(Exception):
    """A folder holds as many files as are read."""


@dataclass(frozen=True, slots=True)
class File:
    """A file that was read."""

    owner: Owner
    name: str
    text: str
    changed: datetime


class Files:
    """The files below one folder. Every method raises `OSError`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._cache: OrderedDict[tuple[Owner, str, int, int, int], File] = OrderedDict()

    def prepare(self) -> None:
        """Make the folder. Raises `OSError` if it cannot be written."""
        self.root.mkdir(parents=True, exist_ok=True)
        if not os.access(self.root, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(f"{self.root} cannot be written")

    def read(self, owner: Owner) -> list[File]:
        """Return the files of an owner: the first `MAX_STATEMENTS` by name."""
        with self._opened(owner) as folder:
            if folder is None:
                return []
            names = sorted(name for name in os.listdir(folder) if _is_note(name))
            files = (self._read(folder, owner, name) for name in names[:MAX_STATEMENTS])
            return [file for file in files if file is not None]

    def write(self, owner: Owner, name: str, text: str) -> None:
        """Write a file in one step. Raises `FolderFull`."""
        with self._opened(owner, make=True) as folder:
            if folder is None:
                raise FileNotFoundError(owner.id)
            names = os.listdir(folder)
            if name not in names and sum(map(_is_note, names)) >= MAX_STATEMENTS:
                raise FolderFull(f"the folder holds {MAX_STATEMENTS:,} files")
            _write(folder, name, text)

    def delete(self, owner: Owner, name: str) -> bool:
        """Delete a file; False if it is not there."""
        with self._opened(owner) as folder:
            if folder is None:
                return False
            try:
                os.unlink(name, dir_fd=folder)
            except FileNotFoundError:
                return False
            os.fsync(folder)
            return True

    def erase(self, owner: Owner) -> None:
        """Delete the folder of an owner with everything in it."""
        with self._shelf(owner.tenant, owner.scope) as shelf:
            if shelf is not None:
                _remove(shelf, folder_name(owner.id))
                os.fsync(shelf)
        for key in [key for key in self._cache if key[0] == owner]:
            del self._cache[key]

    def owners(self, tenant: str, *scopes: StatementScope) -> list[Owner]:
        """Return the owners of a tenant that have a folder."""
        owners: list[Owner] = []
        for scope in scopes:
            with self._shelf(tenant, scope) as shelf:
                names = [] if shelf is None else sorted(os.listdir(shelf))[:MAX_FOLDERS]
                for name in names:
                    id_ = None if shelf is None else _owner_of(shelf, name)
                    if id_ is not None and folder_name(id_) == name:
                        owners.append(Owner(tenant, scope, id_))
        return owners

    # --- folders --------------------------------------------------------------------------------

    @contextmanager
    def _shelf(
        self, tenant: str, scope: StatementScope, *, make: bool = False
    ) -> Iterator[int | None]:
        """Open the folder of a scope; None if it does not exist."""
        with (
            _below(os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as root,
            _inside(root, folder_name(tenant), make=make) as within,
            _inside(within, SHELVES[scope], make=make) as shelf,
        ):
            yield shelf

    @contextmanager
    def _opened(self, owner: Owner, *, make: bool = False) -> Iterator[int | None]:
        with (
            self._shelf(owner.tenant, owner.scope, make=make) as shelf,
            _inside(shelf, folder_name(owner.id), make=make) as folder,
        ):
            if make and folder is not None and _owner_in(folder) != owner.id:
                _write(folder, OWNER, owner.id)
            yield folder

    def _read(self, folder: int, owner: Owner, name: str) -> File | None:
        """Return a file; None for a link, a folder, a device or a file that is too large."""
        try:
            opened = os.open(name, _READ, dir_fd=folder)
        except OSError:
            return None
        try:
            info = os.fstat(opened)
            if not stat.S_ISREG(info.st_mode) or info.st_size > MAX_FILE:
                return None
            key = (owner, name, info.st_ino, info.st_mtime_ns, info.st_size)
            known = self._cache.get(key)
            if known is not None:
                return known
            text = _all_of(opened).decode("utf-8", "replace")
        finally:
            os.close(opened)
        file = File(owner, name, text, datetime.fromtimestamp(info.st_mtime, UTC))
        if time_ns() - info.st_mtime_ns > SETTLED_NS:
            self._cache[key] = file
            while len(self._cache) > MAX_CACHED:
                self._cache.popitem(last=False)
        return file


@contextmanager
def _below(folder: int) -> Iterator[int]:
    try:
        yield folder
    finally:
        os.close(folder)


@contextmanager
def _inside(parent: int | None, name: str, *, make: bool) -> Iterator[int | None]:
    """Open a folder inside another one; None if it is missing, or is a link."""
    if parent is None:
        yield None
        return
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
    try:
        opened = os.open(name, _FOLDER, dir_fd=parent)
    except OSError:
        if make:
            raise
        yield None
        return
    with _below(opened) as folder:
        yield folder


def _remove(shelf: int, name: str) -> None:
    """Delete a folder with everything in it; of a link only the link."""
    try:
        if stat.S_ISDIR(os.lstat(name, dir_fd=shelf).st_mode):
            shutil.rmtree(name, dir_fd=shelf)
        else:
            os.unlink(name, dir_fd=shelf)
    except FileNotFoundError:
        return


def _write(folder: int, name: str, text: str) -> None:
    """Write a file beside its place and move it there."""
    temporary = f"{TEMPORARY}{secrets.token_hex(8)}"
    opened = os.open(temporary, _WRITE, 0o600, dir_fd=folder)
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _owner_of(shelf: int, name: str) -> str | None:
    with _inside(shelf, name, make=False) as folder:
        return None if folder is None else _owner_in(folder)


def _owner_in(folder: int) -> str | None:
    try:
        opened = os.open(OWNER, _READ, dir_fd=folder)
    except OSError:
        return None
    try:
        return _all_of(opened).decode("utf-8", "replace")
    finally:
        os.close(opened)


def _all_of(opened: int) -> bytes:
    parts: list[bytes] = []
    left = MAX_FILE
    while left and (part := os.read(opened, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _is_note(name: str) -> bool:
    return name.endswith(SUFFIX) and not name.startswith(".")
