"""Pairs of a person's memories that may contradict each other, until the person says which is true.

A pair is open while both are current and it is not settled. The one that is no longer true is
superseded by the other, so it stays readable and can be restored. A settled pair is opened again
only by a restoration, and leaves with either of its memories. Memories in a backend have no pairs.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

from db import FOR_UPDATE, Database, Statement, Work, among, execute, fetch, together
from db.statements import BY_KEY, either
from db.transaction import Change
from db.values import micros, micros_or_none, storable, time_of, time_or_none
from memory.model.scope import MAY_CHANGE, OWN, SEES, AccessScope
from memory.stores.insert import CURRENT

ASKED_EVERY: Final = timedelta(days=1)
"""The time between two questions to the same person."""
ASKED_AGAIN: Final = timedelta(days=7)
"""The time after which an unanswered question about a pair is repeated."""
MAX_OPEN: Final = 200
"""Open pairs of one person; further ones are not marked."""

MAX_SETTLED: Final = 10_000
"""Settled pairs of one person that an import adds up to."""
_UNSETTLED: Final = "CAST(:settled AS bigint) IS NULL"

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


def _there(column: str) -> str:
    """Return the condition that the reader sees the current memory in a column, and owns it."""
    return f"""EXISTS (SELECT 1 FROM memories m WHERE m.id = c.{column} AND {OWN} AND {SEES}
        AND {CURRENT})"""


_OPEN: Final = f"""
    FROM memory_conflicts c WHERE c.tenant = :for_tenant AND {among("c.person", "for_persons")}
        AND c.settled_at IS NULL AND {_there("older")} AND {_there("newer")}
"""
"""Both are current, the person's own, and may be shown here."""
ADD: Final = Statement(f"""
    INSERT INTO memory_conflicts (older, newer, tenant, person, noticed_at)
    SELECT m.id, :newer, m.tenant, m.person, :now FROM memories m
    WHERE {among("m.id", "olders")} AND m.id <> :newer AND {MAY_CHANGE} AND {OWN}
        AND m.role = '' AND {CURRENT}
        AND EXISTS (SELECT 1 FROM memories n WHERE n.id = :newer AND n.tenant = m.tenant
            AND n.scope = m.scope AND n.project = m.project AND n.tier = m.tier AND n.role = ''
            AND {among("n.person", "for_persons")})
        AND NOT EXISTS (SELECT 1 FROM memory_conflicts c WHERE c.older = :newer AND c.newer = m.id)
        AND (SELECT count(*) FROM memory_conflicts c WHERE c.tenant = :for_tenant
            AND {among("c.person", "for_persons")} AND c.settled_at IS NULL) < :most
    ON CONFLICT (older, newer) DO NOTHING
""")
BRING_IN: Final = Statement(f"""
    INSERT INTO memory_conflicts (older, newer, tenant, person, noticed_at, asked_at, settled_at)
    SELECT m.id, n.id, m.tenant, m.person, :noticed, CAST(:asked AS bigint),
        CAST(:settled AS bigint)
    FROM memories m JOIN memories n ON n.id = :newer
    WHERE m.id = :older AND m.id <> n.id AND {MAY_CHANGE} AND {OWN} AND m.role = '' AND n.role = ''
        AND n.tenant = m.tenant AND {among("n.person", "for_persons")}
        AND n.scope = m.scope AND n.project = m.project AND n.tier = m.tier
        AND NOT EXISTS (SELECT 1 FROM memory_conflicts c WHERE c.older = :newer AND c.newer = m.id)
        AND (SELECT count(*) FROM memory_conflicts c WHERE c.tenant = :for_tenant
            AND {among("c.person", "for_persons")}
            AND (c.settled_at IS NULL) = ({_UNSETTLED})) < :most
    ON CONFLICT (older, newer) DO NOTHING
""")
KNOWN: Final = Statement(f"""
    SELECT 1 FROM memory_conflicts c
    WHERE ((c.older = :older AND c.newer = :newer) OR (c.older = :newer AND c.newer = :older))
        AND c.tenant = :for_tenant AND {among("c.person", "for_persons")}
""")
EVERY: Final = Statement(f"""
    SELECT c.older, c.newer, c.noticed_at, c.asked_at, c.settled_at FROM memory_conflicts c
    WHERE c.tenant = :for_tenant AND {among("c.person", "for_persons")}
    ORDER BY c.noticed_at, c.older, c.newer LIMIT :most
""")
OPEN: Final = Statement(f"""
    SELECT c.older, c.newer {_OPEN} ORDER BY c.noticed_at, c.older, c.newer LIMIT :most
""")
NEXT: Final = Statement(f"""
    SELECT c.older, c.newer {_OPEN}
        AND coalesce((SELECT max(a.asked_at) FROM memory_conflicts a
            WHERE a.tenant = :for_tenant AND {among("a.person", "for_persons")}), 0) <= :before
        AND coalesce(c.asked_at, 0) <= :again
    ORDER BY c.asked_at IS NOT NULL, c.asked_at, c.noticed_at, c.older, c.newer LIMIT 1
""")
"""A pair that was not asked about comes first."""
REOPEN: Final = Statement(f"""
    UPDATE memory_conflicts AS c SET settled_at = NULL, noticed_at = :now
    WHERE ((c.older = :older AND c.newer = :newer) OR (c.older = :newer AND c.newer = :older))
        AND c.tenant = :for_tenant AND {among("c.person", "for_persons")}
""")
ASKED: Final = Statement(f"""
    UPDATE memory_conflicts AS c SET asked_at = :now WHERE c.older = :older AND c.newer = :newer
        AND c.tenant = :for_tenant AND {among("c.person", "for_persons")}
""")
LOCKED: Final = Statement(f"""
    SELECT m.id FROM memories m WHERE {among("m.id", "pair")} AND {MAY_CHANGE} AND {OWN} AND {SEES}
        AND {CURRENT}
        AND EXISTS (SELECT 1 FROM memory_conflicts c WHERE c.older = :older AND c.newer = :newer
            AND c.settled_at IS NULL)
    ORDER BY m.seq {FOR_UPDATE}
""")
SETTLE: Final = Statement("""
    UPDATE memory_conflicts SET settled_at = :now WHERE older = :older AND newer = :newer
""")
SUPERSEDE: Final = Statement("""
    UPDATE memories SET superseded_by = :kept, superseded_at = :now WHERE id = :left
""")

Kept = Literal["older", "newer", "both"]
"""The memories of a pair that are true."""


class Pair(Struct, frozen=True):
    """Two memories, by id, that may contradict each other."""

    older: str
    newer: str


class KeptPair(Struct, frozen=True):
    """A pair with its times."""

    pair: Pair
    noticed_at: datetime
    """The time of the comparison."""
    asked_at: datetime | None = None
    """The time of the last question; None if the person was not asked."""
    settled_at: datetime | None = None
    """The time of the answer; None while the pair is open."""


class ConflictStore:
    """The pairs. Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self, access: AccessScope, newer: str, olders: Sequence[str], now: datetime
    ) -> None:
        """Note that a memory may contradict current ones of the same person, scope and tier; a
        known pair stays as it is. Nothing is noted for a person with `MAX_OPEN` open pairs."""
        ids = [storable(one) for one in olders]
        params = _at(access, now) | {"newer": storable(newer), "olders": ids, "most": MAX_OPEN}
        await self._database.change(ADD, params)

    async def reopen(self, access: AccessScope, pair: Pair, now: datetime) -> None:
        """Note that two memories may contradict each other, even if the pair was settled before."""
        params = _at(access, now) | _named(pair) | {"olders": [storable(pair.older)]}
        steps = (Change(REOPEN, params), Change(ADD, params | {"most": MAX_OPEN}))

        def work() -> Work[None]:
            yield from together(*steps, last=True)

        await self._database.run(work)

    async def bring_in(self, access: AccessScope, kept: KeptPair, now: datetime) -> bool:
        """Store a pair of an export, with no time after `now`. False if the two are not memories of
        the person with the same scope and tier, or if the person has too many pairs."""
        times = {"noticed": kept.noticed_at, "asked": kept.asked_at, "settled": kept.settled_at}
        params = _at(access, now) | _named(kept.pair)
        params |= {name: micros_or_none(one and min(one, now)) for name, one in times.items()}
        params |= {"most": MAX_OPEN if kept.settled_at is None else MAX_SETTLED}
        return await self._database.change(BRING_IN, params) > 0

    async def knows(self, access: AccessScope, pair: Pair) -> bool:
        """True if the person has this pair, in either order."""
        params = access.parameters() | _named(pair)
        return bool(await self._database.fetch(KNOWN, params))

    async def every(self, access: AccessScope) -> list[KeptPair]:
        """Return all pairs of the person, the oldest first."""
        params = access.parameters() | {"most": MAX_OPEN + MAX_SETTLED}
        return [
            KeptPair(
                Pair(str(older), str(newer)),
                time_of(noticed),
                time_or_none(asked),
                time_or_none(settled),
            )
            for older, newer, noticed, asked, settled in await self._database.fetch(EVERY, params)
        ]

    async def open(self, access: AccessScope, now: datetime) -> list[Pair]:
        """Return the open pairs of which the person sees both memories here, the oldest first."""
        rows = await self._database.fetch(OPEN, _at(access, now) | {"most": MAX_OPEN})
        return [Pair(str(older), str(newer)) for older, newer in rows]

    async def next_question(self, access: AccessScope, now: datetime) -> Pair | None:
        """Return the pair to ask about, None within `ASKED_EVERY` of the last question. An
        unanswered one is repeated after `ASKED_AGAIN`."""
        params = _at(access, now) | {"before": micros(now - ASKED_EVERY)}
        params |= {"again": micros(now - ASKED_AGAIN)}
        rows = await self._database.fetch(NEXT, params)
        return Pair(str(rows[0][0]), str(rows[0][1])) if rows else None

    async def asked(self, access: AccessScope, pair: Pair, now: datetime) -> None:
        """Note that the person was asked about a pair."""
        await self._database.change(ASKED, _at(access, now) | _named(pair))

    async def settle(self, access: AccessScope, pair: Pair, kept: Kept, now: datetime) -> bool:
        """Record which memories of a pair are true; the other one is superseded. False if the pair
        is not open, or not of this person."""
        params = _at(access, now) | _named(pair)
        params |= {"pair": [storable(pair.older), storable(pair.newer)]}
        left, stays = (pair.newer, pair.older) if kept == "older" else (pair.older, pair.newer)

        def work() -> Work[bool]:
            if len((yield from fetch(LOCKED, params))) < 2:
                return False
            yield from execute(SETTLE, params)
            if kept != "both":
                gone = {"left": storable(left), "kept": storable(stays)}
                yield from execute(SUPERSEDE, params | gone)
            return True

        return await self._database.run(work)


def _at(access: AccessScope, now: datetime) -> dict[str, object]:
    return access.parameters() | {"now": micros(now)}


def _named(pair: Pair) -> dict[str, object]:
    return {"older": storable(pair.older), "newer": storable(pair.newer)}


def contradicting(pairs: Sequence[Pair]) -> dict[str, tuple[str, ...]]:
    """Return for each memory in the pairs those that it may contradict."""
    found: dict[str, tuple[str, ...]] = {}
    for pair in pairs:
        found[pair.older] = (*found.get(pair.older, ()), pair.newer)
        found[pair.newer] = (*found.get(pair.newer, ()), pair.older)
    return found
