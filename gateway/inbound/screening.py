"""Decides before an event for the assistant is stored whether it is refused."""

import structlog

from db.errors import StoreUnavailable
from gateway.immutable import replace
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    InboundEvent,
    InlineQueried,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    Place,
)
from gateway.people import PersonId
from gateway.policy.decision import Decision
from gateway.policy.rate_limits import INLINE_PER_MINUTE, IntakeLimits, sender_key
from gateway.ports.inbox import Dispatcher
from gateway.ports.observer import FinishedTurn
from gateway.ports.traces import Trace, ring_slot
from gateway.turn.admission import listed_access, principal_of
from gateway.turn.audit import audit_of
from gateway.turn.services import Services

STAGE = "intake"

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
        if not self._arrivals.stored(sender, now, per_minute, edit=edit):
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


def _sender(person: PersonId, author: MessageAuthor, place: Place, tenant: str) -> str:
    return f"{tenant}:{sender_key(str(person), author, place)}"
