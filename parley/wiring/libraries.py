"""The libraries that a configuration needs and that are not installed."""

import os

from gateway.errors import LibraryMissing
from parley.config import Problem, Settings
from parley.python_environment import install_advice, missing, missing_modules
from parley.wiring.observe import endpoint_of


def missing_libraries(settings: Settings) -> list[Problem]:
    """A problem for each setting that needs a library which is not installed, with the command
    that installs it."""
    problems = []
    for place, extra in _needed_extras(settings):
        if absent := missing(extra):
            problems.append(_problem(place, absent, extra))
    if settings.mcp.servers and (absent := missing_modules(("mcp",))):
        problems.append(_problem("mcp.servers", absent, "mcp"))
    return problems


def _needed_extras(settings: Settings) -> list[tuple[str, str]]:
    """Extras without which the program does not start, each with the setting that needs it."""
    memory = settings.memory
    embeds = memory.enabled and memory.embedding_provider == "openai"
    traces = bool(endpoint_of(settings.observe.otlp_endpoint, os.environ))
    needs = (
        ("memory.embedding_provider", "openai", embeds),
        ("observe.otlp_endpoint", "otel", traces),
    )
    return [(place, extra) for place, extra, is_needed in needs if is_needed]


def _problem(place: str, absent: tuple[str, ...], extra: str) -> Problem:
    return Problem(place, LibraryMissing(place, absent, extra).problem, install_advice(extra))
