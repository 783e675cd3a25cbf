"""Copies the databases of a configuration while they are in use."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from db.errors import StoreUnavailable
from db.file_owner import FileOwner, give, owner_of, private
from gateway.errors import UsageError
from gateway.stores.sqlite.backup import back_up
from parley.config import Settings
from parley.config.sections import sqlite_file
from parley.security.keys import audit_key_file, read_key
from parley.wiring.storage import SCHEMAS

HOT_SUFFIX: Final = ".storage"
"""Added to the name of the copy where `storage.url` is a SQLite file of its own."""
MAX_DAMAGED: Final = 1_000_000
"""Bytes that are kept of a file that holds no key."""
KEY_SUFFIX: Final = ".audit.key"
"""Added to the name of the copy for the key that seals the audit."""


class Copied(Struct, frozen=True):
    """A file and its copy, with the bytes of a database; 0 for the key of the audit."""

    source: Path
    copy: Path
    size: int = 0


def back_up_all(
    settings: Settings,
    file: Path,
    *,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Copied]:
    """Copy the databases and the key, one after the other. `progress` gets the copied and all pages
    of a database. Raises `BadInput` and `StoreUnavailable`, as `back_up` does."""
    key = audit_key_file(settings)
    for database, copy in pairs(settings, file):
        size = back_up(database, copy, SCHEMAS, overwrite=overwrite, progress=progress)
        yield Copied(database, copy, size)
    if key is not None and key.exists():
        copy_key(key, key_copy(file))
        yield Copied(key, key_copy(file))


def pairs(settings: Settings, copy: Path) -> list[tuple[Path, Path]]:
    """Each SQLite file of a configuration and its copy, in the order in which they are copied.

    Waiting work is copied first: work that ends meanwhile is then in the later copy.
    Raises `BadInput` when the database is not a SQLite file.
    """
    database, hot = sqlite_file(settings.database.url), sqlite_file(settings.storage_url)
    if not database:
        raise UsageError(_elsewhere(settings.database.url))
    main = (Path(database), copy)
    if not hot or Path(hot).resolve() == Path(database).resolve():
        return [main]
    return [(Path(hot), copy.with_name(copy.name + HOT_SUFFIX)), main]


def key_copy(copy: Path) -> Path:
    """The file of the key that belongs to a copy."""
    return copy.with_name(copy.name + KEY_SUFFIX)


def copy_key(source: Path, target: Path) -> None:
    """Copy a key, whole or not at all, readable to its owner only. It replaces an older copy.

    Raises `BadInput` when the source holds no key, `StoreUnavailable` when it cannot be written.
    """
    _write_key(_text_of(key_in(source)), target)


def put_back_key(source: Path, target: Path) -> None:
    """Copy a key as `copy_key` does. It keeps the owner and mode of the one that it replaces; a new
    one gets the owner of its folder. Raises as `copy_key`."""
    _write_key(_text_of(key_in(source)), target, _owner_of(target))


def keep_key(source: Path, target: Path) -> None:
    """Copy a key, or the beginning of a file that holds none, readable to its owner only.
    Raises `StoreUnavailable`."""
    try:
        with source.open("rb") as file:
            content = file.read(MAX_DAMAGED)
    except OSError as error:
        raise StoreUnavailable(f"cannot read the key {source}: {error}") from error
    _write_key(content, target, private(_owner_of(source)))


def _text_of(key: bytes) -> bytes:
    return f"{key.hex()}\n".encode()


def _owner_of(file: Path) -> FileOwner:
    try:
        return owner_of(file)
    except OSError as error:
        raise StoreUnavailable(f"cannot read the folder of {file}: {error}") from error


def _write_key(content: bytes, target: Path, owner: FileOwner | None = None) -> None:
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            if owner is not None:
                give(descriptor, owner)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StoreUnavailable(f"cannot copy the key to {target}: {error}") from error


def key_in(path: Path) -> bytes:
    """Return the key in a file. Raises `BadInput`."""
    try:
        return read_key(path)
    except OSError as error:
        raise UsageError(f"{path}: {error}") from error


def _elsewhere(url: str) -> str:
    if url.startswith("postgres"):
        return "The database is PostgreSQL: use pg_dump and pg_restore."
    return "The database is in memory: there is nothing to copy."
