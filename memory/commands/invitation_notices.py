"""Tells people of invitations of their agents, in their direct conversation.

The limits of invitations bound the messages. Who cannot be written to finds the invitation in
`/agents`, in the console and over MCP.
"""

from typing import Final

from gateway.ports import Clock
from memory.agents.direct_places import writable_place
from memory.agents.model import PoolInvitation
from memory.agents.stores.direct_places import SqlDirectPlaces
from memory.agents.stores.invitations import SqlInvitations
from memory.agents.values import IsServed, SendNotices
from memory.commands.invitations import notice_of

AT_ONCE: Final = 20


class InvitationNotices:
    """Sends the notices that are due. Needs the accounts of all platforms."""

    def __init__(
        self,
        store: SqlInvitations,
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
        """Send a bounded number of notices. Raises `StoreUnavailable`."""
        for invitation in await self._store.unnotified(self._clock.now(), AT_ONCE):
            await self._tell(invitation)
            await self._store.notified(invitation.id)

    async def _tell(self, invitation: PoolInvitation) -> None:
        tenant, person = invitation.tenant, invitation.person
        place = await writable_place(self._places, self._is_served, tenant, person)
        if place is not None:
            key = f"invitation-{invitation.id}"
            await self._send(key, [notice_of(invitation, place)])
