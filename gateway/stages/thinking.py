"""Money, memory, files, model: the stages that make the answer."""

from functools import partial

from gateway.auditing import AuditedTools
from gateway.conversation import window
from gateway.errors import BadInput, DeliveryError
from gateway.exchange import Exchange
from gateway.live import live_answer
from gateway.llm.prices import price_of, reserve
from gateway.message import Attachment, ChatMessage
from gateway.metering import Meter
from gateway.people import Audience
from gateway.policy.budgets import accounts_for, decide_budget
from gateway.policy.decision import Decision
from gateway.policy.roles import allowed_tools
from gateway.ports import CanFetch, ContentBlock, ModelMessage, TextBlock
from gateway.presence import Presence
from gateway.services import Services
from gateway.stores import StoredTurn
from gateway.turn.attachments import AttachmentLimits, FetchedFile, bytes_to_fetch, to_content
from gateway.turn.loop import run_turn
from gateway.turn.prompt import PromptFacts, said_by, system_prompt, user_content
from gateway.turn.tokens import estimate
from gateway.turn.toolbox import Toolbox
from gateway.turn.types import TurnRequest

PROMPT_TOKENS = 1_000
"""What the system prompt and the tools add to an estimate."""
FILE_LIMITS = AttachmentLimits()


async def reserve_budget(exchange: Exchange, services: Services) -> Decision:
    """Set the most that this turn's first call may cost aside, before anything is done for it."""
    accounts = accounts_for(
        exchange.key.tenant,
        exchange.who.person,
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
    tokens = estimate(exchange.content) + services.policies.context.max_tokens + PROMPT_TOKENS
    most = reserve(tokens, services.assistant.max_tokens, price)
    return await exchange.meter.set_aside(most)


async def gather_context(exchange: Exchange, services: Services) -> Decision:
    """What was said before, as much as fits."""
    limits = services.policies.context
    turns = await services.stores.conversations.latest(exchange.key, limits.max_messages)
    asked = {message.id for message in exchange.messages}
    earlier = [turn for turn in turns if turn.message_id not in asked]
    kept = window(earlier, limits, services.clock.now(), estimate)
    exchange.history = as_dialogue(kept, exchange.place.audience)
    return Decision("context", True, "window", f"{len(kept)} of {len(earlier)} messages")


async def read_attachments(exchange: Exchange, services: Services) -> Decision:
    """Fetch the files within bounds; what cannot be read is named to the model."""
    attachments = [a for message in exchange.messages for a in message.attachments]
    if not attachments:
        return Decision("attachments", True, "none")
    # One more than is read, so that the model is told that there are more.
    files = [await fetched(exchange.connected.files, a) for a in attachments[: FILE_LIMITS.files]]
    files += [FetchedFile(a) for a in attachments[FILE_LIMITS.files :]]
    exchange.files = to_content(files, FILE_LIMITS)
    read = sum(file.data is not None for file in files)
    return Decision("attachments", True, "read", f"{read} of {len(attachments)}")


async def fetched(files: CanFetch | None, attachment: Attachment) -> FetchedFile:
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
    place, policies, meter = exchange.place, services.policies, exchange.meter
    if meter is None:
        raise AssertionError("the model is asked before the stage that sets money aside")
    voice = services.assistant.voice_in(place.platform, place.channel_id)
    facts = PromptFacts(
        services.assistant.name,
        place.platform,
        place.audience,
        services.clock.now().date(),
        voice.persona,
        await exchange.memory.prompt() if exchange.memory is not None else "",
    )
    request = TurnRequest(
        system=system_prompt(facts),
        history=exchange.history,
        user=question(exchange),
        model=voice.model,
        max_tokens=services.assistant.max_tokens,
        reference=exchange.id,
    )
    permit = partial(
        allowed_tools, role=exchange.who.role, audience=place.audience, policy=policies.tools
    )
    exchange.live = live = live_answer(exchange, services)
    async with Presence(exchange, services):
        exchange.result = await run_turn(
            request,
            meter,
            AuditedTools(toolbox_of(exchange, services).limited(permit), exchange, services),
            policies.turn,
            services.clock,
            live.on_text if live is not None else None,
            live.take_back if live is not None else _unseen,
        )
    exchange.answer = exchange.result.text
    for use in exchange.result.calls:
        exchange.note(Decision("tool", use.ok, use.name, use.note))
    if meter.refusal is not None:
        return meter.refusal
    return Decision("model", True, exchange.result.outcome, exchange.result.model)


def toolbox_of(exchange: Exchange, services: Services) -> Toolbox:
    """The tools of this turn: what memory offers this person here, then everybody's."""
    if exchange.memory is None:
        return services.toolbox
    further = () if services.toolbox.empty else (services.toolbox,)
    return Toolbox((exchange.memory.tools, *further))


def _unseen(_: str) -> bool:
    """Nothing of an answer is shown before it is complete."""
    return True


def as_dialogue(turns: tuple[StoredTurn, ...], audience: Audience) -> tuple[ModelMessage, ...]:
    """Stored turns as messages to the model: beginning with a person, roles alternating.

    In a room each person's words carry their name, so that the model can tell people apart.
    """
    dialogue: list[ModelMessage] = []
    for turn in turns:
        if not turn.text or (not dialogue and turn.role == "assistant"):
            continue
        spoken = turn.role == "user" and audience is not Audience.DIRECT
        block = TextBlock(said_by(turn.speaker, turn.text) if spoken else turn.text)
        if dialogue and dialogue[-1].role == turn.role:
            dialogue[-1] = ModelMessage(turn.role, (*dialogue[-1].content, block))
        else:
            dialogue.append(ModelMessage(turn.role, (block,)))
    return tuple(dialogue)


def question(exchange: Exchange) -> tuple[ContentBlock, ...]:
    """The files, then what was written, each message after what it replies to."""
    in_room = exchange.place.audience is not Audience.DIRECT
    blocks: list[ContentBlock] = list(exchange.files)
    for message, content in zip(exchange.messages, exchange.contents, strict=True):
        words = content or wordless(message)
        writer = (message.author.name or "somebody") if in_room else ""
        blocks += user_content(words, writer=writer, quote=message.quote)
    return tuple(blocks)


def wordless(message: ChatMessage) -> str:
    """What stands for an empty message: a bare mention, or a file without a word."""
    return "(sent a file)" if message.attachments else "(said nothing but your name)"
