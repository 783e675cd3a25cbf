"""The languages, time zones, voice and quiet hours of people: what each of them chose, and what
their platform told last."""

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
ZONES: Final = tuple(
    f"ALTER TABLE people_languages ADD COLUMN {column} text NOT NULL DEFAULT ''"
    for column in ("zone", "zone_told")
)
"""The time zone that a person chose, and the one that their platform told last."""
VOICE: Final = ("ALTER TABLE people_languages ADD COLUMN voice text NOT NULL DEFAULT ''",)
"""The answers that a person wants spoken."""
QUIET: Final = ("ALTER TABLE people_languages ADD COLUMN quiet text NOT NULL DEFAULT ''",)
"""The quiet hours that a person chose."""
OF: Final = Statement("""
    SELECT chosen, told, zone, zone_told, voice, quiet, at FROM people_languages
    WHERE tenant = :tenant AND person = :person
""")
PUT: Final = Statement("""
    INSERT INTO people_languages (tenant, person, chosen, told, at)
    VALUES (:tenant, :person, :chosen, :told, :at)
    ON CONFLICT (tenant, person)
    DO UPDATE SET chosen = excluded.chosen, told = excluded.told, at = excluded.at
""")
PUT_ZONES: Final = Statement("""
    INSERT INTO people_languages (tenant, person, chosen, told, zone, zone_told, at)
    VALUES (:tenant, :person, '', '', :zone, :zone_told, :at)
    ON CONFLICT (tenant, person)
    DO UPDATE SET zone = excluded.zone, zone_told = excluded.zone_told, at = excluded.at
""")
PUT_VOICE: Final = Statement("""
    INSERT INTO people_languages (tenant, person, chosen, told, voice, at)
    VALUES (:tenant, :person, '', '', :voice, :at)
    ON CONFLICT (tenant, person) DO UPDATE SET voice = excluded.voice, at = excluded.at
""")
PUT_QUIET: Final = Statement("""
    INSERT INTO people_languages (tenant, person, chosen, told, quiet, at)
    VALUES (:tenant, :person, '', '', :quiet, :at)
    ON CONFLICT (tenant, person) DO UPDATE SET quiet = excluded.quiet, at = excluded.at
""")
PRUNE: Final = deleting_some("people_languages", "tenant, person", "at < :before", "at")


class PersonLanguages(Struct, frozen=True):
    """The known facts of a person's language, time zone and quiet hours; an empty name stands for
    nothing."""

    chosen: str = ""
    """The name of the language that they chose with `/language`."""
    told: str = ""
    """The name of the language that their platform told last."""
    at: datetime | None = None
    """The time of the latest change, or of a message some time after it; None: nothing is
    stored."""
    zone: str = ""
    """The time zone that they chose with `/timezone`."""
    zone_told: str = ""
    """The time zone that their platform told last."""
    voice: str = ""
    """The answers that they want spoken (`/voice`); empty for none."""
    quiet: str = ""
    """The quiet hours that they chose with `/quiet`: such as 22:00-07:00, or `off`."""


class PeopleLanguages:
    """Every method raises `StoreUnavailable`. `person` is a `str(PersonId)`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, tenant: str, person: str) -> PersonLanguages:
        """Return what is stored of a person."""
        params = {"tenant": storable(tenant), "person": storable(person)}
        rows = await self._database.fetch(OF, params)
        if not rows:
            return _NONE
        chosen, told, zone, zone_told, voice, quiet, at = rows[0]
        return PersonLanguages(chosen, told, time_of(at), zone, zone_told, voice, quiet)

    async def put(self, tenant: str, person: str, chosen: str, told: str, at: datetime) -> None:
        """Store the languages of a person in place of the earlier ones."""
        await self._put(PUT, tenant, person, at, chosen=chosen, told=told)

    async def put_zones(self, tenant: str, person: str, zone: str, told: str, at: datetime) -> None:
        """Store the time zones of a person in place of the earlier ones."""
        await self._put(PUT_ZONES, tenant, person, at, zone=zone, zone_told=told)

    async def put_voice(self, tenant: str, person: str, voice: str, at: datetime) -> None:
        """Store the answers that a person wants spoken in place of the earlier choice."""
        await self._put(PUT_VOICE, tenant, person, at, voice=voice)

    async def put_quiet(self, tenant: str, person: str, quiet: str, at: datetime) -> None:
        """Store the quiet hours of a person in place of the earlier ones."""
        await self._put(PUT_QUIET, tenant, person, at, quiet=quiet)

    async def _put(
        self, statement: Statement, tenant: str, person: str, at: datetime, **values: str
    ) -> None:
        whose = {"tenant": storable(tenant), "person": storable(person), "at": micros(at)}
        await self._database.change(statement, {**whose, **values})

    async def prune(self, before: datetime) -> int:
        """Delete some people of whom there is nothing since then; returns how many, 0 at the
        end."""
        return await delete_some(self._database, PRUNE, {"before": micros(before)})


_NONE: Final = PersonLanguages()
