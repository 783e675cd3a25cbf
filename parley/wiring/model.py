"""Builds the model with its fallbacks, and the tools of the configured MCP servers."""

from gateway.llm.factory import build_provider
from gateway.llm.prices import cost, price_of
from gateway.observe.timing import TimedProvider
from gateway.ports import AlarmClock, ModelFinished
from gateway.turn.mcp_connection import McpTools
from gateway.turn.services import CurrentPolicies
from gateway.turn.toolbox import Toolbox
from parley.config import Settings
from parley.wiring.policies import choice_of, mcp_servers_of, policies_of, rules_for_tools_of


def provider_of(
    settings: Settings, clock: AlarmClock, policies: CurrentPolicies | None = None
) -> TimedProvider:
    """Return the configured model with its fallbacks. `policies` has the prices in force."""
    current = policies or CurrentPolicies(policies_of(settings))
    provider = build_provider(
        choice_of(settings.model),
        clock,
        [choice_of(fallback) for fallback in settings.model.fallbacks],
    )

    def micros(finished: ModelFinished) -> int:
        price = price_of(finished.model, current.value.prices)
        return 0 if price is None else cost(finished.usage, price)

    return TimedProvider(provider, clock, micros)


def toolbox_of(settings: Settings, clock: AlarmClock) -> Toolbox:
    """Return the tools of the configured MCP servers."""
    return Toolbox(
        [
            McpTools(each, clock, rules_for_tools_of(settings, each.name))
            for each in mcp_servers_of(settings)
        ]
    )
