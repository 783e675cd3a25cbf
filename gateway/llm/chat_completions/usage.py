"""Reads the counted tokens of an answer, which servers report in many ways.

Once, in several events, or cumulative; in the event or in its choice; with cached tokens inside of
those of the prompt or beside them; with reasoning inside of those of the answer or only in the sum.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.llm.streamed_call import figure
from gateway.ports import Usage

_CACHED: Final = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
_WRITTEN: Final = ("cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens")


class CountedTokens:
    """The largest figures of one answer so far: a server repeats a figure, adds to it, or reports 0
    in the events that are about another one."""

    def __init__(self) -> None:
        self._prompt = self._output = self._cached = self._written = self._total = 0
        self.reasoning = 0

    def add(self, event: Mapping[str, Any]) -> None:
        """Read what an event reports, if it does."""
        figures = event.get("usage")
        if not figures and (choices := event.get("choices")):
            figures = choices[0].get("usage")
        if not figures and (groq := event.get("x_groq")):
            figures = groq.get("usage")
        if figures and isinstance(figures, dict):
            self._add(figures)

    def _add(self, figures: Mapping[str, Any]) -> None:
        prompt = _part(figures, "prompt_tokens_details")
        output = _part(figures, "completion_tokens_details")
        self._prompt = max(self._prompt, _first(figures, ("prompt_tokens", "input_tokens")))
        self._output = max(self._output, _first(figures, ("completion_tokens", "output_tokens")))
        self._cached = max(self._cached, _first(prompt, _CACHED) or _first(figures, _CACHED))
        self._written = max(self._written, _first(prompt, _WRITTEN) or _first(figures, _WRITTEN))
        self._total = max(self._total, _first(figures, ("total_tokens",)))
        self.reasoning = max(self.reasoning, _first(output, ("reasoning_tokens",)))

    @property
    def usage(self) -> Usage:
        """The tokens, each counted once."""
        of_cache = self._cached + self._written
        if of_cache > self._prompt:  # reported beside the prompt
            return Usage(self._prompt, self._output, self._cached, self._written)
        output = max(self._output, self._total - self._prompt)  # the sum has the reasoning
        return Usage(self._prompt - of_cache, output, self._cached, self._written)


def _part(figures: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = figures.get(name)
    return found if isinstance(found, dict) else {}


def _first(figures: Mapping[str, Any], names: tuple[str, ...]) -> int:
    """Return the first figure that is not 0; 0 for what is none."""
    return next((count for name in names if (count := figure(figures.get(name)))), 0)
