"""The status of a PostgreSQL server, read without changing anything."""

from collections.abc import Sequence
from typing import Final

import psycopg
from msgspec import Struct
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from db.errors import POSTGRES, AddressInvalid, StoreUnavailable
from db.migrations import APPLIED, Schema, missing, refuse_older
from db.poolers import SHARED, shares_sessions
from db.postgres import server_of
from gateway.errors import ConfigurationError
from gateway.stores.hot_losses import READ, KnownHotState, known_hot_state

ASK: Final = """
    SELECT current_setting('server_version'), current_setting('server_version_num')::int,
        NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off',
        COALESCE(has_schema_privilege(current_schema(), 'CREATE'), false),
        current_setting('max_connections')::int
            - current_setting('superuser_reserved_connections')::int
            - COALESCE(current_setting('reserved_connections', true), '0')::int,
        (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend'),
        current_setting('synchronous_commit'), current_setting('fsync') = 'on',
        EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') OR EXISTS (
            SELECT FROM pg_available_extension_versions e, pg_roles r
            WHERE e.name = 'vector' AND r.rolname = current_user AND (r.rolsuper
                OR (e.trusted AND has_database_privilege(current_database(), 'CREATE')))),
        ARRAY(SELECT attname::text FROM pg_attribute
            WHERE attrelid = to_regclass('schema_migrations') AND attnum > 0),
        to_regclass('hot_state') IS NOT NULL
"""


class PostgresStatus(Struct, frozen=True):
    """`missing` is the number of migration steps to apply; `vectors` is true if pgvector is
    installed, or can be installed by this user."""

    version: str
    version_number: int
    writable: bool
    may_create: bool
    connections: int
    """The connections that users without special rights may open."""
    used_connections: int
    synchronous_commit: str
    fsync: bool
    missing: int
    vectors: bool = True
    hot_state: KnownHotState | None = None
    """The hot state that this database saw last; None before the first start with one."""


async def standing(url: str, schemas: Sequence[Schema]) -> PostgresStatus:
    """Query the server. Raises `StoreUnavailable` if it does not answer, or if a newer Parley wrote
    there, and `ConfigurationError` for an invalid address."""
    try:
        name, conninfo = server_of(url)
    except AddressInvalid as error:
        raise ConfigurationError(str(error)) from None
    try:
        async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
            if await shares_sessions(connection, conninfo):
                raise StoreUnavailable(SHARED)
            return await _status(connection, schemas)
    except (psycopg.Error, OSError) as error:
        words = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        raise StoreUnavailable(f"{name}: {words}", POSTGRES) from error


async def _status(
    connection: AsyncConnection[TupleRow], schemas: Sequence[Schema]
) -> PostgresStatus:
    (row,) = await (await connection.execute(ASK)).fetchall()
    version, number, writable, may_create, most, used, *rest = row
    synchronous, fsync, vectors, columns, seen = rest
    refuse_older(columns)
    done = await (await connection.execute(APPLIED)).fetchall() if columns else []
    left = len(missing(schemas, {(str(name), int(step)) for name, step in done}))
    return PostgresStatus(
        *(version, number, writable, may_create, most, used, synchronous, fsync),
        left,
        vectors,
        await _hot_state(connection) if seen else None,
    )


async def _hot_state(connection: AsyncConnection[TupleRow]) -> KnownHotState | None:
    rows = await (await connection.execute(READ.postgres)).fetchall()
    return known_hot_state(rows[0]) if rows else None
