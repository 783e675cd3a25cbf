"""`parley backup FILE` and `parley restore FILE`."""

import os
import shlex
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from gateway.errors import UsageError
from gateway.stores.sqlite.backup import restore, verify
from parley.cli.options import Config
from parley.cli.stores import command_settings
from parley.maintenance.backup import (
    HOT_SUFFIX,
    back_up_all,
    keep_key,
    key_copy,
    key_in,
    pairs,
    put_back_key,
)
from parley.security.keys import audit_key_file
from parley.wiring.storage import SCHEMAS

IN_FLIGHT: Final = (
    "When the copy was made, {events:,} messages waited for an answer and {sends:,} sends for"
    " delivery. The next start answers and sends them, each below a note that it may come twice.\n"
)
IN_REDIS: Final = (
    "Waiting work is not in the copy: Redis keeps it. `parley docs how-to/back-up-and-restore`"
    " says how to copy and restore both."
)
NO_KEY: Final = (
    "There is no {copy}. Without its key, `parley audit verify` reports the restored audit as"
    " broken."
)

MAX_KEPT: Final = 100
"""Copies of a file that is replaced several times within a second."""


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    config: Config = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an older copy.")] = False,
) -> int:
    """Copy the databases of a configuration while they are in use."""
    settings = command_settings(config)
    for one in back_up_all(settings, file, overwrite=force):
        if one.size:
            size = f"{one.size / 1e6:.1f} MB, checked"
            sys.stdout.write(f"{one.source} is copied to {one.copy} ({size}).\n")
        else:
            sys.stdout.write(f"{one.source} is copied to {one.copy}: as secret as the database.\n")
    if settings.storage_url.startswith("redis"):
        sys.stderr.write(f"{IN_REDIS}\n")
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
    events = sends = 0
    now = datetime.now()  # noqa: DTZ005 - a name for the people of this machine
    *_, (main, _) = copies
    undo = _kept(main, now)
    for (database, copy), (_, name) in zip(copies, pairs(settings, undo), strict=True):
        kept = name if database.exists() else None
        waited = restore(copy, database, SCHEMAS, overwrite=force, kept=kept)
        if kept is not None:
            sys.stdout.write(f"The replaced database is kept as {kept}.\n")
        events, sends = events + waited.events, sends + waited.sends
        sys.stdout.write(f"{database} is restored from {copy}.\n")
    if events or sends:
        sys.stdout.write(IN_FLIGHT.format(events=events, sends=sends))
    if key is not None:
        _put_back_key(copied_key, key, undo)
    if undo.exists():
        sys.stdout.write(f"`parley restore {shlex.quote(str(undo))} --force` undoes this.\n")
    return 0


def _put_back_key(copied_key: Path, key: Path, undo: Path) -> None:
    """Restore the key of a copy, and keep the present one beside the kept database. Raises
    `StoreUnavailable`."""
    if key.exists() and (undo.exists() or copied_key.exists()):
        keep_key(key, key_copy(undo))
        sys.stdout.write(f"Its key is kept as {key_copy(undo)}.\n")
    if copied_key.exists():
        put_back_key(copied_key, key)
        sys.stdout.write(f"{key} is restored from {copied_key}.\n")
    else:
        sys.stderr.write(NO_KEY.format(copy=copied_key) + "\n")


def _kept(file: Path, now: datetime) -> Path:
    """A name for a copy of what is replaced now, which is free as those of the files beside it.
    Raises `BadInput` if there is none."""
    first = file.with_name(f"{file.name}.replaced-{now:%Y-%m-%dT%H-%M-%S}")
    others = (first.with_name(f"{first.name}-{number}") for number in range(2, MAX_KEPT + 1))
    for name in (first, *others):
        beside = (key_copy(name), name.with_name(name.name + HOT_SUFFIX))
        if not any(map(os.path.lexists, (name, *beside))):
            return name
    raise UsageError(f"{file} was replaced {MAX_KEPT} times within a second; try again")


def _refuse_other_key(copied_key: Path, key: Path, force: bool) -> None:
    """Raises `BadInput` where the present key is another one and `force` is not set."""
    content = key_in(copied_key)
    if key.exists() and not force and key_in(key) != content:
        raise UsageError(f"{key} differs from the key of the copy; --force replaces it")
