"""`/handoff` and `/handoffs`: a person accepts, rejects and completes tasks of agents.

Only the person to whom a task was handed reaches it, from any of their linked accounts.
"""

from typing import Final

from msgspec import Struct

from gateway.errors import BadInput
from gateway.message import Choice, Notice, Place, Reply
from gateway.people import Audience
from gateway.ports import Clock, CommandSpec
from gateway.ports.memory import Caller
from gateway.ports.rights import IN_CHAT
from gateway.text import Moment, described, verbatim
from memory.agents.handoffs import HandoffManager
from memory.agents.model import Handoff, HandoffStatus, HandoffStep
from memory.agents.stores.direct_places import (
    IsServed,
    NamesOf,
    SendNotices,
    SqlDirectPlaces,
    writable_place,
)
from memory.agents.stores.handoffs import HandoffReceiver, SqlHandoffs
from memory.commands import handoff_texts, texts
from memory.commands.handoff_texts import WITHDRAWN
from memory.model.scope import RequestScope
from memory.text.display import bullets, paragraphs

AT_ONCE: Final = 20
"""Offers that are sent together."""
PREFIX: Final = "memory:handoff:"
SPECS: Final = (
    CommandSpec("handoffs", described("List the tasks that agents handed to you"), allowed=IN_CHAT),
    CommandSpec(
        "handoff",
        described("Accept, reject or complete a task of an agent"),
        True,
        "what",
        True,
        described("accept ID, reject ID REASON, or: done ID RESULT"),
        allowed=IN_CHAT,
    ),
)
LEAST: Final = 4
"""Characters of an id that a person has to type."""
MAX_RESULT: Final = 2_000


class HandoffCommands:
    """The commands, in direct messages only. Raises `BadInput` with words for the person."""

    def __init__(self, handoffs: HandoffManager, clock: Clock, names: NamesOf) -> None:
        self._handoffs = handoffs
        self._clock = clock
        self._names = names

    async def listed(self, request: RequestScope, caller: Caller) -> Reply:
        """Return the open tasks of a person, with buttons if one waits."""
        _check_private(caller)
        open_ = await self._handoffs.open_to(request, receiver_of(request))
        if not open_:
            return Reply(handoff_texts.NONE)
        now = self._clock.now()
        owners = sorted({one.source_owner for one in open_})
        names = await self._names(request.principal.tenant, owners)
        lines = bullets(
            handoff_texts.line(one, now, names.get(one.source_owner, "")) for one in open_
        )
        pending = [one for one in open_ if one.status is HandoffStatus.PENDING]
        shown = paragraphs(handoff_texts.LISTED, lines, handoff_texts.USAGE)
        if len(pending) != 1:
            return Reply(shown)
        return Reply(shown, buttons_of(pending[0]), buttons_until=pending[0].until)

    async def run(self, request: RequestScope, caller: Caller, text: str) -> Reply:
        """`/handoff accept ID`, `/handoff reject ID REASON`, `/handoff done [ID] RESULT`."""
        _check_private(caller)
        what, _, rest = text.partition(" ")
        match what.casefold():
            case "":
                return await self.listed(request, caller)
            case "accept":
                handoff, _ = await self._named(request, rest, HandoffStatus.PENDING)
                return await self._accept(request, handoff.id)
            case "reject":
                handoff, reason = await self._named(request, rest, HandoffStatus.PENDING)
                return await self._reject(request, handoff.id, reason)
            case "done":
                handoff, result = await self._named(request, rest, HandoffStatus.ACCEPTED)
                return await self._complete(request, handoff, result)
            case _:
                raise BadInput(handoff_texts.USAGE)

    async def press(self, request: RequestScope, caller: Caller, value: str) -> Reply:
        """Handle a button; only the person to whom the task was handed may press it."""
        _check_private(caller)
        answer, _, handoff_id = value.removeprefix(PREFIX).partition(":")
        if answer == "accept":
            return await self._accept(request, handoff_id)
        if answer == "reject":
            return await self._reject(request, handoff_id, "")
        return Reply(texts.CLOSED)

    async def _accept(self, request: RequestScope, handoff_id: str) -> Reply:
        step = await self._handoffs.accept_as(request, receiver_of(request), handoff_id)
        if step.done and step.handoff is not None:
            id_ = verbatim(handoff_texts.short_id(step.handoff))
            return Reply(handoff_texts.ACCEPTED.of(id=id_, until=Moment(step.handoff.until)))
        return _refused(step)

    async def _reject(self, request: RequestScope, handoff_id: str, reason: str) -> Reply:
        step = await self._handoffs.reject_as(request, receiver_of(request), handoff_id, reason)
        if step.done:
            with_reason = handoff_texts.REJECTED_WITH_REASON
            return Reply(with_reason if reason else handoff_texts.REJECTED)
        return _refused(step)

    async def _complete(self, request: RequestScope, handoff: Handoff, result: str) -> Reply:
        if not result:
            raise BadInput(handoff_texts.NO_RESULT)
        if len(result) > MAX_RESULT:
            raise BadInput(handoff_texts.TOO_LONG.of(most=MAX_RESULT))
        step = await self._handoffs.complete_as(
            request, receiver_of(request), handoff.id, {"text": result}
        )
        return Reply(handoff_texts.COMPLETED) if step.done else _refused(step)

    async def _named(
        self, request: RequestScope, text: str, needed: HandoffStatus
    ) -> tuple[Handoff, str]:
        """Return the task that a text begins with and the rest of the text. Without an id it is the
        only task in this state."""
        open_ = await self._handoffs.open_to(request, receiver_of(request))
        word, _, rest = text.strip().partition(" ")
        named = [one for one in open_ if len(word) >= LEAST and one.id.startswith(word.lower())]
        if len(named) == 1:
            return named[0], rest.strip()
        fitting = named or [one for one in open_ if one.status is needed]
        if len(fitting) > 1:
            ids = ", ".join(f"`{handoff_texts.short_id(one)}`" for one in fitting[:10])
            raise BadInput(handoff_texts.WHICH.of(ids=verbatim(ids)))
        if not fitting:
            done = needed is HandoffStatus.ACCEPTED
            raise BadInput(handoff_texts.NONE_ACCEPTED if done else handoff_texts.UNKNOWN)
        if _looks_like_id(word):
            raise BadInput(handoff_texts.UNKNOWN)
        return fitting[0], text.strip()


def receiver_of(request: RequestScope) -> HandoffReceiver:
    """Return the caller as a receiver, with all linked identities."""
    return HandoffReceiver(request.principal.tenant, persons=request.persons)


def buttons_of(handoff: Handoff) -> tuple[Choice, Choice]:
    """Return the buttons under the offer of a task."""
    return (
        Choice(
            handoff_texts.ACCEPT, f"{PREFIX}accept:{handoff.id}", typed=handoff_texts.TYPED_ACCEPT
        ),
        Choice(
            handoff_texts.REJECT, f"{PREFIX}reject:{handoff.id}", typed=handoff_texts.TYPED_REJECT
        ),
    )


def notice_of(handoff: Handoff, place: Place, source_person: str) -> Notice:
    """Return the message that offers a task to a person in their direct conversation.
    `source_person` is the name of the person for whom the other agent acts."""
    person, text = handoff.target_person, handoff_texts.offer(handoff, source_person)
    return Notice(person, place, text, buttons_of(handoff), handoff.until)


def _refused(step: HandoffStep) -> Reply:
    """Return the reason why a step changed nothing. A task of another person stays theirs."""
    if step.handoff is None:
        return Reply(handoff_texts.UNKNOWN)
    if step.outcome == "expired":
        return Reply(handoff_texts.EXPIRED)
    id_, status = verbatim(handoff_texts.short_id(step.handoff)), step.handoff.status
    if status is HandoffStatus.ACCEPTED:
        return Reply(handoff_texts.ACCEPTED_BEFORE.of(id=id_))
    if status is HandoffStatus.PENDING:
        return Reply(handoff_texts.NOT_ACCEPTED.of(id=id_))
    return Reply(handoff_texts.OVER[status])


def _looks_like_id(word: str) -> bool:
    return len(word) in (8, 32) and all(char in "0123456789abcdef" for char in word.lower())


def _check_private(caller: Caller) -> None:
    if caller.place.audience is not Audience.DIRECT:
        raise BadInput(texts.ONLY_PRIVATE)


class HandoffNotices(Struct, frozen=True):
    """Sends the offers that are due. Needs the accounts of all platforms."""

    store: SqlHandoffs
    places: SqlDirectPlaces
    is_served: IsServed
    send: SendNotices
    clock: Clock
    names: NamesOf
    """The display names of people."""

    async def send_due(self) -> None:
        """Send a bounded number of offers. Raises `StoreUnavailable`."""
        for handoff in await self.store.unnotified(self.clock.now(), AT_ONCE):
            await self._offer(handoff)
            await self.store.notified([handoff.id])

    async def _offer(self, handoff: Handoff) -> None:
        """Offer a task, or reject it for a person who cannot be written to any more."""
        tenant, person = handoff.tenant, handoff.target_person
        place = await writable_place(self.places, self.is_served, tenant, person)
        if place is not None:
            names = await self.names(tenant, [handoff.source_owner])
            notice = notice_of(handoff, place, names.get(handoff.source_owner, ""))
            await self.send(f"handoff-{handoff.id}", [notice])
            return
        receiver = HandoffReceiver(tenant, persons=(person,))
        await self.store.reject(receiver, handoff.id, WITHDRAWN, self.clock.now())
