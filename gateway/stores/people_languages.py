"""The languages of people: what each of them chose, and what their platform told last."""

from datetime import datetime
from typing import Final

from msgspec import Struct

from db import Database, Statement
from db.database import delete_some, deleting_some
from db.statements import BY_KEY
from db.values import micros, storable, time_of

SCHEMA: Final = (
    f"""CREATE TABLE people_languages (
        tenant text NOT NULL, person text NOT NULL, chosen text NOT NULL, told text NOT NULL,
        at bigint NOT NULL, PRIMARY KEY (tenant, person)
    ) {BY_KEY}""",
    "CREATE INDEX people_languages_at ON people_languages (at)",
)
OF: Final = Statement("""
    SELECT chosen, told, at FROM people_languages WHERE tenant = :tenant AND person = :person
""")
PUT: Final = Statement("""
    INSERT INTO people_languages (tenant, person, chosen, told, at)
    VALUES (:tenant, :person, :chosen, :told, :at)
    ON CONFLICT (tenant, person)
    DO UPDATE SET chosen = excluded.chosen, told = excluded.told, at = excluded.at
""")
PRUNE: Final = deleting_some("people_languages", "tenant, person", "at < :before", "at")


class PersonLanguages(Struct, frozen=True):
    """The known facts of a person's language; an empty name stands for nothing."""

    chosen: str = ""
    """The name of the language that they chose with `/language`."""
    told: str = ""
    """The name of the language that their platform told last."""
    at: datetime | None = None
    """The time of the latest change, or of a message some time after it; None: nothing is
    stored."""


class PeopleLanguages:
    """Every method raises `StoreUnavailable`. `person` is a `str(PersonId)`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, tenant: str, person: str) -> PersonLanguages:
        """Return what is stored of a person."""
        params = {"tenant": storable(tenant), "person": storable(person)}
        rows = await self._database.fetch(OF, params)
        return PersonLanguages(rows[0][0], rows[0][1], time_of(rows[0][2])) if rows else _NONE

    async def put(self, tenant: str, person: str, chosen: str, told: str, at: datetime) -> None:
        """Store the languages of a person in place of the earlier ones."""
        params = {
            "tenant": storable(tenant),
            "person": storable(person),
            "chosen": chosen,
            "told": told,
            "at": micros(at),
        }
        await self._database.change(PUT, params)

    async def prune(self, before: datetime) -> int:
        """Delete some people of whom there is nothing since then; returns how many, 0 at the
        end."""
        return await delete_some(self._database, PRUNE, {"before": micros(before)})


_NONE: Final = PersonLanguages()
