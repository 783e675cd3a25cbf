"""The key that signs people's tokens: from the configuration, or from a file beside the database.

The file is looked at each time, so that a new key holds at once in every process on this machine.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import structlog

from gateway.errors import ConfigurationError
from parley.config import Settings
from parley.config.sections import sqlite_file
from parley.security.key_file import read_key, read_or_create_key, replace_key

FILE: Final = "token.key"
NOWHERE: Final = (
    "Tokens need a key, and there is no file beside the database to keep one in. "
    "Set server.token_key, for example from `openssl rand -hex 32`."
)
CONFIGURED: Final = (
    "The key is server.token_key of the configuration: change it there and start Parley again, and "
    "every token is worthless."
)

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class TokenKey:
    """The key in force. Exactly one of `configured` and `file` is set, or neither."""

    configured: bytes = field(default=b"", repr=False)
    file: Path | None = None
    _seen: tuple[int, int] = field(default=(0, 0), repr=False)
    _key: bytes = field(default=b"", repr=False)

    def current(self) -> bytes:
        """The key, empty when there is none (yet): then no token opens anything."""
        if self.file is None:
            return self.configured
        try:
            state = self.file.stat()
            seen = (state.st_ino, state.st_mtime_ns)
            if seen != self._seen:
                self._key, self._seen = read_key(self.file), seen
        except FileNotFoundError:
            self._key, self._seen = b"", (0, 0)
        except OSError as error:
            log.warning("token_key_unreadable", file=str(self.file), error=str(error))
            return b""
        return self._key

    def made(self) -> bytes:
        """The key, made where there is none. Raises `ConfigurationError` where that cannot be."""
        if self.file is None:
            if not self.configured:
                raise ConfigurationError(NOWHERE)
            return self.configured
        try:
            return read_or_create_key(self.file)
        except OSError as error:
            raise ConfigurationError(f"the key of tokens {self.file}: {error}") from error

    def revoke_all(self) -> None:
        """Make a new key; every token that was signed with the old one is worthless.

        Raises `ConfigurationError` where the key is not ours to change.
        """
        if self.file is None:
            raise ConfigurationError(CONFIGURED if self.configured else NOWHERE)
        try:
            replace_key(self.file)
        except OSError as error:
            raise ConfigurationError(f"the key of tokens {self.file}: {error}") from error


def token_key(settings: Settings) -> TokenKey:
    """Where the configuration keeps the key; nothing is read or made yet."""
    configured = settings.server.token_key
    if configured is not None:
        return TokenKey(configured.get_secret_value().encode())
    database = sqlite_file(settings.database.url)
    return TokenKey(file=Path(database).with_name(FILE) if database else None)
