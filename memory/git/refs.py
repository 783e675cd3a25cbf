"""Reads HEAD and the branches of a repository from their files, as git stores them: one file for
each branch, or lines of `packed-refs`."""

import os
import re
from collections.abc import Collection, Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from memory.git.errors import NotARepository
from memory.git.location import RepositoryLocation, read_small

HEADS: Final = "refs/heads/"
MAX_PACKED: Final = 64 * 1024 * 1024
"""Bytes of `packed-refs`."""
MAX_BRANCHES: Final = 10_000
"""Branches that are listed."""
MAX_DEPTH: Final = 20
"""Folders of a branch's name."""
_HASH: Final = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NAME: Final = re.compile(r"[^\x00-\x20\x7f~^:?*\[\\]{1,250}")


class Head(Struct, frozen=True):
    """The checked out branch and its commit. `branch` is "" for a detached HEAD; `commit` is ""
    before the first commit."""

    branch: str
    commit: str


def head(location: RepositoryLocation) -> Head:
    """Return the HEAD of a work tree. Raises `NotARepository`."""
    content = read_small(location.git_dir / "HEAD")
    if content is None:
        raise NotARepository(f"{location.git_dir}/HEAD is missing, a link or too large")
    text = content.strip()
    if _HASH.fullmatch(text):
        return Head("", text.decode())
    name = text.removeprefix(b"ref:").strip().decode("utf-8", "replace")
    if not text.startswith(b"ref:") or not name.startswith(HEADS) or not is_branch(name[11:]):
        raise NotARepository(f"{location.git_dir}/HEAD names no branch and no commit")
    return Head(name[11:], tips(location, [name[11:]])[name[11:]])


def is_branch(name: str) -> bool:
    """True for a name that a branch can have, which never leads out of the folder of branches. It
    is shown on terminals, so it has no control characters."""
    parts = name.split("/")
    return (
        _NAME.fullmatch(name) is not None
        and name.isprintable()
        and len(parts) <= MAX_DEPTH
        and not any(not part or part.startswith((".", "-")) or ".." in part for part in parts)
    )


def tips(location: RepositoryLocation, names: Collection[str]) -> dict[str, str]:
    """Return the commits of branches by name, "" for one that does not exist. Raises
    `NotARepository`."""
    loose = {
        name: _loose(location.common_dir, HEADS + name) if is_branch(name) else "" for name in names
    }
    if all(loose.values()):
        return loose
    packed = {name: at for name, at in _packed(location) if name in loose}
    return {name: at or packed.get(name, "") for name, at in loose.items()}


def branches(location: RepositoryLocation) -> Iterator[tuple[str, str]]:
    """Yield branches with their commits, at most `MAX_BRANCHES` of each form; a branch in both
    forms has the commit that comes last. Raises `NotARepository`."""
    yield from islice(_packed(location), MAX_BRANCHES)
    top = location.common_dir / "refs" / "heads"
    for name in islice(_loose_names(top, "", 0), MAX_BRANCHES):
        if at := _loose(location.common_dir, HEADS + name):
            yield name, at


def _loose(common: Path, name: str) -> str:
    folder = common
    for part in name.split("/")[:-1]:
        folder /= part
        if folder.is_symlink():
            return ""
    content = (read_small(common / name) or b"").strip()
    return content.decode() if _HASH.fullmatch(content) else ""


def _loose_names(folder: Path, prefix: str, depth: int) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            listed = sorted(islice(entries, MAX_BRANCHES), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in listed:
        name = prefix + entry.name
        if entry.is_dir(follow_symlinks=False) and depth < MAX_DEPTH:
            yield from _loose_names(folder / entry.name, f"{name}/", depth + 1)
        elif is_branch(name):
            yield name


def _packed(location: RepositoryLocation) -> Iterator[tuple[str, str]]:
    file = location.common_dir / "packed-refs"
    content = read_small(file, MAX_PACKED)
    if content is None and os.path.lexists(file):
        raise NotARepository(
            f"{file} is a link, or larger than {MAX_PACKED // 1024**2} MiB; delete branches and"
            " tags there that nobody needs, and run `git pack-refs --all`"
        )
    for line in BytesIO(content or b""):  # one line after another, for other threads
        at, _, name = line.rstrip(b"\r\n").partition(b" ")
        if name.startswith(HEADS.encode()) and _HASH.fullmatch(at):
            branch = name[len(HEADS) :].decode("utf-8", "replace")
            if is_branch(branch):
                yield branch, at.decode()
