"""Builds the model with its fallbacks, and the tools of the configured MCP servers."""

from gateway.llm.factory import build_provider
from gateway.llm.known_windows import KnownWindows, ModelPlace
from gateway.llm.model_health import ModelHealth
from gateway.llm.openai_compatible import headers
from gateway.llm.prices import cost, price_of
from gateway.llm.served_window import ModelServer, WindowSearch
from gateway.ports import AlarmClock, LLMProvider, ModelFinished
from gateway.turn.mcp_connection import McpTools
from gateway.turn.services import CurrentPolicies
from gateway.turn.tools import Toolbox
from parley.config import Settings
from parley.config.sections import ModelChoiceSection
from parley.wiring.policies import (
    choice_of,
    mcp_servers_of,
    model_name,
    policies_of,
    rules_for_tools_of,
)
from safety.http.shown_address import shown_address


def provider_of(
    settings: Settings,
    clock: AlarmClock,
    policies: CurrentPolicies | None = None,
    windows: KnownWindows | None = None,
    health: ModelHealth | None = None,
) -> LLMProvider:
    """Return the configured model with its fallbacks. `policies` has the prices in force, `windows`
    and `health` learn of each call."""
    current = policies or CurrentPolicies(policies_of(settings))

    def micros(finished: ModelFinished) -> int:
        price = price_of(finished.model, current.value.prices)
        return 0 if price is None else cost(finished.usage, price)

    return build_provider(
        choice_of(settings.model),
        clock,
        [choice_of(fallback) for fallback in settings.model.fallbacks],
        windows,
        health,
        micros,
    )


def windows_of(settings: Settings) -> KnownWindows:
    """Return what is known about the windows of the configured models: at first, the settings."""
    return KnownWindows(
        [
            ModelPlace(model_name(each), shown_address(each.base_url or ""), each.window)
            for each in _models(settings)
        ]
    )


def window_search(settings: Settings, known: KnownWindows) -> WindowSearch:
    """Return the search for the windows that the configured servers name."""
    return WindowSearch(
        [
            ModelServer(number, each.base_url, each.name, headers(_key(each)))
            for number, each in enumerate(_models(settings))
            if each.provider == "openai" and each.base_url
        ],
        known,
    )


def _models(settings: Settings) -> tuple[ModelChoiceSection, ...]:
    return settings.model, *settings.model.fallbacks


def _key(choice: ModelChoiceSection) -> str:
    return choice.api_key.get_secret_value() if choice.api_key else ""


def toolbox_of(settings: Settings, clock: AlarmClock) -> Toolbox:
    """Return the tools of the configured MCP servers."""
    return Toolbox(
        [
            McpTools(each, clock, rules_for_tools_of(settings, each.name))
            for each in mcp_servers_of(settings)
        ]
    )
