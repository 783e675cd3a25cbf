"""Offers tasks of agents to people, in their direct conversation.

The offers that are due are read from the store, so it does not matter which process stored them.
The keys of the sends make a repetition harmless.
"""

from typing import Final

from gateway.ports import Clock
from memory.agents.direct_places import writable_place
from memory.agents.model import Handoff
from memory.agents.stores.direct_places import SqlDirectPlaces
from memory.agents.stores.handoffs import SqlHandoffs
from memory.agents.values import IsServed, Receiver, SendNotices
from memory.commands.handoff_texts import WITHDRAWN
from memory.commands.handoffs import notice_of

AT_ONCE: Final = 20


class HandoffNotices:
    """Sends the offers that are due. Needs the accounts of all platforms."""

    def __init__(
        self,
        store: SqlHandoffs,
        places: SqlDirectPlaces,
        is_served: IsServed,
        send: SendNotices,
        clock: Clock,
    ) -> None:
        self._store = store
        self._places = places
        self._is_served = is_served
        self._send = send
        self._clock = clock

    async def send_due(self) -> None:
        """Send a bounded number of offers. Raises `StoreUnavailable`."""
        for handoff in await self._store.unnotified(self._clock.now(), AT_ONCE):
            await self._offer(handoff)
            await self._store.notified([handoff.id])

    async def _offer(self, handoff: Handoff) -> None:
        """Offer a task, or reject it for a person who cannot be written to any more."""
        tenant, person = handoff.tenant, handoff.target_person
        place = await writable_place(self._places, self._is_served, tenant, person)
        if place is not None:
            await self._send(f"handoff-{handoff.id}", [notice_of(handoff, place)])
            return
        receiver = Receiver(tenant, persons=(person,))
        await self._store.reject(receiver, handoff.id, WITHDRAWN, self._clock.now())
