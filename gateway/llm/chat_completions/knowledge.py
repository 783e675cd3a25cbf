"""Knowledge about the models of one server: found once, and kept for an hour.

It is then found anew with the next request, so that a server that was changed, or that was judged
wrongly once, gets whole requests again.
"""

import hashlib
import time
from collections.abc import Callable, Collection, Sequence
from typing import Final

import structlog

from gateway.llm.chat_completions.limits import INSTEAD, Part, ServerLimits
from gateway.llm.chat_completions.reader import Dialect
from gateway.llm.chat_completions.refusal import Adapted, ServerRefusal
from gateway.ports import ModelFinding

log = structlog.get_logger(__name__)

MAX_MODELS: Final = 100
MAX_FINDINGS: Final = 20
MAX_HOPELESS: Final = 100
KEPT: Final = 3_600.0
"""Seconds for which something found is kept."""
CERTAIN: Final = 2
"""Answers without tools, for a reason that the server did not give, until they are left out."""


class ServerKnowledge:
    """The limits of each model at one `address`, beginning with those of the configuration, and how
    its answers begin. `held` characters of a first answer are held back."""

    def __init__(
        self,
        address: str,
        configured: ServerLimits,
        held: int,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._seconds = seconds
        self._address = address
        self._configured = configured
        self._held = held
        self._limits: dict[str, ServerLimits] = {}
        self._headless: dict[str, bool] = {}
        self._suspected: dict[str, int] = {}
        self._found_at: dict[str, float] = {}
        self._hopeless: dict[bytes, float] = {}
        self._findings: dict[tuple[str, str], ModelFinding] = {}
        self._told: set[tuple[str, str]] = set()

    @property
    def findings(self) -> tuple[ModelFinding, ...]:
        """The findings, oldest first."""
        return tuple(self._findings.values())

    def limits(self, model: str) -> ServerLimits:
        """Return the limits of a model, as far as they are known."""
        if self._seconds() - self._found_at.get(model, float("inf")) >= KEPT:
            self._forget(model)
        return self._limits.get(model, self._configured)

    def dialect(self, model: str) -> Dialect:
        """Return how an answer of this model is to be read."""
        headless = self._headless.get(model)
        return Dialect(self._held if headless is None else 0, bool(headless))

    def heard(self, model: str, *, headless: bool) -> None:
        """Learn from a complete answer if its reasoning began in the prompt. One that did not,
        behind one that did, leaves it open."""
        if not headless and self._headless.get(model):
            del self._headless[model]
        elif model in self._headless or len(self._headless) < MAX_MODELS:
            self._headless[model] = headless

    def learn(self, model: str, found: Sequence[tuple[Adapted, str]]) -> None:
        """Keep the limits with which a request was answered after refusals, which are given with
        their words."""
        if not found or not (model in self._limits or len(self._limits) < MAX_MODELS):
            return
        if any(each.unknown for each, _ in found):
            self._suspected[model] = self._suspected.get(model, 0) + 1
        sure = self._suspected.get(model, 0) >= CERTAIN
        kept = before = self.limits(model)
        for each, words in found:
            if not each.once and (sure or not each.unknown):
                kept = each.joined_to(kept)
                self._report(model, each, words, kept.without - before.without)
        self._limits[model] = kept
        self._found_at.setdefault(model, self._seconds())

    def _forget(self, model: str) -> None:
        for known in (self._limits, self._found_at, self._suspected):
            known.pop(model, None)
        for key in [key for key in self._findings if key[0] == model]:
            del self._findings[key]

    def _report(self, model: str, found: Adapted, words: str, parts: Collection[Part]) -> None:
        """Tell the operator: in the log once."""
        key = (model, found.part)
        if key in self._findings or len(self._findings) >= MAX_FINDINGS:
            return
        said = "without a reason" if found.unknown else f"with the words: {words[:120].strip()}"
        what, instead = INSTEAD.get(found.part, (f"`{found.part}`", "Requests have no such part"))
        text = f"The server refused {what}, {said}. {instead}."
        setting = f"model.without: [{', '.join(sorted(parts))}]" if parts else ""
        self._findings[key] = ModelFinding(model, self._address, text, setting)
        if key in self._told or len(self._told) >= MAX_MODELS:
            return
        self._told.add(key)
        log.warning(
            "model_server_limit", model=model, server=self._address, found=text, setting=setting
        )

    # --- refusals that no other request avoids --------------------------------------------------

    def give_up(self, model: str, refusal: ServerRefusal) -> None:
        """Remember a refusal for which nothing helped."""
        if len(self._hopeless) >= MAX_HOPELESS:
            self._hopeless.pop(next(iter(self._hopeless)))
        self._hopeless[_key(model, refusal)] = self._seconds()

    def is_hopeless(self, model: str, refusal: ServerRefusal) -> bool:
        """Return True if nothing helped against this refusal lately."""
        return self._seconds() - self._hopeless.get(_key(model, refusal), float("-inf")) < KEPT


def _key(model: str, refusal: ServerRefusal) -> bytes:
    text = f"{model} {refusal.status} {refusal.words}".encode("utf-8", "replace")
    return hashlib.blake2b(text, digest_size=16).digest()
