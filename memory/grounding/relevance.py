"""Checks that a cited source supports the claim, with `grounding.verify_claim_relevance`.

If most content words of the claim are missing in the source, it does not. Otherwise the model
decides, if one is configured.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from memory.ports.grounding import Checked, Citation, Reason, RelevanceJudge, Verification

SHARED: Final = 0.5
"""The share of a claim's content words that has to occur in the cited text."""
MAX_MATERIAL: Final = 4_000
"""Characters of the cited text that a model is shown."""

_WORD: Final = re.compile(r"[^\W_]{3,}")
_EMPTY: Final = frozenset(
    ("the", "and", "for", "with", "that", "this", "these", "those", "from", "into", "our", "your",
     "their", "its", "per", "see", "are", "was", "were", "has", "have", "had", "not", "but", "all",
     "any", "can", "will", "use", "uses", "used", "using", "when", "which", "who", "they", "you",
     "adr", "commit", "issue", "fixed", "http", "https", "www",
     "der", "die", "das", "und", "ist", "les", "des", "est", "los", "las", "una", "que")
)  # fmt: skip


def shared_words(claim: str, material: str) -> float:
    """The share of the claim's content words that occur in the material, 0 to 1; 1 without any."""
    words = _content(claim)
    return len(words & _content(material)) / len(words) if words else 1.0


def _content(text: str) -> frozenset[str]:
    """Words by their first six letters, so that "stored" and "storage" are near enough."""
    return frozenset(w[:6] for w in _WORD.findall(text.casefold()) if w not in _EMPTY)


async def keep_relevant(
    content: str, checked: Sequence[Checked], judge: RelevanceJudge | None = None
) -> tuple[Checked, ...]:
    """The same, with valid citations turned invalid where they do not speak of the claim."""
    claim = _without([c.citation for c in checked], content)
    return tuple([await _judged(claim, one, judge) for one in checked])


def _without(citations: Sequence[Citation], content: str) -> str:
    for citation in sorted(citations, key=lambda citation: citation.start, reverse=True):
        content = f"{content[: citation.start]} {content[citation.end :]}"
    return content


async def _judged(claim: str, one: Checked, judge: RelevanceJudge | None) -> Checked:
    if not one.verification.valid:
        return one
    material = one.verification.excerpt
    if shared_words(claim, material) < SHARED:
        return replace(one, verification=Verification(False, Reason.IRRELEVANT))
    try:
        relevant = judge is None or await judge.supports(claim, material[:MAX_MATERIAL])
    except Exception:  # noqa: BLE001 -- whatever fails in a model leaves the claim unverified
        return replace(one, verification=Verification(False, Reason.FAILED))
    return one if relevant else replace(one, verification=Verification(False, Reason.IRRELEVANT))
