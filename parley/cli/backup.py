"""`parley backup FILE` and `parley restore FILE`."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from db.errors import StoreUnavailable
from gateway.errors import BadInput
from gateway.stores.sqlite.backup import back_up, restore, verify
from parley.config import Settings, load
from parley.config.sections import sqlite_file
from parley.security.audit_key import audit_key_file
from parley.security.key_file import read_key
from parley.wiring.storage.schemas import SCHEMAS

HOT_SUFFIX: Final = ".storage"
"""Added to the name of the copy where `storage.url` is a SQLite file of its own."""
KEY_SUFFIX: Final = ".audit.key"
"""Added to the name of the copy for the key that seals the audit."""
NO_KEY: Final = (
    "There is no {copy}: without the key of its time, `parley audit verify` finds fault with the"
    " restored audit."
)


def run(target: Path, config: Path | None, env: Mapping[str, str], *, force: bool) -> int:
    """Copy the databases of a configuration while they are in use."""
    settings = load(config, env)
    key = audit_key_file(settings)
    for database, copy in pairs(settings, target):
        size = back_up(database, copy, SCHEMAS, overwrite=force)
        sys.stdout.write(f"{database} is kept in {copy} ({size / 1e6:.1f} MB, checked).\n")
    if key is not None and key.exists():
        copy_key(key, key_copy(target))
        sys.stdout.write(f"{key} is kept in {key_copy(target)}: as secret as the copy.\n")
    if settings.storage_url.startswith("redis"):
        sys.stderr.write("What waits in Redis is not in it; Redis keeps that by itself.\n")
    return 0


def run_restore(backup: Path, config: Path | None, env: Mapping[str, str], *, force: bool) -> int:
    """Put copies back, once all of them are found sound."""
    settings = load(config, env)
    found, key = pairs(settings, backup), audit_key_file(settings)
    for _, copy in found:
        verify(copy, SCHEMAS)
    kept = key_copy(backup)
    if key is not None and kept.exists():
        _refuse_other(kept, key, force)
    for database, copy in found:
        restore(copy, database, SCHEMAS, overwrite=force)
        sys.stdout.write(f"{database} is again what {copy} holds.\n")
    if key is not None and kept.exists():
        copy_key(kept, key)
        sys.stdout.write(f"{key} is again what {kept} holds.\n")
    elif key is not None:
        sys.stderr.write(NO_KEY.format(copy=kept) + "\n")
    return 0


def pairs(settings: Settings, copy: Path) -> list[tuple[Path, Path]]:
    """Each SQLite file of a configuration and its copy, in the order in which they are copied.

    The waiting work comes first: what was finished after that is then in the later copy as well.
    Raises `BadInput` when the database is not a SQLite file.
    """
    database, hot = sqlite_file(settings.database.url), sqlite_file(settings.storage_url)
    if not database:
        raise BadInput(_elsewhere(settings.database.url))
    main = (Path(database), copy)
    if not hot or Path(hot).resolve() == Path(database).resolve():
        return [main]
    return [(Path(hot), copy.with_name(copy.name + HOT_SUFFIX)), main]


def key_copy(copy: Path) -> Path:
    """Where the key that belongs to a copy lies."""
    return copy.with_name(copy.name + KEY_SUFFIX)


def copy_key(source: Path, target: Path) -> None:
    """Copy a key, whole or not at all, readable to its owner only. It replaces the one before.

    Raises `BadInput` when the source holds no key, `StoreUnavailable` when it cannot be written.
    """
    key = _read(source)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(key.hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StoreUnavailable(f"cannot copy the key to {target}: {error}") from error


def _refuse_other(kept: Path, key: Path, force: bool) -> None:
    """Before anything is restored: another key than the copy's is not replaced unasked."""
    held = _read(kept)
    if key.exists() and not force and _read(key) != held:
        raise BadInput(f"{key} exists already, and is not the copy's; --force replaces it")


def _read(path: Path) -> bytes:
    try:
        return read_key(path)
    except OSError as error:
        raise BadInput(f"{path}: {error}") from error


def _elsewhere(url: str) -> str:
    if url.startswith("postgres"):
        return "The database is PostgreSQL: keep it with pg_dump, put it back with pg_restore."
    return "The database is in memory: there is nothing to keep."
