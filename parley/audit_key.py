"""The key that seals the audit: from the configuration, or from a file beside the database."""

import os
import secrets
from pathlib import Path
from typing import Final

import structlog

from gateway.errors import ConfigurationError
from parley.settings import Settings
from parley.settings.sections import sqlite_file

FILE: Final = "audit.key"
BYTES: Final = 32

log = structlog.get_logger(__name__)


def audit_key(settings: Settings) -> bytes:
    """The configured key; else that of the file, which is made where there is none.

    Where neither is possible (PostgreSQL without `memory.audit_key`, `memory://`) the chain has no
    key: changes are noticed, but not those of somebody who knows how it is made. Raises
    `ConfigurationError` when the file cannot be read or written.
    """
    configured = settings.memory.audit_key
    if configured is not None:
        return configured.get_secret_value().encode()
    database = sqlite_file(settings.database.url)
    if not database:
        if settings.database.url.startswith("postgresql://"):
            log.warning("audit_without_key", hint="set memory.audit_key")
        return b""
    path = Path(database).with_name(FILE)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _read_or_made(path)
    except OSError as error:
        raise ConfigurationError(f"the audit's key {path} cannot be read: {error}") from error


def _read_or_made(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
        if len(key) < BYTES:
            raise OSError("it is too short; restore it from a backup") from None
        return key
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        key = secrets.token_bytes(BYTES)
        file.write(key.hex() + "\n")
    return key
