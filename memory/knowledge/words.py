"""Index words of code and documents, and search words of a question.

An identifier is filed by its parts and as a whole: `getHTTPResponse`, `get_http_response` and
`get-http-response` have the words "get", "http", "respons" and the whole "gethttprespons". Parts
lose their English endings. Texts in scripts other than Latin are split as memories are
(`memory.text.terms`). A name that is defined is filed a second time, as "=gethttprespons".
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Final

from msgspec import Struct

from memory.knowledge.model import Chunk
from memory.text.stop_words import STOP_WORDS
from memory.text.terms import index_terms, phone_numbers, pictures, stem

MAX_TEXT: Final = 20_000
"""Characters of a chunk that are searched for words."""
MAX_WORD: Final = 64
"""Characters of a word; the rest of a longer one is not filed."""
MAX_TERMS: Final = 32
"""Different words that one search looks for."""
MAX_CACHED: Final = 50_000
DEFINED: Final = "="
"""Begins the word of a name where it is defined."""
_RUN: Final = re.compile("[\\w$\u0900-\u0dff]++(?:-[A-Za-z0-9]++)*+")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?+[a-z]++|[A-Z]|[0-9]++")
COMMON: Final = frozenset(stem(word) for word in STOP_WORDS)
"""Stems that say nothing of what a question is about."""


class FiledWords(Struct, frozen=True):
    """The words of a chunk with their counts, for `count_in`, and the number of all."""

    text: str
    length: int


def filed_words(chunk: Chunk) -> FiledWords:
    """The words under which a chunk is found."""
    words = words_of(chunk.text)
    counts = Counter(words)
    for symbol in chunk.symbol.split():
        name = whole_word(last_name(symbol))
        if name:
            counts[DEFINED + name] = 1
    filed = " ".join(f"{word}:{count}" for word, count in counts.items())
    return FiledWords(f" {filed} ", len(words))


def count_in(text: str, word: str) -> int:
    """The number of times that a word is among filed words."""
    place = text.find(f" {word}:")
    if place < 0:
        return 0
    begin = place + len(word) + 2
    return int(text[begin : text.index(" ", begin)])


def words_of(text: str) -> list[str]:
    """The words that a text is filed under, in their order."""
    some = text[:MAX_TEXT]
    words = [word for run in _runs(text) for word in _run_words(run)]
    return [*words, *(number for _, number in phone_numbers(some)), *pictures(some)]


def telling_words(text: str) -> tuple[str, ...]:
    """The different words of a question. Very common ones are left out, unless there are no
    others."""
    words = dict.fromkeys(words_of(text))
    telling = [word for word in words if word not in COMMON]
    return tuple(telling or words)[:MAX_TERMS]


def parts_of(text: str) -> list[list[str]]:
    """The parts of each identifier or word of a text, without endings."""
    return [_parts(run) for run in _runs(text)]


def whole_word(name: str) -> str:
    """The word under which a whole identifier is filed, written in any style."""
    if not name.isascii():
        return "".join(index_terms(name).split()[:1])[:MAX_WORD]
    return "".join(_parts(name))[:MAX_WORD]


def last_name(symbol: str) -> str:
    """The last name of a qualified one: "use" of "Router.use"."""
    return symbol.rpartition(".")[2]


def _runs(text: str) -> list[str]:
    """The identifiers and words of a text. Decomposed letters, which macOS writes, are joined."""
    some = text[:MAX_TEXT]
    return _RUN.findall(some if some.isascii() else unicodedata.normalize("NFC", some))


def _parts(run: str) -> list[str]:
    return [stem(part.lower())[:MAX_WORD] for part in _PART.findall(run[: 2 * MAX_WORD])]


@lru_cache(MAX_CACHED)
def _run_words(run: str) -> tuple[str, ...]:
    if not run.isascii():
        return tuple(index_terms(run).split())
    parts = _parts(run)
    return tuple(parts) if len(parts) < 2 else (*parts, "".join(parts)[:MAX_WORD])
