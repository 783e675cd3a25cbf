"""A person's waiting events and sends in SQLite: given out, and erased."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

from db.sqlite import SqliteDatabase
from gateway.storage.codec import event_from_json, outbound_from_json, readable
from gateway.storage.pending_personal_data import answers, concerns, is_by, is_for

MAX_ROWS: Final = 100_000
"""Rows of one table that are looked at or given out."""
FORGET_STATE: Final = """
    DELETE FROM adapter_state WHERE platform = :platform AND account = :account AND key = :key
"""

Rows = list[dict[str, object]]


class SqlitePersonalData:
    """Events and sends that wait, and what adapters know. Implements
    `memory.ports.PersonalDataStore`; an identity of a platform is the same in every tenant."""

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
