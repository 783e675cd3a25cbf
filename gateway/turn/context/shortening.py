"""Shortening of a text at the end of a sentence."""

import re
from collections.abc import Callable
from typing import Final

ELLIPSIS: Final = "..."
"""ASCII, because plain text is counted faster."""
STRETCH: Final = 400
"""Characters that are searched at a time for the end of a sentence, backwards."""
RULE_OF_THREE: Final = 6
"""Guesses by proportion before bisection."""
_END: Final = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？｡]\s*|\n+")
"""A full stop with white space, those of Chinese and Japanese, and the end of a line."""


def sentences(text: str) -> list[str]:
    """Split the text after each sentence; joined, the pieces are the text again."""
    pieces, start = [], 0
    for end in _END.finditer(text):
        pieces.append(text[start : end.end()])
        start = end.end()
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def first_sentence(text: str) -> str:
    """Return the text up to the end of its first sentence."""
    end = _END.search(text)
    return text[: end.end()] if end else text


def shortened(text: str, limit: int, count: Callable[[str], int]) -> str:
    """Return as many whole sentences as fit into `limit` tokens, with an ellipsis; if not even the
    first fits, a part of it; empty if nothing fits."""
    all_of_it = count(text)
    if not text or all_of_it <= limit:
        return text
    letters = _most(len(text), all_of_it, limit, lambda n: count(_marked(text[:n])))
    if not letters:
        return ""
    # White space after a sentence is dropped, so a sentence fits if only that exceeds the limit.
    rest = text[letters : letters + STRETCH]
    reach = letters + len(rest) - len(rest.lstrip())
    return _marked(text[: _last_end(text, reach) or letters])


def _last_end(text: str, reach: int) -> int:
    """Return the end of the last sentence within `text[:reach]`, 0 if there is none."""
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
    """Return the largest number of letters below `size` whose tokens fit, 0 for none. Found by
    proportion, because tokens grow almost linearly with letters, and by bisection otherwise."""
    low, high, guess = 0, size, size * max(0, limit) // tokens
    for attempt in range(size):
        if high - low <= 1:
            break
        if attempt >= RULE_OF_THREE:
            guess = (low + high) // 2
        guess = min(max(guess, low + 1), high - 1)
        used = count(guess)
        if used <= limit:
            low = guess
        else:
            high = guess
        guess += (limit - used) * size // tokens or (1 if used <= limit else -1)
    return low
