"""Index words of code and documents, and search words of a question.

An identifier is filed by its parts and as a whole: `getHTTPResponse`, `get_http_response` and
`get-http-response` have the words "get", "http", "respons" and the whole "gethttprespons". Parts
lose their English endings. Texts in scripts other than Latin are split as memories are
(`memory.text.terms`).
"""

import re
from functools import lru_cache
from typing import Final

from memory.text.function_words import STOP_WORDS
from memory.text.terms import index_terms, stem

MAX_TEXT: Final = 20_000
"""Characters of a chunk that are searched for words."""
MAX_WORD: Final = 64
"""Characters of a word; the rest of a longer one is not filed."""
MAX_TERMS: Final = 32
"""Different words that one search looks for."""
MAX_CACHED: Final = 50_000
_RUN: Final = re.compile("[\\w$\u0900-\u0dff]++(?:-[A-Za-z0-9]++)*+")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?+[a-z]++|[A-Z]|[0-9]++")
_COMMON: Final = frozenset(stem(word) for word in STOP_WORDS)


def words_of(text: str) -> list[str]:
    """The words that a text is filed under, in their order."""
    return [word for run in _RUN.findall(text[:MAX_TEXT]) for word in _run_words(run)]


def question_words(text: str) -> tuple[str, ...]:
    """The different words of a question. Very common ones are left out, unless there are no
    others."""
    words = dict.fromkeys(words_of(text))
    telling = [word for word in words if word not in _COMMON]
    return tuple(telling or words)[:MAX_TERMS]


@lru_cache(MAX_CACHED)
def _run_words(run: str) -> tuple[str, ...]:
    if not run.isascii():
        return tuple(index_terms(run).split())
    run = run[: 2 * MAX_WORD]
    parts = [stem(part.lower()) for part in _PART.findall(run)]
    if len(parts) < 2:
        return tuple(part[:MAX_WORD] for part in parts)
    return (*(part[:MAX_WORD] for part in parts), "".join(parts)[:MAX_WORD])


def whole_word(name: str) -> str:
    """The word under which a whole identifier is filed, written in any style."""
    return "".join(stem(part.lower()) for part in _PART.findall(name[: 2 * MAX_WORD]))[:MAX_WORD]
