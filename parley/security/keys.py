"""The keys that Parley signs with: of the audit, and of people's tokens; the token of the local
listener; and the password of a PostgreSQL server that belongs to the deployment.

Each comes from the configuration, or from a file that only its owner can read: in
`server.key_folder`, otherwise beside the database.
"""

import errno
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.errors import ConfigurationError
from parley.config import Settings
from parley.config.sections import sqlite_file
from safety.http.addresses import is_loopback_name

BYTES: Final = 32
FILE_OF_AUDIT: Final = "audit.key"
FILE_OF_TOKENS: Final = "token.key"
FILE_OF_SERVER: Final = "server.token"
FILE_OF_POSTGRES: Final = "postgres.password"
"""For the server (`POSTGRES_PASSWORD_FILE`): readable to the group of the key folder's owner."""
FILE_OF_CLIENTS: Final = "postgres.pgpass"
"""For clients (`PGPASSFILE`): libpq ignores it if anybody but its owner can read it."""
NO_FILE: Final = (
    "Tokens need a key, and there is no file beside the database to keep one in. "
    "Set server.token_key, for example from `openssl rand -hex 32`, or server.key_folder."
)
CONFIGURED: Final = (
    "The key is server.token_key of the configuration. Change it there and start Parley again: "
    "then every token is revoked."
)

log = structlog.get_logger(__name__)


def audit_key(settings: Settings, *, warn: bool = True) -> bytes:
    """The configured key of the audit, or that of its file, which is created when it is missing.

    Where neither is possible (PostgreSQL without `memory.audit_key` and `server.key_folder`,
    `memory://`) the chain has no key: then it does not protect against somebody who knows its
    format. Raises `ConfigurationError` when the file cannot be read or written,
    `StoreUnavailable` on a full disk.
    """
    configured = settings.memory.audit_key
    if configured is not None:
        return configured.get_secret_value().encode()
    path = audit_key_file(settings)
    if path is None:
        if warn and settings.database.url.startswith("postgresql://"):
            log.warning("audit_without_key", hint="set memory.audit_key or server.key_folder")
        return b""
    try:
        return read_or_create_key(path)
    except OSError as error:
        raise _not_usable(f"the audit's key {path} cannot be read", error) from error


def audit_key_file(settings: Settings) -> Path | None:
    """The file of the audit's key; None where it is configured, or there is none."""
    folder = key_folder(settings)
    if settings.memory.audit_key is not None or folder is None:
        return None
    return folder / FILE_OF_AUDIT


def key_folder(settings: Settings) -> Path | None:
    """The folder of the files with keys; None where there is none."""
    if settings.server.key_folder is not None:
        return Path(settings.server.key_folder)
    database = sqlite_file(settings.database.url)
    return Path(database).parent if database else None


def server_token(settings: Settings, *, create: bool = False) -> str:
    """The token of the local listener; empty when there is none, and then it admits this machine
    only.

    A listener that other machines reach has the configured token, or that of its file in
    `server.key_folder`, which `create` creates when it is missing. Raises `ConfigurationError`,
    and `StoreUnavailable` on a full disk.
    """
    server = settings.server
    if server.token is not None:
        return server.token.get_secret_value()
    if server.key_folder is None or is_loopback_name(server.host):
        return ""
    path = Path(server.key_folder) / FILE_OF_SERVER
    try:
        if not create and not path.exists():
            return ""
        return read_or_create_key(path).hex()
    except OSError as error:
        raise _not_usable(f"the token of the local listener {path}", error) from error


def create_keys(settings: Settings) -> None:
    """Create the missing files of `server.key_folder`; without that setting, none.

    Processes that start at once with one folder have the same keys. Raises `ConfigurationError`,
    and `StoreUnavailable` on a full disk.
    """
    if settings.server.key_folder is None:
        return
    if settings.memory.audit_key is None:
        audit_key(settings)
    if settings.server.token_key is None:
        token_key(settings).get_or_create()
    server_token(settings, create=True)


@dataclass(slots=True)
class TokenKey:
    """The current key of tokens; `configured` or `file` is set, or neither.

    The file is read again when it changes: a new key is used at once by every process on this
    machine.
    """

    configured: bytes = field(default=b"", repr=False)
    file: Path | None = None
    _version: tuple[int, int] = field(default=(0, 0), repr=False)
    _key: bytes = field(default=b"", repr=False)

    def current(self) -> bytes:
        """The key; empty when there is none yet, and then no token is valid."""
        if self.file is None:
            return self.configured
        try:
            state = self.file.stat()
            version = (state.st_ino, state.st_mtime_ns)
            if version != self._version:
                self._key, self._version = read_key(self.file), version
        except FileNotFoundError:
            self._key, self._version = b"", (0, 0)
        except OSError as error:
            log.warning("token_key_unreadable", file=str(self.file), error=str(error))
            return b""
        return self._key

    def get_or_create(self) -> bytes:
        """The key, created when it is missing. Raises `ConfigurationError` where that fails,
        `StoreUnavailable` on a full disk."""
        if self.file is None:
            if not self.configured:
                raise ConfigurationError(NO_FILE)
            return self.configured
        try:
            return read_or_create_key(self.file)
        except OSError as error:
            raise _not_usable(f"the key of tokens {self.file}", error) from error

    def revoke_all(self) -> None:
        """Replace the key, which revokes every token. Raises `ConfigurationError` for a configured
        key."""
        if self.file is None:
            raise ConfigurationError(CONFIGURED if self.configured else NO_FILE)
        try:
            replace_key(self.file)
        except OSError as error:
            raise _not_usable(f"the key of tokens {self.file}", error) from error


def token_key(settings: Settings) -> TokenKey:
    """The key of this configuration; nothing is read or created yet."""
    configured = settings.server.token_key
    if configured is not None:
        return TokenKey(configured.get_secret_value().encode())
    folder = key_folder(settings)
    return TokenKey(file=None if folder is None else folder / FILE_OF_TOKENS)


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
    """The key in the file, which is created when it is missing. Raises `OSError`."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        new_file = _new_key_file(path)
        try:
            # A link is atomic and never replaces the file of a faster process.
            os.link(new_file, path)
        except FileExistsError:
            pass
        finally:
            new_file.unlink()
    return read_key(path)


def replace_key(path: Path) -> None:
    """Replace the key by a new one. Raises `OSError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _new_key_file(path).replace(path)


def _new_key_file(path: Path) -> Path:
    """A new key in a file beside `path`."""
    return _new_file(path, f"{secrets.token_bytes(BYTES).hex()}\n")


def _new_file(path: Path, text: str) -> Path:
    """A file beside `path` that only its owner can read."""
    beside = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # the link must never survive a power failure without the text
    except OSError:
        beside.unlink()
        raise
    return beside


def _not_usable(what: str, error: OSError) -> ConfigurationError | StoreUnavailable:
    """The error of a file: a full disk is no mistake of the configuration, and a restart helps."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreUnavailable(f"{what}: {error}. Free space on that disk")
    return ConfigurationError(f"{what}: {error}")


def create_password_files(folder: Path) -> None:
    """Create the missing files in the key folder. Raises `ConfigurationError`."""
    server, clients = folder / FILE_OF_POSTGRES, folder / FILE_OF_CLIENTS
    try:
        password = read_or_create_key(server).hex()
        server.chmod(0o640)
        if not clients.exists():
            _new_file(clients, f"*:*:*:*:{password}\n").replace(clients)
    except OSError as error:
        raise ConfigurationError(f"the password of PostgreSQL in {folder}: {error}") from error
