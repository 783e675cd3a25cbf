"""Checks the paths of a commit, in a fixed order, before anything else is done with them.

A path comes from a tree that anybody may have made. It is resolved lexically: links of the work
tree decide nothing, because nothing is read from there.
"""

import posixpath
from typing import Final

from memory.git.repository import SUBMODULE, SYMLINK, TreeEntry, is_file
from memory.knowledge.model import MAX_PATH, SkipReason
from safety.secret_detection.detect import REDACTED, Level, find_secrets

ROOT: Final = "/repository"
"""A stand-in for the top folder."""
_RESERVED: Final = frozenset({".git", "git~1"})
"""Names that no commit of git has; some file systems take the second one for the first."""


def checked_path(raw: bytes) -> str | SkipReason:
    """Return the path as text, or the reason for which it is refused."""
    if len(raw) > MAX_PATH:
        return SkipReason.SUSPICIOUS_PATH
    try:
        path = raw.decode()
    except UnicodeDecodeError:
        return SkipReason.SUSPICIOUS_PATH
    if ".." in path.split("/") or not path.isprintable() or "\\" in path:
        return SkipReason.SUSPICIOUS_PATH
    resolved = posixpath.normpath(posixpath.join(ROOT, path))
    if not resolved.startswith(f"{ROOT}/"):
        return SkipReason.LEAVES_REPOSITORY
    relative = resolved.removeprefix(f"{ROOT}/")
    if relative.startswith("-"):
        return SkipReason.HYPHEN
    components = path.split("/")
    if relative != path or not _RESERVED.isdisjoint(one.lower() for one in components):
        return SkipReason.SUSPICIOUS_PATH
    return path


def shown_path(raw: bytes) -> str:
    """Return a refused path as people may see it, shortened."""
    text = raw[:MAX_PATH].decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)[
        :MAX_PATH
    ]


def path_without_secrets(path: str) -> str:
    """Return the path with its definite and probable secrets replaced."""
    parts, done = [], 0
    for one in find_secrets(path):
        if one.kind.level is not Level.POSSIBLE:
            parts += [path[done : one.start], REDACTED]
            done = one.end
    return "".join((*parts, path[done:]))


def checked_mode(entry: TreeEntry) -> SkipReason | None:
    """Return the reason for which something that is no regular file is refused."""
    if is_file(entry):
        return None
    reasons = {SYMLINK: SkipReason.SYMLINK, SUBMODULE: SkipReason.SUBMODULE}
    return reasons.get(entry.mode, SkipReason.NOT_A_FILE)
