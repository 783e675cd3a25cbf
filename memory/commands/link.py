"""`/link`: asks both sides for a confirmation of the link, and notifies them of the result."""

from collections.abc import Iterable
from typing import Final

from gateway.errors import BadInput
from gateway.message import Choice, Notice, Reply
from gateway.people import Audience
from gateway.ports import Clock
from gateway.ports.memory import Caller
from gateway.text import Moment, Text
from memory.commands import link_texts, texts
from memory.commands.open_questions import NO, YES
from memory.ports.people import Linked, LinkOutcome, LinkRequest, LinkSide, LinkStep
from memory.service.links import Links, side_of
from memory.text.display import paragraphs

PREFIX: Final = "memory:link:"
REFUSALS: Final[dict[LinkOutcome, Text]] = {
    "own": link_texts.OWN_CODE,
    "busy": link_texts.BUSY,
    "already": link_texts.ALREADY,
    "same_account": link_texts.SAME_ACCOUNT,
    "too_many": link_texts.TOO_MANY,
}


class LinkCommands:
    """The command `/link`, in direct messages only. Raises `BadInput` with words for the person."""

    def __init__(self, links: Links, clock: Clock) -> None:
        self._links = links
        self._clock = clock

    async def run(self, caller: Caller, text: str) -> Reply:
        """`/link`, `/link CODE`, `/link confirm ID`, `/link cancel [ID]`, `/link off`."""
        _check_private(caller)
        what, _, rest = text.casefold().partition(" ")
        match what:
            case "":
                return await self._shown(caller)
            case "off":
                return await self._off(caller)
            case "confirm":
                return await self._confirm(caller, rest.strip())
            case "cancel":
                return await self._cancel(caller, rest.strip())
            case _:
                return await self._redeem(caller, text)

    async def press(self, caller: Caller, value: str) -> Reply:
        """Handle a button of a question; only the asked person may press it."""
        _check_private(caller)
        answer, _, request_id = value.removeprefix(PREFIX).partition(":")
        if answer == "yes" and request_id:
            return await self._confirm(caller, request_id)
        if answer == "no" and request_id:
            return await self._cancel(caller, request_id)
        return Reply(texts.CLOSED)

    async def _shown(self, caller: Caller) -> Reply:
        request = await self._links.active(caller)
        if request is not None:
            return await self._standing(caller, request)
        tenant, person = caller.principal.tenant, str(caller.principal.person)
        linked = await self._links.linked(tenant, person)
        offer = link_texts.offer(await self._links.offer(caller))
        if not linked:
            return Reply(offer)
        return Reply(paragraphs(link_texts.linked(linked), offer))

    async def _redeem(self, caller: Caller, code: str) -> Reply:
        step = await self._links.redeem(caller, code)
        if step.outcome in REFUSALS:
            raise BadInput(REFUSALS[step.outcome])
        if step.request is None:
            raise BadInput(link_texts.NOTHING_OPEN)
        return await self._standing(caller, step.request)

    async def _standing(self, caller: Caller, request: LinkRequest) -> Reply:
        """Return the answer to a person with an open request: a question, or the next step."""
        person = str(caller.principal.person)
        other = request.opposite(person)
        if other is None:
            raise BadInput(link_texts.NOTHING_OPEN)
        is_maker = person == request.maker.person
        if is_maker == (request.state == "confirmed"):
            text, buttons = await self._question(request, person, other)
            return Reply(text, buttons)
        if is_maker:
            return Reply(link_texts.NOT_YET.of(side=link_texts.in_short(other)))
        return Reply(link_texts.asked(request, other))

    async def _question(
        self, request: LinkRequest, person: str, other: LinkSide
    ) -> tuple[Text, tuple[Choice, ...]]:
        group = await self._links.linked(request.tenant, other.person)
        text = link_texts.question(request, other, [o for o in group if o.side.person != person])
        return text, (
            Choice(link_texts.YES, f"{PREFIX}yes:{request.id}", typed=YES),
            Choice(link_texts.NO, f"{PREFIX}no:{request.id}", typed=NO),
        )

    async def _confirm(self, caller: Caller, request_id: str) -> Reply:
        request = await self._links.active(caller)
        if not request_id and request is not None:
            return await self._standing(caller, request)
        step = await self._links.confirm(caller, request_id)
        if step.request is None:
            raise BadInput(link_texts.NOTHING_OPEN)
        other = step.request.opposite(str(caller.principal.person))
        if step.outcome in REFUSALS:
            notices = _notices([other], link_texts.ENDED)
            return Reply(REFUSALS[step.outcome], notices=notices)
        if step.outcome == "linked":
            return await self._done(caller, step)
        if step.outcome == "agreed" and other is not None:
            text, buttons = await self._question(step.request, other.person, side_of(caller))
            notices = _notices([other], text, buttons)
            return Reply(link_texts.asked(step.request, other), notices=notices)
        return await self._standing(caller, step.request)

    async def _done(self, caller: Caller, step: LinkStep) -> Reply:
        """Notify all identities of a new link."""
        tenant, person = caller.principal.tenant, str(caller.principal.person)
        others = await self._links.linked(tenant, person)
        sides = [Linked(side_of(caller)), *(Linked(o.side) for o in others)]
        text = link_texts.done(self._clock.now(), sides)
        return Reply(text, notices=_notices((one.side for one in others), text))

    async def _cancel(self, caller: Caller, request_id: str) -> Reply:
        ended = await self._links.cancel(caller, request_id)
        if ended is None:
            raise BadInput(link_texts.NOTHING_OPEN)
        other = ended.opposite(str(caller.principal.person))
        return Reply(link_texts.CANCELLED, notices=_notices([other], link_texts.ENDED))

    async def _off(self, caller: Caller) -> Reply:
        tenant, person = caller.principal.tenant, str(caller.principal.person)
        others = await self._links.unlink(tenant, person)
        if not others:
            return Reply(link_texts.NOT_LINKED)
        side = link_texts.in_short(side_of(caller))
        left = link_texts.LEFT.of(at=Moment(self._clock.now()), side=side)
        text = link_texts.separated(others)
        return Reply(text, notices=_notices((one.side for one in others), left))


def expired(request: LinkRequest) -> tuple[Notice, ...]:
    """The notices to both sides of a request that was entered and not completed in time."""
    if request.redeemer is None:
        return ()
    return _notices([request.maker, request.redeemer], link_texts.ENDED)


def _notices(
    sides: Iterable[LinkSide | None], markdown: Text, buttons: tuple[Choice, ...] = ()
) -> tuple[Notice, ...]:
    """Return a notice for each side with a known direct conversation."""
    return tuple(
        Notice(side.person, side.place, markdown, buttons)
        for side in sides
        if side is not None and side.place is not None
    )


def _check_private(caller: Caller) -> None:
    if caller.place.audience is not Audience.DIRECT:
        raise BadInput(texts.ONLY_PRIVATE)
