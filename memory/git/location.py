"""Finds the parts of a repository on disk, and refuses those that lie elsewhere.

A repository may come from anywhere: an archive, a shared disk. So no link is followed below its
folder, and nothing that names a place outside of it is believed: a `.git` file counts only if the
repository that it names knows this work tree, and alternates only if they lie inside.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from memory.git.errors import NotARepository

MAX_FILE: Final = 64 * 1024
"""Bytes of a small file, such as HEAD or alternates."""
MAX_OBJECT_ENTRIES: Final = 500_000
"""Entries of the folder of objects that are checked for links."""


class RepositoryLocation(Struct, frozen=True):
    """A repository on disk. All paths are absolute and without links.

    `folder` is the work tree, or the bare repository itself; `git_dir` has the HEAD of this work
    tree; `common_dir` has the objects and branches, which all work trees share.
    """

    folder: Path
    git_dir: Path
    common_dir: Path

    @property
    def is_bare(self) -> bool:
        """True without a work tree."""
        return self.folder == self.git_dir

    @property
    def main_folder(self) -> Path:
        """The folder of the repository itself: that of a linked work tree may go at any time."""
        if self.git_dir == self.common_dir:
            return self.folder
        main = self.common_dir.parent
        return main if self.common_dir.name == ".git" else self.common_dir

    @property
    def objects(self) -> Path:
        """The folder of the object database."""
        return self.common_dir / "objects"


def locate(folder: Path) -> RepositoryLocation:
    """Return the repository whose top folder, bare repository or work tree this is.

    Raises `NotARepository`.
    """
    try:
        top = folder.resolve(strict=True)
        location = _located(top)
        _check(location)
    except (OSError, ValueError) as error:
        raise NotARepository(f"{folder}: cannot be read as a git repository: {error}") from error
    return location


def read_small(path: Path, most: int = MAX_FILE) -> bytes | None:
    """Return a regular file that is no link; None if there is none, or it is larger than `most`
    bytes."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > most:
            return None
        return file.read(most)


def _located(top: Path) -> RepositoryLocation:
    inner = top / ".git"
    if _is_folder(inner):
        return RepositoryLocation(top, inner, inner)
    if (pointer := read_small(inner)) is not None:
        return _work_tree(top, pointer)
    if inner.is_symlink():
        raise NotARepository(f"{inner} is a link; name the folder that it points to")
    if _is_folder(top / "objects") and _is_folder(top / "refs"):
        return RepositoryLocation(top, top, top)
    raise NotARepository(f"{top} is not a git repository; name the folder that holds .git")


def _work_tree(top: Path, pointer: bytes) -> RepositoryLocation:
    """A work tree that `git worktree add` made: its repository has to know it."""
    named = _path_after(b"gitdir:", pointer)
    git_dir = (top / named).resolve(strict=True) if named else None
    common = git_dir.parent.parent if git_dir else None
    if git_dir is None or common is None or git_dir.parent.name != "worktrees":
        raise NotARepository(
            f"{top}/.git names a repository elsewhere, as in a submodule; name that folder of git"
            " itself"
        )
    back = (read_small(git_dir / "gitdir") or b"").decode("utf-8", "surrogateescape").strip()
    if not back or (git_dir / back).parent.resolve() != top:
        raise NotARepository(
            f"{top}/.git names {common}, which does not know this work tree; run"
            " `git worktree repair` there"
        )
    return RepositoryLocation(top, git_dir, common)


def _path_after(prefix: bytes, content: bytes) -> str:
    if not content.startswith(prefix) or b"\0" in content:
        return ""
    return content.removeprefix(prefix).decode("utf-8", "surrogateescape").strip()


def _check(location: RepositoryLocation) -> None:
    """Raise `NotARepository` for a part that is a link or lies elsewhere."""
    objects = location.objects
    if not _is_folder(objects):
        raise NotARepository(f"{objects} is a link or missing; nothing outside of it is read")
    if _is_folder(location.common_dir / "reftable"):
        raise NotARepository(
            f"{location.folder} keeps its branches as a reftable, which Parley cannot read; run"
            " `git refs migrate --ref-format=files` there"
        )
    alternates = read_small(objects / "info" / "alternates")
    for line in (alternates or b"").split(b"\n"):  # as git splits it
        _check_alternate(location, line)
    if alternates is None and os.path.lexists(objects / "info" / "alternates"):
        raise NotARepository(f"{objects}/info/alternates is a link or too large")
    for entry in _object_entries(objects):
        if entry.is_symlink():
            raise NotARepository(f"{entry.path} is a link; nothing outside of it is read")
        if not (entry.is_file() or entry.is_dir()):
            raise NotARepository(f"{entry.path} is neither a file nor a folder; delete it")


def _check_alternate(location: RepositoryLocation, line: bytes) -> None:
    if not line or line.startswith(b"#"):
        return
    place = (location.objects / os.fsdecode(line)).resolve()
    quoted = line.startswith(b'"')  # git takes it for a path in quotation marks
    if quoted or place == location.objects or not place.is_relative_to(location.common_dir):
        raise NotARepository(
            f"{location.objects}/info/alternates names objects elsewhere, and nothing outside of"
            " the repository is read; run `git repack -a -d` and remove that file"
        )
    for entry in _object_entries(place):
        if entry.is_symlink() or entry.name == "alternates":
            raise NotARepository(f"{entry.path}: an alternate may not name further places")


def _object_entries(objects: Path) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of the folder of objects, two levels deep. Raises `NotARepository` for
    more than can be checked."""
    left = MAX_OBJECT_ENTRIES
    for entry in _entries_below(objects):
        left -= 1
        if left < 0:
            raise NotARepository(
                f"{objects} has more than {MAX_OBJECT_ENTRIES:,} files; run `git gc` there"
            )
        yield entry


def _entries_below(objects: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(objects) as folders:
        for folder in folders:
            yield folder
            if folder.is_dir(follow_symlinks=False):
                with os.scandir(folder.path) as entries:
                    yield from entries


def _is_folder(path: Path) -> bool:
    with suppress(OSError):
        return stat.S_ISDIR(path.lstat().st_mode)
    return False
