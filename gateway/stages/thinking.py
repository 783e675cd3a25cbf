"""Money, memory, files, model: the stages that make the answer."""

from functools import partial

from gateway.authorship import Material, text_of
from gateway.errors import BadInput, DeliveryError
from gateway.exchange import Exchange
from gateway.llm.prices import price_of, reserve
from gateway.message import Attachment, ChatMessage
from gateway.people import Audience
from gateway.policy.budgets import accounts_for, decide_budget
from gateway.policy.decision import Decision
from gateway.policy.roles import allowed_tools
from gateway.ports import CanFetchFiles, ContentBlock, ImageBlock, ToolProvider
from gateway.ports.conversation_notes import ConversationTask
from gateway.services import Services
from gateway.stages.context import Question, turn_request
from gateway.stages.overheard import OverheardTools
from gateway.stages.sharing import with_sharing
from gateway.stages.shortening import Shortening
from gateway.turn.attachments import (
    AttachmentLimits,
    FetchedFile,
    bytes_to_fetch,
    text_in,
    to_content,
)
from gateway.turn.audit import AuditedTools
from gateway.turn.context.task import SET_TASK, TaskTool, may_set_task
from gateway.turn.live import live_answer
from gateway.turn.loop import run_turn
from gateway.turn.metering import Meter
from gateway.turn.progress_indicator import ProgressIndicator
from gateway.turn.prompt import user_content
from gateway.turn.tokens import estimate
from gateway.turn.toolbox import Toolbox
from gateway.turn.written import CHOSEN, WORDLESS

PROMPT_TOKENS = 1_000
"""What the system prompt and the tools add to an estimate."""
FILE_LIMITS = AttachmentLimits()


async def reserve_budget(exchange: Exchange, services: Services) -> Decision:
    """Set the most that this turn's first call may cost aside, before anything is done for it."""
    accounts = accounts_for(
        exchange.key.tenant,
        exchange.sender or str(exchange.who.person),
        exchange.place,
        services.policies.budgets,
        services.clock.now(),
    )
    voice = services.assistant.voice_in(exchange.place.platform, exchange.place.channel_id)
    model = voice.model or services.assistant.default_model
    # Known to the exchange before it holds anything, so that a stop at any moment gives it back.
    exchange.meter = Meter(
        services.provider,
        services.stores.usage,
        services.prices,
        turn=exchange.id,
        accounts=accounts,
        default_model=model,
        count=services.count,
    )
    if not accounts:
        return decide_budget((), (), 0).decision
    price = price_of(model, services.prices)
    if price is None:
        return Decision("budget", False, "no_price", f"budgets.prices has no {model}")
    asked = estimate(exchange.content) + estimate(text_of(exchange.material))
    tokens = asked + services.policies.context.max_tokens + PROMPT_TOKENS
    most = reserve(tokens, services.assistant.max_tokens, price)
    return await with_sharing(await exchange.meter.reserve_amount(most), exchange, services)


async def read_attachments(exchange: Exchange, services: Services) -> Decision:
    """Fetch the files within bounds; what cannot be read is named to the model."""
    attachments = [a for message in exchange.messages for a in message.attachments]
    if not attachments:
        return Decision("attachments", True, "none")
    # One more than is read, so that the model is told that there are more.
    files = [await fetched(exchange.connected.files, a) for a in attachments[: FILE_LIMITS.files]]
    files += [FetchedFile(a) for a in attachments[FILE_LIMITS.files :]]
    if exchange.memory is not None:
        exchange.memory.reads(
            [Material("file", text_in(file), file.attachment.name) for file in files]
        )
    exchange.files = to_content(files, FILE_LIMITS)
    read = sum(file.data is not None for file in files)
    return Decision("attachments", True, "read", f"{read} of {len(attachments)}")


async def fetched(files: CanFetchFiles | None, attachment: Attachment) -> FetchedFile:
    """The file with its bytes, or with the reason why there are none."""
    limit = bytes_to_fetch(attachment, FILE_LIMITS)
    if limit == 0 or files is None:
        return FetchedFile(attachment)
    try:
        return FetchedFile(attachment, await files.fetch(attachment, limit))
    except BadInput:
        return FetchedFile(attachment, None, "too large")
    except DeliveryError:
        return FetchedFile(attachment, None, "could not be fetched")


async def ask_model(exchange: Exchange, services: Services) -> Decision:
    """One turn with the model and the tools that this person may use before these people."""
    place, meter, policies = exchange.place, exchange.meter, services.policies
    if meter is None:
        raise AssertionError("the model is asked before the stage that sets money aside")
    voice = services.assistant.voice_in(place.platform, place.channel_id)
    tools = tools_of(exchange, services)
    asked = Question(question(exchange), voice.persona, voice.model, tools)
    request = await turn_request(exchange, services, asked)
    exchange.live = live = live_answer(exchange, services)
    shortening = Shortening(exchange, services, meter, voice.model)
    held = sum(len(file.data) for file in exchange.files if isinstance(file, ImageBlock))
    async with ProgressIndicator(exchange, services), shortening:
        exchange.result = await run_turn(
            request,
            meter,
            tools,
            policies.turn,
            services.clock,
            live.on_text if live is not None else None,
            live.take_back if live is not None else _unseen,
            live.waits if live is not None else None,
            lambda seconds: services.slots.without(services.clock.sleep(seconds), held),
        )
    model = voice.model or services.assistant.default_model
    services.calibrations.learn(model, exchange.result.calibration)
    exchange.answer = exchange.result.text
    for use in exchange.result.calls:
        exchange.note(Decision("tool", use.ok, use.name, use.note))
    if meter.refusal is not None:
        return await with_sharing(meter.refusal, exchange, services)
    return Decision("model", True, exchange.result.outcome, exchange.result.model)


def tools_of(exchange: Exchange, services: Services) -> ToolProvider:
    """The tools that this person may use before these people: what memory offers them here, then
    everybody's, then the one for the task."""
    permit = partial(
        allowed_tools,
        role=exchange.who.role,
        audience=exchange.place.audience,
        policy=services.policies.tools,
    )
    tools: ToolProvider = toolbox_of(exchange, services).limited(permit)
    who, audience = exchange.who, exchange.place.audience
    may_set = may_set_task(who, audience) and not exchange.unkept
    if may_set and SET_TASK.name in permit((SET_TASK,)):
        last = exchange.last
        by = ConversationTask("", str(who.person), last.author.name, last.id)
        tools = exchange.tasks = TaskTool(tools, by, exchange.contents, audience)
    return AuditedTools(tools, exchange, services)


def toolbox_of(exchange: Exchange, services: Services) -> Toolbox:
    """What memory offers this person here, then everybody's, whose results memory is told of."""
    if exchange.memory is None:
        return services.toolbox
    if services.toolbox.empty:
        return Toolbox((exchange.memory.tools,))
    return Toolbox((exchange.memory.tools, OverheardTools(services.toolbox, exchange.memory)))


def _unseen(_: str) -> bool:
    """Nothing of an answer is shown before it is complete."""
    return True


def question(exchange: Exchange) -> tuple[ContentBlock, ...]:
    """The files, then what was written, each message after what it replies to."""
    in_room = exchange.place.audience is not Audience.DIRECT
    blocks: list[ContentBlock] = list(exchange.files)
    for message, content in zip(exchange.messages, exchange.contents, strict=True):
        words = content or wordless(message)
        writer = (message.author.name or "somebody") if in_room else ""
        quote, material = message.quote, message.material
        blocks += user_content(words, writer=writer, quote=quote, material=material)
    return tuple(blocks)


def wordless(message: ChatMessage) -> str:
    """What stands for an empty message: a bare mention, or a file without a word."""
    if message.material:
        chosen = all(piece.authorship in ("button", "chosen") for piece in message.material)
        return CHOSEN if chosen else WORDLESS
    return "(sent a file)" if message.attachments else "(said nothing but your name)"
