"""Writing of a file as a whole."""

import os
import tempfile
from pathlib import Path

from gateway.errors import ConfigurationError


def write_beside(path: Path, text: str) -> None:
    """Write a file without secrets. Raises `ConfigurationError`."""
    try:
        make_folder(path.parent)
        replace_file(path, text, 0o644)
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}.") from error


def make_folder(folder: Path) -> None:
    """Make a folder. Every user may look into a new one: a container reads it as another user."""
    if not folder.exists():
        folder.mkdir(parents=True)
        folder.chmod(0o755)


def replace_file(path: Path, text: str, mode: int) -> None:
    """Replace the file as a whole, or leave the old one unchanged. Nobody reads a secret while it
    is written: the new file begins with mode 600."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".parley-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
