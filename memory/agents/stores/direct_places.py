"""The latest direct conversation of each person, to write to people who did not write just now."""

from datetime import datetime
from typing import Final

from pydantic import TypeAdapter

from db import Database, Statement
from db.database import delete_some, deleting_some
from db.values import micros, storable, texts_of
from gateway.message import Place
from memory.agents.values import DirectContact
from memory.model.scope import choice_names
from memory.stores.links import LINKED

STORED_PLACE: Final = TypeAdapter(Place)
NOTE: Final = Statement("""
    INSERT INTO people_direct_places (tenant, person, place, at)
    VALUES (:tenant, :person, :place, :at)
    ON CONFLICT (tenant, person) DO UPDATE SET place = excluded.place, at = excluded.at
""")
CONTACT: Final = Statement(f"""
    SELECT own.person, place.place,
        COALESCE(choice.memory_off, false), COALESCE(choice.off_in, '[]')
    FROM ({LINKED}) own
    LEFT JOIN people_direct_places place ON place.tenant = :tenant AND place.person = own.person
    LEFT JOIN people_choices choice ON choice.tenant = :tenant AND choice.person = own.person
""")
PRUNE: Final = deleting_some("people_direct_places", "tenant, person", "at < :before", "at")


class SqlDirectPlaces:
    """The latest direct conversation of each person. Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, tenant: str, person: str, place: Place, at: datetime) -> None:
        stored = STORED_PLACE.dump_json(place).decode()
        params = {
            "tenant": storable(tenant),
            "person": storable(person),
            "place": stored,
            "at": micros(at),
        }
        await self._database.change(NOTE, params)

    async def contact(self, tenant: str, person: str) -> DirectContact:
        params = {"tenant": storable(tenant), "person": storable(person)}
        rows = await self._database.fetch(CONTACT, params)
        place = next(
            (STORED_PLACE.validate_json(row[1]) for row in rows if row[0] == person and row[1]),
            None,
        )
        names = () if place is None else choice_names(place)
        off = any(row[2] for row in rows)
        off_here = any(name in texts_of(row[3]) for row in rows for name in names)
        return DirectContact(place, tuple(sorted(row[0] for row in rows)), bool(off or off_here))

    async def prune(self, before: datetime) -> int:
        """Delete a batch of places that were used before that time; return their number."""
        return await delete_some(self._database, PRUNE, {"before": micros(before)})
