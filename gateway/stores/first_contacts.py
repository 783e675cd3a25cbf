"""The places in which people were told that they write with a program."""

from datetime import datetime
from typing import Final

from db import Database, Statement
from db.database import delete_some, deleting_some
from db.statements import BY_KEY
from db.values import micros, storable

SCHEMA: Final = (
    f"""CREATE TABLE first_contacts (
        tenant text NOT NULL, person text NOT NULL, room text NOT NULL, turn text NOT NULL,
        at bigint NOT NULL, PRIMARY KEY (tenant, person, room)
    ) {BY_KEY}""",
    "CREATE INDEX first_contacts_at ON first_contacts (at)",
)
NOTE: Final = Statement("""
    INSERT INTO first_contacts (tenant, person, room, turn, at)
    VALUES (:tenant, :person, :room, :turn, :at) ON CONFLICT (tenant, person, room) DO NOTHING
""")
OF: Final = Statement("""
    SELECT turn FROM first_contacts
    WHERE tenant = :tenant AND person = :person AND room = :room
""")
PRUNE: Final = deleting_some("first_contacts", "tenant, person, room", "at < :before", "at")


class FirstContacts:
    """Every method raises `StoreUnavailable`. `person` is a `str(PersonId)`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def is_first(self, tenant: str, person: str, room: str, turn: str, at: datetime) -> bool:
        """Return True for the first turn of a person in a room, also when it is repeated."""
        who = {"tenant": storable(tenant), "person": storable(person), "room": storable(room)}
        if await self._database.change(NOTE, {**who, "turn": turn, "at": micros(at)}):
            return True
        rows = await self._database.fetch(OF, who)
        return bool(rows) and rows[0][0] == turn

    async def prune(self, before: datetime) -> int:
        """Delete some contacts that are older; returns how many, 0 at the end."""
        return await delete_some(self._database, PRUNE, {"before": micros(before)})
