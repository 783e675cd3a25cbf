"""The key that seals the audit: from the configuration, or from a file beside the database."""

from pathlib import Path
from typing import Final

import structlog

from gateway.errors import ConfigurationError
from parley.config import Settings
from parley.config.sections import sqlite_file
from parley.security.key_file import read_or_create_key

FILE: Final = "audit.key"

log = structlog.get_logger(__name__)


def audit_key(settings: Settings, *, warn: bool = True) -> bytes:
    """The configured key; else that of the file, which is made where there is none.

    Where neither is possible (PostgreSQL without `memory.audit_key`, `memory://`) the chain has no
    key: changes are noticed, but not those of somebody who knows how it is made. Raises
    `ConfigurationError` when the file cannot be read or written.
    """
    configured = settings.memory.audit_key
    if configured is not None:
        return configured.get_secret_value().encode()
    path = audit_key_file(settings)
    if path is None:
        if warn and settings.database.url.startswith("postgresql://"):
            log.warning("audit_without_key", hint="set memory.audit_key")
        return b""
    try:
        return read_or_create_key(path)
    except OSError as error:
        raise ConfigurationError(f"the audit's key {path} cannot be read: {error}") from error


def audit_key_file(settings: Settings) -> Path | None:
    """Where the key lies; None where it is configured, or there is none."""
    database = sqlite_file(settings.database.url)
    if settings.memory.audit_key is not None or not database:
        return None
    return Path(database).with_name(FILE)
