"""Money, memory, files, model: the stages that make the answer."""

from contextlib import AsyncExitStack

from gateway.conversation import window
from gateway.exchange import Exchange
from gateway.live import LiveAnswer
from gateway.llm.prices import price_of, reserve
from gateway.message import ChatMessage, Quote
from gateway.people import Audience
from gateway.policy.budgets import accounts_for, decide_budget
from gateway.policy.decision import Decision
from gateway.policy.roles import allowed_tools
from gateway.ports import CanFetch, ModelMessage, TextBlock
from gateway.presence import Presence
from gateway.services import Services
from gateway.stores import StoredTurn
from gateway.turn.attachments import MAX_FILES, Fetched, to_content
from gateway.turn.loop import run_turn
from gateway.turn.prompt import system_prompt
from gateway.turn.tokens import estimate
from gateway.turn.types import TurnRequest

MAX_QUOTE = 2_000
"""Characters of a quoted message that the model sees."""
PROMPT_TOKENS = 1_000
"""What the system prompt and the tools add to an estimate."""


async def reserve_budget(exchange: Exchange, services: Services) -> Decision:
    """Set the most that this turn's first call may cost aside, before it is made."""
    accounts = accounts_for(
        exchange.key.tenant,
        exchange.who.person,
        exchange.place,
        services.policies.budgets,
        services.clock.now(),
    )
    if not accounts:
        return decide_budget((), (), 0).decision
    voice = services.assistant.voice_in(exchange.place.platform, exchange.place.channel_id)
    model = voice.model or services.assistant.default_model
    price = price_of(model, services.prices)
    if price is None:
        return Decision("budget", False, "no_price", f"budgets.prices has no {model}")
    tokens = estimate(exchange.content) + services.policies.context.max_tokens + PROMPT_TOKENS
    most = reserve(tokens, services.assistant.max_tokens, price)
    outcome = await services.stores.usage.reserve(exchange.id, accounts, most)
    if outcome.decision.allowed:
        exchange.accounts = accounts
    for alert in outcome.alerts:
        services.count("budget_alert", alert)
    return outcome.decision


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
    adapter = exchange.adapter
    fetched = []
    for attachment in attachments[:MAX_FILES]:
        if isinstance(adapter, CanFetch):
            fetched.append(await Fetched.through(adapter, attachment))
        else:
            fetched.append(Fetched(attachment, None, "this platform gives no files"))
    exchange.files = to_content(fetched, left_out=len(attachments) - len(fetched))
    return Decision("attachments", True, "read", f"{len(fetched)} of {len(attachments)}")


async def ask_model(exchange: Exchange, services: Services) -> Decision:
    """One turn with the model and the tools that this person may use before these people."""
    offered = await services.toolbox.tools()
    names = allowed_tools(
        offered, exchange.who.role, exchange.place.audience, services.policies.tools
    )
    voice = services.assistant.voice_in(exchange.place.platform, exchange.place.channel_id)
    request = TurnRequest(
        system=system_prompt(
            services.assistant.name,
            voice.persona,
            exchange.place.platform,
            exchange.place.audience,
            services.clock.now().date(),
        ),
        history=exchange.history,
        user=(TextBlock(question_text(exchange)), *exchange.files),
        model=voice.model,
        max_tokens=services.assistant.max_tokens,
        reference=exchange.id,
    )
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(Presence(exchange, services))
        live = await stack.enter_async_context(LiveAnswer(exchange))
        exchange.result = await run_turn(
            request,
            services.provider,
            services.toolbox.only(names),
            services.policies.turn,
            services.clock,
            live.on_text,
        )
    exchange.answer = exchange.result.text
    for use in exchange.result.calls:
        exchange.note(Decision("tool", use.ok, use.name, use.note))
    return Decision("model", True, exchange.result.outcome, exchange.result.model)


def as_dialogue(turns: tuple[StoredTurn, ...], audience: Audience) -> tuple[ModelMessage, ...]:
    """Stored turns as messages to the model: beginning with a person, roles alternating.

    In a room each person's words carry their name, so that the model can tell people apart.
    """
    dialogue: list[ModelMessage] = []
    for turn in turns:
        if not turn.text or (not dialogue and turn.role == "assistant"):
            continue
        text = turn.text if turn.role == "assistant" else named(turn.speaker, turn.text, audience)
        if dialogue and dialogue[-1].role == turn.role:
            blocks = (*dialogue[-1].content, TextBlock(text))
            dialogue[-1] = ModelMessage(turn.role, blocks)
        else:
            dialogue.append(ModelMessage(turn.role, (TextBlock(text),)))
    return tuple(dialogue)


def question_text(exchange: Exchange) -> str:
    """The person's words, after what they reply to."""
    quotes = [quoted(m.quote) for m in exchange.messages if m.quote is not None and m.quote.text]
    content = exchange.content or fallback_text(exchange.last)
    text = named(exchange.last.author.name, content, exchange.place.audience)
    return "\n".join([*quotes, text])


def named(speaker: str, text: str, audience: Audience) -> str:
    """The text, with who says it in front where several people are heard."""
    if audience is Audience.DIRECT or not speaker:
        return text
    return f"{one_line(speaker, 80)}: {text}"


def quoted(quote: Quote) -> str:
    """A quoted message, marked as such: it is not what this person says."""
    author = "you" if quote.by_this_bot else one_line(quote.author_name, 80) or "somebody"
    return f'[In reply to {author}: "{one_line(quote.text, MAX_QUOTE)}"]'


def fallback_text(message: ChatMessage) -> str:
    """What stands for an empty message: a bare mention, or a file without a word."""
    return "(sent a file)" if message.attachments else "(said nothing but your name)"


def one_line(text: str, limit: int) -> str:
    """The text without line breaks, cut with an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
