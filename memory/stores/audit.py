"""The audit log of memory, append-only: actions without content.

Each entry has a keyed hash over itself and the entry before it, so `parley audit verify` finds
entries that were changed, removed or inserted later. Writers take turns.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable
from datetime import datetime
from typing import Final, cast

from db import Database, Params, Row, Statement, Work, among, execute, fetch_first, lock
from db.statements import contains, listed
from db.values import micros, storable, time_of
from gateway.ports import Clock
from memory.model.scope import RequestScope
from memory.ports.audit import AppendEntry, AuditAction, AuditEntry, AuditFilter, AuditPage, Link

FIRST: Final = "0" * 64
"""The hash before the first entry."""
SIGNING: Final = b"parley-memory export 1"
"""The purpose of the derived signing key."""
MAX_DETAILS: Final = 20
MAX_DETAIL: Final = 10_000
"""Characters of one detail: room for the ids of a large deletion."""


class Audit:
    """Writes entries for the person who acts."""

    def __init__(self, append: AppendEntry, key: bytes, clock: Clock) -> None:
        self._append = append
        self._key = key
        self._clock = clock

    async def note(self, action: AuditAction, request: RequestScope, **details: str | int) -> None:
        """Record an action of this person, with the agent that acts. Raises `StoreUnavailable`: an
        action that cannot be recorded fails."""
        principal = request.principal
        if request.agent:
            details.setdefault("agent", request.agent)
        await self.append(action, principal.tenant, str(principal.person), **details)

    async def append(
        self, action: AuditAction, tenant: str, person: str, **details: str | int
    ) -> None:
        """Record an action of a person, or of the program with an empty `person`."""
        kept = tuple(
            (name, value[:MAX_DETAIL] if isinstance(value, str) else value)
            for name, value in sorted(details.items())[:MAX_DETAILS]
        )
        await self._append(AuditEntry(action, tenant, person, self._clock.now(), kept))

    def hashed(self, text: str) -> str:
        """Return the HMAC of a text: the same for the same text, without its content."""
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()[:32]

    def signature(self, text: str) -> str:
        """Return the signature of a text that this program wrote. Empty without a key."""
        if not self._key:
            return ""
        key = hmac.new(self._key, SIGNING, hashlib.sha256).digest()
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def chained(key: bytes, number: int, entry: AuditEntry, previous: str) -> Link:
    """Return the link of an entry after the one with the hash `previous`."""
    payload = json.dumps(
        [
            number,
            entry.action,
            entry.tenant,
            entry.person,
            entry.at.timestamp(),
            entry.details,
            previous,
        ],
        ensure_ascii=True,
        separators=(",", ":"),
    )
    made = hmac.new(key, payload.encode(), hashlib.sha256).hexdigest()
    return Link(number, entry, previous, made)


def first_broken(key: bytes, links: Iterable[Link], previous: str = FIRST, after: int = 0) -> int:
    """Return the number of the first link that was changed, 0 if there is none."""
    for link in links:
        expected = chained(key, after + 1, link.entry, previous)
        if link.number != after + 1 or not hmac.compare_digest(link.hash, expected.hash):
            return after + 1
        previous, after = link.hash, link.number
    return 0


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
        AND (:what = '' OR {contains("details", ":what")})
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
            "what": json.dumps(["what", wanted.what]) if wanted.what else "",
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
