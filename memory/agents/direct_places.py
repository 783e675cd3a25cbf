"""Records the direct conversation of a person, so that the assistant can write to them later."""

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final

from gateway.message import Place
from gateway.people import Audience
from gateway.ports import Clock
from gateway.ports.memory import Caller
from memory.agents.stores.direct_places import SqlDirectPlaces
from memory.agents.values import IsServed

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
