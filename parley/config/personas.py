"""Personas that the model's window has no room for: nothing of them is ever cut, so they are
refused when the program starts."""

from collections.abc import Iterator

from gateway.people import Audience
from gateway.turn.context.budgets import budget_for
from gateway.turn.prompt import PromptFacts, own_text
from gateway.turn.tokens import estimate
from parley.config.problems import Problem
from parley.config.settings import Settings


def oversized_personas(settings: Settings) -> list[Problem]:
    """Each persona that exceeds the System block of the smallest model, with the excess."""
    where, window = _smallest(settings)
    most = budget_for(window).system
    problems = []
    for path, persona in _personas(settings):
        facts = PromptFacts(settings.assistant.name, "WhatsApp", Audience.PUBLIC_ROOM, persona)
        tokens = estimate(own_text(facts))
        if tokens > most:
            text = f"is too long: with the program's own rules it has about {tokens} tokens, "
            text += f"{tokens - most} more than the {most} that a window of {window} has for it."
            fix = f"Make it shorter, or raise {where}, if that model takes more at once."
            problems.append(Problem(path, text, fix))
    return problems


def _smallest(settings: Settings) -> tuple[str, int]:
    """The key of the smallest window of all models, and that window."""
    windows = {"model.window": settings.model.window}
    for place, fallback in enumerate(settings.model.fallbacks):
        windows[f"model.fallbacks[{place}].window"] = fallback.window
    return min(windows.items(), key=lambda entry: entry[1])


def _personas(settings: Settings) -> Iterator[tuple[str, str]]:
    yield "assistant.persona", settings.assistant.persona
    for channel, own in settings.assistant.channels.items():
        if own.persona:
            yield f"assistant.channels.{channel}.persona", own.persona
