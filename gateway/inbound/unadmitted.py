"""Answers people who are not admitted, without storing their message: a stranger who needs an
approval, and a person who sends the owner code."""

from gateway.conversation import place_to_answer
from gateway.message import (
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MessageAuthor,
    MessageReceived,
    Place,
    Reply,
    author_of,
    place_of,
)
from gateway.pairing.texts import WRONG_OWNER_CODE, owner_text
from gateway.people import Audience, KnownIds, PersonId, Principal, Role
from gateway.policy.decision import Decision
from gateway.policy.pairing_codes import owner_code_in
from gateway.ports.admissions import Applicant, Claim
from gateway.render import address, render_with
from gateway.turn.access_notices import reply_to_stranger
from gateway.turn.admission import listed_access
from gateway.turn.services import Services
from safety.unicode import shown_name

STAGE = "ownership"


class UnadmittedPeople:
    """Answers people who are not admitted. Every method raises `StoreUnavailable`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def offer(self, event: InboundEvent, tenant: str, group: str) -> Decision | None:
        """Send a stranger the code or the hint that they get, and return the decision about it.
        `group` is the same for every delivery of the event."""
        author = author_of(event)
        if author is None or not isinstance(event, MessageReceived | CommandInvoked):
            return None
        place = self._place(event)
        decision, text = await reply_to_stranger(tenant, author, place, self._services)
        if text:
            await self._send(group, text, author, place)
        return decision

    async def claim(self, event: InboundEvent, tenant: str, group: str) -> Decision | None:
        """Take an owner code; None for any other event. Only a person's own words in a direct
        message count; a code that others could read is void."""
        claims, code, author = self._services.owner_claims, owner_code_of(event), author_of(event)
        if claims is None or not code or author is None:
            return None
        place = self._place(event)
        if author.is_bot or author.is_chat or await self._is_blocked(author, place, tenant):
            return None
        person = str(PersonId(place.platform, place.account, author.id))
        applicant = Applicant(tenant, person, shown_name(author.name), place)
        if place.audience is not Audience.DIRECT or author.outside:
            voided = await claims.void(applicant, code)
            return Decision(STAGE, False, "code_exposed" if voided else "code_not_private")
        claim = await claims.claim(applicant, code)
        if claim is None:
            return Decision(STAGE, False, "too_many_codes")
        await self._send(group, self._words(claim), author, place)
        return Decision(STAGE, claim.outcome in ("claimed", "again"), claim.outcome)

    async def _is_blocked(self, author: MessageAuthor, place: Place, tenant: str) -> bool:
        """Return True if a block list names this person or place."""
        who = Principal(tenant, PersonId(place.platform, place.account, author.id), Role.OWNER)
        known = KnownIds(author.aliases, author.former)
        return not (await listed_access(who, place, known, self._services)).allowed

    def _words(self, claim: Claim) -> str:
        if claim.outcome not in ("claimed", "again"):
            return WRONG_OWNER_CODE
        approves = self._services.policies.access.admission == "approved"
        return owner_text(self._services.assistant.name, approves=approves)

    def _place(self, event: InboundEvent) -> Place:
        place = place_of(event)
        message_id = event.message.id if isinstance(event, MessageReceived) else ""
        can = self._services.connected[place.platform, place.account].manifest.capabilities
        return place_to_answer(place, message_id, can)

    async def _send(self, group: str, text: str, author: MessageAuthor, place: Place) -> None:
        """Queue a text that only this person reads, once for every delivery of an event."""
        dedupe_for = self._services.connected[place.platform, place.account].manifest.dedupe_for
        if not await self._services.stores.buckets.claim(f"unadmitted:{group}", dedupe_for):
            return
        account = self._services.connected[place.platform, place.account]
        reply = Reply(text, private_to="" if place.audience is Audience.DIRECT else author.id)
        person = str(PersonId(place.platform, place.account, author.id))
        parts = render_with(account.renderer, text)
        sends = address(group, place, parts, reply, person=person)
        await self._services.stores.outbox.add(sends)
        self._services.deliverer.submit(sends)


def owner_code_of(event: InboundEvent) -> str:
    """Return the owner code that a message or `/start` consists of; empty for none."""
    if isinstance(event, CommandInvoked):
        alone = event.message is None or not _shows_others(event.message)
        return owner_code_in(event.arguments) if event.name == "start" and alone else ""
    if isinstance(event, MessageReceived) and not _shows_others(event.message):
        return owner_code_in(event.message.content)
    return ""


def _shows_others(message: ChatMessage) -> bool:
    """Return True for a message with text or files beside the author's own words."""
    return bool(message.material or message.quote or message.attachments)
