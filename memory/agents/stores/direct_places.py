"""The latest direct conversation of each person, recorded so that the assistant can write to people
who did not write just now."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from msgspec import Struct
from pydantic import TypeAdapter

from db import Database, Statement
from db.database import delete_some, deleting_some
from db.values import micros, storable, texts_of
from gateway.message import Notice, Place
from gateway.people import Audience
from gateway.ports import Clock
from gateway.ports.memory import Caller
from memory.model.scope import choice_names
from memory.stores.links import LINKED

IsServed: TypeAlias = Callable[[str, str, Place], Awaitable[bool]]
"""Return True if a person, who did not write just now, belongs to a tenant and may use the
assistant in a place. Takes tenant, person and place. Raises `StoreUnavailable`."""


NamesOf: TypeAlias = Callable[[str, Collection[str]], Awaitable[Mapping[str, str]]]
"""Returns the display names of people of a tenant, by `str(PersonId)`, as far as they are known."""
SendNotices: TypeAlias = Callable[[str, Sequence[Notice]], Awaitable[None]]
"""Queue messages to people under the name of a group; the same name again queues nothing twice."""


class DirectContact(Struct, frozen=True):
    """The ways to write to a person. `place` is their latest direct conversation, None if none is
    known; `persons` are all linked identities; `memory_off` for one of them, or there."""

    place: Place | None
    persons: tuple[str, ...]
    memory_off: bool = False


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


AGAIN: Final = timedelta(hours=12)
"""The precision with which the last use of a place is recorded."""
MAX_KNOWN: Final = 10_000
KEEP: Final = timedelta(days=90)
"""The time after which an unused place is deleted."""


class DirectPlaces:
    """Notes places, at most once in `AGAIN` for the same place of a person."""

    def __init__(self, store: SqlDirectPlaces, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._noted: OrderedDict[tuple[str, str], tuple[Place, datetime]] = OrderedDict()

    async def note(self, caller: Caller) -> None:
        """Note the place of this caller if it is their own direct conversation on a platform.
        Raises `StoreUnavailable`."""
        place, person, now = caller.place, caller.principal.person, self._clock.now()
        own = (place.platform, place.account) == (person.platform, person.account)
        if place.audience is not Audience.DIRECT or not own:
            return
        key = (caller.principal.tenant, str(person))
        known = self._noted.get(key)
        if known is not None and known[0] == place and now - known[1] < AGAIN:
            return
        await self._store.note(*key, place, now)
        self._noted[key] = (place, now)
        self._noted.move_to_end(key)
        while len(self._noted) > MAX_KNOWN:
            self._noted.popitem(last=False)

    def forget(self, tenant: str, person: str) -> None:
        """Forget what is known of an erased person, so that their next message is noted again."""
        self._noted.pop((tenant, person), None)

    async def prune(self) -> int:
        """Delete a batch of unused places; return their number. Raises `StoreUnavailable`."""
        return await self._store.prune(self._clock.now() - KEEP)


async def writable_place(
    places: SqlDirectPlaces, is_served: IsServed, tenant: str, person: str
) -> Place | None:
    """Return the direct conversation in which the assistant may write to a person; None without a
    known one, without access, or with memory off. Raises `StoreUnavailable`."""
    contact = await places.contact(tenant, person)
    place = None if contact.memory_off else contact.place
    return place if place is not None and await is_served(tenant, person, place) else None
