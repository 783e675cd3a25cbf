"""`parley backup FILE` and `parley restore FILE`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gateway.errors import BadInput
from gateway.storage.sqlite.backup import back_up, restore, verify
from parley.settings import Settings, load
from parley.settings.sections import sqlite_file

HOT_SUFFIX: Final = ".storage"
"""Added to the name of the copy where `storage.url` is a SQLite file of its own."""


def run(target: Path, config: Path | None, env: Mapping[str, str], *, force: bool) -> int:
    """Copy the databases of a configuration while they are in use."""
    settings = load(config, env)
    for database, copy in pairs(settings, target):
        size = back_up(database, copy, overwrite=force)
        sys.stdout.write(f"{database} is kept in {copy} ({size / 1e6:.1f} MB, checked).\n")
    if settings.storage_url.startswith("redis"):
        sys.stderr.write("What waits in Redis is not in it; Redis keeps that by itself.\n")
    return 0


def run_restore(backup: Path, config: Path | None, env: Mapping[str, str], *, force: bool) -> int:
    """Put copies back, once all of them are found sound."""
    found = pairs(load(config, env), backup)
    for _, copy in found:
        verify(copy)
    for database, copy in found:
        restore(copy, database, overwrite=force)
        sys.stdout.write(f"{database} is again what {copy} holds.\n")
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


def _elsewhere(url: str) -> str:
    if url.startswith("postgres"):
        return "The database is PostgreSQL: keep it with pg_dump, put it back with pg_restore."
    return "The database is in memory: there is nothing to keep."
