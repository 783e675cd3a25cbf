"""Everything that the stores hold about one message, in time order.

It is read from the traces, the outbox and the audit, never from a log file, and holds no text of
people: names of stages and tools, codes, ids, durations.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.conversation import ConversationKey
from gateway.policy.access import NOT_APPROVED
from gateway.policy.decision import Decision
from gateway.policy.question_age import EXPIRED
from gateway.policy.takeover_return import HANDED_OVER
from gateway.ports.queues import SendState
from gateway.ports.traces import NO_CONVERSATION, Trace
from memory.ports.audit import Link
from parley.wiring.storage import Storage, read_hot

MAX_SENDS: Final = 200
MAX_AUDIT: Final = 1_000
"""Audit entries of that time which are read."""
AFTERWARDS: Final = timedelta(seconds=5)
"""The audit is written within seconds after the event."""
SILENT: Final = ("collected", "dropped", "deleted", EXPIRED, HANDED_OVER)
"""Outcomes of turns without an answer of their own."""
NOTED: Final = ("tool", "invocation", "queue")
"""Decisions that a stage notes beside its own."""
NEXT_STEPS: Final[Mapping[str, str]] = {
    "access": "The section `access` of the configuration decides on this.",
    "intake": "Too many messages waited: `parley docs reference/limits` lists the limits.",
    "limits": "The section `limits` of the configuration sets this limit.",
    "readable": "Nothing to do: the platform told that there is a message, and not what is in it.",
    "budget": "The section `budgets` of the configuration decides on this.",
    "age": "conversation.answer_within_hours sets this limit. Look for an outage at that time.",
    "crash_guard": "The program stopped each time it processed this: `parley quarantine list`.",
}
"""The next step by the stage that refused."""
APPROVE_FIRST: Final = (
    "The person needs an approval: `parley access list` shows who waits"
    " (`parley docs reference/access`)."
)


class LogEntry(Struct, frozen=True):
    """One line: its time, None if the store does not hold it; the part of the program, the text
    for people, and the values for programs."""

    at: datetime | None
    part: str
    text: str
    values: Mapping[str, object]


class MessageLog(Struct, frozen=True):
    """A trace, the deliveries of its turn, and audit entries of its person or chat meanwhile.
    `missing`: the reason why the deliveries are not known; `lost`: they are not, because data was
    lost."""

    trace: Trace
    deliveries: tuple[SendState, ...]
    audit: tuple[Link, ...]
    missing: str = ""
    lost: str = ""


async def read_log(storage: Storage, trace: Trace, tenant: str | None = None) -> MessageLog:
    """Everything that the stores hold about the turn of this trace; audit entries of this tenant
    only, with None of all."""
    reading = storage.hot.outbox.deliveries(trace.id, MAX_SENDS)
    deliveries, missing = await read_hot(reading, [])
    person = await storage.stores.usage.person_of(trace.id)
    until = trace.at + timedelta(milliseconds=trace.milliseconds) + AFTERWARDS
    links = await storage.memory.audit_on(b"").between(trace.at, until, MAX_AUDIT)
    channel = channel_of(trace)
    own = tuple(
        link
        for link in links
        if tenant in (None, link.entry.tenant) and _is_about(link, person, channel)
    )
    lost = "" if missing else await lost_delivery(storage, trace)
    return MessageLog(trace, tuple(deliveries), own, str(missing), lost)


async def lost_delivery(storage: Storage, trace: Trace) -> str:
    """Return a sentence if it is unknown whether the answer of this turn was sent, because data was
    lost before a receipt was stored; empty otherwise, and while the outbox is unavailable."""
    if trace.outcome.startswith("refused:") or trace.outcome in SILENT:
        return ""
    losses = await storage.hot_losses.since(trace.at)
    loss = next((one for one in reversed(losses) if one.may_concern(trace.at)), None)
    if loss is None:
        return ""
    try:
        kept = await storage.hot.outbox.deliveries(trace.id, 1)
    except StoreUnavailable:
        kept = []
    return "" if kept else loss.of_an_answer


def channel_of(trace: Trace) -> str:
    """The "platform:account:channel" of a trace; empty for a person who was erased."""
    if trace.conversation == NO_CONVERSATION:
        return ""
    return f"{trace.platform}:{trace.account}:{ConversationKey.of(trace.conversation).channel}"


def _is_about(link: Link, person: str, channel: str) -> bool:
    """True for an entry of the turn's person, and for one of its chat if no model was called."""
    if person:
        return link.entry.person == person
    return bool(channel) and dict(link.entry.details).get("channel") == channel


def entries_of(log: MessageLog) -> list[LogEntry]:
    """All entries in time order; one without a time stands after the turn."""
    end = log.trace.at + timedelta(milliseconds=log.trace.milliseconds)
    entries = [*_stages(log.trace), *_sends(log.deliveries), *_audit(log.audit)]
    if log.missing:
        text = f"the deliveries are not known: {log.missing}"
        entries.append(LogEntry(end, "outbox", text, {"missing": log.missing}))
    if log.lost:
        entries.append(LogEntry(None, "outbox", log.lost, {"delivery": "unknown"}))
    return sorted(entries, key=lambda entry: entry.at or end)


def _stages(trace: Trace) -> Iterator[LogEntry]:
    """The decisions at the times of their stages, model calls, tool calls and the outcome.

    A decision without a stage of its own (a collected message, a tool) has the time of the next
    one, because it was noted while that stage ran.
    """
    pending = deque(trace.decisions)
    for kind, name, after, took, ended, *_ in trace.durations:
        at, milliseconds = trace.at + timedelta(microseconds=after), took / 1_000
        if kind != "stage":
            values = {"name": name, "ms": milliseconds, "ended": ended}
            shown = ended.partition(" ")[2] or ended  # without the name of the error
            yield LogEntry(at, kind, f"{name} {milliseconds:.0f} ms, {shown}", values)
            continue
        while pending:
            decision = pending.popleft()
            own = decision.reason == ended and decision.stage not in NOTED
            yield _decided(at, decision, milliseconds if own else _tool_time(decision))
            if own:
                break
    end = trace.at + timedelta(milliseconds=trace.milliseconds)
    yield from (_decided(end, decision, None) for decision in pending)
    text = f"{trace.outcome}, {trace.milliseconds:.0f} ms in all"
    yield LogEntry(end, "outcome", text, {"outcome": trace.outcome, "ms": trace.milliseconds})


def _decided(at: datetime, decision: Decision, milliseconds: float | None) -> LogEntry:
    verdict = "" if decision.allowed else "NO: "
    more = f" ({decision.detail})" if decision.detail else ""
    took = "" if milliseconds is None else f", {milliseconds:.1f} ms"
    values: dict[str, object] = {"allowed": decision.allowed, "reason": decision.reason}
    values |= {"detail": decision.detail} if decision.detail else {}
    values |= {} if milliseconds is None else {"ms": milliseconds}
    return LogEntry(at, decision.stage, f"{verdict}{decision.reason}{more}{took}", values)


def _tool_time(decision: Decision) -> float | None:
    seconds = (decision.data or {}).get("seconds")
    return seconds * 1000 if isinstance(seconds, int | float) else None


def _sends(deliveries: Iterable[SendState]) -> Iterator[LogEntry]:
    for one in deliveries:
        values: dict[str, object] = {"key": one.key, "state": one.state, "attempts": one.attempts}
        if one.queued_at is not None:
            yield LogEntry(one.queued_at, "outbox", f"{one.key} queued", {"key": one.key})
        tries = f"{one.attempts} attempt{'s' * (one.attempts != 1)}"
        reason = f"; last error: {one.reason}" if one.reason else ""
        state = {"dead": "not delivered", "waiting": "waits to be sent"}.get(one.state, one.state)
        values |= {"error": one.reason} if one.reason else {}
        at = one.ended_at or one.queued_at
        yield LogEntry(at, "outbox", f"{one.key} {state}, {tries}{reason}", values)


def _audit(links: Iterable[Link]) -> Iterator[LogEntry]:
    for link in links:
        entry = link.entry
        details = " ".join(f"{name}={value}" for name, value in entry.details)
        values = {"number": link.number, "action": entry.action, "details": dict(entry.details)}
        yield LogEntry(entry.at, "audit", f"{link.number} {entry.action} {details}", values)


def step_after(decision: Decision) -> str:
    """Return the next step after a refusal; empty for a decision that needs none."""
    if decision.allowed:
        return ""
    if decision.reason == NOT_APPROVED:
        return APPROVE_FIRST
    return NEXT_STEPS.get(decision.stage, "")
