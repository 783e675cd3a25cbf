"""Assembles the request to the model: tools, question, and the five blocks that fit beside them."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Final

from gateway.immutable import replace
from gateway.llm.tokens import counter, estimate_messages, estimate_tools
from gateway.message import ChatMessage
from gateway.people import Audience
from gateway.policy.access import allowed_tools
from gateway.policy.decision import Decision
from gateway.ports import ContentBlock, ModelMessage, TextBlock, ToolProvider, ToolSpec
from gateway.ports.conversations import ConversationTask, StoredTurn
from gateway.ports.prompt_blocks import (
    Assembled,
    BlockKind,
    BlockSection,
    ContextParts,
    Count,
    PromptParts,
    Task,
    ThreadText,
)
from gateway.turn.audit import AuditedTools
from gateway.turn.catchup_tool import CATCH_UP, CatchUpTool
from gateway.turn.context.assembler import assemble as assemble_blocks
from gateway.turn.context.history import LoadedHistory
from gateway.turn.context.knowledge import assemble_deduplicated
from gateway.turn.context.task import SET_TASK, TaskTool, may_set_task
from gateway.turn.context.token_budgets import TokenBudget, budget_for, usage_data
from gateway.turn.history_and_summary import dialogue_turns
from gateway.turn.long_documents import SEARCH_DOCUMENT, DocumentTools, document_place
from gateway.turn.model_turn import TurnRequest
from gateway.turn.prompt import (
    CHOSEN,
    MEMORY_MISSING,
    PromptFacts,
    own_text,
    today_text,
    user_content,
    who_set,
    wordless,
)
from gateway.turn.reminder_tool import REMIND, Maker, RemindTool
from gateway.turn.services import Services
from gateway.turn.tools import OverheardTools, Permit, Toolbox
from gateway.turn.turn_context import TurnContext

ROOMY: Final = 32_000
"""The window in tokens from which tools fit beside the sum of its budget."""
AGE: Final = 90
"""Tokens of the sentences about an old question."""
MISSING: Final = 60
"""Tokens of the sentences about missing parts of memory."""
THREAD: Final = 60
"""Tokens of the sentences about messages of a thread that the model does not see."""
DAY: Final = 40
"""Tokens of the line with the day and the time."""


WEB_SEARCH: Final = ToolSpec("web_search", "", {}, side_effects=False)
"""The service's own search and fetch, for the rules about tools."""
OWN_TOOLS: Final = (SET_TASK, REMIND, CATCH_UP, SEARCH_DOCUMENT, WEB_SEARCH)
"""The tools that the gateway itself can offer."""
MAX_GAPS: Final = 20
"""The gaps between questions that tell the rhythm of a conversation."""


async def assemble(turn: TurnContext, services: Services) -> Decision:
    """Assemble the five blocks for this question. Raises `OwnTextTooLong`."""
    assistant, known, place = services.assistant, services.calibrations, turn.place
    persona = assistant.persona_in(place.platform, *place.channel_ids)
    model = persona.model or assistant.default_model
    window = services.window(persona.model)
    budget, steady = budget_for(window), known.steady(model)
    count: Count = counter(steady)
    tools = turn.generation.tools = await tools_of(turn, services)
    inputs, question = turn.inputs, question_of(turn)
    title = turn.connected.manifest.title
    facts = PromptFacts(assistant.name, title, place.audience, persona.persona)
    parts = parts_of(
        own_text(facts), inputs.prompt_parts, inputs.opened, place.audience, inputs.thread
    )
    total = budget.blocks_total
    if window < ROOMY:
        question_tokens = estimate_messages((ModelMessage("user", question),), steady)
        question_tokens += AGE if turn.attempt.late is not None else 0
        question_tokens += MISSING if inputs.missing else 0
        question_tokens += THREAD if inputs.thread_note else 0
        offered = estimate_tools(await tools.tools(), steady) + round(steady.constant)
        total = room_for_blocks(window, budget, offered, question_tokens)
    # Checked at the start; a later calibration of token counts must not make it fail.
    if (own := count(parts.own)) > budget.system:
        budget = replace(budget, system=own)
    ranks = services.policies.ranks
    make = partial(assemble_blocks, budget=budget, count=count, ranks=ranks, total=total)
    asking = {message.id for message in turn.asked.messages}
    made = assemble_deduplicated(parts, inputs.knowledge, asking, make)
    turn.generation.request = TurnRequest(
        system=_joined(made[BlockKind.SYSTEM].text, made[BlockKind.PROJECT].text),
        history=dialogue(made),
        user=user_blocks(made, question, today_text(services.clock.now(), turn.asker.zone)),
        model=persona.model,
        max_tokens=min(assistant.max_tokens, budget.response),
        window=window,
        largest_window=services.windows.largest(persona.model),
        reference=turn.id,
        calibration=known.latest(model),
        system_volatile=_joined(
            turn.attempt.late.for_model(turn.asker.zone) if turn.attempt.late is not None else "",
            MEMORY_MISSING if inputs.missing else "",
            inputs.thread_note,
        ),
        gaps=gaps_of(inputs.opened.turns, services.clock.now()),
        web=assistant.web and bool(_permit(turn, services)((WEB_SEARCH,))),
        limits=services.policies.turn,
        file_types=turn.connected.manifest.capabilities.file_types,
    )
    reserved = budget.grand_total - budget.blocks_total
    data = usage_data(made, window, reserved)
    detail = f"{made.tokens} of {total} tokens"
    return Decision("context", True, "blocks", detail, data=data)


def gaps_of(turns: Sequence[StoredTurn], now: datetime) -> tuple[float, ...]:
    """Return the seconds between the latest questions of a conversation, up to now."""
    asked = [turn.at for turn in turns if turn.role == "user"][-MAX_GAPS:]
    return tuple((b - a).total_seconds() for a, b in pairwise((*asked, now)) if b >= a)


async def tools_of(turn: TurnContext, services: Services) -> AuditedTools:
    """Return the tools that this person may use in front of this audience: those of memory here,
    then the general ones, then those for the task, for appointments and for messages of the place.
    Raises `StoreUnavailable`."""
    permit = _permit(turn, services)
    tools: ToolProvider = toolbox_of(turn, services).limited(permit)
    who, audience = turn.asker.who, turn.place.audience
    may_set = may_set_task(who, audience) and not turn.inputs.unkept
    if may_set and SET_TASK.name in permit((SET_TASK,)):
        last = turn.asked.last
        by = ConversationTask("", turn.asker.person, last.author.name, last.id)
        tools = turn.generation.tasks = TaskTool(tools, by, turn.asked.contents, audience)
    if turn.policies.appointments.enabled and REMIND.name in permit((REMIND,)):
        tools = _with_reminders(tools, turn, services)
    return AuditedTools(await _with_catch_up(tools, turn, services), who, turn.place, services)


async def _with_catch_up(
    tools: ToolProvider, turn: TurnContext, services: Services
) -> ToolProvider:
    """Return the tools with the one for messages of the place, where these are kept."""
    catchup, place, room = services.catchup, turn.place, str(turn.key.room)
    if catchup is None or place.audience is Audience.DIRECT or place.closed_thread:
        return tools
    if not (_permit(turn, services)((CATCH_UP,)) and await catchup.is_on(room)):
        return tools
    memory, zone = turn.inputs.memory, turn.asker.zone
    turn.generation.catchup = tool = CatchUpTool(tools, catchup, room, zone, services.clock, memory)
    return tool


def _with_reminders(tools: ToolProvider, turn: TurnContext, services: Services) -> ToolProvider:
    store, last, policy = services.stores.appointments, turn.asked.last, turn.policies.appointments
    if store is None or last.author.is_bot or last.author.is_chat:
        return tools
    if turn.asked.scheduled_for is not None:  # it would make more of itself
        return tools
    who = turn.asker.who
    maker = Maker(
        who,
        last.author.name,
        last.place,
        turn.asker.zone,
        turn.asked.contents,
        services.clock.now(),
        # When it is asked, nobody tells any more that its maker has no access to projects.
        who.role.at_least(policy.prompts) and not who.outside,
    )
    turn.generation.reminders = RemindTool(tools, store, policy, maker, turn.id)
    return turn.generation.reminders


def _permit(turn: TurnContext, services: Services) -> Permit:
    return partial(
        allowed_tools,
        role=turn.asker.who.role,
        audience=turn.place.audience,
        policy=services.policies.tools,
    )


def toolbox_of(turn: TurnContext, services: Services) -> Toolbox:
    """Return the tools of memory for this person, then the general ones, whose results memory
    notes, then the search of the conversation's documents; no search without others, because not
    every model supports tools."""
    memory, searchable = turn.inputs.memory, turn.inputs.searchable
    providers: list[ToolProvider] = [] if memory is None else [memory.tools]
    if not services.toolbox.empty:
        general = services.toolbox
        providers.append(general if memory is None else OverheardTools(general, memory))
    if not (searchable and providers):
        return services.toolbox if memory is None else Toolbox(providers)
    place = document_place(turn)
    return Toolbox((*providers, DocumentTools(services.long_documents, place, searchable, memory)))


def question_of(turn: TurnContext) -> tuple[ContentBlock, ...]:
    """Return the files, then the messages, each after the message that it replies to."""
    in_room = turn.place.audience is not Audience.DIRECT
    blocks: list[ContentBlock] = list(turn.inputs.files)
    for message, content in turn.asked.texts:
        words = content or words_for(message)
        writer = (message.author.name or "somebody") if in_room else ""
        quote, material = message.quote, message.material
        blocks += user_content(words, writer=writer, quote=quote, material=material)
    return tuple(blocks)


def words_for(message: ChatMessage) -> str:
    """Return the text for an empty message: a bare mention, or a file without text."""
    files, material = message.attachments, message.material
    if material and all(piece.authorship in ("button", "chosen") for piece in material):
        return CHOSEN
    return wordless(files, material) if files or material else "(wrote only your name)"


def parts_of(
    own: str,
    prompt_parts: PromptParts,
    opened: LoadedHistory,
    audience: Audience,
    thread: ThreadText | None = None,
) -> ContextParts:
    """Return all input of the blocks except knowledge."""
    task, summary = opened.task, opened.summary
    return ContextParts(
        own=own,
        skills=prompt_parts.skill,
        personal=(
            BlockSection("soul", prompt_parts.soul, 0.4),
            BlockSection("brief", prompt_parts.brief, 0.6),
        ),
        project=(
            BlockSection("bible", prompt_parts.bible, 0.5),
            BlockSection("heartbeat", prompt_parts.heartbeat, 0.2),
            BlockSection("shared", prompt_parts.shared, 0.3),
        ),
        task=Task(task.text, who_set(task)) if task is not None else None,
        summary=summary.text if summary is not None else "",
        turns=dialogue_turns(opened.turns, audience),
        thread=thread,
    )


def room_for_blocks(window: int, budget: TokenBudget, offered: int, question: int) -> int:
    """Return the tokens for the blocks of a small window, in which tools and question need more
    than their reserve: the blocks are cut, by rank, before the question is."""
    return window - budget.response - budget.safety_buffer - DAY - offered - question


def dialogue(made: Assembled) -> tuple[ModelMessage, ...]:
    """Return the history as messages: it begins with a person, roles alternate, and the summary
    precedes the first message."""
    messages: list[ModelMessage] = []
    summary = made[BlockKind.HISTORY].text
    for step in made.turns:
        block = TextBlock(step.text)
        if messages and messages[-1].role == step.role:
            messages[-1] = ModelMessage(step.role, (*messages[-1].content, block))
        elif messages or step.role == "user":
            lead = (TextBlock(summary),) if summary and not messages else ()
            messages.append(ModelMessage(step.role, (*lead, block)))
    return tuple(messages)


def user_blocks(
    made: Assembled, question: tuple[ContentBlock, ...], today: str
) -> tuple[ContentBlock, ...]:
    """Return the question, the person's own words last: before it the task, the earlier messages of
    the thread, the recalled memories, the time, and the summary if there is no history. All of
    these are material, apart from the program's own rules and the time."""
    summary = made[BlockKind.HISTORY].text if not made.turns else ""
    task, knowledge = made[BlockKind.TASK].text, made[BlockKind.KNOWLEDGE].text
    before = (summary, task, made.thread, knowledge, today)
    return (*(TextBlock(text) for text in before if text), *question)


def _joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
