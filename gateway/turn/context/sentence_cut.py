"""Cutting a text where a sentence ends, so that nobody reads half of one."""

import re
from collections.abc import Callable
from typing import Final

ELLIPSIS: Final = "..."
"""Plain, because a text of plain letters is counted faster."""

STRETCH: Final = 400
"""Characters that are looked through for a sentence's end at a time, from behind."""
RULE_OF_THREE: Final = 6
"""Guesses by proportion, before halving."""

_END: Final = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？｡]\s*|\n+")
"""A full stop and white space, those of Chinese and Japanese, and a line's end."""


def sentences(text: str) -> list[str]:
    """The text in pieces that end with a sentence; joined, they are the text again."""
    pieces, start = [], 0
    for end in _END.finditer(text):
        pieces.append(text[start : end.end()])
        start = end.end()
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def first_sentence(text: str) -> str:
    """The text up to the end of its first sentence."""
    end = _END.search(text)
    return text[: end.end()] if end else text


def shortened(text: str, limit: int, count: Callable[[str], int]) -> str:
    """As many whole sentences of `text` as fit into `limit` tokens, with a mark that more was
    there; where not even the first fits, as much of it as does; nothing where nothing fits."""
    all_of_it = count(text)
    if not text or all_of_it <= limit:
        return text
    letters = _most(len(text), all_of_it, limit, lambda n: count(_marked(text[:n])))
    if not letters:
        return ""
    # The white space behind a sentence goes, so a sentence fits when only that lies beyond.
    rest = text[letters : letters + STRETCH]
    reach = letters + len(rest) - len(rest.lstrip())
    return _marked(text[: _last_end(text, reach) or letters])


def _last_end(text: str, reach: int) -> int:
    """Where the last sentence within `text[:reach]` ends, 0 where none does."""
    start = reach
    while start > 0:
        start = max(0, start - STRETCH)
        ends = [end.end() for end in _END.finditer(text, start, reach)]
        if ends:
            return ends[-1]
    return 0


def _marked(text: str) -> str:
    return f"{text.rstrip()} {ELLIPSIS}"


def _most(size: int, tokens: int, limit: int, count: Callable[[int], int]) -> int:
    """The largest number of letters below `size` whose tokens fit, 0 for none; found by rule of
    three, because tokens grow nearly in step with letters, and by halving where they do not."""
    low, high, guess = 0, size, size * max(0, limit) // tokens
    for attempt in range(size):
        if high - low <= 1:
            break
        if attempt >= RULE_OF_THREE:
            guess = (low + high) // 2
        guess = min(max(guess, low + 1), high - 1)
        found = count(guess)
        if found <= limit:
            low = guess
        else:
            high = guess
        guess += (limit - found) * size // tokens or (1 if found <= limit else -1)
    return low
