"""Writes a file whole or not at all, readable to its owner only."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from gateway.errors import BadInput


@contextmanager
def written(target: Path, *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """A file to write into; it takes its name, mode 0600, once everything is on the disk.

    Raises `BadInput` when `target` exists and `overwrite` is not set, or when it cannot be written;
    nothing is left behind then.
    """
    refuse_existing(target, overwrite)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except OSError as error:
        raise BadInput(f"cannot write {target}: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        refuse_existing(target, overwrite)
        part.replace(target)
    except OSError as error:
        raise BadInput(f"cannot write {target}: {error.strerror}") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def refuse_existing(target: Path, overwrite: bool) -> None:
    """Raise `BadInput` where there is such a file and it is not to be replaced."""
    if target.exists() and not overwrite:
        raise BadInput(f"{target} exists already; --force replaces it")
