"""The message's way, from the inbox to the outbox, as lists of stages that read top to bottom."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from gateway.authorship import Material, within_bounds
from gateway.commands.typed_answers import typed_form
from gateway.conversation import key_of, place_to_answer, tenant_of
from gateway.crash_loop.deaths import Deaths
from gateway.errors import StoreUnavailable
from gateway.exchange import Exchange
from gateway.extensions import EXTENSION_SECONDS
from gateway.message import (
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Outbound,
    Reply,
    author_of,
    place_of,
)
from gateway.observe.correlation import correlated, correlation_id
from gateway.observe.observer import FinishedTurn, Timing, collect_timings
from gateway.outbound.live.answer import LiveAnswer
from gateway.outbound.notices import addressed
from gateway.patience import Patience
from gateway.policy.decision import Decision
from gateway.policy.history_redaction import redact_name
from gateway.policy.invocation import decide_invocation
from gateway.policy.refusals import refusal_for
from gateway.ports.stores import InboxEntry, UsageRow
from gateway.remembering import TurnMemory
from gateway.render import render_off_loop
from gateway.services import Services
from gateway.stages.admission import check_access, check_limits, guard_loops, identify
from gateway.stages.answering import address, filter_answer, render_answer
from gateway.stages.context import gather_context
from gateway.stages.redacting import redact_aside
from gateway.stages.remembering import close_memory, open_memory
from gateway.stages.saving import completed, usage_of
from gateway.stages.screening import screened_reply
from gateway.stages.thinking import ask_model, read_attachments, reserve_budget
from gateway.takeovers import GAVE_UP, Takeovers
from gateway.turn.audit import audit
from gateway.turn.prompt import said_in
from gateway.uninterrupted import uninterrupted

Stage = Callable[[Exchange, Services], Awaitable[Decision]]

ENTRY: tuple[Stage, ...] = (identify, guard_loops, check_access)
"""Who it is, and whether they are served here at all."""

LIMITS: tuple[Stage, ...] = (check_limits,)
"""Whether it is not too often."""

ADMISSION: tuple[Stage, ...] = (*ENTRY, *LIMITS)
"""Passed by every message on its own."""

OPENING: tuple[Stage, ...] = (reserve_budget, open_memory)
"""What it may cost, and what may be kept of it."""

TURN: tuple[Stage, ...] = (
    gather_context,
    read_attachments,
    ask_model,
    filter_answer,
    close_memory,
    render_answer,
)
"""Passed once, after `OPENING`, by the messages of one author that became one turn."""

SURELY_FIRST = timedelta(seconds=10)
"""Less than the lease of another worker: what is taken up sooner was not begun by one that died."""
MAX_BROKEN_OFF = 1_000

FAILED = "failed"
SORRY = "Something went wrong on my side. Please try again. (Reference: {reference})"
BROKE_DOWN = (
    "I could not answer this message: the program stopped each time it worked on it, so it will not"
    " be tried again. Please write it in a different way, without unusual characters or"
    " attachments. (Reference for whoever runs this assistant: {reference})"
)

log = structlog.get_logger(__name__)


class Pipeline:
    """Answers messages. One call of `handle` is one turn of one conversation."""

    def __init__(self, services: Services, *, shared: bool = False) -> None:
        """`shared`: other processes take up what one of them had begun and died of."""
        self._services = services
        self._shared = shared
        self._since = services.clock.now()
        self.patience = Patience(services.clock)
        self.takeovers = Takeovers(
            Deaths(services.stores.states.of("parley", "takeovers")),
            services.guard,
            services.stores.inbox,
            self.patience,
            self.may_be_again,
            self.give_up,
        )
        self._broken_off: OrderedDict[str, LiveAnswer] = OrderedDict()
        self._unkept: OrderedDict[str, TurnMemory] = OrderedDict()

    async def handle(self, entries: Sequence[InboxEntry]) -> None:
        """Answer these entries, messages of one author in one conversation, oldest first."""
        opened = [self.open(entry) for entry in entries]
        admitted = [exchange for exchange in opened if await self.admit(exchange)]
        if not admitted:
            return
        turn = merge(admitted)
        try:
            with correlated(turn.id), collect_timings(turn.timings):
                passed = await self._pass(OPENING, turn)
                await self._collect(admitted[:-1], turn)
                passed = passed and await self._pass(TURN, turn)
        except asyncio.CancelledError:
            self._remember_stopped(turn)
            await uninterrupted(self._settle(turn))
            raise
        if passed:
            await self._finish(turn, turn.result.outcome if turn.result else "answered")

    async def _collect(self, others: Sequence[Exchange], turn: Exchange) -> None:
        """Be done with messages that are answered in one turn with a later one."""
        for other in others:
            other.note(Decision("lane", True, "collected", turn.id))
            other.inbox_ids, other.memory = (), turn.memory
            await self._finish(other, "collected")

    async def admit(self, exchange: Exchange, stages: Sequence[Stage] = ADMISSION) -> bool:
        """True when this person may ask now; otherwise the exchange is refused and closed."""
        with correlated(exchange.id), collect_timings(exchange.timings):
            return await self._pass(stages, exchange)

    async def reply(
        self, exchange: Exchange, reply: Reply, outcome: str, after: Sequence[Outbound] = ()
    ) -> None:
        """Answer with fixed words, do what comes `after` them, and be done with the exchange."""
        reply = await screened_reply(exchange, reply, self._services)
        reply = await typed_form(exchange, reply, self._services)
        exchange.forgets = reply.forgets
        exchange.outbound = address(
            exchange.id,
            exchange.place,
            await render_off_loop(reply.markdown, exchange.connected.renderer),
            reply,
            reply_to_id=exchange.last.id if exchange.kind == "message" else "",
            reply_handle=exchange.reply_handle,
        )
        exchange.outbound += addressed(exchange.id, reply.notices, self._services.connected)
        exchange.outbound += tuple(after)
        await self._finish(exchange, outcome)

    async def drop(self, entries: Sequence[InboxEntry]) -> None:
        """Be done with entries without an answer: turned away by the overlap, or stopped."""
        for entry in entries:
            exchange = self.open(entry)
            exchange.note(Decision("lane", False, "dropped"))
            exchange.memory = self._unkept.pop(entry.id, None)
            shown = self._broken_off.pop(entry.id, None)
            if shown is not None:
                exchange.outbound = shown.stopped(exchange.id)
            await self._finish(exchange, "dropped")

    async def give_up(self, entry: InboxEntry) -> None:
        """Be done with what one process after the other died of, and say so to who may hear it."""
        exchange = self.open(entry)
        exchange.note(Decision("takeover", False, GAVE_UP))
        unheard = isinstance(entry.event, MessageEdited | MessageDeleted)
        if unheard or exchange.last.author.is_bot:
            await self._finish(exchange, GAVE_UP)
        elif await self.admit(exchange, ENTRY):
            words = BROKE_DOWN.format(reference=exchange.id)
            await self.reply(exchange, Reply(words, private_to=private_reader(exchange)), GAVE_UP)

    async def withdraw(self, entries: Sequence[InboxEntry]) -> None:
        """Be done with entries whose messages were deleted before their turn."""
        for entry in entries:
            exchange = self.open(entry)
            exchange.note(Decision("lane", False, "deleted"))
            await self._finish(exchange, "deleted")

    def open(self, entry: InboxEntry) -> Exchange:
        """The exchange that an entry begins."""
        services, event = self._services, entry.event
        now, began = services.clock.now(), services.clock.monotonic()
        message, handle = question_of(event, entry.received_at)
        message = with_kept_names(message)
        connected = services.connected[message.platform, message.place.account]
        place = message.place
        if isinstance(event, MessageReceived):
            place = place_to_answer(place, message.id, connected.manifest.capabilities)
        tenant = tenant_of(entry.lane) or services.extensions.tenant_of(place, message.person)
        invocation = decide_invocation(message, services.policies.invocation, bot_takes_part=True)
        exchange = Exchange(
            id=correlation_id(entry.id),
            inbox_ids=(entry.id,),
            messages=(message,),
            contents=(invocation.content,),
            place=place,
            key=key_of(tenant, place),
            connected=connected,
            started=now,
            started_monotonic=began,
            stored_monotonic=began - (now - entry.received_at).total_seconds(),
            kind=event.kind,
            reply_handle=handle,
            again=self.may_be_again(entry),
        )
        is_message = isinstance(event, MessageReceived)
        reason = invocation.decision.reason if is_message else event.kind
        details = message.extras.details if message.extras is not None else ""
        exchange.note(Decision("invocation", True, reason, details))
        return exchange

    async def _pass(self, stages: Sequence[Stage], exchange: Exchange) -> bool:
        """Run stages until one says no; the exchange is then refused and closed. What they decide
        is kept however much was noted before: there are few of them."""
        for stage in stages:
            decision = await self._step(stage, exchange)
            exchange.decisions.append(decision)
            if not decision.allowed:
                await self._refuse(exchange, decision)
                return False
        return True

    async def _step(self, stage: Stage, exchange: Exchange) -> Decision:
        clock, name = self._services.clock, stage.__name__
        began = clock.monotonic()
        try:
            decision = await stage(exchange, self._services)
        except StoreUnavailable:
            raise
        except Exception:
            log.exception("stage_failed", stage=name)
            decision = Decision(name, False, FAILED, "see the log")
        seconds = clock.monotonic() - began
        exchange.timings.append(Timing("stage", name, began, seconds, decision.reason))
        return decision

    async def _refuse(self, exchange: Exchange, decision: Decision) -> None:
        exchange.refused = True
        outcome = f"refused:{decision.stage}"
        if decision.reason != FAILED:
            await audit(f"{decision.stage}_denied", exchange, self._services, decision)
        text = await self._words_for(exchange, decision)
        if text:
            await self.reply(exchange, Reply(text, private_to=private_reader(exchange)), outcome)
        else:
            await self._finish(exchange, outcome)

    async def _finish(self, exchange: Exchange, outcome: str) -> None:
        """Keep the exchange and send what is to be sent. A stop comes too late for that: an answer
        that is kept and not sent would come out at the next start. While a store is away the answer
        waits: what the model said, and people may have seen, is not asked for again."""
        with correlated(exchange.id):
            await uninterrupted(self._keep(exchange, outcome))

    async def _keep(self, exchange: Exchange, outcome: str) -> None:
        services = self._services
        if exchange.live is not None:
            exchange.outbound = exchange.live.finished(exchange.outbound)
        exchange.outbound = exchange.outbound or dismissal(exchange)
        if exchange.result is not None and not exchange.refused:
            await redact_aside(exchange, services)
        done, began = completed(exchange, services, outcome), services.clock.monotonic()
        if await self.patience.insist(lambda: services.stores.journal.complete(done)):
            services.deliverer.submit(exchange.outbound, done.begun)
            await self._mend(exchange)
        services.count("exchange", outcome)
        services.observe(done.trace)
        seconds = services.clock.monotonic() - began
        exchange.timings.append(Timing("stage", "keep", began, seconds))
        services.observer.answered(
            FinishedTurn(
                done.trace,
                exchange.timings,
                done.usage,
                exchange.stored_monotonic,
                exchange.started_monotonic,
                exchange.outbound[-1].key if exchange.outbound else "",
            )
        )
        await self._track(done.usage)

    async def _mend(self, exchange: Exchange) -> None:
        """Take the half of a secret out of the message that was kept before its other half."""
        if exchange.mended is None:
            return
        services, (message_id, text) = self._services, exchange.mended
        place, said = exchange.place, said_in(exchange.place, exchange.last.author.name, text)
        stored, tenant = services.stores.conversations, exchange.key.tenant
        await self.patience.insist(lambda: stored.edit(tenant, place, message_id, text))
        await self.patience.insist(lambda: services.memory.edited(tenant, place, message_id, said))

    def may_be_again(self, entry: InboxEntry) -> bool:
        """Whether another run may have begun to answer this, and died."""
        if entry.received_at < self._since:
            return True
        return self._shared and self._services.clock.now() - entry.received_at > SURELY_FIRST

    def _remember_stopped(self, turn: Exchange) -> None:
        """Whoever stops a turn drops its messages; what was shown of the answer is closed then, and
        of whom memory is off no trace is left."""
        if turn.live is not None and turn.inbox_ids:
            self._broken_off[turn.inbox_ids[0]] = turn.live
        if turn.memory is not None and turn.unkept:
            self._unkept.update(dict.fromkeys(turn.inbox_ids, turn.memory))
        while len(self._broken_off) > MAX_BROKEN_OFF:
            self._broken_off.popitem(last=False)
        while len(self._unkept) > MAX_BROKEN_OFF:
            self._unkept.popitem(last=False)

    async def _settle(self, exchange: Exchange) -> None:
        """What was used until a turn was stopped is owed, and the rest given back."""
        usage, meter = usage_of(exchange, self._services), exchange.meter
        if meter is not None and (usage or meter.accounts):
            await self._services.stores.usage.settle(exchange.id, usage, meter.accounts)
            await self._track(usage)

    async def _track(self, usage: Sequence[UsageRow]) -> None:
        for row in usage if self._services.extensions.tracks else ():
            try:
                async with asyncio.timeout(EXTENSION_SECONDS):
                    await self._services.extensions.usage_tracker.track(row)
            except Exception:
                log.exception("tracking_failed")

    async def _words_for(self, exchange: Exchange, decision: Decision) -> str:
        """What the person hears: nothing when access is denied, nothing to a bot (it would be
        fuel for a loop), and a limit only once in its window."""
        if exchange.last.author.is_bot:
            return ""
        if decision.reason == FAILED:
            return SORRY.format(reference=exchange.id)
        refusal = refusal_for(decision, exchange.sharing)
        if refusal is None:
            return ""
        key = f"refusal:{decision.stage}:{exchange.who.person}:{exchange.key.room}"
        first = await self._services.stores.buckets.once(key, refusal.quiet_for)
        return refusal.text if first else ""


def question_of(event: InboundEvent, received_at: datetime) -> tuple[ChatMessage, str]:
    """The message to answer, and the handle that answers it, of anything a person did. The label of
    a button is not the person's own text."""
    material: tuple[Material, ...] = ()
    match event:
        case MessageReceived():
            return event.message, ""
        case CommandInvoked(message=ChatMessage() as message):
            return replace(message, content=event.arguments), event.reply_handle
        case MessageEdited():
            return event.message, ""
        case CommandInvoked():
            text, handle = event.arguments, event.reply_handle
        case ButtonPressed():
            text, handle = "", event.reply_handle
            material = within_bounds([Material("button", event.label)])
        case _:
            text, handle = "", ""
    author = author_of(event) or MessageAuthor("")
    place = place_of(event)
    message = ChatMessage(event.event_id, text, author, place, received_at, material=material)
    return message, handle


def merge(exchanges: Sequence[Exchange]) -> Exchange:
    """One exchange for several messages of one author: the last one, with all their words."""
    last = exchanges[-1]
    if len(exchanges) == 1:
        return last
    last.messages = tuple(message for e in exchanges for message in e.messages)
    last.inbox_ids = tuple(inbox_id for e in exchanges for inbox_id in e.inbox_ids)
    last.contents = tuple(content for e in exchanges for content in e.contents)
    return last


def with_kept_names(message: ChatMessage) -> ChatMessage:
    """The message with names that may be kept: of its author, of who it quotes, of its files."""
    author, quote = message.author, message.quote
    if (name := redact_name(author.name)) != author.name:
        message = replace(message, author=replace(author, name=name))
    if not (quote or message.attachments):
        return message
    return replace(
        message,
        quote=quote and replace(quote, author_name=redact_name(quote.author_name)),
        attachments=tuple(replace(one, name=redact_name(one.name)) for one in message.attachments),
    )


def dismissal(exchange: Exchange) -> tuple[Outbound, ...]:
    """What ends a command that gets no answer, where people would see it wait."""
    waits = exchange.connected.manifest.capabilities.commands_wait
    if exchange.kind != "command" or not (waits and exchange.reply_handle):
        return ()
    key = f"{exchange.id}:0"
    return (Outbound(key, exchange.place, reply_handle=exchange.reply_handle),)


def private_reader(exchange: Exchange) -> str:
    """The id that a refusal is shown to alone, where the platform can do that."""
    return exchange.last.author.id if exchange.connected.manifest.capabilities.ephemeral else ""
