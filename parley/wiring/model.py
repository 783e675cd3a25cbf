"""Builds the model with its fallbacks, and the tools of the configured MCP servers."""

from gateway.llm.factory import build_provider
from gateway.llm.model_health import ModelHealth
from gateway.llm.prices import cost, price_of
from gateway.ports import AlarmClock, LLMProvider, ModelFinished
from gateway.turn.mcp_connection import McpTools
from gateway.turn.services import CurrentPolicies
from gateway.turn.toolbox import Toolbox
from parley.config import Settings
from parley.wiring.policies import choice_of, mcp_servers_of, policies_of, rules_for_tools_of


def provider_of(
    settings: Settings,
    clock: AlarmClock,
    policies: CurrentPolicies | None = None,
    health: ModelHealth | None = None,
) -> LLMProvider:
    """Return the configured model with its fallbacks. `policies` has the prices in force, and
    `health` learns of each call."""
    current = policies or CurrentPolicies(policies_of(settings))

    def micros(finished: ModelFinished) -> int:
        price = price_of(finished.model, current.value.prices)
        return 0 if price is None else cost(finished.usage, price)

    return build_provider(
        choice_of(settings.model),
        clock,
        [choice_of(fallback) for fallback in settings.model.fallbacks],
        health,
        micros,
    )


def toolbox_of(settings: Settings, clock: AlarmClock) -> Toolbox:
    """Return the tools of the configured MCP servers."""
    return Toolbox(
        [
            McpTools(each, clock, rules_for_tools_of(settings, each.name))
            for each in mcp_servers_of(settings)
        ]
    )
