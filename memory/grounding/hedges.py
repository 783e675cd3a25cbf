"""Recognises hedges: personal speculation, or a fact with its caution.

"I think we should use Redis" is speculation and blocked, whatever assurance follows. "The server
may time out under load" goes to review, as do opinions of third persons ("she thinks …"). A
question and a condition ("if I don't know, ask") claim nothing. Quotations and code are mentioned,
not said, unless a sentence begins with them and goes on.
"""

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory.grounding import hedge_words

MAX_WORDS: Final = 10
MAX_WORD: Final = 40
"""Hedges that are named, and characters of each."""


class HedgeAction(StrEnum):
    """The consequence of a hedge."""

    BLOCK = "block"
    REVIEW = "review"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class HedgeResult:
    """The consequence and up to `MAX_WORDS` words that led to it, folded and in lower case."""

    action: HedgeAction
    words: tuple[str, ...] = ()


def analyze_hedges(text: str) -> HedgeResult:
    """The strictest action that any wording of `text` asks for; takes time linear in its length."""
    read = [_without_nouns(_without_mentions(folded)).lower() for folded in _readings(text)]
    for action, pattern in ((HedgeAction.BLOCK, _BLOCK), (HedgeAction.REVIEW, _REVIEW)):
        words = [word for reading in read for word in _found(pattern, reading)]
        if words:
            return HedgeResult(action, tuple(dict.fromkeys(words))[:MAX_WORDS])
    return HedgeResult(HedgeAction.NONE)


def _found(pattern: re.Pattern[str], text: str) -> list[str]:
    return [
        match[0].strip(" .,;:!?(-")[:MAX_WORD]
        for match in pattern.finditer(text)
        if not (_PERSON.match(match[0]) and _NO_CLAIM.search(_just_before(match)))
    ]


def _without_nouns(text: str) -> str:
    """The text without the month of May and without might that is strength."""
    return _NOT_MODAL.sub(_GAP, text) if _MAY_BE.search(text) else text


def _just_before(match: re.Match[str]) -> str:
    return match.string[max(match.start() - _NEARBY, 0) : match.start()]


# --- folding: what looks the same reads the same ------------------------------------------------


def _readings(text: str) -> list[str]:
    """The text folded; twice when it holds invisible characters, which join words or part them."""
    plain = html.unescape(text).translate(_APOSTROPHES)
    if plain.isascii() or not any(_invisible(char) for char in plain):
        return [_fold(plain)]
    parted = "".join(" " if _invisible(char) else char for char in plain)
    return [_fold(plain), _fold(parted)]


def _fold(text: str) -> str:
    if not text.isascii():
        latin = unicodedata.normalize("NFKD", text).translate(_LOOKALIKES)
        text = "".join(c for c in latin if c.isascii() or unicodedata.category(c) not in _UNSEEN)
    return " ".join(_EMPHASIS.sub(_emphasis, text).split())


def _emphasis(match: re.Match[str]) -> str:
    """The underscores within a name, nothing for other marks of emphasis."""
    text, start, end = match.string, match.start(), match.end()
    inside = start > 0 and text[start - 1].isalnum() and text[end : end + 1].isalnum()
    return match[0] if text[start] == "_" and inside else ""


def _invisible(char: str) -> bool:
    return not char.isascii() and unicodedata.category(char) == "Cf"


_UNSEEN: Final = frozenset({"Mn", "Me", "Cf"})
_APOSTROPHES: Final = str.maketrans(dict.fromkeys("’‘ʼ´＇ʹ′‛", "'"))
_LOOKALIKES: Final = str.maketrans(
    "АВЕІЈКМНОРСТХавеіјкмнорстухһΑΒΕΗΙΚΜΝΟΡΤΧαβεηικνορτυχ",
    "ABEIJKMHOPCTXabeijkmhopctyxhABEHIKMNOPTXabenikvoptux",
)
"""Letters of other scripts that look Latin."""
_EMPHASIS: Final = re.compile(r"\*+|_+")


# --- mentions: what is quoted or is code ---------------------------------------------------------


def _without_mentions(text: str) -> str:
    """The text without quotations and code; all of it where it consists of nothing else."""
    outside = _MENTION.sub(_GAP, text)
    if not _LETTER.search(outside):
        return _MARKS.sub(" ", text)
    return _MENTION.sub(_mentioned, text)


def _mentioned(match: re.Match[str]) -> str:
    """A gap, or the words without their marks where the sentence begins with them and goes on:
    `"I think" we should` says what it seems to quote."""
    before = _just_before(match).rstrip()
    after = match.string[match.end() : match.end() + _NEARBY]
    begins = not before or before[-1] in ".!?;,"
    if not begins or match[0].startswith("```") or _SPOKEN_OF.match(after):
        return _GAP
    return f" {_MARKS.sub(' ', match[0])} "


_NEARBY: Final = 20
_GAP: Final = " … "
_MENTION: Final = re.compile(
    r'```(?:[^`\n]|`[^`\n]|``[^`\n]){0,4000}```|`[^`]{1,500}`|"[^"]{1,500}"'
    r"|“[^“”]{1,500}”|„[^„“”]{1,500}[“”]|«[^«»]{1,500}»"
    r"|(?<!\w)'[^']{1,200}'(?!\w)|https?://\S+"
)
_MARKS: Final = re.compile(r'[`"“”„«»]|(?<!\w)\'|\'(?!\w)')
_LETTER: Final = re.compile(r"[^\W\d_]")
_SPOKEN_OF: Final = re.compile(
    r" ?(?:$|[.,;:]|(?:is|are|was|were|means|stands|has|appears|in|as|counts|returns|type)\b)"
)

_PERSON: Final = re.compile(r"(?:[il]|ich|je|yo|creo)\b")
_NO_CLAIM: Final = re.compile(
    r"\b(?:if|when|whenever|unless|before|do|did|should|wenn|falls|si|quand|cuando) \Z"
)


def _any_of(*groups: Sequence[str]) -> str:
    """One boundary before all of them: positions within a word are passed over at once."""
    return rf"\b(?:{'|'.join(pattern for group in groups for pattern in group)})"


_BLOCK: Final = re.compile(
    _any_of(hedge_words.SPECULATION, hedge_words.UNCERTAINTY, hedge_words.SUGGESTION)
)
_REVIEW: Final = re.compile(
    rf"{_any_of(hedge_words.TECHNICAL, hedge_words.APPROXIMATION)}|{hedge_words.TILDE}"
)
_MAY_BE: Final = re.compile("may|might", re.IGNORECASE)
_NOT_MODAL: Final = re.compile(_any_of(hedge_words.NOT_MODAL), re.IGNORECASE)
