"""Secrets that the comment at the end of their line of code tells: `Client("…")  // api key`."""

import re
from collections.abc import Iterator
from typing import Final

from safety.secret_detection.kinds import Finding
from safety.secret_detection.labelled import ASSIGNED_KEY, PASSWORD
from safety.secret_detection.plausibility import looks_random
from safety.secret_detection.value_rules import NEVER, SHORTEST_KEY, is_strong

_COMMENT: Final = re.compile(
    r"(?:#|//|--|/\*|<!--)[ \t]{0,2}(?:(?:the|my|our|your)[ \t])?"
    r"(?:(?P<password>password|passphrase|passwd|pwd)|"
    r"(?:api|secret|access|private|auth)[ _-]?(?:key|token)|token|secret)"
    r"[ \t]{0,3}(?:\*/|-->)?[ \t]{0,3}(?:\r?\n|\Z)"
)
_STEMS: Final = ("key", "token", "secret", "passw", "passp", "pwd")
_QUOTES: Final = frozenset("\"'`")
_BEHIND: Final = " \t)]};,"
_LONGEST_LINE: Final = 300


def find_in_comments(text: str, lowered: str) -> Iterator[Finding]:
    """The quoted value that stands last before such a comment, on the same line."""
    if not any(map(lowered.__contains__, _STEMS)):
        return
    for match in _COMMENT.finditer(lowered):
        line = text[max(0, match.start() - _LONGEST_LINE) : match.start()]
        code = line[line.rfind("\n") + 1 :].rstrip(_BEHIND)
        if code[-1:] not in _QUOTES:
            continue
        begin = code.rfind(code[-1], 0, -1) + 1
        value = code[begin:-1]
        if not begin or NEVER.match(value) or any(map(str.isspace, value)):
            continue
        if is_strong(value) if match["password"] else looks_random(value, SHORTEST_KEY):
            end = match.start() - len(line) + line.rfind("\n") + 1 + len(code) - 1
            yield Finding(PASSWORD if match["password"] else ASSIGNED_KEY, end - len(value), end)
