"""Saves a turn that is over, with what is to be sent, and gives the sends to the deliverer.

A stop comes too late for that: an answer that is kept and not sent would come out at the next
start. While a store is away the answer waits: what the model said, and people may have seen, is not
asked for again.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import structlog

from gateway.extensions import EXTENSION_SECONDS
from gateway.message import Outbound, send_key
from gateway.policy.decision import Decision
from gateway.ports.conversations import StoredTurn
from gateway.ports.observer import FinishedTurn
from gateway.ports.unit_of_work import CompletedTurn
from gateway.ports.usage import UsageRow
from gateway.store_retry import uninterrupted
from gateway.turn.prompt import text_in_place
from gateway.turn.remember import kept_answer, kept_material, kept_of, redact_aside
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

log = structlog.get_logger(__name__)


async def save(turn: TurnContext, services: Services) -> Decision:
    """Keep the turn, the answer's sends and the trace, and close the messages that it answers
    together with its own."""
    await uninterrupted(_save(turn, services))
    return Decision("save", True, turn.outcome)


async def _save(turn: TurnContext, services: Services) -> None:
    for other in turn.collected:
        other.note(Decision("queue", True, "collected", turn.id))
        other.inbox_ids, other.memory, other.outcome = (), turn.memory, "collected"
        await _keep(other, services)
        report(other, services)
    turn.collected = ()
    await _keep(turn, services)


async def _keep(turn: TurnContext, services: Services) -> None:
    if not turn.outcome:
        turn.outcome = turn.result.outcome if turn.result else "answered"
    if turn.live is not None:
        turn.outbound, turn.live = turn.live.finished(turn.outbound), None
    turn.outbound = turn.outbound or dismissal(turn)
    if turn.result is not None and not turn.refused:
        await redact_aside(turn, services)
    done = completed(turn, services)
    retry, stores = services.retry.retry_while_unavailable, services.stores
    if await retry(stores.journal.complete, done):
        services.deliverer.submit(turn.outbound, done.begun)
        await _mend(turn, services)
    turn.completed = done
    await _track(done.usage, services)


def report(turn: TurnContext, services: Services) -> None:
    """Count a turn that is saved, and show its trace and timings to those who watch."""
    done = turn.completed
    if done is None:
        return
    services.count("turn", turn.outcome)
    services.observe(done.trace)
    last_key = turn.outbound[-1].key if turn.outbound else ""
    services.observer.answered(
        FinishedTurn(
            done.trace,
            turn.timings,
            done.usage,
            turn.stored_monotonic,
            turn.started_monotonic,
            last_key,
            turn.refusal,
        )
    )


async def settle(turn: TurnContext, services: Services) -> None:
    """Owe what was used until a turn was stopped, and give the rest back."""
    usage, meter = usage_of(turn, services), turn.meter
    if meter is not None and (usage or meter.accounts):
        await services.stores.usage.settle(turn.id, usage, meter.accounts)
        await _track(usage, services)


async def _mend(turn: TurnContext, services: Services) -> None:
    """Take the half of a secret out of the message that was kept before its other half."""
    if turn.mended is None:
        return
    (message_id, text), place, tenant = turn.mended, turn.place, turn.key.tenant
    signed, retry = text_in_place(place, turn.last.author.name, text), services.retry
    stored, memory = services.stores.conversations, services.memory
    await retry.retry_while_unavailable(stored.edit, tenant, place, message_id, text)
    await retry.retry_while_unavailable(memory.edited, tenant, place, message_id, signed)


async def _track(usage: Sequence[UsageRow], services: Services) -> None:
    for row in usage if services.extensions.tracks else ():
        try:
            async with asyncio.timeout(EXTENSION_SECONDS):
                await services.extensions.usage_tracker.track(row)
        except Exception:
            log.exception("tracking_failed")


def dismissal(turn: TurnContext) -> tuple[Outbound, ...]:
    """The send that ends a command without an answer, where people would see it wait."""
    waits = turn.connected.manifest.capabilities.commands_wait
    if turn.kind != "command" or not (waits and turn.reply_handle):
        return ()
    return (Outbound(send_key(turn.id, 0), turn.place, reply_handle=turn.reply_handle),)


def completed(turn: TurnContext, services: Services) -> CompletedTurn:
    """Everything of the turn that is kept, and what is still to be sent.

    Words are kept only where the model was asked and its answer is given; a refusal leaves a trace,
    what it cost until then, and nothing else. Where the author wants nothing to be kept, no trace
    is left either.
    """
    answered = turn.result is not None and not turn.refused and not turn.unkept
    return CompletedTurn(
        key=turn.key,
        turns=turns_of(turn, services) if answered else (),
        usage=usage_of(turn, services),
        accounts=turn.meter.accounts if turn.meter else (),
        trace=turn.trace(services.clock.monotonic()),
        traced=not turn.unkept,
        inbox_ids=turn.inbox_ids,
        outbound=tuple(
            one if one.person else replace(one, person=turn.person) for one in turn.outbound
        ),
        waiting=turn.footer.turn if answered else None,
        begun=services.deliverer.immediate_send_key(turn.outbound),
    )


def turns_of(turn: TurnContext, services: Services) -> tuple[StoredTurn, ...]:
    """The messages and the answer as steps of the conversation, without secrets; a failed turn
    leaves no answer."""
    person, kept = turn.person, kept_of(turn, services)
    turns = tuple(
        StoredTurn(
            message.id,
            "user",
            text,
            message.timestamp,
            person,
            message.author.name,
            kept_material(turn, message.material),
        )
        for message, text in zip(turn.messages, kept.texts, strict=True)
    )
    if turn.result is None or turn.result.failed:
        return turns
    answer = kept_answer(turn, services)
    return (*turns, StoredTurn(turn.last.id, "assistant", answer, services.clock.now()))


def usage_of(turn: TurnContext, services: Services) -> tuple[UsageRow, ...]:
    """The cost of the turn so far, one row where the model was asked at all."""
    meter, place = turn.meter, turn.place
    if meter is None or (turn.result is None and not meter.micros):
        return ()
    return (
        UsageRow(
            turn.key.tenant,
            turn.person,
            f"{place.platform}:{place.account}:{place.workspace_id}",
            meter.model,
            meter.usage,
            meter.micros,
            services.clock.now(),
        ),
    )
