"""Decides before an event for the assistant is stored whether it is refused, and answers people who
are not admitted: a stranger who needs an approval, and a person who sends the owner code."""

import structlog

from db.errors import StoreUnavailable
from gateway.commands.catalogue import asks_model
from gateway.conversation import place_to_answer
from gateway.immutable import replace
from gateway.message import (
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    InlineQueried,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Place,
    Reply,
)
from gateway.pairing.requests import WRONG_OWNER_CODE, owner_text
from gateway.people import Audience, PersonId, Principal, Role
from gateway.policy.decision import Decision
from gateway.policy.pairing_codes import owner_code_in
from gateway.policy.rate_limits import INLINE_PER_MINUTE, IntakeLimits, sender_key
from gateway.ports.admissions import Applicant, OwnershipClaim
from gateway.ports.observer import FinishedTurn
from gateway.ports.queues import Dispatcher
from gateway.ports.traces import Trace, ring_slot
from gateway.render import address, render_with, with_commands
from gateway.text import Text
from gateway.turn.access_notices import reply_to_stranger
from gateway.turn.admission import listed_access, principal_of
from gateway.turn.audit import audit_of
from gateway.turn.services import Services
from safety.unicode import shown_name

STAGE = "intake"
OWNERSHIP = "ownership"

log = structlog.get_logger(__name__)


class Screening:
    """Refuses events of senders that the access lists refuse, or that send too much.

    A redelivery of a refused event is refused for the same reason.
    """

    def __init__(self, services: Services, dispatcher: Dispatcher) -> None:
        self._services = services
        self._dispatcher = dispatcher
        self._arrivals = IntakeLimits()

    async def refusal(self, event: InboundEvent, tenant: str) -> Decision | None:
        """Return the reason for a refusal; None if the event is stored. A deletion has no author
        and is always stored. Raises `StoreUnavailable`."""
        author = event.author
        if author is None:
            return None
        now, place = self._services.clock.monotonic(), event.place
        person = place.identity(author)
        sender = _sender(person, author, place, tenant)
        if isinstance(event, InlineQueried):
            if not self._arrivals.inline_allowed(sender, now, INLINE_PER_MINUTE):
                return Decision(STAGE, False, "too_many_queries")
            return await self._denied(event, author, tenant)
        denied = await self._denied(event, author, tenant)
        if denied is not None:
            return denied
        edit = isinstance(event, MessageEdited)
        per_minute = self._services.policies.limits.user_per_minute
        command = _asks_no_model(event)
        if not self._arrivals.stored(sender, now, per_minute, edit=edit, command=command):
            return Decision(STAGE, False, "too_many_messages")
        if not edit and self._dispatcher.is_crowded_by(person):
            return Decision(STAGE, False, "too_many_waiting")
        return None

    async def turn_away(self, event: InboundEvent, tenant: str, trace: Trace) -> None:
        """Count a refusal, and trace a few of each sender."""
        services = self._services
        services.count("turn", trace.outcome)
        services.observe(trace)
        now = services.clock.monotonic()
        services.observer.answered(FinishedTurn(trace, (), (), now, now, "", trace.decisions[-1]))
        author, place = event.author or MessageAuthor(""), event.place
        person = place.identity(author)
        sender = _sender(person, author, place, tenant)
        if not self._arrivals.may_log(sender, now):
            return
        decision, *_ = trace.decisions
        what = f"{decision.stage}_denied"
        await audit_of(what, tenant, person, place, services, decision)
        try:
            slot = ring_slot(sender, trace.id)
            await services.stores.traces.add(replace(trace, slot=slot))
        except StoreUnavailable:
            log.warning("refusal_not_traced")

    async def _denied(
        self, event: InboundEvent, author: MessageAuthor, tenant: str
    ) -> Decision | None:
        """Return the decision of the access lists and admissions. A command or press that a user
        waits for is refused in its turn."""
        if isinstance(event, MessageEdited | MessageDeleted):
            return None
        if isinstance(event, CommandInvoked | ButtonPressed) and event.reply_handle:
            return None
        who = principal_of(author, event.place, tenant, self._services)
        decision = await listed_access(who, event.place, author.known, self._services)
        return None if decision.allowed else decision


def _asks_no_model(event: InboundEvent) -> bool:
    """Return True for a command or press; one that asks the model is limited before the model."""
    return isinstance(event, ButtonPressed) or (
        isinstance(event, CommandInvoked) and not asks_model(event)
    )


def _sender(person: PersonId, author: MessageAuthor, place: Place, tenant: str) -> str:
    return f"{tenant}:{sender_key(str(person), author, place)}"


class UnadmittedPeople:
    """Answers people who are not admitted, without storing their message. Every method raises
    `StoreUnavailable`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def offer(self, event: InboundEvent, tenant: str, group: str) -> Decision | None:
        """Send a stranger the code or the hint that they get, and return the decision about it.
        `group` is the same for every delivery of the event."""
        author = event.author
        if author is None or not isinstance(event, MessageReceived | CommandInvoked):
            return None
        place = self._place(event)
        decision, text = await reply_to_stranger(tenant, author, place, self._services)
        if text:
            await self._send(group, text, author, place, tenant)
        return decision

    async def claim(self, event: InboundEvent, tenant: str, group: str) -> Decision | None:
        """Take an owner code; None for any other event. Only a person's own words in a direct
        message count; a code that others could read is void."""
        claims, code, author = self._services.owner_claims, owner_code_of(event), event.author
        if claims is None or not code or author is None:
            return None
        place = self._place(event)
        if author.is_bot or author.is_chat or await self._is_blocked(author, place, tenant):
            return None
        person = str(place.identity(author))
        applicant = Applicant(tenant, person, shown_name(author.name), place)
        if place.audience is not Audience.DIRECT or author.outside:
            voided = await claims.void(applicant, code)
            return Decision(OWNERSHIP, False, "code_exposed" if voided else "code_not_private")
        claim = await claims.claim(applicant, code)
        if claim is None:
            return Decision(OWNERSHIP, False, "too_many_codes")
        owner = claim.outcome in ("claimed", "again")
        if owner or await claims.may_answer(place, tenant):
            await self._send(group, self._words(claim), author, place, tenant)
        return Decision(OWNERSHIP, owner, claim.outcome)

    async def _is_blocked(self, author: MessageAuthor, place: Place, tenant: str) -> bool:
        """Return True if a block list names this person or place."""
        who = Principal(tenant, place.identity(author), Role.OWNER)
        return not (await listed_access(who, place, author.known, self._services)).allowed

    def _words(self, claim: OwnershipClaim) -> Text:
        if claim.outcome not in ("claimed", "again"):
            return WRONG_OWNER_CODE
        approves = self._services.policies.access.admission == "approved"
        return owner_text(self._services.assistant.name, approves=approves)

    def _place(self, event: InboundEvent) -> Place:
        place = event.place
        message_id = event.message.id if isinstance(event, MessageReceived) else ""
        can = self._services.connected[place.platform, place.account].manifest.capabilities
        return place_to_answer(place, message_id, can)

    async def _send(
        self, group: str, said: Text, author: MessageAuthor, place: Place, tenant: str
    ) -> None:
        """Queue a text that only this person reads, once for every delivery of an event."""
        dedupe_for = self._services.connected[place.platform, place.account].manifest.dedupe_for
        if not await self._services.stores.buckets.claim(f"unadmitted:{group}", dedupe_for):
            return
        account = self._services.connected[place.platform, place.account]
        person, languages = str(place.identity(author)), self._services.policies.languages
        language = await self._services.readers.language(
            languages, tenant, person, place, author.language
        )
        times = self._services.policies.times
        zone = await self._services.readers.zone(times, tenant, person, place, author.zone)
        language = language.in_zone(zone)
        alone = "" if place.audience is Audience.DIRECT else author.id
        reply = Reply(said, private_to=alone).shown(language)
        markdown = with_commands(reply.markdown, account.manifest.capabilities)
        parts = render_with(account.renderer, markdown)
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
