"""The names of people, for people who look at them. Ids decide, names only help to read."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from db import Database, Statement, Work, execute
from db.database import delete_some, deleting_some
from db.statements import BY_KEY, listed
from db.values import micros, storable
from gateway.ports.conversations import StoredTurn

MAX_NAME: Final = 200
"""Characters of a name that are stored."""
SEEN_EVERY: Final = 86_400_000_000
"""Microseconds after which the time of an unchanged name is written again."""
SCHEMA: Final = (
    f"""CREATE TABLE people_names (
        tenant text NOT NULL, person text NOT NULL, name text NOT NULL, at bigint NOT NULL,
        PRIMARY KEY (tenant, person)
    ) {BY_KEY}""",
    "CREATE INDEX people_names_at ON people_names (at)",
)
PUT: Final = Statement(f"""
    INSERT INTO people_names (tenant, person, name, at) VALUES (:tenant, :person, :name, :at)
    ON CONFLICT (tenant, person) DO UPDATE SET name = excluded.name, at = excluded.at
    WHERE people_names.name <> excluded.name OR people_names.at < excluded.at - {SEEN_EVERY}
""")
FORGET: Final = Statement("""
    DELETE FROM people_names WHERE tenant = :tenant AND person = :person
""")
NAMES: Final = Statement(f"""
    SELECT p.value, COALESCE(
        (SELECT n.name FROM people_names n WHERE n.tenant = :tenant AND n.person = p.value),
        (SELECT a.name FROM admissions a WHERE a.tenant = :tenant AND a.person = p.value),
        (SELECT r.name FROM pairing_requests r WHERE r.tenant = :tenant AND r.person = p.value),
        '')
    FROM {listed("persons", "p")}
""")
PRUNE: Final = deleting_some("people_names", "tenant, person", "at < :before", "at")


def keep_names(tenant: str, turns: Sequence[StoredTurn]) -> Work[None]:
    """Store the names with which people wrote these messages."""
    named = {turn.person: turn for turn in turns if turn.person and turn.speaker}
    rows = [
        {
            "tenant": tenant,
            "person": person,
            "name": storable(turn.speaker[:MAX_NAME]),
            "at": micros(turn.at),
        }
        for person, turn in sorted(named.items())  # one order prevents deadlocks
    ]
    if rows:
        yield from execute(PUT, *rows)


def forget_names(tenant: str, turns: Sequence[StoredTurn]) -> Work[None]:
    """Delete the names of the people who wrote these messages."""
    rows = [{"tenant": tenant, "person": one} for one in sorted({turn.person for turn in turns})]
    yield from execute(FORGET, *rows)


class PeopleNames:
    """Reads the display names of people. Nobody has verified them, and two people may have the
    same one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, tenant: str, persons: Collection[str]) -> Mapping[str, str]:
        """Return the latest known names, by `str(PersonId)`; a person without one is left out."""
        if not persons:
            return {}
        rows = await self._database.fetch(NAMES, {"tenant": tenant, "persons": sorted(persons)})
        return {str(person): str(name) for person, name in rows if name}

    async def prune(self, before: datetime) -> int:
        """Delete some names of people who last wrote before then; 0 at the end."""
        return await delete_some(self._database, PRUNE, {"before": micros(before)})
