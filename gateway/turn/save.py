"""Saves a finished turn with its sends, and passes the sends to the deliverer.

A stop has no effect from here on: a stored answer that was not sent would be sent at the next
start. While a store is unavailable the answer waits: the model is not called again, because people
may have seen its answer.
"""

import asyncio
from collections.abc import Sequence

import structlog

from gateway.errors import TakenOver
from gateway.extensions import EXTENSION_SECONDS
from gateway.immutable import replace
from gateway.message import Outbound, send_key
from gateway.outbound.live.final import announced
from gateway.policy.decision import Decision
from gateway.policy.question_age import EXPIRED
from gateway.policy.takeover_return import HANDED_OVER
from gateway.ports import Usage
from gateway.ports.conversations import StoredTurn
from gateway.ports.observer import FinishedTurn
from gateway.ports.traces import NO_CONVERSATION
from gateway.ports.unit_of_work import ERASED_TURNS, CompletedTurn
from gateway.ports.usage import UsageRow
from gateway.store_retry import uninterrupted
from gateway.turn.history_and_summary import files_kept
from gateway.turn.memory import kept_answer, kept_material, kept_of, redact_aside
from gateway.turn.prompt import text_in_place
from gateway.turn.services import Services
from gateway.turn.signs import show_end
from gateway.turn.takeover import silent_since, withhold
from gateway.turn.turn_context import TurnContext

log = structlog.get_logger(__name__)


async def save(turn: TurnContext, services: Services) -> Decision:
    """Store the turn, the answer's sends and the trace, and finish the messages that it answers,
    all together."""
    await uninterrupted(_save(turn, services))
    return Decision("save", True, turn.outcome)


async def _save(turn: TurnContext, services: Services) -> None:
    collected, turn.collected = turn.collected, ()
    for other in collected:
        other.note(Decision("queue", True, "collected", turn.id))
        other.asked = replace(other.asked, inbox_ids=())
        other.inputs.memory = turn.inputs.memory
        other.outcome = EXPIRED if turn.outcome == EXPIRED else "collected"
        await _keep(other, services)
        report(other, services)
    if not await _keep(turn, services):
        await _withdraw(turn, collected, services)


async def _keep(turn: TurnContext, services: Services) -> bool:
    """Return False if the events were finished meanwhile, and nothing is sent."""
    if not turn.outcome:
        turn.outcome = turn.generation.result.outcome if turn.generation.result else "answered"
    if turn.generation.live is not None:
        turn.outbound, turn.generation.live = turn.generation.live.finished(turn.outbound), None
    turn.outbound = _superseding(turn)
    if turn.attempt.may_repeat and (note := _repeat_note(turn)) is not None:
        turn.outbound = (note, *turn.outbound)
    if turn.generation.result is not None and not turn.refused:
        await redact_aside(turn, services)
    first, done = await services.retry.retry_while_unavailable(_complete, turn, services)
    if first:
        await _delete_replaced(turn, services)
        services.deliverer.submit(turn.outbound, done.begun)
        await _mend(turn, services)
    message_ids = tuple(message.id for message in turn.asked.messages)
    show_end(turn.connected, turn.place, message_ids, services)
    turn.completed = done
    await _track(done.usage, services)
    return first


async def _complete(turn: TurnContext, services: Services) -> tuple[bool, CompletedTurn]:
    """Store the turn, without what the model wrote if an operator answers now. False if the events
    were finished meanwhile."""
    try:
        return await _store(turn, services)
    except TakenOver:
        await withhold(turn)
        return await _store(turn, services)


async def _store(turn: TurnContext, services: Services) -> tuple[bool, CompletedTurn]:
    turn.outbound = turn.outbound or dismissal(turn)
    done = completed(turn, services)
    return await services.stores.unit_of_work.complete(done), done


def report(turn: TurnContext, services: Services) -> None:
    """Count a saved turn, and pass its trace and timings to the observers."""
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
            turn.attempt.stored_monotonic,
            turn.attempt.started_monotonic,
            last_key,
            turn.refusal,
        )
    )


async def settle(turn: TurnContext, services: Services) -> None:
    """Charge the cost of a stopped turn, and release the rest of its reservation."""
    usage, meter = usage_of(turn, services), turn.generation.meter
    if meter is not None and (usage or meter.accounts):
        await services.stores.usage.settle(turn.id, usage, meter.accounts)
        await _track(usage, services)


def _replaced(turn: TurnContext) -> tuple[str, ...]:
    """Return the messages that the messages of this turn replace; none without an answer of a
    model."""
    if not turn.generation.answered or turn.refused or turn.outcome == HANDED_OVER:
        return ()
    return tuple(message.replaces for message in turn.asked.messages if message.replaces)


def _superseding(turn: TurnContext) -> tuple[Outbound, ...]:
    """Return the sends, of which the first names the message that is replaced."""
    replaced = _replaced(turn)
    if not (replaced and turn.outbound):
        return turn.outbound
    first, *others = turn.outbound
    return (replace(first, supersedes=replaced[-1]), *others)


def _repeat_note(turn: TurnContext) -> Outbound | None:
    """Return the note above an answer that may have been sent before."""
    first = turn.outbound[0] if turn.outbound else None
    return (
        None if first is None or first.is_empty else announced(first, turn.id, turn.language_of())
    )


async def _delete_replaced(turn: TurnContext, services: Services) -> None:
    """Delete the messages that this turn replaces, with their answers and what derives from them.
    Until here they were stored: a failing model leaves the earlier answer."""
    if replaced := _replaced(turn):
        where = (turn.key.tenant, turn.place, replaced)
        retry = services.retry.retry_while_unavailable
        await retry(services.stores.conversations.delete, *where)
        await retry(services.memory.deleted, *where)


async def _mend(turn: TurnContext, services: Services) -> None:
    """Remove the first half of a secret from the message that was stored before the second half
    came."""
    if turn.stored.mended is None:
        return
    (message_id, text), place, tenant = turn.stored.mended, turn.place, turn.key.tenant
    signed, retry = text_in_place(place, turn.asked.last.author.name, text), services.retry
    stored, memory = services.stores.conversations, services.memory
    await retry.retry_while_unavailable(stored.edit, tenant, place, message_id, text)
    await retry.retry_while_unavailable(memory.edited, tenant, place, message_id, signed)


async def _withdraw(
    turn: TurnContext, collected: Sequence[TurnContext], services: Services
) -> None:
    """Delete what the turn stored before its end, if its person was erased meanwhile: a task,
    memories of the model, and the names in the traces of collected messages."""
    stores, retry = services.stores, services.retry.retry_while_unavailable
    if not await retry(stores.states.of(*ERASED_TURNS).get, turn.id):
        return
    where = (turn.key.tenant, turn.place, tuple(message.id for message in turn.asked.messages))
    await retry(stores.conversations.delete, *where)
    await retry(services.memory.deleted, *where)
    tool, appointments = turn.generation.reminders, stores.appointments
    if tool is not None and appointments is not None:
        for change in tool.noted:
            await retry(appointments.remove, change.appointment)
    for done in (other.completed for other in collected):
        if done is not None and done.traced:
            trace = replace(done.trace, message_id="", conversation=NO_CONVERSATION)
            await retry(stores.traces.add, trace)


async def _track(usage: Sequence[UsageRow], services: Services) -> None:
    for row in usage if services.extensions.tracks else ():
        try:
            async with asyncio.timeout(EXTENSION_SECONDS):
                await services.extensions.usage_tracker.track(row)
        except Exception:
            log.exception("tracking_failed")


def dismissal(turn: TurnContext) -> tuple[Outbound, ...]:
    """Return the send that ends a command without an answer, if people see it wait."""
    waits = turn.connected.manifest.capabilities.commands_wait
    if turn.asked.kind != "command" or not (waits and turn.asked.reply_handle):
        return ()
    return (Outbound(send_key(turn.id, 0), turn.place, reply_handle=turn.asked.reply_handle),)


def completed(turn: TurnContext, services: Services) -> CompletedTurn:
    """Return everything to store for the turn, and its sends.

    Text is stored only if the model was asked and its answer is given, or if an operator answers
    instead; a refusal stores only a trace and its cost. If the author wants nothing stored, no
    trace is stored either.
    """
    said = turn.generation.result is not None or turn.outcome == HANDED_OVER
    answered = said and not turn.refused and not turn.inputs.unkept
    return CompletedTurn(
        key=turn.key,
        turns=turns_of(turn, services) if answered else (),
        usage=usage_of(turn, services),
        accounts=turn.generation.meter.accounts if turn.generation.meter else (),
        trace=turn.trace(services.clock.monotonic()),
        traced=not turn.inputs.unkept,
        inbox_ids=turn.asked.inbox_ids,
        outbound=tuple(
            one if one.person else replace(one, person=turn.asker.person) for one in turn.outbound
        ),
        waiting=turn.answer.footer.turn if answered and turn.outcome != HANDED_OVER else None,
        begun=services.deliverer.immediate_send_key(turn.outbound),
        attempt=turn.attempt.id,
        repeat_note=_repeat_note(turn),
        silent_since=silent_since(turn, services),
    )


def turns_of(turn: TurnContext, services: Services) -> tuple[StoredTurn, ...]:
    """Return the messages and the answer as turns of the conversation, without secrets; a failed
    turn has no answer, and leaves a message that it should replace alone."""
    person, kept = turn.asker.person, kept_of(turn, services)
    turns = tuple(
        StoredTurn(
            message.id,
            "user",
            text,
            message.timestamp,
            person,
            message.author.name,
            kept_material(turn, message.material),
            files_kept(turn, message),
        )
        for message, text in zip(turn.asked.messages, kept.texts, strict=True)
    )
    if turn.outcome == HANDED_OVER:
        return turns
    if not turn.generation.answered:
        again = {message.id for message in turn.asked.messages if message.replaces}
        return tuple(one for one in turns if one.message_id not in again)
    answer, derived = kept_answer(turn, services), turn.answer.footer.derived
    now = services.clock.now()
    return (*turns, StoredTurn(turn.asked.last.id, "assistant", answer, now, material=derived))


def usage_of(turn: TurnContext, services: Services) -> tuple[UsageRow, ...]:
    """Return the cost of the turn so far: one row if the model was asked at all, one for each model
    that wrote a summary, and one for each service that heard or spoke."""
    meter, place = turn.generation.meter, turn.place
    if meter is None or (turn.generation.result is None and not meter.micros):
        return ()
    workspace = f"{place.platform}:{place.account}:{place.workspace_id}"
    beside = sum(meter.optional_micros.values()) + sum(meter.services.values())
    answer = meter.micros - beside
    costs = [(meter.model, meter.usage, answer)]
    for model, usage in meter.optional.items():
        costs.append((f"{model} (summaries)", usage, meter.optional_micros[model]))
    costs += [(service, Usage(), micros) for service, micros in meter.services.items()]
    now = services.clock.now()
    return tuple(
        UsageRow(turn.key.tenant, turn.asker.person, workspace, model, usage, micros, now)
        for model, usage, micros in costs
    )
