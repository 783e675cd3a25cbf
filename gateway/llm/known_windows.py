"""Knowledge about the context windows of its models, apart from the configuration.

A window is named by the server's list of models, or by the error for a request that was too long.
Both are remembered, so that no later message costs a refused request, until the server names
another window, or `forget_refusals` is called: a server can be started again with another one.
"""

from collections.abc import Sequence
from typing import Final

import structlog
from msgspec import Struct

from gateway.errors import ContextTooLong
from gateway.llm.evidence import repeats
from gateway.ports import ModelFinding, ModelFinished, ModelRequest, Usage

SMALLEST: Final = 512
"""Tokens below which no window is believed."""
LEAST_WINDOW: Final = 2_048
"""Tokens: the least value of `model.window`."""
MARGIN: Final = 0.97
"""The used share of a found window: an estimate of tokens has an error."""
HALF: Final = 0.5
"""The share of a refused request, prompt and answer, that is tried next, if the server names no
figures."""
CUT: Final = 0.6
"""A server that counts less than this share of the estimate has not read the whole prompt."""
LEAST_CUT: Final = 500
"""Tokens: smaller counts say too little about a cut."""
CUTS_TO_REPORT: Final = 2
_PLAUSIBLE: Final = (0.3, 4.0)
"""The counted tokens of a refused prompt by the estimated ones."""
MAX_MODELS: Final = 100

log = structlog.get_logger(__name__)


class ModelPlace(Struct, frozen=True):
    """A configured model: its name, its server's address without a secret ("" for the provider's
    own), and its configured window in tokens."""

    model: str
    server: str
    window: int


class _Seen(Struct):
    """Observations of one model: windows in tokens (0: unknown), the largest answered prompt, and
    how often the server counted far too few tokens."""

    named: int = 0
    refused: int = 0
    answered: int = 0
    cuts: int = 0
    cut_at: int = 0


class KnownWindows:
    """The windows of the configured models, in their order: the first one, then the fallbacks."""

    def __init__(self, models: Sequence[ModelPlace] = ()) -> None:
        self._models = tuple(models)
        self._seen: dict[tuple[int, str], _Seen] = {}

    def window(self, number: int, model: str = "") -> int:
        """Return the usable window of a configured model, or of another `model` at its server; 0
        if the number is not known."""
        if number >= len(self._models):
            return 0
        place = self._models[number]
        seen = self._seen.get((number, model or place.model), _Seen())
        found = [each for each in (seen.named, seen.refused) if each]
        if not found or min(found) >= place.window:
            return place.window
        return max(round(min(found) * MARGIN), min(seen.answered, place.window))

    def smallest(self, model: str = "") -> int | None:
        """Return the smallest window of all models, None without models. `model` replaces the name
        of the first one."""
        windows = [self.window(i, "" if i else model) for i in range(len(self._models))]
        return min(windows, default=None)

    def largest(self, model: str = "") -> int:
        """Return the largest window of all models, 0 without models."""
        windows = [self.window(i, "" if i else model) for i in range(len(self._models))]
        return max(windows, default=0)

    def named(self, number: int, window: int) -> None:
        """Remember what the server's list of models says about a configured model."""
        place = self._models[number]
        seen = self._of(number, "")
        if seen is None or window < SMALLEST or seen.named == window:
            return
        if seen.named:  # the server was started again
            seen.refused = seen.answered = 0
        seen.named = window
        if window < place.window:
            log.warning("context_window_smaller_than_configured", **_where(place, window))

    def refused(self, number: int, request: ModelRequest, error: ContextTooLong) -> None:
        """Remember the window that an error names, or half of the refused request. Figures that do
        not fit the request are not believed, and no error that repeats words of the request."""
        seen = self._of(number, request.model)
        if seen is None or request.tokens <= 0 or repeats(str(error), request):
            return
        low, high = _PLAUSIBLE
        if error.tokens and not low <= error.tokens / request.tokens <= high:
            return
        limit = error.limit or round((request.tokens + request.max_tokens) * HALF)
        if limit > high * request.tokens + request.max_tokens:
            return
        if (error.tokens or request.tokens) <= seen.answered:
            seen.answered = 0  # the server answered a longer prompt before it was started again
        before, seen.refused = seen.refused, max(limit, SMALLEST)
        if seen.refused != before:
            log.warning("context_window_exceeded", **_where(self._models[number], limit))

    def forget_refusals(self, number: int) -> None:
        """Forget the windows of a server that follow from errors, so that a longer request is tried
        again."""
        for (place, _), seen in self._seen.items():
            if place == number:
                seen.refused = 0

    def answered(self, number: int, request: ModelRequest, finished: ModelFinished) -> None:
        """Remember the size of an answered prompt, and whether the server cut it."""
        seen, counted = self._of(number, request.model), prompt_tokens(finished.usage)
        if seen is None or request.tokens <= 0:
            return
        seen.answered = max(seen.answered, counted)
        if not is_cut(request.text_tokens, counted):
            return
        seen.cuts, seen.cut_at = seen.cuts + 1, max(seen.cut_at, counted)
        if seen.cuts == CUTS_TO_REPORT:
            place = self._models[number]
            log.warning(
                "context_cut_by_model_server",
                model=place.model,
                server=place.server,
                tokens_sent=request.tokens,
                tokens_counted=counted,
                advice=_CUT_SETTING,
            )

    def findings(self) -> tuple[ModelFinding, ...]:
        """Return what an operator should know, at most two entries for each model."""
        return tuple(
            finding
            for (number, model), seen in list(self._seen.items())
            for finding in _findings(number, self._models[number], model, seen)
        )

    def _of(self, number: int, model: str) -> _Seen | None:
        if number >= len(self._models):
            return None
        key = (number, model or self._models[number].model)
        if key not in self._seen and len(self._seen) >= MAX_MODELS:
            return None
        return self._seen.setdefault(key, _Seen())


_SERVER_SETTING: Final = (
    f"the context length on the server: Parley is made for {LEAST_WINDOW:,} tokens or more"
)
_CUT_SETTING: Final = (
    "num_ctx of the model on its server (Ollama: OLLAMA_CONTEXT_LENGTH), or model.window"
)


def prompt_tokens(usage: Usage) -> int:
    """Return the tokens of the whole prompt as the service counted them."""
    return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens


def is_cut(estimated: int, counted: int) -> bool:
    """Return True if the server read only a part of a prompt: it counted far fewer tokens than
    estimated without the tools, which not every model's prompt has."""
    return LEAST_CUT <= counted < CUT * estimated


def _where(place: ModelPlace, window: int) -> dict[str, object]:
    return {
        "model": place.model,
        "server": place.server,
        "window": window,
        "configured": place.window,
    }


def _findings(number: int, place: ModelPlace, model: str, seen: _Seen) -> list[ModelFinding]:
    findings = []
    found = [each for each in (seen.named, seen.refused) if each]
    if found and (window := min(found)) < place.window:
        text = (
            f"The server takes {window:,} tokens, but {place.window:,} are configured. Parley "
            f"sends at most {window:,}."
        )
        key = f"model.fallbacks[{number - 1}].window" if number else "model.window"
        setting = f"{key}: {window}" if window >= LEAST_WINDOW else _SERVER_SETTING
        findings.append(ModelFinding(model, place.server, text, setting))
    if seen.cuts >= CUTS_TO_REPORT:
        text = (
            f"The server counts {seen.cut_at:,} tokens at most where Parley sent far more: it cuts "
            "the beginning of long conversations, also the rules of the assistant."
        )
        findings.append(ModelFinding(model, place.server, text, _CUT_SETTING))
    return findings
