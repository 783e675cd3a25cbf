"""A recording of a turn, and what was heard in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gateway.authorship import Material
from gateway.ports.speech import SpeechProblem


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording that was listened to, or the problem why it was not. `own`: a voice message of
    the person who asks."""

    own: bool
    heard: Material | None = None
    """The words; None after a problem."""
    problem: SpeechProblem = "off"
    """The problem, where nothing was heard."""
    language: str = ""
    """The language that was spoken ("de"); empty if unknown."""


UNHEARD: Final[Mapping[SpeechProblem, str]] = {
    "off": "listening to recordings is not switched on",
    "too_long": "too long to listen to",
    "too_large": "too large to listen to",
    "silent": "no words in it",
    "unreadable": "its sound cannot be read",
    "not_fetched": "could not be fetched",
    "busy": "other recordings were not finished in time",
    "too_slow": "listening to it took too long",
    "failed": "listening to it failed",
    "too_many": "too many recordings",
}
"""The problems as the model reads them."""
