"""Pairs of a person's memories that may contradict each other, until the person says which is true.

A pair is open while both are current and it is not settled. The one that is no longer true is
superseded by the other, so it stays readable and can be restored.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from db import FOR_UPDATE, Database, Statement, Work, among, execute, fetch
from db.statements import BY_KEY, either
from db.transaction import Change
from db.values import micros, storable
from memory.model.record import Record
from memory.model.scope import MAY_CHANGE, OWN, SHOWN, TENANT, AccessScope

ASKED_EVERY: Final = timedelta(days=1)
"""The time between two questions to the same person."""
MAX_OPEN: Final = 200
"""Open pairs of one person; further ones are not marked."""

TABLES: Final = (
    f"""CREATE TABLE memory_conflicts (
        older text NOT NULL, newer text NOT NULL, tenant text NOT NULL, person text NOT NULL,
        noticed_at bigint NOT NULL, asked_at bigint, settled_at bigint,
        PRIMARY KEY (older, newer)
    ) {BY_KEY}""",
    "CREATE INDEX memory_conflicts_newer ON memory_conflicts (newer)",
    "CREATE INDEX memory_conflicts_person ON memory_conflicts (tenant, person)",
    either(
        sqlite="""CREATE TRIGGER memory_conflicts_gone AFTER DELETE ON memories BEGIN
            DELETE FROM memory_conflicts WHERE older = old.id;
            DELETE FROM memory_conflicts WHERE newer = old.id;
        END""",
        postgres="""CREATE FUNCTION memory_conflicts_gone() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            DELETE FROM memory_conflicts WHERE older = old.id;
            DELETE FROM memory_conflicts WHERE newer = old.id;
            RETURN old; END $$""",
    ),
    either(
        sqlite="",
        postgres="""CREATE TRIGGER memory_conflicts_gone AFTER DELETE ON memories
            FOR EACH ROW EXECUTE FUNCTION memory_conflicts_gone()""",
    ),
)
"""A pair leaves with either of its memories, so that no id of a deleted one is left."""

_OPEN: Final = f"""
    FROM memory_conflicts c JOIN memories m ON m.id = c.older JOIN memories n ON n.id = c.newer
    WHERE c.settled_at IS NULL AND c.tenant = :for_tenant
        AND m.superseded_by = '' AND n.superseded_by = ''
        AND {among("n.person", "for_persons")} AND n.tenant = :for_tenant AND {TENANT}
"""
"""Both are current, and memories of the same person."""
ADD: Final = Statement(f"""
    INSERT INTO memory_conflicts (older, newer, tenant, person, noticed_at)
    SELECT m.id, :newer, m.tenant, m.person, :at FROM memories m
    WHERE {among("m.id", "olders")} AND {MAY_CHANGE} AND {OWN} AND m.superseded_by = ''
        AND EXISTS (SELECT 1 FROM memories n WHERE n.id = :newer)
        AND (SELECT count(*) FROM memory_conflicts c WHERE c.tenant = :for_tenant
            AND {among("c.person", "for_persons")} AND c.settled_at IS NULL) < :most
    ON CONFLICT (older, newer) DO NOTHING
""")
OF: Final = Statement(f"""
    SELECT c.older, c.newer {_OPEN} AND {SHOWN}
        AND ({among("c.older", "ids")} OR {among("c.newer", "ids")})
""")
NEXT: Final = Statement(f"""
    SELECT c.older, c.newer {_OPEN} AND {SHOWN}
        AND coalesce((SELECT max(a.asked_at) FROM memory_conflicts a
            WHERE a.tenant = :for_tenant AND {among("a.person", "for_persons")}), 0) <= :before
    ORDER BY c.asked_at IS NOT NULL, c.asked_at, c.noticed_at, c.older, c.newer LIMIT 1
""")
"""A pair that was not asked about comes first."""
ASKED: Final = Statement("""
    UPDATE memory_conflicts SET asked_at = :at WHERE older = :older AND newer = :newer
        AND tenant = :for_tenant
""")
LOCKED: Final = Statement(f"""
    SELECT m.id FROM memories m WHERE {among("m.id", "pair")} AND {MAY_CHANGE} AND {OWN}
        AND m.superseded_by = ''
        AND EXISTS (SELECT 1 FROM memory_conflicts c WHERE c.older = :older AND c.newer = :newer
            AND c.settled_at IS NULL)
    ORDER BY m.seq {FOR_UPDATE}
""")
SETTLE: Final = Statement("""
    UPDATE memory_conflicts SET settled_at = :at WHERE older = :older AND newer = :newer
""")
SUPERSEDE: Final = Statement("""
    UPDATE memories SET superseded_by = :kept, superseded_at = :at WHERE id = :left
""")

Kept = Literal["older", "newer", "both"]
"""The memories of a pair that are true."""


class Pair(Struct, frozen=True):
    """Two memories, by id, that may contradict each other."""

    older: str
    newer: str


class ConflictStore:
    """The pairs. Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self, access: AccessScope, newer: str, olders: Sequence[str], at: datetime
    ) -> None:
        """Note that a memory may contradict current ones of the same person; a known pair stays as
        it is. Nothing is noted for a person with `MAX_OPEN` open pairs."""
        params = access.parameters() | {"newer": newer, "olders": list(olders)}
        await self._database.change(ADD, params | {"at": micros(at), "most": MAX_OPEN})

    async def of(self, access: AccessScope, memory_ids: Iterable[str]) -> dict[str, list[str]]:
        """Return for each of these memories those that it may contradict, as far as the person
        sees them here; memories without one are left out."""
        ids = [storable(one) for one in memory_ids]
        if not ids:
            return {}
        rows = await self._database.fetch(OF, access.parameters() | {"ids": ids})
        asked, found = set(ids), dict[str, list[str]]()
        for older, newer in rows:
            for one, other in ((older, newer), (newer, older)):
                if one in asked:
                    found.setdefault(str(one), []).append(str(other))
        return found

    async def next_question(self, access: AccessScope, now: datetime) -> Pair | None:
        """Return the pair to ask about, None within `ASKED_EVERY` of the last question."""
        before = access.parameters() | {"before": micros(now - ASKED_EVERY)}
        rows = await self._database.fetch(NEXT, before)
        return Pair(str(rows[0][0]), str(rows[0][1])) if rows else None

    async def asked(self, access: AccessScope, pair: Pair, at: datetime) -> None:
        """Note that the person was asked about a pair."""
        params = access.parameters() | {"older": pair.older, "newer": pair.newer}
        await self._database.change(ASKED, params | {"at": micros(at)})

    async def settle(self, access: AccessScope, pair: Pair, kept: Kept, at: datetime) -> bool:
        """Record which memories of a pair are true; the other one is superseded. False if the pair
        is not open, or not of this person."""
        params = access.parameters() | {"older": pair.older, "newer": pair.newer}
        params |= {"at": micros(at), "pair": [storable(pair.older), storable(pair.newer)]}

        def work() -> Work[bool]:
            if len((yield from fetch(LOCKED, params))) < 2:
                return False
            yield from execute(SETTLE, params)
            if kept != "both":
                left = pair.newer if kept == "older" else pair.older
                stays = pair.older if kept == "older" else pair.newer
                yield from execute(SUPERSEDE, params | {"left": left, "kept": stays})
            return True

        return await self._database.run(work)


def contradicting(record: Record, pairs: dict[str, list[str]]) -> tuple[str, ...]:
    """Return the ids of the memories that a record may contradict."""
    return tuple(pairs.get(record.id, ()))
