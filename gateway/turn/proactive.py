"""Sends what the assistant writes first: decides by the circumstances of this moment, lets a
message wait, and sends together what waited for one reader."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

import structlog
from msgspec import Struct

from gateway.conversation import key_of
from gateway.errors import DeliveryError, TemplateRefused, TenantUnknown, WindowClosed
from gateway.immutable import replace
from gateway.message import Notice, send_key
from gateway.outbound.membership import PlatformMembership
from gateway.outbound.notices import notice_key, sends_of
from gateway.people import Audience, KnownIds, Principal, identity_of
from gateway.platforms import ConnectedAccount
from gateway.policy import proactive
from gateway.policy.proactive import Circumstances, ProactiveMessage, Verdict, may_send
from gateway.policy.quiet_hours import in_force
from gateway.ports import MembershipStatus, PlatformReach
from gateway.ports.proactive import PendingNotice, WaitingNotice
from gateway.ports.queues import SendState, message_key
from gateway.ports.traces import Trace, ring_slot
from gateway.stores.proactive import ProactiveStore
from gateway.text import Sentence, Text, joined, text
from gateway.turn.admission import known_ids, role_in, served
from gateway.turn.awaited_people import MAX_AWAITED
from gateway.turn.services import Services

AT_ONCE: Final = 50
"""Stored messages that one step decides about."""
MAX_TOGETHER: Final = 20
"""Messages that are sent as one."""
TAKEN_WITHIN: Final = timedelta(minutes=15)
"""The time after which it is looked up if a platform that does not take everything took a
message."""
PARAGRAPH: Final = "\n\n"
LAST: Final = text(
    "_(This was the last message today that I send without being asked. Others wait until "
    "tomorrow, and single reminders come together.)_"
)
WAITED: Final[Mapping[str, Sentence]] = {
    proactive.OWN_HOURS: text("This waited for the end of your quiet hours:"),
    proactive.PLACE_HOURS: text("This waited for the end of the quiet hours here:"),
    proactive.LIMIT: text("This waited, because I had written as often as I may in one day:"),
    proactive.TOGETHER: text(
        "I have written as often as I may today, so I send single reminders together:"
    ),
    proactive.WINDOW: text("This waited, because I could not write to you before you wrote to me:"),
}
"""The line above a message that waited, by the reason."""
log = structlog.get_logger(__name__)


class _Case(Struct, frozen=True):
    """A message with what decides about it. `reader` is the name under which it is counted."""

    pending: PendingNotice
    account: ConnectedAccount
    facts: ProactiveMessage
    now: Circumstances
    reader: str

    @property
    def day(self) -> str:
        """The day there, as 2026-11-28."""
        return self.now.now.astimezone(self.now.zone).date().isoformat()

    def verdict(self) -> Verdict:
        """Return the decision."""
        return may_send(self.facts, self.now)

    def when_full(self) -> Verdict:
        """Return the decision after another process has used up the limit."""
        return may_send(self.facts, replace(self.now, sent=self.now.most))


class ProactiveSender:
    """Decides about each message when it is to be sent, and again after each wait. Every method
    raises `StoreUnavailable`; a repetition sends nothing twice."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._membership = PlatformMembership(services.connected, services.clock)

    async def send(self, pending: PendingNotice) -> Verdict:
        """Send a message, let it wait, or drop it. After every verdict but `never` this is its
        owner: nobody has to send it again."""
        store, now = self._services.stores.proactive, self._services.clock.now()
        if store is None:
            await self._queue(pending.key, pending.notice)
            return Verdict("send", proactive.SENT)
        if await store.is_held(pending):
            return Verdict("wait", proactive.HELD)
        # Before its process died: the circumstances of this moment may be others.
        if await self._services.stores.outbox.knows(send_key(pending.key, 0)):
            return Verdict("send", proactive.SENT)
        case = await self._case(pending, store)
        verdict = case if isinstance(case, Verdict) else case.verdict()
        if isinstance(case, _Case) and verdict.action == "send" and case.account.reaches is None:
            if await self._send_now(case, pending.key, pending.notice, store):
                self._note(pending, verdict)
                return verdict
            verdict = case.when_full()
        if verdict.action == "never":
            await self._drop(pending, verdict.reason)
            return verdict
        # Where the platform may not take it, it is sent from the store, so that it can wait then.
        due = now if verdict.until is None else verdict.until
        if not await store.hold(pending, due, verdict.reason, now):
            await self._drop(pending, proactive.TOO_MANY)
            return Verdict("never", proactive.TOO_MANY)
        if verdict.action == "send":
            await self._choose([WaitingNotice(pending, verdict.reason, now)], store)
        else:
            self._note(pending, verdict)
        return verdict

    async def permit(self, pending: PendingNotice) -> Verdict:
        """Decide about something that its caller sends, such as the answer to a scheduled question,
        and count it. Nothing is stored: the caller asks again at `until`, which counts nothing
        twice. The text of `pending` is not sent."""
        store = self._services.stores.proactive
        if store is None:
            return Verdict("send", proactive.SENT)
        case = await self._case(pending, store)
        verdict = case if isinstance(case, Verdict) else case.verdict()
        if isinstance(case, _Case) and verdict.by_template:
            # A template takes one short text, and nobody knows the text before it is written.
            verdict = replace(case, now=replace(case.now, reach="closed")).verdict()
        elif isinstance(case, _Case) and verdict.action == "send":
            counted = await self._count(case, pending.key, store)
            verdict = verdict if counted else case.when_full()
        self._note(pending, verdict)
        return verdict

    async def release(self) -> int:
        """Decide again about stored messages whose time has come, a bounded number; returns how
        many."""
        store, now = self._services.stores.proactive, self._services.clock.now()
        if store is None:
            return 0
        if any(account.reaches for account in self._services.connected.values()):
            awaited = self._services.awaited
            for tenant, person in awaited.take_heard():
                await store.unblock(tenant, person, now)
            awaited.expect(await store.blocked(MAX_AWAITED))
        due = await store.due(now, AT_ONCE)
        begun = {(one.pending.tenant, one.batch): one for one in due if one.batch}
        for (tenant, batch), one in begun.items():
            if one.reason == proactive.UNCONFIRMED:
                await self._look_up(tenant, batch, store)
            else:
                await self._send_batch(tenant, batch, store)
        for _, group in groupby(sorted((o for o in due if not o.batch), key=_order), _reader_of):
            await self._release_to_one(list(group), store)
        return len(due)

    async def _release_to_one(self, group: Sequence[WaitingNotice], store: ProactiveStore) -> None:
        """Decide about the messages of one person to one place; those without buttons are sent as
        one."""
        together: list[WaitingNotice] = []
        for one in group:
            verdict = await self._verdict_again(one, store)
            if verdict.action == "never":
                await self._drop(one.pending, verdict.reason)
                await store.drop(one.pending)
            elif verdict.until is not None:
                await store.delay(one.pending, verdict.until, verdict.reason)
            elif verdict.by_template or one.pending.notice.buttons:
                await self._choose([one], store)
            else:
                together.append(one)
        for first in range(0, len(together), MAX_TOGETHER):
            await self._choose(together[first : first + MAX_TOGETHER], store)

    async def _verdict_again(self, one: WaitingNotice, store: ProactiveStore) -> Verdict:
        keep = timedelta(days=self._services.policies.proactive.keep_days)
        if self._services.clock.now() - one.at >= keep:
            return Verdict("never", proactive.EXPIRED)
        case = await self._case(one.pending, store)
        if isinstance(case, Verdict):
            return case
        return may_send(case.facts, _uncounted(case.now) if _is_extra(one) else case.now)

    async def _choose(self, chosen: Sequence[WaitingNotice], store: ProactiveStore) -> None:
        batch, tenant = f"proactive-{uuid.uuid4().hex[:16]}", chosen[0].pending.tenant
        await store.choose(tenant, [one.pending.key for one in chosen], batch)
        await self._send_batch(tenant, batch, store)

    async def _send_batch(self, tenant: str, batch: str, store: ProactiveStore) -> None:
        """Queue the messages of a batch as one, under the name of the batch."""
        waiting = await store.batch(tenant, batch)
        if not waiting:  # another process sends them, or their person was erased
            return
        first, now = waiting[0], self._services.clock.now()
        if await self._services.stores.outbox.knows(send_key(batch, 0)):
            # Its process died then. The circumstances of this moment may be others.
            await self._settle(first, batch, store, now)
            return
        case = await self._case(first.pending, store)
        verdict = case if isinstance(case, Verdict) else may_send(case.facts, _uncounted(case.now))
        if isinstance(case, Verdict) or verdict.action != "send":
            await self._end(waiting, verdict, store)
            return
        if verdict.by_template and len(waiting) > 1:  # a template has one of them
            await self._end(waiting, Verdict("wait", proactive.WINDOW, now), store)
            return
        if _is_extra(first):
            case = replace(case, now=_uncounted(case.now))
        notice = first.pending.notice if verdict.by_template else _as_one(waiting)
        if not await self._send_now(case, batch, notice, store, by_template=verdict.by_template):
            await self._end(waiting, case.when_full(), store)
            return
        for one in waiting:
            self._note(one.pending, Verdict("send", one.reason))
        await self._settle(first, batch, store, now)

    async def _settle(
        self, first: WaitingNotice, batch: str, store: ProactiveStore, now: datetime
    ) -> None:
        """Forget a batch that was queued, once the platform took it."""
        place = first.pending.notice.place
        account = self._services.connected.get((place.platform, place.account))
        if account is not None and account.reaches is not None:
            await store.delay_batch(
                first.pending.tenant, batch, now + TAKEN_WITHIN, proactive.UNCONFIRMED
            )
        else:
            await store.end_batch(first.pending.tenant, batch, now)

    async def _end(
        self, waiting: Sequence[WaitingNotice], verdict: Verdict, store: ProactiveStore
    ) -> None:
        """Let the messages of a batch wait, or drop them, after another decision."""
        for one in waiting:
            if verdict.until is not None:
                await store.delay(one.pending, verdict.until, verdict.reason)
            else:
                await self._drop(one.pending, verdict.reason)
                await store.drop(one.pending)

    async def _look_up(self, tenant: str, batch: str, store: ProactiveStore) -> None:
        """Forget a message that the platform took; let it wait for its person where the platform
        refused it, at once or after it had taken it."""
        outbox, now = self._services.stores.outbox, self._services.clock.now()
        sends = await outbox.deliveries(batch, AT_ONCE)
        if any(send.state == "waiting" for send in sends):
            due = now + TAKEN_WITHIN
            await store.delay_batch(tenant, batch, due, proactive.UNCONFIRMED)
            return
        refused = [
            send.key
            for send in sends
            if send.state == "dead" and send.reason.startswith(_NOT_TAKEN)
        ]
        waiting = await store.batch(tenant, batch)
        late = False if refused else await self._refused_late(waiting, sends)
        if late is None:
            await store.delay_batch(tenant, batch, now + TAKEN_WITHIN, proactive.UNCONFIRMED)
            return
        if not (refused or late):
            await store.end_batch(tenant, batch, now)
            return
        for one in waiting:
            await store.delay(one.pending, now + proactive.LOOK_AGAIN, proactive.WINDOW)
        await outbox.drop(refused)  # otherwise an operator could send it a second time

    async def _refused_late(
        self, waiting: Sequence[WaitingNotice], sends: Sequence[SendState]
    ) -> bool | None:
        """Return True if the platform reported that it does not deliver one of the sends, which it
        had taken; None if it cannot be asked now."""
        keys = {send.key for send in sends if send.state == "sent"}
        if not (waiting and keys):
            return False
        place = waiting[0].pending.notice.place
        account = self._services.connected.get((place.platform, place.account))
        if account is None:
            return None
        reach = await _reach_of(waiting[0].pending, account)
        if reach is None:
            return None
        outbox = self._services.stores.outbox
        for message_id in reach.refused:
            if await outbox.reply_at(message_key(place, message_id)) in keys:
                return True
        return False

    async def _case(self, pending: PendingNotice, store: ProactiveStore) -> _Case | Verdict:
        """Return the circumstances of a message; a verdict where they do not matter, or cannot be
        known now."""
        services, notice = self._services, pending.notice
        place, person = notice.place, identity_of(notice.person)
        account = services.connected.get((place.platform, place.account))
        if account is None:
            return Verdict("never", proactive.NOT_CONNECTED)
        direct, rules, times = (
            place.audience is Audience.DIRECT,
            services.policies.proactive,
            services.policies.times,
        )
        if not _is_of_tenant(pending, services):
            return Verdict("never", proactive.UNKNOWN_TENANT)
        known = await known_ids(person, services) or KnownIds()
        role = role_in(pending.tenant, person, services, aliases=known.current)
        access = await served(Principal(pending.tenant, person, role), place, known, services)
        own, of_place = None, None
        if direct:
            zone = await services.readers.zone(times, pending.tenant, notice.person, place)
            chosen = (await services.readers.known(pending.tenant, notice.person)).quiet
            own = in_force(chosen, rules.quiet_hours)
            reader = await services.identities.human(pending.tenant, person)
        else:
            zone = await services.readers.zone_of_place(times, pending.tenant, place)
            reader = key_of(pending.tenant, place).channel_name
            of_place = in_force(
                await store.quiet_hours_of(pending.tenant, reader), rules.quiet_hours
            )
        now = services.clock.now()
        reach = await _reach_of(pending, account) if direct else PlatformReach("open")
        if reach is None:
            return Verdict("wait", proactive.REACH_UNKNOWN, now + proactive.ASK_AGAIN)
        day = now.astimezone(zone).date().isoformat()
        counted = await store.counted(pending.tenant, reader, day, pending.key)
        circumstances = Circumstances(
            now,
            zone,
            own,
            of_place,
            sent=counted.sent - counted.counted,
            most=rules.per_day if direct else rules.per_place,
            reach=reach.reach,
            template_chars=reach.template_chars,
            access=access,
            member=await self._is_member(pending, account),
        )
        return _Case(pending, account, await self._facts(pending), circumstances, reader)

    async def _facts(self, pending: PendingNotice) -> ProactiveMessage:
        notice = pending.notice
        language = await self._services.language_at(notice.place, _only_reader(notice))
        return ProactiveMessage(
            pending.kind,
            pending.asked_for,
            notice.buttons_until,
            len(language.shown(notice.markdown)),
            needs_buttons=bool(notice.buttons) and pending.kind == "notice",
        )

    async def _is_member(self, pending: PendingNotice, account: ConnectedAccount) -> bool | None:
        place = pending.notice.place
        room = "" if place.audience is Audience.DIRECT else place.channel_id
        space = place.workspace_id or room
        if not (pending.as_member and space and account.members is not None):
            return True
        project = f"{place.platform}:{place.account}:{space}"
        status = await self._membership.belongs(pending.notice.person, project)
        return None if status is MembershipStatus.UNKNOWN else status is MembershipStatus.MEMBER

    async def _send_now(
        self,
        case: _Case,
        key: str,
        notice: Notice,
        store: ProactiveStore,
        *,
        by_template: bool = False,
    ) -> bool:
        """Count a message and queue it; False if the limit is used up."""
        number = await self._count(case, key, store)
        if not number:
            return False
        if by_template:
            notice = replace(notice, buttons=(), buttons_until=None)
        elif number == case.now.most:
            notice = replace(notice, markdown=joined((notice.markdown, LAST), PARAGRAPH))
        await self._queue(key, notice)
        return True

    async def _count(self, case: _Case, key: str, store: ProactiveStore) -> int:
        """Return the number of a message among those of its day; 0 if the limit is used up."""
        now, tenant = case.now, case.pending.tenant
        if not now.most:
            return 1
        return await store.count(tenant, case.reader, case.day, key, now.most, now.now)

    async def _queue(self, key: str, notice: Notice) -> None:
        services, place = self._services, notice.place
        account = services.connected.get((place.platform, place.account))
        if account is None:
            return
        language = await services.language_at(place, _only_reader(notice))
        sends = sends_of(key, notice, account, language)
        await services.stores.outbox.add(sends)
        services.deliverer.submit(sends)

    def _note(self, pending: PendingNotice, verdict: Verdict) -> None:
        self._services.count("proactive", verdict.reason)
        log.info(
            "proactive",
            key=pending.key,
            platform=pending.notice.place.platform,
            action=verdict.action,
            reason=verdict.reason,
        )

    async def _drop(self, pending: PendingNotice, reason: str) -> None:
        """Record that a message is never sent, for `parley why` and the console."""
        verdict, place = Verdict("never", reason), pending.notice.place
        self._note(pending, verdict)
        conversation = str(key_of(pending.tenant, place))
        decision, now = verdict.decision(), self._services.clock.now()
        trace = Trace(
            *(pending.key, "", place.platform, place.account, conversation, proactive.STAGE, now),
            *((decision,), f"refused:{proactive.STAGE}", 0.0),
            ring_slot(pending.notice.person, pending.key),
            audience=place.audience,
        )
        await self._services.stores.traces.add(trace)


class ProactiveNotices:
    """Sends notices of the program that answer nothing; the same call as `NoticeSender`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._sender = ProactiveSender(services)

    async def send(self, group: str, notices: Sequence[Notice]) -> None:
        """Send notices or let them wait; the same `group` again sends nothing twice. A notice is
        left out if more than one person reads its place. Raises `StoreUnavailable`."""
        for number, notice in enumerate(notices):
            if notice.place.audience is not Audience.DIRECT:
                continue
            try:
                tenant = self._services.extensions.tenant_of(
                    notice.place, identity_of(notice.person)
                )
            except TenantUnknown:
                continue
            await self._sender.send(PendingNotice(tenant, notice_key(group, number), notice))


_NOT_TAKEN: Final = (f"{WindowClosed.__name__}:", f"{TemplateRefused.__name__}:")


async def _reach_of(pending: PendingNotice, account: ConnectedAccount) -> PlatformReach | None:
    """Return what the platform takes; None if it cannot be asked now."""
    if account.reaches is None:
        return PlatformReach("open")
    try:
        return await account.reaches.reach(pending.notice.place)
    except DeliveryError as error:
        log.warning("reach_unknown", platform=pending.notice.place.platform, error=str(error))
        return None


def _is_of_tenant(pending: PendingNotice, services: Services) -> bool:
    """Return True if the person still belongs to the tenant of a message at its place."""
    notice = pending.notice
    try:
        now = services.extensions.tenant_of(notice.place, identity_of(notice.person))
    except TenantUnknown:
        return False
    return now == pending.tenant


def _only_reader(notice: Notice) -> str:
    return notice.person if notice.place.audience is Audience.DIRECT else ""


def _is_extra(one: WaitingNotice) -> bool:
    """Return True for single reminders that are sent together, beyond the limit."""
    return one.reason == proactive.TOGETHER


def _uncounted(now: Circumstances) -> Circumstances:
    uncounted: Circumstances = replace(now, most=0)
    return uncounted


def _reader_of(one: WaitingNotice) -> tuple[str, ...]:
    notice = one.pending.notice
    where = str(key_of(one.pending.tenant, notice.place))
    return (where, notice.person, one.reason)


def _order(one: WaitingNotice) -> tuple[tuple[str, ...], datetime, str]:
    return (_reader_of(one), one.at, one.pending.key)


def _as_one(waiting: Sequence[WaitingNotice]) -> Notice:
    """Return the messages as one, below the line that says why they waited."""
    first, head = waiting[0].pending.notice, WAITED.get(waiting[0].reason)
    texts: Iterable[Text] = (one.pending.notice.markdown for one in waiting)
    parts = texts if head is None else (head, *texts)
    whole: Notice = replace(first, markdown=joined(parts, PARAGRAPH))
    return whole
