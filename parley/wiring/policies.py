"""Turns the configuration into the values of the gateway."""

from datetime import timedelta
from pathlib import Path
from typing import Final

from gateway.conversation import ContextLimits, SummaryPolicy
from gateway.immutable import replace
from gateway.languages.installed import Languages
from gateway.llm.factory import ModelChoice
from gateway.llm.prices import DEFAULT_PRICES, Price, price_of
from gateway.outbound.retry_decision import DeliveryRules
from gateway.people import Role
from gateway.policy.access import AccessPolicy, RolePolicy, ToolPolicy
from gateway.policy.persona import Assistant, ChannelPersona
from gateway.policy.question_age import AgeLimits
from gateway.ports import SendPace
from gateway.ports.prompt_blocks import ANSWER_RANKS, CHAT_RANKS
from gateway.text import text, verbatim
from gateway.turn.external_mcp_server import McpServer
from gateway.turn.model_turn import TurnLimits
from gateway.turn.services import Policies
from parley.config import Problem, Settings, sections

# Translators: it stands alone at a field, or after the name of a key and a colon.
NO_PRICE: Final = text("has no price for {model}, which is not called while a budget is set.")
ADD_PRICE: Final = text(
    "Add its price in dollars per million tokens (for one of your own {model}: {example}), or "
    "remove the budgets."
)
INPUT_OF_SUMMARY: Final = 4
"""Tokens that a summary reads for each one that it writes, about."""


def policies_of(settings: Settings) -> Policies:
    """The policies of the gateway."""
    access = settings.access
    return Policies(
        assistant=assistant_of(settings),
        prices=prices_of(settings),
        invocation=settings.invocation,
        access=AccessPolicy(
            admission=access.admission,
            allowed_channels=frozenset(access.allowed_channels or ()),
            blocked_channels=frozenset(access.blocked_channels),
            allowed_users=frozenset(access.allowed_users or ()),
            blocked_users=frozenset(access.blocked_users),
            allowed_workspaces=frozenset(access.allowed_workspaces or ()),
            blocked_workspaces=frozenset(access.blocked_workspaces),
        ),
        roles=RolePolicy(
            owners=frozenset(access.owners),
            operators=frozenset(access.operators),
            members=frozenset(access.members),
            default=Role(access.default_role),
        ),
        tools=ToolPolicy(settings.tools),
        limits=settings.limits,
        budgets=settings.budgets,
        context=ContextLimits(
            max_messages=settings.context.max_messages,
            max_tokens=settings.context.max_tokens,
            ttl=timedelta(hours=settings.context.ttl_hours),
        ),
        ages=AgeLimits(
            note_after=timedelta(minutes=settings.conversation.age_note_minutes),
            answer_within=timedelta(hours=settings.conversation.answer_within_hours),
        ),
        summaries=SummaryPolicy(settings.context.summaries, summary_model(settings)),
        turn=TurnLimits(
            seconds=settings.model.turn_seconds, retry_seconds=settings.model.retry_seconds
        ),
        ranks=ANSWER_RANKS if settings.context.keep == "knowledge" else CHAT_RANKS,
        reads_threads=settings.context.thread_history == "mention",
        live=settings.delivery.live,
        acknowledge=settings.delivery.acknowledge.strip(),
        takeover_idle=timedelta(hours=settings.console.takeover_hours),
        languages=Languages(settings.languages, Path(settings.languages.folder)),
        times=settings.time,
    )


def assistant_of(settings: Settings) -> Assistant:
    """The assistant, with its personas and models by channel."""
    return Assistant(
        name=settings.assistant.name,
        general=ChannelPersona(settings.assistant.persona, settings.model.name),
        channels={
            channel: ChannelPersona(own.persona or "", own.model or "")
            for channel, own in settings.assistant.channels.items()
        },
        max_tokens=settings.model.max_tokens,
        default_model=model_name(settings.model),
        window=window_of(settings),
        disclosure=settings.assistant.disclosure,
        web=any(model.web for model in (settings.model, *settings.model.fallbacks)),
    )


def window_of(settings: Settings) -> int:
    """The smallest context window of all configured models."""
    return min(model.window for model in (settings.model, *settings.model.fallbacks))


def model_name(choice: sections.ModelChoiceSection) -> str:
    """The name of a configured model; by default the provider's."""
    return choice_of(choice).model


def summary_model(settings: Settings) -> str:
    """The model that writes summaries: the configured one, otherwise the cheapest of the models of
    the first provider whose prices are known; empty for the model of the answer."""
    if settings.context.summary_model:
        return settings.context.summary_model
    first, prices = settings.model, prices_of(settings)
    names = [model_name(first)]
    names += [own.model for own in settings.assistant.channels.values() if own.model]
    names += [
        model_name(other)
        for other in first.fallbacks
        if (other.provider, other.base_url) == (first.provider, first.base_url)
    ]
    known = {name: price for name in names if (price := price_of(name, prices)) is not None}
    if names[0] not in known:
        return ""
    return min(known, key=lambda name: INPUT_OF_SUMMARY * known[name].input + known[name].output)


def choice_of(choice: sections.ModelChoiceSection) -> ModelChoice:
    """A configured model for the provider factory."""
    return ModelChoice(
        provider=choice.provider,
        name=choice.name,
        api_key=choice.api_key.get_secret_value() if choice.api_key else "",
        base_url=choice.base_url or "",
        first_token_seconds=_seconds(choice, "first_token_seconds"),
        between_tokens_seconds=_seconds(choice, "between_tokens_seconds"),
        window=choice.window,
        api=choice.api,
        without=choice.without,
        pdf=choice.pdf,
        auth_token=choice.auth_token.get_secret_value() if choice.auth_token else "",
        headers={name: value.get_secret_value() for name, value in choice.headers.items()},
        web=choice.web,
    )


def _seconds(choice: sections.ModelChoiceSection, limit: str) -> float:
    """The limit of this name; `timeout` sets one that is not set."""
    own: float = getattr(choice, limit)
    return own if choice.timeout is None or limit in choice.model_fields_set else choice.timeout


def prices_of(settings: Settings) -> dict[str, Price]:
    """The prices of the known models, replaced or extended by the configured ones."""
    own = settings.budgets.prices
    configured = {name: Price(**price.model_dump(exclude_none=True)) for name, price in own.items()}
    return {**DEFAULT_PRICES, **configured}


def unpriced_models(settings: Settings) -> list[Problem]:
    """A problem for each model without a price, also of the fallbacks, while a budget is set."""
    policies = policies_of(settings)
    models = {*policies.assistant.models, *map(model_name, settings.model.fallbacks)}
    if policies.budgets.unlimited:
        return []
    return [
        Problem(
            "budgets.prices",
            NO_PRICE.of(model=verbatim(model)),
            ADD_PRICE.of(model=verbatim(model), example=verbatim("{input: 0, output: 0}")),
        )
        for model in sorted(models)
        if price_of(model, policies.prices) is None
    ]


def delivery_rules(settings: Settings) -> DeliveryRules:
    """The lifetime of answers, and the rule for sends with an unknown result."""
    return DeliveryRules(
        timedelta(hours=settings.delivery.lifetime_hours), settings.delivery.repeat_ambiguous
    )


def pace_of(platform_pace: SendPace, settings: Settings) -> SendPace:
    """The platform's pace with the configured changes. A configured rate of a chat also replaces
    the platform's room limit."""
    pace, delivery = platform_pace, settings.delivery
    if delivery.platform_per_second is not None:
        pace = replace(pace, platform_per_second=delivery.platform_per_second)
    if delivery.chat_per_second is not None:
        pace = replace(pace, chat_per_second=delivery.chat_per_second, room_per_minute=0.0)
    return pace


def mcp_servers_of(settings: Settings) -> list[McpServer]:
    """The configured MCP servers."""
    return [
        McpServer(
            name=name,
            command=server.command or "",
            args=server.args,
            env={key: value.get_secret_value() for key, value in server.env.items()},
            cwd=server.cwd or "",
            url=server.url or "",
            headers={key: value.get_secret_value() for key, value in server.headers.items()},
        )
        for name, server in settings.mcp.servers.items()
    ]


def rules_for_tools_of(settings: Settings, server: str) -> frozenset[str]:
    """The tools of a server for which there are rules."""
    return frozenset(name for name in settings.tools if name.startswith(f"{server}__"))
