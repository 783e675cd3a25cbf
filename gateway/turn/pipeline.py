"""The processing of a message from the inbox to the outbox, as lists of stages in their order."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.conversation import ConversationKey
from gateway.immutable import replace
from gateway.latest import Latest
from gateway.message import (
    CommandInvoked,
    InboundEvent,
    MessageDeleted,
    MessageEdited,
    Outbound,
    Reply,
)
from gateway.observe.correlation import collect_timings, correlated, correlation_id
from gateway.outbound.live.answer import LiveAnswer
from gateway.outbound.notices import addressed
from gateway.policy.access import NOT_APPROVED, OWNERS_ONLY
from gateway.policy.decision import NOTHING_TO_DO, Decision
from gateway.policy.question_age import EXPIRED, too_old
from gateway.policy.refusals import NOT_PASSED_ON, refusal_for
from gateway.ports.memory import TurnMemory
from gateway.ports.observer import Timing
from gateway.ports.queues import InboxEntry
from gateway.ports.traces import GAVE_UP
from gateway.render import address, render_off_loop, with_commands
from gateway.store_retry import uninterrupted
from gateway.text import NO_TEXT, Text, text, verbatim
from gateway.turn.access_notices import reply_to_stranger
from gateway.turn.admission import (
    check_access,
    check_command_limits,
    check_limits,
    check_readable,
    guard_loops,
    identify,
    reserve_budget,
)
from gateway.turn.assemble import assemble
from gateway.turn.attachments import read_attachments
from gateway.turn.audit import AuditedTools, audit
from gateway.turn.disclosure import A_PROGRAM
from gateway.turn.generate import generate
from gateway.turn.history_and_summary import read_history
from gateway.turn.keep_appointments import keep_appointments
from gateway.turn.lateness import doubt_first, expired_reply, note_lateness, with_age
from gateway.turn.long_documents import search_documents
from gateway.turn.memory import open_memory, recall, remember
from gateway.turn.render import (
    filter_answer,
    is_first_contact,
    render_answer,
    screened_reply,
    settle_task,
)
from gateway.turn.save import report, save, settle
from gateway.turn.scheduled import SCHEDULED, scheduled_for
from gateway.turn.services import Policies, Services
from gateway.turn.slots import NO_WAIT
from gateway.turn.takeover import hand_over, is_taken_over
from gateway.turn.thread import read_thread
from gateway.turn.turn_context import (
    Asked,
    Attempt,
    TurnContext,
    joined,
    merge,
    question_of,
    with_kept_names,
)
from gateway.turn.typed_answers import typed_form
from gateway.turn.voice import hear
from gateway.turn.voice_answer import speak

Stage = Callable[[TurnContext, Services], Awaitable[Decision]]

ENTRY: tuple[Stage, ...] = (identify, guard_loops, check_access)
"""Determine the principal, and decide if they are served here."""

LIMITS: tuple[Stage, ...] = (check_limits,)
"""Apply the rate limits of questions."""

COMMAND_LIMITS: tuple[Stage, ...] = (check_command_limits,)
"""Apply the rate limits of commands that ask no model."""

ADMISSION: tuple[Stage, ...] = (*ENTRY, *LIMITS)
"""The stages of each single question."""

COMMAND_ADMISSION: tuple[Stage, ...] = (*ENTRY, *COMMAND_LIMITS)
"""The stages of each command and press that asks no model."""

COUNTED: frozenset[Stage] = frozenset({*LIMITS, *COMMAND_LIMITS})

UNREADABLE: tuple[Stage, ...] = (check_readable,)
"""The stages of a message without known content, after these."""

TURN: tuple[Stage, ...] = (
    reserve_budget,
    hear,
    open_memory,
    read_history,
    read_thread,
    read_attachments,
    recall,
    search_documents,
    assemble,
    generate,
    filter_answer,
    remember,
    settle_task,
    speak,
    render_answer,
    save,
)
"""The stages of a turn, which may collect several messages of one author."""

ON_STORES: frozenset[Stage] = frozenset(
    {
        *ADMISSION,
        *COMMAND_LIMITS,
        *UNREADABLE,
        reserve_budget,
        open_memory,
        read_history,
        recall,
        save,
    }
)
"""The stages that mostly wait for the stores."""

HANDED_OVER: tuple[Stage, ...] = (open_memory, hand_over, save)
"""The stages of messages that an operator answers."""

SURELY_FIRST = timedelta(seconds=10)
"""Seconds, less than the lease of another worker: work that is taken sooner was not started by a
crashed one."""
MAX_BROKEN_OFF = 1_000
MAX_COUNTED = 2_000
"""Turns that passed the rate limits and may be repeated: all that run at once."""

MAX_AGAIN = 3
"""Times that a turn begins again because its messages changed: each may cost a call of the
model."""

FAILED = "failed"
SORRY: Final = text(
    "Something went wrong on my side. Please try again. (Reference for the operator: {reference})"
)
BROKE_DOWN: Final = text(
    "I could not answer this message: the program stopped each time it worked on it, so it will not"
    " be tried again. Please write it in a different way, without unusual characters or"
    " attachments. (Reference for the operator: {reference})"
)

log = structlog.get_logger(__name__)


class Pipeline:
    """Answers messages. One call of `handle` is one turn of one conversation."""

    def __init__(self, services: Services, *, shared: bool = False) -> None:
        """`shared`: other processes continue the work of a crashed one."""
        self._services = services
        self._under: Services | None = None
        self._shared = shared
        self._since = services.clock.now()
        self._broken_off: Latest[str, LiveAnswer] = Latest(MAX_BROKEN_OFF)
        self._shown: Latest[str, None] = Latest(MAX_BROKEN_OFF)
        self._unkept: Latest[str, TurnMemory] = Latest(MAX_BROKEN_OFF)
        self._counted: Latest[str, None] = Latest(MAX_COUNTED)
        self._running: dict[str, TurnContext] = {}
        self._times_again: Latest[str, int] = Latest(MAX_COUNTED)

    async def handle(self, entries: Sequence[InboxEntry]) -> None:
        """Answer these entries, messages of one author in one conversation, oldest first."""
        if self.too_old(entries[0]):
            await self.expire(entries)
            return
        asked = joined([self.open(entry) for entry in entries])
        admitted = [each for each in asked if await self.admit(each)]
        if not admitted:
            return
        turn, name = merge(admitted), entries[0].id
        self._running[name] = turn
        try:
            with correlated(turn.id), collect_timings(turn.timings):
                note_lateness(turn, self._services)
                await doubt_first(turn, self._services)
                taken_over = await is_taken_over(turn, self._services)
                passed = await self._run(HANDED_OVER if taken_over else _stages(turn), turn)
        except asyncio.CancelledError:
            if turn.attempt.begins_again:
                live = turn.generation.live
                self._remember_shown(turn, began=live is not None and live.began)
            else:
                self._remember_stopped(turn)
            await uninterrupted(settle(turn, self._services))
            raise
        except StoreUnavailable:
            self._remember_shown(turn, began=turn.generation.live is not None)
            raise
        finally:
            del self._running[name]
        if passed:
            report(turn, self._services)

    async def admit(self, turn: TurnContext, stages: Sequence[Stage] = ADMISSION) -> bool:
        """Return True if this person may ask now; otherwise the turn is refused and closed."""
        if turn.asked.last.unreadable and check_limits in stages:
            stages = (*stages, *UNREADABLE)
        with correlated(turn.id), collect_timings(turn.timings):
            passed = await self._run(stages, turn)
        if passed and not COUNTED.isdisjoint(stages):
            self._counted[turn.id] = None
        return passed

    async def reply(
        self, turn: TurnContext, reply: Reply, outcome: str, after: Sequence[Outbound] = ()
    ) -> None:
        """Answer with a fixed text, run `after`, and end the turn."""
        if outcome != EXPIRED:  # its notice names the times
            note_lateness(turn, self._services)
        language = turn.language_of(alone=bool(reply.private_to))
        shown = reply.shown(language)
        markdown = with_commands(shown.markdown, turn.connected.manifest.capabilities)
        shown = replace(shown, markdown=with_age(turn, markdown))
        turn.forgets = shown.forgets
        if shown.markdown and await is_first_contact(turn, self._services):
            line = language.shown(A_PROGRAM)
            shown = replace(shown, markdown=f"{shown.markdown}\n\n{line}")
        shown = await screened_reply(turn, shown, self._services)
        shown = await typed_form(turn, shown, self._services, reply.buttons)
        turn.outbound = address(
            turn.id,
            turn.place,
            await render_off_loop(shown.markdown, turn.connected.renderer),
            shown,
            reply_to_id=turn.asked.reply_to_id,
            reply_handle=turn.asked.reply_handle,
        )
        turn.outbound += await addressed(
            turn.id, reply.notices, self._services.connected, self._services.language_of
        )
        turn.outbound += tuple(after)
        await self._finish(turn, outcome)

    async def drop(self, entries: Sequence[InboxEntry]) -> None:
        """Finish entries without an answer: dropped by the overlap, or stopped."""
        for entry in entries:
            turn = self.open(entry)
            turn.note(Decision("queue", False, "dropped"))
            turn.inputs.memory = self._unkept.pop(entry.id, None)
            shown = self._broken_off.pop(entry.id, None)
            if shown is not None:
                turn.outbound = shown.stopped(turn.id)
            await self._finish(turn, "dropped")

    def too_old(self, entry: InboxEntry) -> bool:
        """Return True for an entry that is not answered any more, because it is too old."""
        if isinstance(entry.event, MessageEdited | MessageDeleted):
            return False
        limits = self._services.policies.ages
        return too_old(entry.asked_at, self._services.clock.now(), limits)

    async def expire(self, entries: Sequence[InboxEntry], *, quiet: bool = False) -> None:
        """Finish entries of one conversation that are too old, with one notice that names them, to
        people who are served; `quiet` without the notice."""
        opened = [self.open(entry) for entry in entries]
        admitted = [each for each in opened if await self.admit(each, ENTRY)]
        if not admitted:
            return
        turn = merge(admitted)
        reply = expired_reply(turn, self._services)
        if turn.asked.last.author.is_bot or quiet or not reply.markdown:
            await self._finish(turn, EXPIRED)
        else:
            await self.reply(turn, reply, EXPIRED)

    async def give_up(self, entry: InboxEntry) -> None:
        """Finish work that repeatedly crashed processes, and notify its author if they are
        served."""
        turn = self.open(entry)
        turn.note(Decision("crash_guard", False, GAVE_UP))
        unheard = isinstance(entry.event, MessageEdited | MessageDeleted)
        if unheard or turn.asked.last.author.is_bot:
            await self._finish(turn, GAVE_UP)
        elif await self.admit(turn, ENTRY):
            words = BROKE_DOWN.of(reference=verbatim(turn.id))
            await self.reply(turn, Reply(words, private_to=private_reader(turn)), GAVE_UP)

    async def withdraw(self, entries: Sequence[InboxEntry]) -> None:
        """Finish entries with messages that were deleted before their turn."""
        for entry in entries:
            turn = self.open(entry)
            turn.note(Decision("queue", False, "deleted"))
            await self._finish(turn, "deleted")

    def open(self, entry: InboxEntry) -> TurnContext:
        """Return the context of a turn for an entry. The conversation, the author's own text and
        the reason for an answer were determined when the entry was stored."""
        services, event, key = self._services, entry.event, ConversationKey.of(entry.conversation)
        now, began = services.clock.now(), services.clock.monotonic()
        message, handle = question_of(event, entry.received_at)
        message = with_kept_names(message)
        turn = TurnContext(
            id=correlation_id(entry.id),
            place=key.place_in(message.place),
            key=key,
            connected=services.connected[key.platform, key.account],
            policies=services.policies,
            asked=Asked(
                inbox_ids=(entry.id,),
                messages=(message,),
                contents=(message.content,),
                kind=event.kind,
                reply_handle=handle,
                command=event.name if isinstance(event, CommandInvoked) else "",
                received_at=entry.received_at,
                asked_at=entry.asked_at,
                scheduled_for=scheduled_for(entry.reason),
            ),
            attempt=Attempt(
                started=now,
                started_monotonic=began,
                stored_monotonic=began - (now - entry.received_at).total_seconds(),
                again=entry.id in self._shown or self.may_be_again(entry),
                counted=correlation_id(entry.id) in self._counted,
            ),
        )
        reason = SCHEDULED if turn.asked.scheduled_for else entry.reason or event.kind
        details = message.extras.details if message.extras is not None else ""
        turn.note(Decision("invocation", True, reason, details))
        return turn

    def _services_under(self, policies: Policies) -> Services:
        """Return the services with these policies, which change with the configuration only."""
        under = self._under
        if under is None or under.policies is not policies:
            under = self._under = self._services.under(policies)
        return under

    async def _run(self, stages: Sequence[Stage], turn: TurnContext) -> bool:
        """Run stages until one refuses; the turn is then refused and closed. Common work of all
        stages is here: decisions are stored for the trace, durations are measured, and errors are
        logged. Raises `StoreUnavailable`."""
        services = self._services_under(turn.policies)
        retry, ended = services.retry.retry_while_unavailable, services.clock.monotonic()
        for stage in stages:
            began = ended
            try:
                # After the answer of the model, an unavailable store repeats the stage alone:
                # people may have seen the answer, and tools have run.
                async with services.store_places.waiting() if stage in ON_STORES else NO_WAIT:
                    if turn.generation.result is None:
                        decision = await stage(turn, services)
                    else:
                        decision = await retry(stage, turn, services)
            except StoreUnavailable:
                raise
            except Exception:
                if turn.refused:
                    raise
                log.exception("stage_failed", stage=stage.__name__)
                decision = Decision(stage.__name__, False, FAILED, "see the log")
            ended = services.clock.monotonic()
            if decision is NOTHING_TO_DO:
                continue
            timing = Timing("stage", stage.__name__, began, ended - began, decision.reason)
            turn.timings.append(timing)
            turn.decisions.append(decision)
            if not decision.allowed:
                await self._refuse(turn, decision)
                return False
        return True

    async def _refuse(self, turn: TurnContext, decision: Decision) -> None:
        turn.refusal = decision
        outcome = f"refused:{decision.stage}"
        if decision.reason not in (FAILED, NOT_PASSED_ON):
            await audit(f"{decision.stage}_denied", turn, self._services, decision)
        words = await self._words_for(turn, decision)
        if words:
            await self.reply(turn, Reply(words, private_to=private_reader(turn)), outcome)
        else:
            await self._finish(turn, outcome)

    async def _finish(self, turn: TurnContext, outcome: str) -> None:
        """Save a turn that no model answered."""
        turn.outcome = outcome
        with correlated(turn.id):
            if turn.outbound:
                await doubt_first(turn, self._services)
            await self._run((save,), turn)
        report(turn, self._services)

    def may_be_again(self, entry: InboxEntry) -> bool:
        """Return True if an earlier run may have started this answer and crashed."""
        if entry.received_at < self._since:
            return True
        return self._shared and self._services.clock.now() - entry.received_at > SURELY_FIRST

    def begin_again(self, entries: Sequence[InboxEntry], event: InboundEvent) -> bool:
        """Return True if the running turn of these entries may be ended and begun again, because
        `event` changes what they say: nothing of its answer was seen, and no tool with side effects
        was called. Otherwise the answer says that it is to the text before an edit."""
        name = entries[0].id
        turn, times = self._running.get(name), self._times_again.get(name, 0)
        if turn is not None and (is_seen(turn) or times >= MAX_AGAIN):
            turn.attempt.outdated = turn.attempt.outdated or isinstance(event, MessageEdited)
            return False
        if turn is not None:
            turn.attempt.begins_again = True
            self._times_again[name] = times + 1
        return True

    def _remember_shown(self, turn: TurnContext, *, began: bool) -> None:
        """Remember a turn that is repeated: a part of its answer may be shown already."""
        if began:
            self._shown.update(dict.fromkeys(turn.asked.inbox_ids))

    def _remember_stopped(self, turn: TurnContext) -> None:
        """Remember a stopped turn until its messages are dropped: then the shown part of the answer
        is closed, and a person with memory off leaves no trace."""
        if turn.generation.live is not None and turn.asked.inbox_ids:
            self._broken_off[turn.asked.inbox_ids[0]] = turn.generation.live
        if turn.inputs.memory is not None and turn.inputs.unkept:
            self._unkept.update(dict.fromkeys(turn.asked.inbox_ids, turn.inputs.memory))

    async def _words_for(self, turn: TurnContext, decision: Decision) -> Text:
        """Return the text of a refusal: empty if access is denied or the author is a bot (an answer
        would feed a loop), and for a limit only once per window."""
        if turn.asked.last.author.is_bot:
            return NO_TEXT
        if decision.reason == FAILED:
            return SORRY.of(reference=verbatim(turn.id))
        if decision.reason in (NOT_APPROVED, OWNERS_ONLY):
            return await self._reply_to_stranger(turn)
        refusal = refusal_for(decision, self._services.clock.now(), turn.asker.sharing)
        if refusal is None:
            return NO_TEXT
        within = refusal.once or str(turn.key.room)
        key = f"refusal:{decision.stage}:{turn.key.tenant}:{turn.asker.person}:{within}"
        first = await self._services.stores.buckets.claim(key, refusal.quiet_for)
        return refusal.text if first else NO_TEXT

    async def _reply_to_stranger(self, turn: TurnContext) -> Text:
        """Return the code or the hint for a person who waits for the answer to a command."""
        author, place = turn.asked.last.author, turn.place
        decision, words = await reply_to_stranger(turn.key.tenant, author, place, self._services)
        turn.note(decision)
        return words


def _stages(turn: TurnContext) -> tuple[Stage, ...]:
    """Return the stages of a turn, with that of appointments only where they are on."""
    if not turn.policies.appointments.enabled:
        return TURN
    place = TURN.index(render_answer)
    return (*TURN[:place], keep_appointments, *TURN[place:])


def is_seen(turn: TurnContext) -> bool:
    """Return True once people may have seen something of the answer, or a tool had side effects."""
    shown = turn.generation.live is not None and turn.generation.live.shows_text
    acted = isinstance(turn.generation.tools, AuditedTools) and turn.generation.tools.acted
    return shown or acted or turn.generation.result is not None


def private_reader(turn: TurnContext) -> str:
    """Return the id of the only reader of a refusal, if the platform can show it to one person."""
    return turn.asked.last.author.id if turn.connected.manifest.capabilities.ephemeral else ""
