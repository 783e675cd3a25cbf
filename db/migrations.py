"""Migrates the tables of a database.

Each domain owns a `Schema`: its tables as a list of steps that never change after a release. The
program passes all schemas to the database, which records the applied steps in `schema_migrations`.
Statements may contain fragments of `db.statements`; an empty one is skipped, so that a step can
apply to one engine only.
"""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from db.errors import SchemaTooNew, StoreUnavailable
from db.statements import Engine, for_engine

if TYPE_CHECKING:  # a program on SQLite does not load the library
    from psycopg import AsyncConnection
    from psycopg.rows import TupleRow

LOCK: Final = 0x7061726C6579
"""The advisory lock under which steps are applied: "parley" in ASCII."""
STEP_SECONDS: Final = 600
"""The time limit of one step in PostgreSQL, including the wait for another process."""
CREATE_LEDGER: Final = """
    CREATE TABLE IF NOT EXISTS schema_migrations (
        schema text NOT NULL, version integer NOT NULL, PRIMARY KEY (schema, version)
    )
"""
COLUMNS: Final = "SELECT name FROM pragma_table_info('schema_migrations')"
POSTGRES_COLUMNS: Final = """
    SELECT attname FROM pg_attribute
    WHERE attrelid = to_regclass('schema_migrations') AND attnum > 0
"""
APPLIED: Final = "SELECT schema, version FROM schema_migrations"


class Schema(Struct, frozen=True):
    """The tables of one domain. `steps` holds the statements of each step, from number 1 on."""

    name: str
    steps: tuple[tuple[str, ...], ...]


class Step(Struct, frozen=True):
    """A step that a database has not applied yet."""

    schema: str
    version: int
    statements: tuple[str, ...]

    def of(self, engine: Engine) -> Iterator[str]:
        """Return the statements for one engine."""
        for source in self.statements:
            statement = for_engine(source, engine).strip()
            if statement:
                yield statement


def missing(schemas: Sequence[Schema], applied: Collection[tuple[str, int]]) -> list[Step]:
    """Return the steps that are not applied yet, in order.

    Raises `SchemaTooNew` if an applied step is in no schema: a newer program wrote there.
    """
    steps = [
        Step(schema.name, version, statements)
        for schema in schemas
        for version, statements in enumerate(schema.steps, start=1)
    ]
    unknown = sorted(set(applied) - {(step.schema, step.version) for step in steps})
    if unknown:
        name, version = unknown[-1]
        raise SchemaTooNew(
            f"a newer version of Parley wrote the database (step {version} of {name}); install"
            " that version or a later one, or restore a backup that this version or an older one"
            " made"
        )
    return [step for step in steps if (step.schema, step.version) not in applied]


def refuse_older(columns: Collection[str]) -> None:
    """Raise `StoreUnavailable` for the list of steps that versions before the first release had."""
    if columns and "schema" not in columns:
        raise StoreUnavailable(
            "a version of Parley from before its first release wrote the database, and this one"
            " cannot read it; name another file or database, and the program makes it"
        )


def applied_in(connection: sqlite3.Connection) -> set[tuple[str, int]]:
    """Return the applied steps of a file; none for a new one."""
    columns = [row[0] for row in connection.execute(COLUMNS)]
    refuse_older(columns)
    if not columns:
        return set()
    return {(str(name), int(version)) for name, version in connection.execute(APPLIED)}


def migrate_sqlite(connection: sqlite3.Connection, schemas: Sequence[Schema]) -> None:
    """Apply the missing steps, each in a transaction; processes that start at once take turns.

    `connection` is in autocommit mode. Raises `SchemaTooNew` and `sqlite3.Error`. A failed step has
    no effect.
    """
    while missing(schemas, applied_in(connection)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute(CREATE_LEDGER)
            # Read again: another process may have applied the step meanwhile.
            for step in missing(schemas, applied_in(connection))[:1]:
                for statement in step.of("sqlite"):
                    connection.execute(statement)
                row = (step.schema, step.version)
                connection.execute("INSERT INTO schema_migrations VALUES (?, ?)", row)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


async def migrate_postgres(
    connection: "AsyncConnection[TupleRow]", schemas: Sequence[Schema]
) -> None:
    """Apply the missing steps in PostgreSQL. Raises `SchemaTooNew` and `psycopg.Error`."""
    while await _apply_next(connection, schemas):
        pass


async def _apply_next(connection: "AsyncConnection[TupleRow]", schemas: Sequence[Schema]) -> bool:
    """Apply one step; False if none is missing."""
    async with connection.transaction():
        await connection.execute(
            "SELECT set_config('statement_timeout', %s, true)", (f"{STEP_SECONDS}s",)
        )
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        columns = await (await connection.execute(POSTGRES_COLUMNS)).fetchall()
        refuse_older([str(name) for (name,) in columns])
        await connection.execute(CREATE_LEDGER)
        rows = await (await connection.execute(APPLIED)).fetchall()
        steps = missing(schemas, {(str(name), int(version)) for name, version in rows})
        if not steps:
            return False
        for statement in steps[0].of("postgres"):
            await connection.execute(statement.encode())
        await connection.execute(
            "INSERT INTO schema_migrations VALUES (%s, %s)", (steps[0].schema, steps[0].version)
        )
    return True
