"""The owner and the mode of a file, so that a command of root leaves files that the program's own
user can use."""

import os
import stat
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

PRIVATE: Final = 0o600


class FileOwner(Struct, frozen=True):
    """Ids of the user and the group, and the permissions: the lowest nine bits of the mode."""

    user: int
    group: int
    mode: int


def owner_of(file: Path) -> FileOwner:
    """Return those of a file, also behind a link; of a new one those of its folder, readable to the
    owner only. Raises `OSError`."""
    try:
        found = file.stat()
    except FileNotFoundError:
        found = file.parent.stat()
        return FileOwner(found.st_uid, found.st_gid, PRIVATE)
    return FileOwner(found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode) & 0o777)


def private(owner: FileOwner) -> FileOwner:
    """Return the same owner, with a mode by which nobody else reads the file."""
    return replace(owner, mode=PRIVATE)


def give(opened: int, owner: FileOwner) -> None:
    """Give an open file, by its descriptor, the mode, and the owner where this process may: as
    root. Raises `OSError`."""
    if os.geteuid() == 0:
        os.fchown(opened, owner.user, owner.group)
    os.fchmod(opened, owner.mode)
