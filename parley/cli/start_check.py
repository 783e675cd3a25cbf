"""What `parley run` would find wrong before it connects to anybody: the same parts are made of the
configuration, and dropped again. Nobody is contacted and nothing is written."""

import importlib.util
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from db.errors import StoreUnavailable
from gateway.errors import ParleyError
from gateway.llm.factory import build_provider
from gateway.llm.prices import price_of
from gateway.policy.budgets import UNLIMITED
from gateway.ports.clock import SystemClock
from parley.app import toolbox_of
from parley.cli.diagnosis import build
from parley.config import Account, Problem, Settings, SettingsError
from parley.config.platforms import Discovery
from parley.extensions import load_extensions
from parley.runtime.heartbeats import sites_of
from parley.wiring.commands import offered_commands
from parley.wiring.policies import assistant_of, choice_of, policies_of, prices_of
from parley.wiring.storage import Storage
from parley.wiring.tracing import endpoint_of, open_tracing

Part = tuple[str, Callable[[], Awaitable[None]]]
"""Where it stands in the configuration, and what makes and drops it."""


async def startup_problems(settings: Settings, platforms: Discovery) -> list[Problem]:
    """Every part that could not be made, each with what to do."""
    problems = [*_libraries(settings), *_prices(settings)]
    for place, make in (*_parts(settings), *_adapters(settings, platforms)):
        try:
            await make()
        except SettingsError as error:
            problems += error.problems
        except (ParleyError, StoreUnavailable) as error:
            problems.append(_problem(place, str(error)))
        except ImportError as error:
            text = f"needs the library {error.name}, which is not installed."
            problems.append(Problem(place, text, "Install it into Parley's environment."))
        except Exception as error:  # noqa: BLE001 - a library or a plugin may raise anything
            text = f"cannot be used as it is: {type(error).__name__}."
            problems.append(Problem(place, text, "Check the values of this section."))
    return list(dict.fromkeys(problems))


def _parts(settings: Settings) -> Sequence[Part]:
    clock = SystemClock()

    async def model() -> None:
        fallbacks = [choice_of(fallback) for fallback in settings.model.fallbacks]
        await build_provider(choice_of(settings.model), clock, fallbacks).close()

    async def tools() -> None:
        await toolbox_of(settings, clock).close()

    async def extensions() -> None:
        loaded = load_extensions(settings)
        if settings.memory.enabled:
            sites_of(settings, Storage(settings, clock).activity, loaded, clock)

    async def tracing() -> None:
        made = open_tracing(endpoint_of(settings.observe.otlp_endpoint, os.environ), clock)
        if made is not None:
            await made.close()

    return (
        ("model", model),
        ("mcp.servers", tools),
        ("extensions", extensions),
        ("observe.otlp_endpoint", tracing),
    )


def _adapters(settings: Settings, platforms: Discovery) -> Iterable[Part]:
    name = settings.assistant.name
    commands = offered_commands(with_memory=settings.memory.enabled)

    async def adapter(account: Account) -> None:
        made = build(account, platforms.manifests[account.platform], name, commands)
        await made.disconnect()

    for account in settings.accounts():
        yield account.path, partial(adapter, account)


def _libraries(settings: Settings) -> list[Problem]:
    """Libraries that are imported at the first call only."""
    choices = (settings.model, *settings.model.fallbacks)
    anthropic = any(choice.provider == "anthropic" for choice in choices)
    openai = settings.memory.enabled and settings.memory.embedding_provider == "openai"
    needed = (
        ("model.provider", "anthropic" if anthropic else "", "."),
        ("memory.embedding_provider", "openai" if openai else "", ".[openai]"),
        ("mcp.servers", "mcp" if settings.mcp.servers else "", "."),
    )
    return [
        Problem(
            place,
            f"needs the library {library}, which is not installed.",
            f"Run `pip install -e '{extra}'` in Parley's folder.",
        )
        for place, library, extra in needed
        if library and importlib.util.find_spec(library) is None
    ]


def _prices(settings: Settings) -> list[Problem]:
    """Models that are not asked, because a budget is set and nobody knows what they cost."""
    budgets = policies_of(settings).budgets
    if replace(budgets, user_share=UNLIMITED.user_share) == UNLIMITED:
        return []
    prices = prices_of(settings)
    return [
        Problem(
            "budgets.prices",
            f"has no {model}, which is not asked where a budget is set.",
            "Write its price in dollars per million tokens, or remove the budgets.",
        )
        for model in sorted(assistant_of(settings).models)
        if price_of(model, prices) is None
    ]


def _problem(place: str, text: str) -> Problem:
    """Errors of ours name their key first; that of the part is for those that do not."""
    path, separator, rest = text.partition(": ")
    if separator and " " not in path:
        return Problem(path, rest)
    return Problem(place, text)
