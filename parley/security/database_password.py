"""The password of a PostgreSQL server that belongs to the deployment, made at its first start."""

import os
import secrets
from pathlib import Path
from typing import Final

from gateway.errors import ConfigurationError
from parley.security.keys import read_or_create_key

FILE_OF_SERVER: Final = "postgres.password"
"""For the server (`POSTGRES_PASSWORD_FILE`): readable to the group of the key folder's owner."""
FILE_OF_CLIENTS: Final = "postgres.pgpass"
"""For clients (`PGPASSFILE`): libpq ignores it if anybody but its owner can read it."""


def create_password_files(folder: Path) -> None:
    """Create the missing files in the key folder. Raises `ConfigurationError`."""
    server, clients = folder / FILE_OF_SERVER, folder / FILE_OF_CLIENTS
    try:
        password = read_or_create_key(server).hex()
        server.chmod(0o640)
        if not clients.exists():
            _write(clients, f"*:*:*:*:{password}\n")
    except OSError as error:
        raise ConfigurationError(f"the password of PostgreSQL in {folder}: {error}") from error


def _write(path: Path, text: str) -> None:
    """Write a whole file that only its owner can read."""
    part = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
