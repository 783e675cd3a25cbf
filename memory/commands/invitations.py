"""Invitations of a person's agents into pools of other people: the message that tells the person of
one, the answer, and leaving a pool. Part of `/agents`."""

from typing import Final

from msgspec import Struct

from gateway.errors import BadInput
from gateway.message import Choice, Notice, Place, Reply
from gateway.people import Audience
from gateway.ports import Clock
from gateway.ports.memory import Caller
from gateway.text import verbatim
from memory.agents.invitations import RESTS
from memory.agents.model import PoolInvitation
from memory.agents.overview import LEAST
from memory.agents.pools import PoolRegistry
from memory.agents.stores.direct_places import (
    IsServed,
    NamesOf,
    SendNotices,
    SqlDirectPlaces,
    writable_place,
)
from memory.agents.stores.invitations import SqlInvitations
from memory.commands import invitation_texts, texts
from memory.model.scope import RequestScope

PREFIX: Final = "memory:invitation:"


class InvitationCommands:
    """The answers, in direct messages only. Raises `BadInput` with words for the person."""

    def __init__(self, pools: PoolRegistry, names: NamesOf) -> None:
        self._pools = pools
        self._names = names

    async def waiting(self, request: RequestScope) -> Reply | None:
        """Return the invitations that wait, with buttons if it is one; None without any."""
        waits = await self._pools.invitations.waiting(request)
        if not waits:
            return None
        inviters = {one.inviter for one in waits[: invitation_texts.MAX_SHOWN]}
        names = await self._names(waits[0].tenant, inviters)
        shown = invitation_texts.listed(waits, names)
        if len(waits) > 1:
            return Reply(shown)
        return Reply(shown, buttons_of(waits[0]), buttons_until=waits[0].until)

    async def answer(self, request: RequestScope, what: str, text: str) -> Reply:
        """`/agents accept ID` and `/agents decline ID`."""
        invitation = await self._named(request, text)
        return await self._answered(request, what, invitation.id)

    async def press(self, request: RequestScope, caller: Caller, value: str) -> Reply:
        """Handle a button; only the person of the agent has an effect."""
        if caller.place.audience is not Audience.DIRECT:
            raise BadInput(texts.ONLY_PRIVATE)
        what, _, invitation_id = value.removeprefix(PREFIX).partition(":")
        if what not in ("accept", "decline"):
            return Reply(texts.CLOSED)
        return await self._answered(request, what, invitation_id)

    async def leave(self, request: RequestScope, pool: str, agent: str) -> Reply:
        """Take an agent of the person out of a pool."""
        left = await self._pools.leave_pool(request, pool, agent)
        gone = invitation_texts.NOT_THERE.of(short=verbatim(agent[: invitation_texts.SHORT]))
        return Reply(invitation_texts.LEFT if left else gone)

    async def _answered(self, request: RequestScope, what: str, invitation_id: str) -> Reply:
        invitations = self._pools.invitations
        if what == "accept":
            invitation = await invitations.accept(request, invitation_id)
            return Reply(invitation_texts.accepted(invitation))
        await invitations.decline(request, invitation_id)
        return Reply(invitation_texts.DECLINED.of(count=RESTS.days))

    async def _named(self, request: RequestScope, text: str) -> PoolInvitation:
        """Return the invitation whose id begins so; without an id the only one."""
        waits, word = await self._pools.invitations.waiting(request), text.strip().strip("`")
        found = [one for one in waits if len(word) >= LEAST and one.id.startswith(word.lower())]
        if not word and len(waits) == 1:
            return waits[0]
        if len(found) > 1:
            raise BadInput(invitation_texts.WHICH.of(id=verbatim(word[:40])))
        if not found:
            raise BadInput(invitation_texts.UNKNOWN)
        return found[0]


def buttons_of(invitation: PoolInvitation) -> tuple[Choice, Choice]:
    """Return the buttons under an invitation."""
    return (
        Choice(
            invitation_texts.ACCEPT,
            f"{PREFIX}accept:{invitation.id}",
            typed=invitation_texts.TYPED_ACCEPT,
        ),
        Choice(
            invitation_texts.DECLINE,
            f"{PREFIX}decline:{invitation.id}",
            typed=invitation_texts.TYPED_DECLINE,
        ),
    )


def notice_of(invitation: PoolInvitation, place: Place, inviter_name: str) -> Notice:
    """Return the message that tells a person of an invitation in their direct conversation."""
    text = invitation_texts.notice(invitation, inviter_name)
    buttons = buttons_of(invitation)
    return Notice(invitation.person, place, text, buttons, invitation.until)


AT_ONCE: Final = 20


class InvitationNotices(Struct, frozen=True):
    """Sends the notices that are due, to the direct conversations. Needs the accounts of all
    platforms. Who cannot be written to finds the invitation in `/agents`, in the console and over
    MCP."""

    store: SqlInvitations
    places: SqlDirectPlaces
    is_served: IsServed
    send: SendNotices
    clock: Clock
    names: NamesOf
    """The display names of people."""

    async def send_due(self) -> None:
        """Send a bounded number of notices. Raises `StoreUnavailable`."""
        for invitation in await self.store.unnotified(self.clock.now(), AT_ONCE):
            await self._tell(invitation)
            await self.store.notified(invitation.id)

    async def _tell(self, invitation: PoolInvitation) -> None:
        tenant, person = invitation.tenant, invitation.person
        place = await writable_place(self.places, self.is_served, tenant, person)
        if place is not None:
            key = f"invitation-{invitation.id}"
            names = await self.names(tenant, [invitation.inviter])
            name = names.get(invitation.inviter, "")
            await self.send(key, [notice_of(invitation, place, name)])
