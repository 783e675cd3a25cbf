"""What SQLite holds of a person beside memory: given out, and erased.

Of usage only the name goes: what was spent stays in the books. Of the sums by person those of this
day and month stay, or whoever erases themselves would have a new budget every time.
"""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from db.sqlite import SqliteDatabase
from gateway.ports import Clock
from gateway.storage.codec import event_from_json, outbound_from_json, readable
from gateway.storage.personal import answers, concerns, is_by, is_for
from gateway.storage.sqlite.notes import NO_SUMMARY, NO_TASK

PERSONS: Final = "(SELECT value FROM json_each(:persons))"
MAX_ROWS: Final = 100_000
"""Rows of one table that are looked at or given out."""

# A turn of the assistant is about the person whose message it answers.
TURNS: Final = f"""
    json_extract(conversation, '$[0]') = :tenant AND (person IN {PERSONS} OR (
        role = 'assistant' AND (channel, answers) IN (
            SELECT channel, answers FROM turns WHERE role = 'user' AND person IN {PERSONS}
                AND json_extract(conversation, '$[0]') = :tenant)))
"""  # noqa: S608 - constants
USAGE: Final = f"tenant = :tenant AND person IN {PERSONS}"
# Ids of commands and presses are put together from several, the person's among them (Slack).
NAMED: Final = """
    (instr(message_id, ':') > 0 AND EXISTS (SELECT 1 FROM json_each(:persons) p
        WHERE substr(p.value, 1, length(platform) + length(account) + 2)
                = platform || ':' || account || ':'
            AND instr(':' || message_id || ':',
                substr(p.value, length(platform) + length(account) + 2) || ':') > 0))
"""
TRACES: Final = f"""
    json_extract(conversation, '$[0]') = :tenant AND (
        id IN (SELECT turn FROM usage WHERE {USAGE})
        OR (conversation, message_id) IN (
            SELECT conversation, message_id FROM turns WHERE person IN {PERSONS})
        OR (platform || ':' || account || ':' || json_extract(conversation, '$[4]')) IN {PERSONS}
        OR {NAMED})
"""  # noqa: S608 - constants
SPENT: Final = """
    EXISTS (SELECT 1 FROM json_each(:persons) p
        WHERE substr(spent.key, 1, length(:tenant) + length(p.value) + 7)
            = 'user:' || :tenant || ':' || p.value || ':')
"""
PAST: Final = f"{SPENT} AND substr(key, -10) <> :day AND substr(key, -8) <> :month"

OWN_TENANT: Final = "json_extract(conversation, '$[0]') = :tenant"
OWN_TASK: Final = f"(task <> '' AND task_person IN {PERSONS})"
SPOKE: Final = f"EXISTS (SELECT 1 FROM json_each(persons) WHERE value IN {PERSONS})"  # noqa: S608
ALONE: Final = f"""
    NOT EXISTS (SELECT 1 FROM json_each(persons) WHERE value <> '*' AND value NOT IN {PERSONS})
"""  # noqa: S608 - constants; '*' stands for what the person showed
# Others' words in a summary are theirs to ask for; it is erased with anybody's in it.
NOTES: Final = f"""
    SELECT conversation, at, CASE WHEN {OWN_TASK} THEN task ELSE '' END AS task,
        CASE WHEN {SPOKE} AND {ALONE} THEN summary ELSE '' END AS summary
    FROM conversation_notes
    WHERE {OWN_TENANT} AND ({OWN_TASK} OR (summary <> '' AND {SPOKE} AND {ALONE}))
"""  # noqa: S608 - constants
WORKING: Final = (
    # the rows are named first: deleting must not change the answer on the way
    f"DELETE FROM turns WHERE id IN (SELECT id FROM turns WHERE {TURNS})",  # noqa: S608
    f"UPDATE conversation_notes SET {NO_TASK} WHERE {OWN_TENANT} AND {OWN_TASK}",  # noqa: S608
    f"UPDATE conversation_notes SET {NO_SUMMARY} WHERE {OWN_TENANT} AND {SPOKE}",  # noqa: S608
)
ERASE: Final = (
    f"DELETE FROM traces WHERE {TRACES}",  # noqa: S608 - constants
    *WORKING,
    f"DELETE FROM feedback WHERE {USAGE}",  # noqa: S608 - constants
    f"DELETE FROM spent WHERE {PAST}",  # noqa: S608 - constants
    f"UPDATE usage SET person = '' WHERE {USAGE}",  # noqa: S608 - constants
)

FORGET_STATE: Final = """
    DELETE FROM adapter_state WHERE platform = :platform AND account = :account AND key = :key
"""

Rows = list[dict[str, object]]


class SqliteConversationPersonal:
    """Turns, notes, usage, traces and feedback. Implements `memory.store.ports.WorkingMemory`."""

    def __init__(self, database: SqliteDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def export(self, tenant: str, persons: Sequence[str]) -> Rows:
        """Everything of these identities, row by row."""
        asked = self._asked(tenant, persons)

        def job(db: sqlite3.Connection) -> Rows:
            whose = {"usage": USAGE, "traces": TRACES, "spent": SPENT, "feedback": USAGE}
            found = [row for table in whose for row in _rows(db, table, whose[table], asked)]
            return _working(db, asked) + found

        return await self._database.run_job(job)

    async def working(self, tenant: str, persons: Sequence[str]) -> Rows:
        """Turns and notes only."""
        asked = self._asked(tenant, persons)
        return await self._database.run_job(lambda db: _working(db, asked))

    async def erase(self, tenant: str, persons: Sequence[str], exchange: str = "") -> int:
        """Delete turns, notes, traces and feedback, take the name off the usage; how many rows."""
        asked = self._asked(tenant, persons)

        def job(db: sqlite3.Connection) -> int:
            return sum(db.execute(sql, asked).rowcount for sql in ERASE)

        return await self._database.run_job(job)

    async def clear(self, tenant: str, persons: Sequence[str]) -> int:
        """Delete turns and notes only; how many rows."""
        asked = self._asked(tenant, persons)

        def job(db: sqlite3.Connection) -> int:
            return sum(db.execute(sql, asked).rowcount for sql in WORKING)

        return await self._database.run_job(job)

    def _asked(self, tenant: str, persons: Sequence[str]) -> dict[str, object]:
        now = self._clock.now()
        return {
            "tenant": tenant,
            "persons": json.dumps([person for person in persons if person]),
            "day": now.strftime("%Y-%m-%d"),
            "month": now.strftime(":%Y-%m"),
        }


def _working(db: sqlite3.Connection, asked: dict[str, object]) -> Rows:
    notes = _named("conversation_notes", db.execute(NOTES, asked))
    return _rows(db, "turns", TURNS, asked) + notes


class SqliteHotPersonal:
    """Events and sends that wait, and what adapters know. Implements
    `memory.store.ports.HoldsPersonal`; an identity of a platform is the same in every tenant."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def export(self, tenant: str, persons: Sequence[str]) -> Rows:
        """Everything of these identities, row by row."""
        return await self._database.run_job(lambda db: [row for _, row in _hot(db, set(persons))])

    async def erase(self, tenant: str, persons: Sequence[str], exchange: str = "") -> int:
        """Delete all of it. An event keeps its id, so that it is not taken for a new one."""

        def job(db: sqlite3.Connection) -> int:
            found = [
                (sql, row)
                for sql, row in _hot(db, set(persons))
                if not answers(exchange, str(row["table"]), str(row.get("id") or row.get("key")))
            ]
            for sql, row in found:
                db.execute(sql, row)
            return len(found)

        return await self._database.run_job(job)


def _hot(db: sqlite3.Connection, persons: set[str]) -> list[tuple[str, dict[str, object]]]:
    events = readable(
        db.execute(
            "SELECT id, event FROM inbox WHERE done = 0 ORDER BY arrival LIMIT ?", (MAX_ROWS,)
        ),
        lambda id_, data: (id_, data, event_from_json(data)),
    )
    found = [
        ("UPDATE inbox SET done = 1, event = x'' WHERE id = :id", _event_row(id_, data))
        for id_, data, event in events
        if is_by(event, persons)
    ]
    sends = readable(
        db.execute(
            "SELECT key, outbound FROM outbox WHERE state <> 'sent' ORDER BY seq LIMIT ?",
            (MAX_ROWS,),
        ),
        lambda key, data: (key, data, outbound_from_json(data)),
    )
    found += [
        ("DELETE FROM outbox WHERE key = :key", _send_row(key, data))
        for key, data, outbound in sends
        if is_for(outbound, persons)
    ]
    states = db.execute(
        "SELECT platform, account, key, value FROM adapter_state LIMIT ?", (MAX_ROWS,)
    )
    found += [
        (
            FORGET_STATE,
            {"table": "adapter_state", "platform": p, "account": a, "key": key, "value": value},
        )
        for p, a, key, value in states
        if concerns(p, a, key, value, persons)
    ]
    return found


def _event_row(id_: str, data: bytes) -> dict[str, object]:
    return {"table": "inbox", "id": id_, "event": json.loads(data)}


def _send_row(key: str, data: bytes) -> dict[str, object]:
    return {"table": "outbox", "key": key, "outbound": json.loads(data)}


def _rows(db: sqlite3.Connection, table: str, whose: str, asked: dict[str, object]) -> Rows:
    found = db.execute(f"SELECT * FROM {table} WHERE {whose} LIMIT {MAX_ROWS}", asked)  # noqa: S608
    return _named(table, found)


def _named(table: str, found: sqlite3.Cursor) -> Rows:
    names = [str(column[0]) for column in found.description]
    return [{"table": table} | _read(dict(zip(names, row, strict=True))) for row in found]


def _read(row: dict[str, Any]) -> dict[str, object]:
    if "decisions" in row:
        row["decisions"] = json.loads(row["decisions"])
    return row
