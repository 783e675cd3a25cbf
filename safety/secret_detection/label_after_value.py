"""Finds values before their label: `"…" == password`, "… is my password"."""

import re
from typing import Final

_OF_BEFORE_LINKS: Final = """
    is as ist es est é è это це to — – - == === != !== jest adalah là είναι at
"""
_BEFORE_LINKS: Final = frozenset(_OF_BEFORE_LINKS.split())
_OF_ARTICLES: Final = """
    the my our mein meine das la le mi a o minha mon moje мой мій
"""
_ARTICLES: Final = frozenset(_OF_ARTICLES.split())
_BETWEEN: Final = _BEFORE_LINKS | _ARTICLES
_NAME: Final = re.compile(r"[\w.$@]*")
_MOST_PARTS: Final = 5
_OWNERS_BEFORE: Final = "私我您你的のは是がを僕俺제내가이는은 "


def run_before(window: str) -> tuple[int, int] | None:
    """The run of ASCII before a word of a script without spaces, with "is" between them."""
    stripped = window.rstrip(_OWNERS_BEFORE)
    between = window[len(stripped) :]
    if not any(char in between for char in "是はが이가는은"):
        return None
    begin = len(stripped)
    while begin and "!" <= stripped[begin - 1] <= "~":
        begin -= 1
    return (begin, len(stripped)) if begin < len(stripped) else None


def value_before(window: str) -> tuple[int, int] | None:
    """The value before "is my", "— это мой", `==`, "(the"."""
    backwards = _NAME.match(window[::-1])
    name = len(window) - (backwards.end() if backwards is not None else 0)
    parts = window[:name].rsplit(None, _MOST_PARTS)[-_MOST_PARTS:]
    last = parts[-1] if parts else ""
    if last.lstrip("(").lower() not in _BETWEEN:
        return None
    told = False
    while parts and parts[-1].lstrip("(").lower() in _ARTICLES:
        told = parts.pop().startswith("(")
    while parts and not told and parts[-1].lower() in _BEFORE_LINKS:
        parts.pop()
        if not parts or parts[-1].lower() not in _BEFORE_LINKS:
            told = True
    if not told or not parts:
        return None
    core = parts[-1].strip("\"'`«»„“”,.(")
    at = window.rfind(core, 0, name) if core else -1
    return (at, at + len(core)) if at >= 0 else None
