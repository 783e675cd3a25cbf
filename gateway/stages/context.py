"""What the model reads: opened before the question is asked, and made to fit.

`gateway/turn/context/` decides; here is what it decides on, and what is kept of it.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import structlog

from gateway.authorship import Material
from gateway.conversation import ContextLimits
from gateway.errors import StoreUnavailable
from gateway.exchange import Exchange
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.ports import ContentBlock, ModelMessage, TextBlock, ToolProvider
from gateway.ports.prompt_blocks import (
    NO_PROMPT_PARTS,
    Assembled,
    BlockKind,
    ContextParts,
    Count,
    DialogueTurn,
    KnowledgeItem,
    PromptParts,
    Section,
    Task,
    spoken,
)
from gateway.ports.stores import StoredTurn
from gateway.remembering import TurnMemory
from gateway.services import Services
from gateway.turn.context.assembler import assemble
from gateway.turn.context.block_usage import told
from gateway.turn.context.budgets import TokenBudget, budget_for
from gateway.turn.context.deduplication import assemble_deduplicated
from gateway.turn.context.history_window import (
    LoadedHistory,
    leaving,
    merged_summary,
    since,
    sizes_of,
    summary_in_time,
)
from gateway.turn.prompt import PromptFacts, own_text, quotation, today_text, who_set
from gateway.turn.tokens import counter, estimate, estimate_messages, estimate_tools
from gateway.turn.types import TurnRequest
from gateway.turn.written import WORDLESS, clean_name, framed, own_in_room, own_words

RECALL_SECONDS: Final = 3.0
ROOMY: Final = 32_000
"""Tokens from which on a window has room for tools beside what its budget sums up to."""
DAY: Final = 20
"""Tokens of the line that says which day it is."""

log = structlog.get_logger(__name__)


async def gather_context(exchange: Exchange, services: Services) -> Decision:
    """What was said before, as much as the limits allow; the rest is in a summary."""
    if exchange.unkept:
        return Decision("context", True, "memory_off")
    limits, now = limits_of(services), services.clock.now()
    turns, notes = await services.stores.conversations.opened(
        exchange.key, 2 * limits.max_messages + 2
    )
    asked = {message.id for message in exchange.messages}
    earlier = [turn for turn in turns if turn.message_id not in asked]
    summary = summary_in_time(notes.summary, limits, now)
    kept = since(earlier, summary, limits, now)
    sizes = sizes_of(kept, estimate)
    gone = leaving(kept, sizes, limits)
    if gone:
        summary = merged_summary(
            summary, kept[:gone], said_of(kept[:gone], exchange.place.audience)
        )
        await services.stores.notes.set_summary(exchange.key, summary, now)
        kept, sizes = kept[gone:], sizes[gone:]
    exchange.opened = LoadedHistory(notes.task, summary, tuple(kept), tuple(sizes))
    if exchange.memory is not None:
        exchange.memory.reads(tuple(read_besides(exchange)))
    return Decision("context", True, "window", f"{len(kept)} of {len(earlier)} messages")


def read_besides(exchange: Exchange) -> Iterator[Material]:
    """Text that the model reads and the asking person did not write: the message they reply to,
    material shown before, and in a room the messages of others."""
    for message in exchange.messages:
        if message.quote is not None and message.quote.text.strip():
            yield quotation(message.quote)
    person, opened = str(exchange.who.person), exchange.opened
    for turn in opened.turns:
        yield from turn.material
        if turn.role == "user" and turn.person != person and turn.text:
            yield Material("room", turn.text, turn.speaker)
    if opened.summary is not None and set(opened.summary.persons) - {person}:
        yield Material("room", opened.summary.text)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the blocks of the person's message, of which model, with which persona and
    tools. `model` is empty for the default one."""

    blocks: tuple[ContentBlock, ...]
    persona: str
    model: str
    tools: ToolProvider


async def turn_request(exchange: Exchange, services: Services, question: Question) -> TurnRequest:
    """The five blocks, put together for this question. Raises `OwnTextTooLong`."""
    assistant, known = services.assistant, services.calibrations
    model = question.model or assistant.default_model
    budget, steady = budget_for(assistant.window), known.steady(model)
    count: Count = counter(steady)
    memory = exchange.memory
    place = exchange.place
    title = exchange.connected.manifest.title
    facts = PromptFacts(assistant.name, title, place.audience, question.persona)
    told_of = await memory.told() if memory is not None else NO_PROMPT_PARTS
    parts = parts_of(own_text(facts), told_of, exchange.opened, place.audience)
    found = await recalled(exchange, memory, services) if memory is not None else ()
    total = budget.blocks_total
    if assistant.window < ROOMY:
        asked = estimate_messages((ModelMessage("user", question.blocks),), steady)
        offered = estimate_tools(await question.tools.tools(), steady)
        total = room_for_blocks(assistant.window, budget, offered + round(steady.constant), asked)
    # That it fits was seen at the start: what was learned of counting since is no reason to fail.
    if (own := count(parts.own)) > budget.system:
        budget = replace(budget, system=own)
    make = partial(assemble, budget=budget, count=count, ranks=services.policies.ranks, total=total)
    made = assemble_deduplicated(parts, found, {message.id for message in exchange.messages}, make)
    reserved = budget.grand_total - budget.blocks_total
    exchange.note(Decision("context", True, "blocks", told(made, assistant.window, reserved)))
    today = today_text(services.clock.now().date())
    return TurnRequest(
        system=_joined(made[BlockKind.SYSTEM].text, made[BlockKind.PROJECT].text),
        history=dialogue(made),
        user=user_blocks(made, question.blocks),
        model=question.model,
        max_tokens=min(assistant.max_tokens, budget.response),
        window=assistant.window,
        reference=exchange.id,
        calibration=known.latest(model),
        system_volatile=today,
    )


async def recalled(
    exchange: Exchange, memory: TurnMemory, services: Services
) -> Sequence[KnowledgeItem]:
    """What is remembered that may answer the question. Nobody goes without an answer because
    recall breaks or takes long: the model can still search. Raises `StoreUnavailable`."""
    if not memory.recalls:
        return ()
    try:
        async with asyncio.timeout(RECALL_SECONDS):
            return await memory.knowledge(exchange.question)
    except StoreUnavailable:
        raise
    except TimeoutError:
        services.count("unrecalled", "too_slow")
        exchange.note(Decision("context", True, "recall_too_slow", f"{RECALL_SECONDS:.0f} s"))
    except Exception:
        log.exception("recall_failed")
        services.count("unrecalled", "failed")
        exchange.note(Decision("context", True, "recall_failed", "see the log"))
    return ()


def parts_of(
    own: str, told_of: PromptParts, opened: LoadedHistory, audience: Audience
) -> ContextParts:
    """Everything that there is for the blocks but knowledge."""
    task, summary = opened.task, opened.summary
    return ContextParts(
        own=own,
        skills=told_of.skill,
        personal=(Section("soul", told_of.soul, 0.4), Section("brief", told_of.brief, 0.6)),
        project=(
            Section("bible", told_of.bible, 0.5),
            Section("heartbeat", told_of.heartbeat, 0.2),
            Section("shared", told_of.shared, 0.3),
        ),
        task=Task(task.text, who_set(task)) if task is not None else None,
        summary=summary.text if summary is not None else "",
        turns=said_of(opened.turns, audience),
    )


def room_for_blocks(window: int, budget: TokenBudget, offered: int, asked: int) -> int:
    """What is left for the blocks of a small window, where tools and question take more than is
    reserved: the blocks go short, by rank, before the question does."""
    return window - budget.response - budget.safety_buffer - DAY - offered - asked


def limits_of(services: Services) -> ContextLimits:
    """How much of a conversation is shown: never more than its block holds."""
    limits, history = services.policies.context, budget_for(services.assistant.window).history
    return limits if limits.max_tokens <= history else replace(limits, max_tokens=history)


# --- messages -----------------------------------------------------------------------------------


def said_of(turns: Sequence[StoredTurn], audience: Audience) -> tuple[DialogueTurn, ...]:
    """Stored turns as the model reads them. In a room each person's words carry their name, so
    that the model can tell people apart."""
    named = audience is not Audience.DIRECT
    return tuple(_said(turn, named) for turn in turns if turn.text or turn.material)


def _said(turn: StoredTurn, named: bool) -> DialogueTurn:
    if turn.role == "assistant":
        return DialogueTurn(turn.message_id, turn.role, turn.text, turn.at)
    writer = (clean_name(turn.speaker) or "somebody") if named else ""
    words = turn.text or WORDLESS
    own = own_in_room(words) if named else own_words(words)
    shown = framed(turn.material, writer) if turn.material else ""
    text = f"{shown}\n{spoken(writer, own)}" if shown else spoken(writer, own)
    return DialogueTurn(turn.message_id, turn.role, text, turn.at, own, writer, shown)


def dialogue(made: Assembled) -> tuple[ModelMessage, ...]:
    """The history as messages: beginning with a person, roles alternating, the summary before the
    first words."""
    messages: list[ModelMessage] = []
    summary = made[BlockKind.HISTORY].text
    for said in made.turns:
        block = TextBlock(said.text)
        if messages and messages[-1].role == said.role:
            messages[-1] = ModelMessage(said.role, (*messages[-1].content, block))
        elif messages or said.role == "user":
            lead = (TextBlock(summary),) if summary and not messages else ()
            messages.append(ModelMessage(said.role, (*lead, block)))
    return tuple(messages)


def user_blocks(made: Assembled, asked: tuple[ContentBlock, ...]) -> tuple[ContentBlock, ...]:
    """The question, the person's own words last: before it the task, what was recalled for it, and
    the summary where nothing else was said before. All of that is material: none of it stands
    among the program's own rules."""
    summary = made[BlockKind.HISTORY].text if not made.turns else ""
    before = (summary, made[BlockKind.TASK].text, made[BlockKind.KNOWLEDGE].text)
    return (*(TextBlock(text) for text in before if text), *asked)


def _joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
