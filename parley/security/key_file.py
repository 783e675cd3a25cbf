"""A secret key in a file of its own, readable by nobody else."""

import os
import secrets
from pathlib import Path
from typing import Final

BYTES: Final = 32


def read_key(path: Path) -> bytes:
    """The key in the file. Raises `OSError`, also for a file that holds no key."""
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except ValueError as error:
        raise OSError("it holds no key; restore it from a backup") from error
    if len(key) < BYTES:
        raise OSError("it is too short; restore it from a backup")
    return key


def read_or_create_key(path: Path) -> bytes:
    """The key in the file, which is made where there is none. Raises `OSError`."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        written = _written(path)
        try:
            # A link appears whole, and only where nobody else was faster.
            os.link(written, path)
        except FileExistsError:
            pass
        finally:
            written.unlink()
    return read_key(path)


def replace_key(path: Path) -> None:
    """Put a new key in the place of the old one. Raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _written(path).replace(path)


def _written(path: Path) -> Path:
    """A new key in a file beside `path`."""
    beside = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_bytes(BYTES).hex() + "\n")
    return beside
