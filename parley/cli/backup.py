"""`parley backup FILE` and `parley restore FILE`."""

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from db.errors import StoreUnavailable
from gateway.errors import BadInput
from gateway.stores.sqlite.backup import back_up, restore, verify
from parley.cli.configuration import command_settings
from parley.cli.options import Config
from parley.config import Settings
from parley.config.sections import sqlite_file
from parley.security.keys import audit_key_file, read_key
from parley.wiring.storage import SCHEMAS

HOT_SUFFIX: Final = ".storage"
"""Added to the name of the copy where `storage.url` is a SQLite file of its own."""
KEY_SUFFIX: Final = ".audit.key"
"""Added to the name of the copy for the key that seals the audit."""
NO_KEY: Final = (
    "There is no {copy}. Without its key, `parley audit verify` reports the restored audit as"
    " broken."
)


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    config: Config = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an older copy.")] = False,
) -> int:
    """Copy the databases of a configuration while they are in use."""
    settings = command_settings(config)
    key = audit_key_file(settings)
    for database, copy in pairs(settings, file):
        size = back_up(database, copy, SCHEMAS, overwrite=force)
        sys.stdout.write(f"{database} is copied to {copy} ({size / 1e6:.1f} MB, checked).\n")
    if key is not None and key.exists():
        copy_key(key, key_copy(file))
        sys.stdout.write(f"{key} is copied to {key_copy(file)}: as secret as the database.\n")
    if settings.storage_url.startswith("redis"):
        sys.stderr.write("Waiting work is not in the copy: Redis keeps it.\n")
    return 0


def restore_backup(
    file: Annotated[Path, typer.Argument(help="A copy made by `parley backup`.")],
    config: Config = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the existing database.")] = False,
) -> int:
    """Restore copies, once all of them are checked."""
    settings = command_settings(config)
    copies, key = pairs(settings, file), audit_key_file(settings)
    for _, copy in copies:
        verify(copy, SCHEMAS)
    copied_key = key_copy(file)
    if key is not None and copied_key.exists():
        _refuse_other_key(copied_key, key, force)
    for database, copy in copies:
        restore(copy, database, SCHEMAS, overwrite=force)
        sys.stdout.write(f"{database} is restored from {copy}.\n")
    if key is not None and copied_key.exists():
        copy_key(copied_key, key)
        sys.stdout.write(f"{key} is restored from {copied_key}.\n")
    elif key is not None:
        sys.stderr.write(NO_KEY.format(copy=copied_key) + "\n")
    return 0


def pairs(settings: Settings, copy: Path) -> list[tuple[Path, Path]]:
    """Each SQLite file of a configuration and its copy, in the order in which they are copied.

    Waiting work is copied first: work that ends meanwhile is then in the later copy.
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
    """The file of the key that belongs to a copy."""
    return copy.with_name(copy.name + KEY_SUFFIX)


def copy_key(source: Path, target: Path) -> None:
    """Copy a key, whole or not at all, readable to its owner only. It replaces an older copy.

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


def _refuse_other_key(copied_key: Path, key: Path, force: bool) -> None:
    """Raises `BadInput` where the present key is another one and `force` is not set."""
    content = _read(copied_key)
    if key.exists() and not force and _read(key) != content:
        raise BadInput(f"{key} differs from the key of the copy; --force replaces it")


def _read(path: Path) -> bytes:
    try:
        return read_key(path)
    except OSError as error:
        raise BadInput(f"{path}: {error}") from error


def _elsewhere(url: str) -> str:
    if url.startswith("postgres"):
        return "The database is PostgreSQL: use pg_dump and pg_restore."
    return "The database is in memory: there is nothing to copy."
