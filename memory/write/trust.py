"""How far a text can be believed: derived from the way it came in, never from what anybody says.

The levels are those of the memory rules (sources 001, rule 2). What the model stores is its own
inference, unless the words it quotes stand in what the person wrote in this turn and carry what is
stored.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory.record import SourceType, Trust

SUPPORT: Final = 0.6
"""Share of a memory's content words that have to stand in the quote it rests on."""
MIN_QUOTE: Final = 3
"""Letters and digits a quote has at least."""


class Way(StrEnum):
    """How a text came in. The handle knows; no caller says so."""

    EXPLICIT = "explicit"
    OWN_WORDS = "own_words"
    OTHERS_WORDS = "others_words"
    ASSISTANT = "assistant"
    DOCUMENT = "document"
    TOOL = "tool"
    WEB = "web"


@dataclass(frozen=True, slots=True)
class Derived:
    """What follows from it."""

    source: SourceType
    trust: Trust


_DERIVED: Final = {
    Way.EXPLICIT: Derived(SourceType.EXPLICIT_SAVE, Trust.HIGH),
    Way.OWN_WORDS: Derived(SourceType.USER_MESSAGE, Trust.HIGH),
    Way.OTHERS_WORDS: Derived(SourceType.USER_MESSAGE, Trust.MEDIUM),
    Way.ASSISTANT: Derived(SourceType.AI_INFERENCE, Trust.LOW),
    Way.DOCUMENT: Derived(SourceType.TOOL_OUTPUT, Trust.HIGH),
    Way.TOOL: Derived(SourceType.TOOL_OUTPUT, Trust.MEDIUM),
    Way.WEB: Derived(SourceType.TOOL_OUTPUT, Trust.LOW),
}
CONFIDENCE: Final = {Trust.HIGH: 0.9, Trust.MEDIUM: 0.6, Trust.LOW: 0.3}
"""What a memory is believed at first; a verified citation raises it."""


def derive_trust(way: Way, *, injection: bool = False) -> Derived:
    """Source and trust of a text; an injection finding takes the trust away."""
    derived = _DERIVED[way]
    return Derived(derived.source, Trust.LOW) if injection else derived


def stated_by_person(content: str, quote: str, words: Iterable[str]) -> bool:
    """Whether the person said in this turn what is to be stored.

    True when the quote stands word for word in one of their messages, most of what is stored stands
    in the quote, and neither says "not" where the other does not.
    """
    wanted = _words(quote)
    if sum(len(word) for word in wanted) < MIN_QUOTE:
        return False
    if not any(_contains(_words(said), wanted) for said in words):
        return False
    if bool(_NEGATIONS & set(wanted)) != bool(_NEGATIONS & set(_words(content))):
        return False
    claimed = {_stem(word) for word in _words(content)} - _EMPTY
    told = {_stem(word) for word in wanted}
    return bool(claimed) and len(claimed & told) >= SUPPORT * len(claimed)


def _words(text: str) -> list[str]:
    """Words in order, without case, marks and punctuation; "don't" is "do", "not"."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    plain = _CANNOT.sub(r"\1 not", plain)
    return _WORD.findall(plain)


def _contains(said: list[str], quote: list[str]) -> bool:
    spoken, sought = " ".join(said), " ".join(quote)
    return f" {sought} " in f" {spoken} "


def _stem(word: str) -> str:
    """Enough for "prefers" and "prefer" to be one word; nothing is looked up by it."""
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


_WORD: Final = re.compile(r"[^\W_]+(?:[.:/@+#-][^\W_]+)*")
_CANNOT: Final = re.compile(r"\b(\w{2,10}?)n't\b")
_NEGATIONS: Final = frozenset(
    ("not", "no", "never", "none", "cannot", "without", "nicht", "kein", "keine", "nie", "ne",
     "pas", "jamais", "nunca", "sin", "non")
)  # fmt: skip
_EMPTY: Final = frozenset(
    _stem(word)
    for word in _WORD.findall(
        "the a an of to in on at for with and or that this is are was were be been has have had do "
        "does did not no user users person they their them he his him she her it its i my me mine "
        "you your we our us who whose name named called said says told"
    )
)
"""Words that say who is meant rather than what."""
