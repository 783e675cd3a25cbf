"""Reads HEAD and the branches of a repository from their files, as git stores them: one file for
each branch, or lines of `packed-refs`."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from memory.git.errors import NotARepository
from memory.git.location import Location, read_small

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


def head(location: Location) -> Head:
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
    return Head(name[11:], tip(location, name[11:]))


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


def tip(location: Location, branch: str) -> str:
    """Return the commit of a branch, "" if there is no such branch."""
    if not is_branch(branch):
        return ""
    loose = _loose(location.common_dir, HEADS + branch)
    if loose:
        return loose
    return next((at for name, at in _packed(location) if name == branch), "")


def branches(location: Location) -> dict[str, str]:
    """Return the commits of all branches by name, at most `MAX_BRANCHES`."""
    commits: dict[str, str] = {}
    for name, at in _packed(location):
        if len(commits) >= MAX_BRANCHES:
            break
        commits[name] = at
    top = location.common_dir / "refs" / "heads"
    for name in _loose_names(top, "", 0):
        if len(commits) >= MAX_BRANCHES:
            break
        if at := _loose(location.common_dir, HEADS + name):
            commits[name] = at
    return commits


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
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in listed:
        name = prefix + entry.name
        if entry.is_dir(follow_symlinks=False) and depth < MAX_DEPTH:
            yield from _loose_names(folder / entry.name, f"{name}/", depth + 1)
        elif is_branch(name):
            yield name


def _packed(location: Location) -> Iterator[tuple[str, str]]:
    content = read_small(location.common_dir / "packed-refs", MAX_PACKED) or b""
    for line in content.splitlines():
        at, _, name = line.partition(b" ")
        if name.startswith(HEADS.encode()) and _HASH.fullmatch(at):
            branch = name[len(HEADS) :].decode("utf-8", "replace")
            if is_branch(branch):
                yield branch, at.decode()
