"""Personas that the model's window has no room for: nothing of them is ever cut, so they are
refused when the program starts."""

from collections.abc import Iterator

from gateway.context.budgets import budget_for
from gateway.people import Audience
from gateway.turn.prompt import PromptFacts, own_text
from gateway.turn.tokens import estimate
from parley.settings.document import Settings
from parley.settings.problems import Problem


def long_personas(settings: Settings) -> list[Problem]:
    """Each persona that exceeds the System block of the smallest model, with the excess."""
    window = min(model.window for model in (settings.model, *settings.model.fallbacks))
    most = budget_for(window).system
    problems = []
    for path, persona in _personas(settings):
        facts = PromptFacts(settings.assistant.name, "whatsapp", Audience.PUBLIC_ROOM, persona)
        tokens = estimate(own_text(facts))
        if tokens > most:
            text = f"is too long: with the program's own rules it has about {tokens} tokens, "
            text += f"{tokens - most} more than the {most} that a window of {window} has for it."
            problems.append(Problem(path, text, "Make it shorter, or raise model.window."))
    return problems


def _personas(settings: Settings) -> Iterator[tuple[str, str]]:
    yield "assistant.persona", settings.assistant.persona
    for channel, own in settings.assistant.channels.items():
        if own.persona:
            yield f"assistant.channels.{channel}.persona", own.persona
