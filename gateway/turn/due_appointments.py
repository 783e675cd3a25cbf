"""Sends reminders that are due, and has scheduled questions asked.

An occurrence has a name, the key of its send or of its event. The outbox or the inbox has it before
the appointment moves on, so that nothing is lost, and a repetition is recognised by its name.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.appointments.appointment import Appointment
from gateway.appointments.occurrence import Happening, happening
from gateway.conversation import key_of
from gateway.errors import TenantUnknown
from gateway.immutable import replace
from gateway.message import Choice, CommandInvoked, MessageAuthor, Notice, Reply
from gateway.people import Audience, KnownIds, PersonId, Principal, identity_of
from gateway.policy.decision import Decision
from gateway.ports import MembershipStatus
from gateway.ports.proactive import PendingNotice
from gateway.ports.queues import InboxEntry
from gateway.ports.work_guard import WorkItem
from gateway.stores.appointments import AppointmentStore
from gateway.text import Moment, Text, verbatim
from gateway.turn.admission import known_ids, role_in, served
from gateway.turn.appointment_texts import (
    MAY_NOT_RUN,
    MISSED,
    later_button,
    maker,
    quoted,
    reminding,
)
from gateway.turn.audit import audit_of
from gateway.turn.proactive import ProactiveSender
from gateway.turn.render import screened
from gateway.turn.scheduled import ASKED_AS, reason_for
from gateway.turn.services import Services

STAGE: Final = "appointment"
AGAIN_AFTER: Final = timedelta(minutes=10)
"""The time after which an appointment is looked at again whose account is not connected."""
SHORTEST_WAIT: Final = timedelta(minutes=1)
KNOWN_FOR: Final = timedelta(hours=48)
"""The time for which the inbox knows an occurrence: longer than it may be late."""

Accept = Callable[[InboxEntry, timedelta], Awaitable[None]]
"""Stores an event in the inbox, known for so long, and has it worked on. Once for each id."""
Belongs = Callable[[str, str], Awaitable[MembershipStatus]]
"""Asks if a `str(PersonId)` still belongs to "platform:account:workspace or channel"."""
TellOperators = Callable[[str, str, Text], Awaitable[None]]
"""Tells the operators of a tenant something, once for each group."""

log = structlog.get_logger(__name__)


class DueAppointments:
    """Works on what is due. Needs the accounts of all platforms."""

    def __init__(
        self,
        services: Services,
        store: AppointmentStore,
        accept: Accept,
        belongs: Belongs,
        tell_operators: TellOperators,
    ) -> None:
        self._services = services
        self._store = store
        self._accept = accept
        self._belongs = belongs
        self._tell_operators = tell_operators
        self._sender = ProactiveSender(services)

    async def step(self) -> int:
        """Work on some of what is due; returns how many, 0 if nothing is due. One that fails is
        tried again when its claim ends. Raises `StoreUnavailable`."""
        claimed = await self._store.claim(self._services.clock.now())
        for one in claimed:
            item = WorkItem(STAGE, one.id)
            try:
                if self._services.guard.exhausted(item):
                    await self._store.end(one, "paused", self._services.clock.now())
                    continue
                with self._services.guard.working(item):
                    await self._work_on(one)
            except StoreUnavailable:
                raise
            except Exception:
                log.exception("appointment_failed", appointment=one.id)
        return len(claimed)

    async def _work_on(self, claimed: Appointment) -> None:
        services, now = self._services, self._services.clock.now()
        one = replace(claimed, place=services.rooms.at_present(claimed.place))
        if (one.place.platform, one.place.account) not in services.connected:
            await self._store.wait(one, now + AGAIN_AFTER)
            return
        refusal = await self._refusal(one)
        if refusal:
            await self._stop(one, refusal, now)
            return
        happens = happening(one, now, services.policies.appointments.late_within)
        if await self._is_skipped(happens):
            await self._store.advance(one, happens.following, now, happens.missed + 1)
            return
        pending = await self._pending(happens)
        asks = one.kind == "prompt"
        verdict = await (self._sender.permit(pending) if asks else self._sender.send(pending))
        services.count("appointment", verdict.reason)
        if asks and verdict.action in ("wait", "wait_for_person"):
            until = max(verdict.until or now, now + SHORTEST_WAIT)
            await self._store.wait(one, until)
            return
        if verdict.action == "never":
            await self._store.advance(one, happens.following, now, happens.missed + 1)
            return
        if asks:
            await self._ask(happens.appointment, now)
        if not await self._store.advance(one, happens.following, now):
            await self._take_back(one, pending)

    async def _take_back(self, one: Appointment, pending: PendingNotice) -> None:
        """Forget a message that waits, if its appointment was removed or moved meanwhile."""
        waiting = self._services.stores.proactive
        if waiting is not None and not one.happens_as(await self._store.find(one.id)):
            await waiting.drop(pending)

    async def _is_skipped(self, happens: Happening) -> bool:
        """Return True for an occurrence that is too late; the last one is said to be missed."""
        if happens.lateness != "missed":
            return False
        return happens.following is not None or happens.appointment.kind == "prompt"

    async def _refusal(self, one: Appointment) -> str:
        """Return why the maker may not have it sent any more; empty if they may."""
        services, person, place = self._services, identity_of(one.person), one.place
        try:
            if services.extensions.tenant_of(place, person) != one.tenant:
                return "other_tenant"
        except TenantUnknown:
            return "tenant_unknown"
        known = await known_ids(person, services) or KnownIds()
        role = role_in(one.tenant, person, services, aliases=known.current)
        who = Principal(one.tenant, person, role)
        decision = await served(who, place, known, services)
        if not decision.allowed:
            return decision.reason
        if one.kind == "prompt" and not role.at_least(services.policies.appointments.prompts):
            return "role"
        return "left" if await self._has_left(one, person) else ""

    async def _has_left(self, one: Appointment, person: PersonId) -> bool:
        place, in_room = one.place, one.place.audience is not Audience.DIRECT
        space = place.workspace_id or (place.channel_id if in_room else "")
        if not space or not (in_room or one.kind == "prompt"):
            return False
        project = f"{place.platform}:{place.account}:{space}"
        return await self._belongs(str(person), project) is MembershipStatus.GONE

    async def _stop(self, one: Appointment, reason: str, now: datetime) -> None:
        """Send nothing for a person who may not have it sent: pause what recurs, and end the
        rest."""
        if one.kind == "prompt":
            said = MAY_NOT_RUN.of(name=maker(one), words=quoted(one))
            await self._tell_operators(one.tenant, f"{STAGE}-{one.id}-{one.occurrence}", said)
        recurs = one.rule is not None or one.kind == "prompt"
        await self._store.end(one, "paused" if recurs else "done", now)
        decision = Decision(STAGE, False, reason)
        await audit_of(
            "appointment_stopped",
            one.tenant,
            identity_of(one.person),
            one.place,
            self._services,
            decision,
        )

    async def _pending(self, happens: Happening) -> PendingNotice:
        """Return an occurrence as a message; a scheduled question has no text yet."""
        one = happens.appointment
        recurs, direct = one.rule is not None, one.place.audience is Audience.DIRECT
        said: Text = quoted(one)
        buttons: tuple[Choice, ...] = ()
        if one.kind == "reminder":
            said, buttons = await self._reminder(happens)
        asked_for = None if recurs or one.kind == "prompt" else one.due_at
        return PendingNotice(
            one.tenant,
            one.key_of(one.occurrence),
            Notice(one.person, one.place, said, buttons),
            "asked" if asked_for is not None else "recurring",
            asked_for,
            as_member=not direct or one.kind == "prompt",
        )

    async def _reminder(self, happens: Happening) -> tuple[Text, tuple[Choice, ...]]:
        """Return what a reminder says, as its readers may read it, and its button."""
        one = happens.appointment
        direct = one.place.audience is Audience.DIRECT
        if happens.lateness == "missed":
            return MISSED.of(time=Moment(one.due_at), words=quoted(one)), ()
        said = reminding(one, late=happens.lateness == "late", missed=happens.missed)
        language = await self._services.language_at(one.place, one.person if direct else "")
        shown, reason = screened(Reply(said).shown(language), one.place.audience, language)
        if reason:
            log.warning("appointment_withheld", appointment=one.id, reason=reason)
            return verbatim(shown.markdown), ()
        return said, (later_button(one),) if direct else ()

    async def _ask(self, one: Appointment, now: datetime) -> None:
        """Have a prompt asked, as a command of its maker at this moment."""
        author = MessageAuthor(identity_of(one.person).id, one.name)
        known = await known_ids(identity_of(one.person), self._services)
        if known is not None:
            author = replace(author, aliases=known.current, former=known.former)
        name = f"schedule:{one.id}:{one.occurrence}"
        event = CommandInvoked(name, one.place, author, ASKED_AS, one.words)
        conversation = str(key_of(one.tenant, one.place))
        entry = InboxEntry(name, conversation, event, now, reason_for(one.due_at))
        await self._accept(entry, KNOWN_FOR)
