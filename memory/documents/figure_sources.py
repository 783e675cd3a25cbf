"""Sources of HEARTBEAT figures: an HTTP address, a database, the gateway itself.

A source returns a flat object, from which `heartbeat.py` selects. Requests are read-only, short,
and end after `SECONDS`.
"""

import asyncio
import json
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Final, NoReturn, Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.errors import ConfigurationError, ParleyError
from gateway.ports import ActivityLog, Clock
from safety.http.addresses import AllowedHost, Network, read_host
from safety.http.client import GuardedClient, OutboundError, OutboundPolicy


class FigureSource(Protocol):
    """A source of a project's figures."""

    async def figures(self) -> Mapping[str, object]:
        """Return names and values. Raises `SourceFailed`."""
        ...


SECONDS: Final = 10.0
"""The time limit of a source."""
ON_THE_WAY: Final = 1.0
"""Seconds to wait after a server's statement timeout."""
MAX_BODY: Final = 64_000
"""Bytes of an answer."""
MAX_VALUE: Final = 100_000
"""Bytes of one value that SQLite may build."""
STEPS: Final = 10_000
"""SQLite instructions between two checks of the time."""
PERIOD: Final = timedelta(days=7)
"""The period of the gateway's own figures."""
PRIVATE: Final[frozenset[Network]] = frozenset(
    ip_network(text)
    for text in (
        "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
        "::1/128", "fc00::/7",
    )
)  # fmt: skip
"""Private networks, by name; a cloud's metadata service is in none of them."""


class SourceFailed(ParleyError):
    """A sync failed. The text is for the operator: it contains no path and no credential."""


class HttpSource:
    """A JSON object at an address. Only the host of the address is asked, in the internal network
    only with `allow_private`; no other host gets the token."""

    def __init__(self, url: str, token: str = "", *, allow_private: bool = False) -> None:
        """Raises `ConfigurationError` for a host with an unusual notation."""
        parts = urlsplit(url)
        self._url = url
        self._host = parts.hostname or ""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            name, address = read_host(self._host)
        except ValueError as error:
            raise ConfigurationError(f"heartbeat: {self._host}: the host {error}") from None
        networks = PRIVATE if address is None else frozenset({ip_network(str(address))})
        self._client = GuardedClient(
            OutboundPolicy(
                (AllowedHost(name, port=port),),
                networks if allow_private else frozenset(),
                SECONDS,
                MAX_BODY,
            )
        )
        authorization = {"Authorization": f"Bearer {token}"} if token else {}
        self._headers = {"Accept": "application/json", **authorization}

    async def figures(self) -> Mapping[str, object]:
        """Return the object. Raises `SourceFailed`."""
        try:
            answer = await self._client.request("GET", self._url, headers=self._headers)
        except OutboundError as error:
            raise SourceFailed(f"{self._host}: {error}") from error
        if answer.status != 200:
            raise SourceFailed(f"{self._host} answered with status {answer.status}")
        try:
            values = json.loads(answer.body, parse_constant=_refuse)
        except (ValueError, RecursionError):
            raise SourceFailed(f"{self._host} did not answer with JSON") from None
        if not isinstance(values, dict):
            raise SourceFailed(f"{self._host} answered with JSON that is not an object")
        return values


class SqliteSource:
    """The first row of one SELECT in an SQLite file, which is opened read-only: no other file can
    be attached, no pragma set, no extension loaded."""

    def __init__(self, file: str, query: str, seconds: float = SECONDS) -> None:
        self._file = Path(file)
        self._query = query
        self._seconds = seconds

    async def figures(self) -> Mapping[str, object]:
        """Return columns and values. Raises `SourceFailed`."""
        try:
            return await asyncio.to_thread(self._read)
        except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
            raise SourceFailed(f"{self._file.name}: {error}") from error

    def _read(self) -> Mapping[str, object]:
        until = time.monotonic() + self._seconds
        address = f"{self._file.absolute().as_uri()}?mode=ro"
        opened = sqlite3.connect(address, uri=True, timeout=self._seconds, isolation_level=None)
        with closing(opened) as database:
            database.set_authorizer(_only_reading)
            database.set_progress_handler(lambda: time.monotonic() > until, STEPS)
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
            cursor = database.execute(self._query)
            return _first_row([column[0] for column in cursor.description or ()], cursor.fetchone())


class PostgresSource:
    """The first row of one SELECT in PostgreSQL, in a read-only transaction."""

    def __init__(self, url: str, query: str, seconds: float = SECONDS) -> None:
        self._url = url
        self._query = query
        self._seconds = seconds

    async def figures(self) -> Mapping[str, object]:
        """Return columns and values. Raises `SourceFailed`."""
        # Loaded only where it is configured: the library costs memory and start-up time.
        import psycopg  # noqa: PLC0415 - loaded only where it is needed

        try:
            async with asyncio.timeout(self._seconds + ON_THE_WAY):
                return await self._read()
        except TimeoutError:
            raise SourceFailed(f"PostgreSQL: no answer within {self._seconds:g} seconds") from None
        except (psycopg.Error, OSError) as error:
            message = error.diag.message_primary if isinstance(error, psycopg.Error) else None
            raise SourceFailed(f"PostgreSQL: {message or type(error).__name__}") from error

    async def _read(self) -> Mapping[str, object]:
        from psycopg import AsyncConnection  # noqa: PLC0415 - as above

        milliseconds = str(round(self._seconds * 1000))
        async with await AsyncConnection.connect(
            self._url, connect_timeout=round(self._seconds), application_name="parley heartbeat"
        ) as connection:
            await connection.set_read_only(True)
            await connection.execute(
                "SELECT set_config('statement_timeout', %s, true)", (milliseconds,)
            )
            # A cursor of the server is declared for one SELECT, and gives row by row.
            async with connection.cursor(name="figures") as cursor:
                await cursor.execute(self._query.encode())
                names = [column.name for column in cursor.description or ()]
                row = await cursor.fetchone()
            await connection.rollback()
        return _first_row(names, row)


class GatewaySource(Struct, frozen=True):
    """The assistant's own activity in a project over the last seven days."""

    log: ActivityLog
    tenant: str
    project: str
    clock: Clock

    async def figures(self) -> Mapping[str, object]:
        """Return the numbers of answered messages, people and tokens, and the cost. Raises
        `SourceFailed`."""
        try:
            activity = await self.log.of_project(
                self.tenant, self.project, self.clock.now() - PERIOD
            )
        except (ParleyError, StoreUnavailable) as error:
            raise SourceFailed(str(error)) from error
        return {
            "messages answered in 7 days": activity.answered,
            "people asking in 7 days": activity.people,
            "tokens in 7 days": activity.tokens,
            "cost in 7 days usd": round(activity.micros / 1_000_000, 2),
        }


def _refuse(_constant: str) -> NoReturn:
    raise ValueError("no JSON number")


def _only_reading(action: int, _one: str | None, _two: str | None, *_rest: str | None) -> int:
    allowed = {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    }
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY


def _first_row(names: list[str], row: tuple[object, ...] | None) -> Mapping[str, object]:
    if row is None:
        raise SourceFailed("the query found no row")
    return dict(zip(names, row, strict=True))
