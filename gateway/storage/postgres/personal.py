"""What PostgreSQL holds of a person beside memory: given out, and erased.

Of usage only the name goes: what was spent stays in the books. Of the sums by person those of this
day and month stay, or whoever erases themselves would have a new budget every time.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, LiteralString

from db.postgres import Connection, PostgresDatabase
from gateway.ports import Clock
from gateway.storage.postgres.notes import NO_SUMMARY, NO_TASK

MAX_ROWS: Final = 100_000
"""Rows of one table that are given out."""

# A turn of the assistant is about the person whose message it answers.
TURNS: Final = """
    conversation::json ->> 0 = %(tenant)s AND (person = ANY (%(persons)s::text[]) OR (
        role = 'assistant' AND (channel, answers) IN (
            SELECT channel, answers FROM turns WHERE role = 'user'
                AND person = ANY (%(persons)s::text[])
                AND conversation::json ->> 0 = %(tenant)s)))
"""
USAGE: Final = "tenant = %(tenant)s AND person = ANY (%(persons)s::text[])"
# Ids of commands and presses are put together from several, the person's among them (Slack).
NAMED: Final = """
    (strpos(message_id, ':') > 0 AND EXISTS (SELECT FROM unnest(%(persons)s::text[]) AS p
        WHERE starts_with(p, platform || ':' || account || ':')
            AND strpos(':' || message_id || ':',
                substr(p, length(platform) + length(account) + 2) || ':') > 0))
"""
TRACES: Final = f"""
    conversation::json ->> 0 = %(tenant)s AND (
        id IN (SELECT turn FROM usage WHERE {USAGE})
        OR (conversation, message_id) IN (
            SELECT conversation, message_id FROM turns WHERE person = ANY (%(persons)s::text[]))
        OR (platform || ':' || account || ':' || (conversation::json ->> 4))
            = ANY (%(persons)s::text[])
        OR {NAMED})
"""  # noqa: S608 - constants
SPENT: Final = """
    EXISTS (SELECT FROM unnest(%(persons)s::text[]) AS person
        WHERE starts_with(key, 'user:' || %(tenant)s || ':' || person || ':'))
"""
PAST: Final = f"{SPENT} AND right(key, 10) <> %(day)s AND right(key, 8) <> %(month)s"
OWN_TENANT: Final = "conversation::json ->> 0 = %(tenant)s"
OWN_TASK: Final = "(task <> '' AND task_person = ANY (%(persons)s::text[]))"
SPOKE: Final = "persons && %(persons)s::text[]"
ALONE: Final = "persons <@ (%(persons)s::text[] || '*'::text)"
"""'*' stands for what the person showed."""
# Others' words in a summary are theirs to ask for; it is erased with anybody's in it.
NOTES: Final = f"""
    SELECT conversation, at, CASE WHEN {OWN_TASK} THEN task ELSE '' END AS task,
        CASE WHEN {SPOKE} AND {ALONE} THEN summary ELSE '' END AS summary
    FROM conversation_notes
    WHERE {OWN_TENANT} AND ({OWN_TASK} OR (summary <> '' AND {SPOKE} AND {ALONE}))
"""  # noqa: S608 - constants
Statements = tuple[tuple[str, LiteralString], ...]
WORKING_ROWS: Final[Statements] = (
    ("turns", f"SELECT * FROM turns WHERE {TURNS} LIMIT {MAX_ROWS}"),  # noqa: S608 - constants
    ("conversation_notes", NOTES),
)
WHOSE: Final[Statements] = (
    *WORKING_ROWS,
    ("usage", f"SELECT * FROM usage WHERE {USAGE} LIMIT {MAX_ROWS}"),  # noqa: S608 - constants
    ("traces", f"SELECT * FROM traces WHERE {TRACES} LIMIT {MAX_ROWS}"),  # noqa: S608 - constants
    ("spent", f"SELECT * FROM spent WHERE {SPENT} LIMIT {MAX_ROWS}"),  # noqa: S608 - constants
    ("feedback", f"SELECT * FROM feedback WHERE {USAGE} LIMIT {MAX_ROWS}"),  # noqa: S608 - constants
)
WORKING: Final[tuple[LiteralString, ...]] = (
    f"DELETE FROM turns WHERE {TURNS}",  # noqa: S608 - constants
    f"UPDATE conversation_notes SET {NO_TASK} WHERE {OWN_TENANT} AND {OWN_TASK}",  # noqa: S608
    f"UPDATE conversation_notes SET {NO_SUMMARY} WHERE {OWN_TENANT} AND {SPOKE}",  # noqa: S608
)
ERASE: Final[tuple[LiteralString, ...]] = (
    f"DELETE FROM traces WHERE {TRACES}",  # noqa: S608 - constants
    *WORKING,
    f"DELETE FROM feedback WHERE {USAGE}",  # noqa: S608 - constants
    f"DELETE FROM spent WHERE {PAST}",  # noqa: S608 - constants
    f"UPDATE usage SET person = '' WHERE {USAGE}",  # noqa: S608 - constants
)


class PostgresConversationPersonal:
    """Turns, notes, usage, traces and feedback. Implements `memory.store.ports.WorkingMemory`."""

    def __init__(self, pool: PostgresDatabase, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Everything of these identities, row by row."""
        return await self._read(WHOSE, self._asked(tenant, persons))

    async def working(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Turns and notes only."""
        return await self._read(WORKING_ROWS, self._asked(tenant, persons))

    async def _read(
        self, statements: Statements, asked: dict[str, object]
    ) -> list[dict[str, object]]:
        async def work(connection: Connection) -> list[dict[str, object]]:
            found: list[dict[str, object]] = []
            for table, statement in statements:
                rows = await connection.execute(statement, asked)
                names = [column.name for column in rows.description or ()]
                found += [
                    {"table": table}
                    | {name: _plain(value) for name, value in zip(names, row, strict=True)}
                    for row in await rows.fetchall()
                ]
            return found

        return await self._pool.with_connection(work)

    async def erase(self, tenant: str, persons: Sequence[str], exchange: str = "") -> int:
        """Delete turns, notes, traces and feedback, take the name off the usage; how many rows."""
        return await self._change(ERASE, self._asked(tenant, persons))

    async def clear(self, tenant: str, persons: Sequence[str]) -> int:
        """Delete turns and notes only; how many rows."""
        return await self._change(WORKING, self._asked(tenant, persons))

    async def _change(self, statements: Sequence[LiteralString], asked: dict[str, object]) -> int:
        async def work(connection: Connection) -> int:
            async with connection.transaction():
                return sum([(await connection.execute(sql, asked)).rowcount for sql in statements])

        return await self._pool.with_connection(work)

    def _asked(self, tenant: str, persons: Sequence[str]) -> dict[str, object]:
        now = self._clock.now()
        return {
            "tenant": tenant,
            "persons": [person for person in persons if person],
            "day": now.strftime("%Y-%m-%d"),
            "month": now.strftime(":%Y-%m"),
        }


def _plain(value: Any) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).timestamp()
    return int(value) if isinstance(value, Decimal) else value
