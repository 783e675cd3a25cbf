"""Reads the figures of an error that says that a request is too long."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

SMALLEST: Final = 16
LARGEST: Final = 100_000_000
"""Figures outside of this range are no sizes of a prompt or a window."""

_NUMBER: Final = re.compile(r"(?<![\w.<])(\d{1,3}(?:[,_]\d{3})+|\d{1,12})(k\b)?(?![\w]|\.\d)")
_FOREIGN_UNIT: Final = re.compile(
    r"^\s*(?:bytes|[kmg]i?b\b|char|pixels?|images?|px\b|seconds?|ms\b|days?|hours?|minutes?)"
)
_COUNTS_CHARACTERS: Final = re.compile(r"maxlength|string with|characters")
_LIMIT_BEFORE: Final = re.compile(
    r"max|limit|context (?:length|size|window)|n_ctx|window|<=|≤|at most|allowed|up to|only"
    r"|less than|more than|exceed|range of|model of|length of|上限|最大|限制"
)
_COUNT_BEFORE: Final = re.compile(
    r"request(?:ed| contains| has)|result|contains?\b|\bgot\b|actual"
    r"|received|current|given|provided"
)
_LIMIT_AFTER: Final = re.compile(r"^\s*(?:tokens?\s+)?(?:max|limit)")
_EXCESS_BEFORE: Final = re.compile(r"exceed.{0,60} by (?:about )?$")
_COMPARED_AFTER: Final = re.compile(r"^\s*(?:tokens?\s+)?>")
_COMPARED_BEFORE: Final = re.compile(r">=?\s*(?:n_ctx\W{0,3})?$")
_ADDED_BEFORE: Final = re.compile(r"\+\s*$")
_ADDED_AFTER: Final = re.compile(r"^\s*\+")
_ANSWER_BEFORE: Final = re.compile(r"max_\w{0,20}tokens\W.{0,50}too large\W{0,2}$")
_ANSWER_AFTER: Final = re.compile(
    r"^\W*(?:of )?(?:tokens? )?(?:\w+ ){0,3}(?:max_new|completion|output)"
)
_PROMPT_AFTER: Final = re.compile(r"^\W*(?:tokens? )?(?:\w+ ){0,3}(?:inputs?\b|prompt|messages)")
_OPEN_BOUND: Final = re.compile(r"at least\s*$")


class Figures(Struct, frozen=True):
    """In tokens, None if it is not named: `tokens` of the prompt, `limit` of the window, and by how
    much the prompt exceeds it (`excess`)."""

    tokens: int | None = None
    limit: int | None = None
    excess: int | None = None


class _Found(Struct):
    """The figures of a text by what they count."""

    prompt: list[int] = []
    answer: list[int] = []
    limits: list[int] = []
    others: list[int] = []
    excess: int | None = None
    open_bound: bool = False


def figures_in(text: str) -> Figures:
    """Return the figures in a text of small letters."""
    if _COUNTS_CHARACTERS.search(text):
        return Figures()
    found = _Found()
    for value, before, after in _numbers(text):
        _sort(found, value, before, after)
    limit = found.limits[0] if found.limits else None
    return Figures(_tokens_of_prompt(found, limit), limit, found.excess)


def _sort(found: _Found, value: int, before: str, after: str) -> None:
    if _EXCESS_BEFORE.search(before):
        found.excess = value
    elif _ADDED_AFTER.search(after):
        found.prompt.append(value)
    elif _ADDED_BEFORE.search(before) or _ANSWER_BEFORE.search(before):
        found.answer.append(value)
    elif _COMPARED_AFTER.search(after):
        found.prompt.append(value)
    elif _COMPARED_BEFORE.search(before) or _LIMIT_AFTER.search(after):
        found.limits.append(value)
    elif _ANSWER_AFTER.search(after):
        found.answer.append(value)
    else:
        found.open_bound = found.open_bound or bool(_OPEN_BOUND.search(before))
        if _PROMPT_AFTER.search(after):
            found.prompt.append(value)
        elif _end_of_last(_LIMIT_BEFORE, before) > _end_of_last(_COUNT_BEFORE, before):
            found.limits.append(value)
        else:
            found.others.append(value)


def _tokens_of_prompt(found: _Found, limit: int | None) -> int | None:
    if found.open_bound:
        return None  # the server stopped to count at its limit
    total = max((value for value in found.others if value > (limit or 0)), default=0)
    if found.answer and total > found.answer[0]:
        return total - found.answer[0]
    return found.prompt[0] if found.prompt else total or None


def _end_of_last(pattern: re.Pattern[str], text: str) -> int:
    return max((match.end() for match in pattern.finditer(text)), default=-1)


def _numbers(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each figure that may count tokens, with the text before it and after it."""
    end = 0
    for match in _NUMBER.finditer(text):
        value = int(re.sub(r"[,_]", "", match[1])) * (1000 if match[2] else 1)
        after = text[match.end() : match.end() + 40]
        if SMALLEST <= value <= LARGEST:
            before = text[max(end, match.start() - 70) : match.start()]
            end = match.end()
            if not _FOREIGN_UNIT.search(after):
                yield value, before, after
