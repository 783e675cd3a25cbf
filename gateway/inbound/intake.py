"""The sink of every adapter: stores events for the assistant and ignores the others."""

from datetime import timedelta
from typing import Final, TypeVar

import structlog

from gateway.commands.catalogue import text_command
from gateway.conversation import ConversationKey, key_of, place_to_answer
from gateway.errors import TenantUnknown
from gateway.extensions import PlaceTenants
from gateway.immutable import replace
from gateway.inbound.cut_texts import REST, OpenTexts
from gateway.inbound.feedback_reactions import FeedbackReactions
from gateway.inbound.place_messages import PlaceMessages
from gateway.inbound.screening import Screening, UnadmittedPeople, owner_code_of
from gateway.message import (
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    InlineQueried,
    MembershipChanged,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    ReactionChanged,
    person_of,
)
from gateway.observe.correlation import correlated, correlation_id
from gateway.policy.access import NOT_APPROVED, OWNERS_ONLY
from gateway.policy.decision import Decision
from gateway.policy.invocation import AUTHOR_IS_BOT, Trigger, decide_invocation
from gateway.ports.observer import SecurityEvent
from gateway.ports.queues import Dispatcher, InboxEntry
from gateway.ports.traces import Trace
from gateway.ports.work_guard import WorkItem, WorkOwner
from gateway.store_retry import uninterrupted
from gateway.turn.services import Services
from gateway.turn.signs import show_end
from gateway.turn.typed_answers import TypedAnswers


def dedupe_key(event: InboundEvent) -> str:
    """Return a key that is the same for every delivery of one event and different for any two
    events.

    The kind is part of it because some platforms number messages and edits alike.
    """
    place = event.place
    return f"{place.platform}:{place.account}:{event.kind}:{event.event_id}"


MAX_LOGGED_PROBLEMS: Final = 20
"""Distinct problems of a tenant provider that are logged, once each."""

STOP: Final = "stop"
"""The one command that is no rest of a text: it ends the answer to that very text."""

log = structlog.get_logger(__name__)


class Intake:
    """Implements `gateway.ports.EventSink`: returns once an event is stored or ignored."""

    def __init__(self, services: Services, dispatcher: Dispatcher) -> None:
        self._services = services
        self._dispatcher = dispatcher
        self._screening = Screening(services, dispatcher)
        self._unadmitted = UnadmittedPeople(services)
        self._typed = TypedAnswers(services)
        self._ratings = FeedbackReactions(services, self._screening)
        state = services.stores.states.of("parley", "tenants")
        self._tenants = PlaceTenants(services.extensions, state)
        self._texts = OpenTexts(services.connected, services.stores.states, services.clock)
        self._places = PlaceMessages(services)
        self._logged_problems: set[str] = set()

    async def __call__(self, event: InboundEvent) -> None:
        """Accept one event. Raises `StoreUnavailable`: the event must then not be acknowledged to
        the platform. During a shutdown events are stored as well, and the next start answers them,
        because not every platform sends them again.
        """
        place = event.place
        self._services.observer.arrived(place.platform, event.kind)
        turn_id, guard = correlation_id(dedupe_key(event)), self._services.guard
        item = WorkItem("message", turn_id)
        with correlated(turn_id), guard.working(item):
            waits = False
            try:
                if guard.exhausted(item):
                    waits = await self._quarantine(item, event)
                else:
                    waits = await self._take(event)
            except TenantUnknown as error:
                self._without_tenant(event, error)
            except Exception as error:
                log.warning(
                    "event_not_accepted",
                    platform=place.platform,
                    event_kind=event.kind,
                    error=error,
                )
                raise
            if not waits:
                self._show_end(event)

    async def add_scheduled(self, entry: InboxEntry, hold: timedelta) -> None:
        """Accept an event of this program itself, once for each id within `hold`. Its author's
        rights are checked with the turn. Raises `StoreUnavailable`."""
        self._dispatcher.check_room()
        if await uninterrupted(self._services.stores.inbox.add(entry, hold)):
            await self._dispatcher.accept(entry)

    def _show_end(self, event: InboundEvent) -> None:
        """Show that nobody has to wait for an event that has no turn."""
        message, place = getattr(event, "message", None), event.place
        if isinstance(message, ChatMessage):
            connected = self._services.connected[place.platform, place.account]
            show_end(connected, place, (message.id,), self._services)

    async def _quarantine(self, item: WorkItem, event: InboundEvent) -> bool:
        """Acknowledge an event that crashed processes before it was stored. If it is certainly for
        the assistant, store it without further checks, so that its author is notified. Returns True
        if it waits for its turn."""
        self._services.count("quarantined_again", event.place.platform)
        if isinstance(event, MessageReceived) and event.message.is_direct_message:
            return await self._store(event, self.key_for(event))
        place, person = event.place, person_of(event)
        tenant = self._services.extensions.tenant_of(place, person)
        channel = f"{place.platform}:{place.account}:{place.channel_id}"
        await self._services.guard.quarantine(item, WorkOwner(tenant, str(person or ""), channel))
        return False

    async def _take(self, event: InboundEvent) -> bool:
        """Return True for an event that waits for its turn."""
        if await self._claims_ownership(event):
            return False
        match event:
            case MessageReceived():
                return await self._message(event)
            case CommandInvoked():
                return await self._command(event)
            case ButtonPressed():
                return await self._store(event, self.key_for(event))
            case MessageEdited() | MessageDeleted():
                await self._revision(event)
            case InlineQueried():
                refused = await self._screening.refusal(event, self.key_for(event).tenant)
                if refused is not None:
                    self._services.count("inline_refused", refused.reason)
                elif not self._dispatcher.answer_inline(event):
                    self._services.count("inline_refused", event.place.platform)
            case MembershipChanged():
                await self._membership(event)
            case ReactionChanged():
                self._services.count("noted", event.kind)
                await self._ratings.take(event)
        return False

    async def _claims_ownership(self, event: InboundEvent) -> bool:
        """Return True for an event that was an owner code: nothing else happens with it."""
        if self._services.owner_claims is None or not owner_code_of(event):
            return False
        key, turn_id = self.key_for(event), correlation_id(dedupe_key(event))
        decision = await self._unadmitted.claim(event, key.tenant, turn_id)
        if decision is None:
            return False
        self._services.count("owner_code", decision.reason)
        trace = self._trace(
            event, key, decision, "answered" if decision.allowed else "refused:ownership"
        )
        if decision.allowed:
            self._services.observe(trace)
            await self._services.stores.traces.add(trace)
        else:
            await self._screening.turn_away(event, key.tenant, trace)
        return True

    def key_for(self, event: InboundEvent, tenant: str = "") -> ConversationKey:
        """Return the conversation of an event, for its author's tenant if none is given. Raises
        `TenantUnknown`."""
        place = event.place
        match event:
            case MessageReceived() | MessageEdited():
                message_id = event.message.id
            case MessageDeleted():
                message_id = event.message_ids[0] if event.message_ids else ""
            case _:
                message_id = ""
        connected = self._services.connected[place.platform, place.account]
        place = place_to_answer(place, message_id, connected.manifest.capabilities)
        tenant = tenant or self._services.extensions.tenant_of(place, person_of(event))
        return key_of(tenant, place)

    async def _message(self, event: MessageReceived) -> bool:
        self._services.rooms.note(event.place)
        key = self.key_for(event)
        takes_part = await self._takes_part(event.message, key)
        policy = self._services.policies.invocation
        invocation = decide_invocation(event.message, policy, bot_takes_part=takes_part)
        rest_of = ""
        if invocation.decision.reason != AUTHOR_IS_BOT:
            rest_of = await self._texts.conversation_of_rest(
                event.message, addressed=invocation.decision.allowed
            )
        if not (invocation.decision.allowed or rest_of):
            await self._places.note(event.message, key)
            self._forget(event, key, invocation.decision)
            return False
        if not rest_of and await self._answers_question(event, invocation.content, key):
            return False
        addressed, reason = invocation.decision.allowed, invocation.decision.reason
        command = None
        if addressed:
            command = text_command(event, invocation.content, self._services.commands)
        # Whoever wrote a pasted text decides where it is cut, and so how its next piece begins.
        if rest_of and (command is None or command.name != STOP):
            rest = reason if addressed else REST
            return await self._store(event, ConversationKey.of(rest_of), rest)
        if command is not None:
            return await self._store(command, self.key_for(command))
        return await self._store(with_content(event, invocation.content), key, reason)

    async def _answers_question(
        self, event: MessageReceived, content: str, key: ConversationKey
    ) -> bool:
        """Return True for a message that answers a question instead of a button; any other message
        closes the question, except one whose content is unknown."""
        if event.message.unreadable:
            return False
        if await self._typed.answered_before(event, content):
            self._services.count("duplicate", event.message.platform)
            return True
        question = await self._typed.waiting(event, key)
        if question is None:
            return False
        pressed = question.answer(event, content)
        if pressed is None:
            await self._typed.close(question)
            return False
        await self._store(pressed, self.key_for(pressed))
        await self._typed.close(question, event)
        return True

    async def _takes_part(self, message: ChatMessage, key: ConversationKey) -> bool:
        """Return True if the assistant has written in this thread; read from the store only if
        needed."""
        connected = self._services.connected[message.platform, message.place.account]
        if not (message.thread_id and connected.manifest.capabilities.joins_threads):
            return False
        policy = self._services.policies.invocation
        triggers, _ = policy.rule_for(message.platform, *message.place.channel_ids)
        if Trigger.THREAD not in triggers:
            return False
        return await self._services.stores.conversations.takes_part(key)

    async def _command(self, event: CommandInvoked) -> bool:
        rest = await self._as_rest(event)
        if rest is not None:
            return await self._message(rest)
        if any(command.name == event.name for command in self._services.commands):
            key = self.key_for(event)
            question = await self._typed.waiting(event, key)
            if question is not None:
                await self._typed.close(question)
            return await self._store(event, key)
        if event.message is not None and event.message.is_direct_message:
            return await self._message(MessageReceived(event.event_id, event.message))
        unknown = Decision("invocation", False, "unknown_command")
        self._forget(event, self.key_for(event), unknown)
        return False

    async def _as_rest(self, event: CommandInvoked) -> MessageReceived | None:
        """Return the message of a command that is the next piece of a text; None for any other."""
        message = event.message
        if message is None or event.name == STOP:
            return None
        if not await self._texts.conversation_of_rest(message, addressed=True):
            return None
        return MessageReceived(event.event_id, message)

    async def _revision(self, event: MessageEdited | MessageDeleted) -> None:
        """Edits and deletions apply to stored and waiting messages only. A deletion names no
        author: the message may be of any tenant of the place."""
        keys = await self._rests_in(event)
        if isinstance(event, MessageEdited):
            keys = keys or [self.key_for(event)]
            await self._places.edited(event, keys[0])
        else:
            await self._places.deleted(event)
            await self._texts.deleted(event.place, event.message_ids)
            places = [self.key_for(event, one) for one in await self._tenants.of(event.place)]
            keys += [key for key in places if key.tenant not in {rest.tenant for rest in keys}]
        known = [key for key in keys if await self._knows(event, key)]
        if known and isinstance(event, MessageEdited):
            policy = self._services.policies.invocation
            event = with_content(event, decide_invocation(event.message, policy).content)
        for number, key in enumerate(known):
            # An event is stored once: that of each further tenant is one of its own.
            own = replace(event, event_id=f"{event.event_id}@{key.tenant}") if number else event
            await self._store(own, key)
        if not known:
            self._services.count("not_addressed", event.kind)

    async def _rests_in(self, event: MessageEdited | MessageDeleted) -> list[ConversationKey]:
        """Return the conversations in which these messages were stored as the rest of a text."""
        ids = _ids_of(event)
        found = [await self._texts.conversation_of(event.place, one) for one in ids]
        return [ConversationKey.of(one) for one in dict.fromkeys(found) if one]

    async def _knows(self, event: MessageEdited | MessageDeleted, key: ConversationKey) -> bool:
        place, services, ids = event.place, self._services, _ids_of(event)
        return (
            await self._dispatcher.holds(str(key), place, ids)
            or await services.stores.conversations.knows(key.tenant, place, ids)
            or await services.memory.knows(key.tenant, place, ids)
            or await services.long_documents.knows(key.channel_name, ids)
        )

    async def _membership(self, event: MembershipChanged) -> None:
        """The membership of a person who leaves is deleted before the event is acknowledged, so
        that the platform sends the event again when the store is unavailable."""
        services, place = self._services, event.place
        services.count("noted", event.kind)
        await self._places.left(event)
        if event.joined or (place.workspace_id and not event.whole_workspace):
            return
        person = place.identity(event.member)
        if not event.is_self:
            tenant = services.extensions.tenant_of(place, person)
            await services.memory.left(tenant, place, str(person))
            return
        for tenant in await self._tenants.of(place):
            await services.memory.left(tenant, place, "")

    async def _store(self, event: InboundEvent, key: ConversationKey, reason: str = "") -> bool:
        """Return True if the event waits for its turn, and False if it was refused."""
        services = self._services
        refused = await self._screening.refusal(event, key.tenant)
        if refused is not None:
            await self._turn_away(event, key, refused)
            return False
        self._dispatcher.check_room()
        place = event.place
        entry = InboxEntry(dedupe_key(event), str(key), event, services.clock.now(), reason)
        hold = services.connected[place.platform, place.account].manifest.dedupe_for
        await self._tenants.note(place, key.tenant)
        if isinstance(event, MessageReceived):
            await self._texts.note(event.message, entry.conversation)
        began = services.clock.monotonic()
        # Stored but not routed would be a duplicate when the platform sends it again.
        if await uninterrupted(services.stores.inbox.add(entry, hold)):
            services.observer.stored(services.clock.monotonic() - began)
            await self._dispatcher.accept(entry)
        else:
            services.count("duplicate", place.platform)
        return True

    def _without_tenant(self, event: InboundEvent, error: TenantUnknown) -> None:
        """Refuse an event without a known tenant: it is acknowledged and not stored, because a
        platform that repeats it would hold back other events."""
        place, person, services = event.place, person_of(event), self._services
        if isinstance(event, MessageReceived):
            policy = services.policies.invocation
            if not decide_invocation(event.message, policy).decision.allowed:
                return
        services.count("tenant_unknown", place.platform)
        problem = str(error)
        if (
            problem not in self._logged_problems
            and len(self._logged_problems) < MAX_LOGGED_PROBLEMS
        ):
            self._logged_problems.add(problem)
            log.error("tenant_unknown", platform=place.platform, problem=problem)
        channel = f"{place.platform}:{place.account}:{place.channel_id}"
        services.security.note(
            SecurityEvent("tenant_denied", "tenant_unknown", "", str(person or ""), channel)
        )

    def _forget(
        self, event: MessageReceived | CommandInvoked, key: ConversationKey, decision: Decision
    ) -> None:
        """Ignore the event without a trace; a live view may show the reason."""
        self._services.count("not_addressed", decision.reason)
        self._services.observe(self._trace(event, key, decision, "ignored"))

    async def _turn_away(self, event: InboundEvent, key: ConversationKey, why: Decision) -> None:
        """Refuse an event before it is stored: count it, and trace a few refusals of each
        sender. A stranger may get a code."""
        if why.reason in (NOT_APPROVED, OWNERS_ONLY):
            turn_id = correlation_id(dedupe_key(event))
            offered = await self._unadmitted.offer(event, key.tenant, turn_id)
            if offered is not None:
                why = why._replace(detail=f"{offered.stage}: {offered.reason}")
        trace = self._trace(event, key, why, f"refused:{why.stage}")
        await self._screening.turn_away(event, key.tenant, trace)

    def _trace(
        self, event: InboundEvent, key: ConversationKey, decision: Decision, outcome: str
    ) -> Trace:
        message = getattr(event, "message", None)
        return Trace(
            correlation_id(dedupe_key(event)),
            event.event_id if message is None else message.id,
            key.platform,
            key.account,
            str(key),
            event.kind,
            self._services.clock.now(),
            (decision,),
            outcome,
            0.0,
        )


Written = TypeVar("Written", MessageReceived, MessageEdited)


def with_content(event: Written, content: str) -> Written:
    """Return the event with the author's own text only, without the prefix of the assistant."""
    message = event.message
    if message.content == content:
        return event
    return replace(event, message=replace(message, content=content))


def _ids_of(event: MessageEdited | MessageDeleted) -> tuple[str, ...]:
    return (event.message.id,) if isinstance(event, MessageEdited) else event.message_ids
