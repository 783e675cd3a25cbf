"""Finds the statements that answer a question: by their words, and by the links between them."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

MAX_WORDS: Final = 64
"""Different words of a question that count."""
MAX_LINKS: Final = 20
"""Links of one statement that are followed."""
LINKED: Final = 0.6
"""The share of its score that a statement lends to those it links to."""
LEAST: Final = 0.1
"""Results with a lower score are left out."""
COMMON: Final = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from"),
        *("has", "have", "how", "i", "in", "is", "it", "me", "my", "of", "on", "or", "our", "so"),
        *("that", "the", "their", "this", "to", "was", "we", "what", "when", "where", "which"),
        *("who", "why", "will", "with", "you", "your"),
    )
)

_WORD: Final = re.compile(r"[^\W_]+")
_DENSE: Final = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LINK: Final = re.compile(r"\[\[([^\[\]\n]{1,200})\]\]")


def words_of(text: str) -> list[str]:
    """Return the words of a text, without case, accents and a plural ending; neighbouring
    characters of scripts without spaces."""
    plain = text.casefold()
    if not plain.isascii():
        plain = unicodedata.normalize("NFKD", plain)
        plain = "".join(char for char in plain if not unicodedata.combining(char))
    dense = _DENSE.search(plain) is not None
    words: list[str] = []
    for word in _WORD.findall(plain):
        if dense and _DENSE.search(word):
            words += [word[place : place + 2] for place in range(max(1, len(word) - 1))]
        else:
            words.append(word[:-1] if len(word) > 3 and word.endswith("s") else word)
    return words


def links_of(text: str) -> list[str]:
    """Return the targets of `[[links]]`, without heading and label: `[[Red bridge#Gate|gate]]` is
    "red bridge"."""
    targets = (re.split(r"[#|]", link, maxsplit=1)[0] for link in _LINK.findall(text))
    return [name_of(target) for target in targets][:MAX_LINKS]


def name_of(title: str) -> str:
    """Return a title as links name it, without case and signs."""
    return " ".join(words_of(title.removesuffix(".md")))


def scored(question: str, sets: Mapping[str, frozenset[str]]) -> dict[str, float]:
    """Return scores from 0 to 1 of the texts (their words by id) with a word of the question: the
    weighted share of its words, rare words counting more."""
    terms = [word for word in dict.fromkeys(words_of(question)) if word not in COMMON][:MAX_WORDS]
    counts = Counter(word for words in sets.values() for word in terms if word in words)
    weights = {word: math.log1p(len(sets) / (counts[word] or 0.5)) for word in terms}
    whole = math.fsum(weights.values()) or 1.0
    scores = {
        id_: math.fsum(weights[word] for word in terms if word in words) / whole
        for id_, words in sets.items()
    }
    return {id_: score for id_, score in scores.items() if score >= LEAST}


def with_links(scores: Mapping[str, float], links: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return the scores with those of linked statements; `links` are the ids that each links
    to."""
    linked = dict(scores)
    for id_, score in scores.items():
        for other in links.get(id_, ()):
            linked[other] = max(linked.get(other, 0.0), score * LINKED)
    return linked
