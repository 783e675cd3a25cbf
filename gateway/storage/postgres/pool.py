"""Connections to PostgreSQL: few, bounded in every wait, and back by themselves after an outage."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString, TypeVar

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout, TooManyRequests

from gateway.errors import ConfigurationError, StoreUnavailable
from gateway.storage.migrations.postgres import migrate

T = TypeVar("T")
Connection = AsyncConnection[TupleRow]
Work = Callable[[Connection], Awaitable[T]]
Parameters = Sequence[object] | Mapping[str, object]

CONNECTION_DEFAULTS: Final = {
    "application_name": "parley",
    "connect_timeout": "3",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
"""What the URL does not say; seconds, the last one milliseconds. A server that vanished without a
word is noticed after some ten seconds."""
ON_THE_WAY: Final = 1.0
"""Seconds that the client waits longer than the server works on a statement."""
MAX_WAITING: Final = 2_000
"""Pieces of work that may wait for a connection; one more is refused at once."""


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """How many connections, and how long anything may take (seconds).

    `checkout` is the wait for a free connection, which also bridges a restart of the server;
    `statement` is enforced by the server, and a second later by the client.
    """

    connections: int = 10
    checkout: float = 5.0
    statement: float = 5.0


def server_of(url: str) -> tuple[str, str]:
    """What to call a server, and how to connect to it. Raises `ConfigurationError` when the URL
    cannot be read."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:
        raise ConfigurationError(  # the cause would show the password
            "database.url is not an address that PostgreSQL understands; write"
            " postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
        ) from None
    name = f"{given.get('host') or 'localhost'}/{given.get('dbname') or 'postgres'}"
    return name, make_conninfo(url, **{**CONNECTION_DEFAULTS, **given})


class PostgresPool:
    """The open database behind a `postgresql://` URL. TLS and everything else that libpq knows is
    set in the URL (`?sslmode=verify-full&sslrootcert=FILE`)."""

    def __init__(self, url: str, limits: PoolLimits | None = None) -> None:
        """Contacts nobody. Raises `ConfigurationError` when the URL cannot be read."""
        self._limits = limits or PoolLimits()
        self.name, self._conninfo = server_of(url)
        self._pool: AsyncConnectionPool[Connection] | None = None

    async def start(self) -> None:
        """Connect, bring the tables up to date. Raises `StoreUnavailable`."""
        try:
            async with await AsyncConnection.connect(self._conninfo, autocommit=True) as connection:
                await migrate(connection)
        except (psycopg.Error, OSError) as error:
            raise StoreUnavailable(f"cannot open {self._explained(error)}") from error
        self._pool = AsyncConnectionPool(
            self._conninfo,
            kwargs={"autocommit": True, "prepare_threshold": 0},
            min_size=1,
            max_size=self._limits.connections,
            open=False,
            configure=self._configure,
            name=f"postgres {self.name}",
            timeout=self._limits.checkout,
            max_waiting=MAX_WAITING,
            reconnect_timeout=self._limits.checkout,
        )
        await self._pool.open()

    async def stop(self) -> None:
        """Close every connection. Safe to call twice."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def run(self, work: Work[T]) -> T:
        """The result of `work(connection)`; the connection is in autocommit mode.

        Where the connection broke it is done a second time on another one, without knowing how far
        the first got: work changes the same things when it is repeated. Raises `StoreUnavailable`,
        in the worst case after the waits of `PoolLimits` twice.
        """
        pool = self._pool
        if pool is None:
            raise StoreUnavailable(f"PostgreSQL at {self.name} is not open")
        try:
            try:
                return await self._once(pool, work)
            except _Broken:
                await self._weed(pool)
                return await self._once(pool, work)
        except (psycopg.Error, OSError, PoolTimeout, TooManyRequests, PoolClosed) as error:
            raise StoreUnavailable(self._explained(error)) from error
        except (_Broken, TimeoutError) as error:
            cause = error.__cause__ or error
            raise StoreUnavailable(self._explained(cause)) from cause

    async def fetch(self, statement: LiteralString, parameters: Parameters = ()) -> list[TupleRow]:
        """All rows of one statement. Raises `StoreUnavailable`."""

        async def work(connection: Connection) -> list[TupleRow]:
            return await (await connection.execute(statement, parameters)).fetchall()

        return await self.run(work)

    async def change(self, statement: LiteralString, parameters: Parameters) -> int:
        """How many rows one statement changed. Raises `StoreUnavailable`."""

        async def work(connection: Connection) -> int:
            return (await connection.execute(statement, parameters)).rowcount

        return await self.run(work)

    async def at_length(self, work: Work[T]) -> T:
        """The result of work that takes minutes, on a connection of its own without a time limit;
        never done twice. Raises `StoreUnavailable`."""
        try:
            async with await AsyncConnection.connect(self._conninfo, autocommit=True) as connection:
                return await work(connection)
        except (psycopg.Error, OSError) as error:
            raise StoreUnavailable(self._explained(error)) from error

    async def ping(self) -> None:
        """Ask for a sign of life. Raises `StoreUnavailable`."""
        await self.fetch("SELECT 1")

    async def _once(self, pool: AsyncConnectionPool[Connection], work: Work[T]) -> T:
        async with pool.connection() as connection:
            try:
                async with asyncio.timeout(self._limits.statement + ON_THE_WAY):
                    return await work(connection)
            except psycopg.OperationalError as error:
                if connection.closed:
                    raise _Broken from error
                raise

    async def _weed(self, pool: AsyncConnectionPool[Connection]) -> None:
        """Put new connections in the place of those that broke together with one."""
        async with asyncio.timeout(self._limits.checkout):
            await pool.check()

    async def _configure(self, connection: Connection) -> None:
        limit = str(round(self._limits.statement * 1000))
        await connection.execute(
            "SELECT set_config('statement_timeout', %(limit)s, false),"
            " set_config('idle_in_transaction_session_timeout', %(limit)s, false),"
            " set_config('timezone', 'UTC', false)",
            {"limit": limit},
        )

    def _explained(self, error: Any) -> str:
        """What went wrong, without the statement's values."""
        primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
        if isinstance(error, TimeoutError):
            primary = f"no answer within {self._limits.statement + ON_THE_WAY:g} seconds"
        text = primary or next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        return f"PostgreSQL at {self.name}: {text}"


class _Broken(Exception):
    """The connection went away under the work."""
