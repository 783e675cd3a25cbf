"""The append-only audit log: each entry is chained to the previous one. Writers take turns."""

import json
from datetime import datetime
from typing import Final, cast

from db import Database, Params, Row, Statement, Work, among, execute, fetch_first, lock
from db.statements import contains, listed
from db.values import micros, storable, time_of
from memory.audit import FIRST, chained
from memory.ports.audit import AuditAction, AuditEntry, AuditFilter, AuditPage, Link

LAST: Final = Statement("SELECT number, hash FROM memory_audit ORDER BY number DESC LIMIT 1")
COLUMNS: Final = "number, at, action, tenant, person, details, previous, hash"
ADD: Final = Statement(f"""
    INSERT INTO memory_audit ({COLUMNS})
    VALUES (:number, :at, :action, :tenant, :person, :details, :previous, :hash)
""")
PAGE: Final = Statement(f"""
    SELECT {COLUMNS} FROM memory_audit WHERE number > :after ORDER BY number LIMIT :limit
""")
BETWEEN: Final = Statement(f"""
    SELECT {COLUMNS} FROM memory_audit WHERE at >= :since AND at <= :until
    ORDER BY number LIMIT :limit
""")
SCANNED: Final = 20_000
"""Entries that one page looks at; with rare filters, more pages follow."""


def _names(parameter: str) -> str:
    """True for an entry that names one of these people, given as JSON, in a detail."""
    return f"""EXISTS (SELECT 1 FROM {listed(parameter, "named")}
        WHERE {contains("details", "named.value")})"""


NEWEST: Final = Statement(f"""
    SELECT {COLUMNS} FROM memory_audit
    WHERE number < :before AND number >= :lowest AND {among("tenant", "tenants")}
        AND at >= :since AND at < :until AND (:action = '' OR action = :action)
        AND (:everybody OR {among("person", "persons")} OR {_names("named_persons")})
        AND (:person = '' OR person = :person OR {_names("named_person")})
    ORDER BY number DESC LIMIT :limit
""")


class SqlAuditLog:
    """The audit log. Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database, key: bytes) -> None:
        self._database = database
        self._key = key

    async def append(self, entry: AuditEntry) -> None:
        """Add an entry, after the last one."""
        await self._database.run(lambda: _append(self._key, entry))

    async def links(self, after: int, limit: int) -> list[Link]:
        """Return entries in order, those after the number `after`."""
        rows = await self._database.fetch(PAGE, {"after": after, "limit": limit})
        return [_link(row) for row in rows]

    async def between(self, since: datetime, until: datetime, limit: int) -> list[Link]:
        """Return the first entries from `since` to `until`, in order."""
        params = {"since": micros(since), "until": micros(until), "limit": limit}
        return [_link(row) for row in await self._database.fetch(BETWEEN, params)]

    async def newest(self, wanted: AuditFilter, before: int, limit: int) -> AuditPage:
        """Return the latest entries before a number, 0 for all; looks at a bounded number of
        entries."""
        before = before or await self.last() + 1
        lowest = max(1, before - SCANNED)
        persons = [person for person in wanted.persons or () if person]
        params = {
            "before": before,
            "lowest": lowest,
            "tenants": list(wanted.tenants),
            "since": micros(wanted.since),
            "until": micros(wanted.until),
            "action": wanted.action,
            "everybody": wanted.persons is None,
            "persons": persons,
            "named_persons": [json.dumps(person) for person in persons],
            "person": wanted.person,
            "named_person": [json.dumps(wanted.person)],
            "limit": limit + 1,
        }
        async with self._database.reader() as reader:
            rows = await reader.fetch(NEWEST, params)
        links = tuple(_link(row) for row in rows[:limit])
        more = links[-1].number if len(rows) > limit else lowest if lowest > 1 else 0
        return AuditPage(links, more)

    async def last(self) -> int:
        """Return the number of the last entry, 0 for none."""
        rows = await self._database.fetch(LAST)
        return int(rows[0][0]) if rows else 0


def _append(key: bytes, entry: AuditEntry) -> Work[None]:
    yield from lock("audit")
    number, previous = (yield from fetch_first(LAST)) or (0, FIRST)
    yield from execute(ADD, _params(chained(key, number + 1, entry, previous)))


def _params(link: Link) -> Params:
    entry = link.entry
    return {
        "number": link.number,
        "at": micros(entry.at),
        "action": entry.action,
        "tenant": storable(entry.tenant),
        "person": storable(entry.person),
        "details": storable(json.dumps(entry.details, ensure_ascii=True)),
        "previous": link.previous,
        "hash": link.hash,
    }


def _link(row: Row) -> Link:
    """Return the stored link; only the hash shows a change."""
    number, at, action, tenant, person, details, previous, made = row
    kept = tuple((name, value) for name, value in json.loads(details))
    entry = AuditEntry(cast("AuditAction", action), tenant, person, time_of(at), kept)
    return Link(number, entry, previous, made)
