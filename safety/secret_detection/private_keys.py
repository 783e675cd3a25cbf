"""Finds private keys in armour: complete, cut off, with escaped line ends, or without their first
line."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from safety.patterns import Pattern, literal, some
from safety.secret_detection.kinds import Level, SecretFinding, SecretKind

PRIVATE_KEY: Final = SecretKind(
    "private_key",
    Level.DEFINITE,
    Pattern(
        (*literal("-----BEGIN "), *some("[A-Z0-9 ]", 0, 30), *literal("PRIVATE KEY")),
        "-----BEGIN ",
    ),
)

ARMOUR: Final = re.compile("PRIVATE|Private|PuTTY")
"""A text in every armour of a private key."""
_GAP: Final = r"(?:\s|\\[nrt]|[\"'`+>|,\\])"
_BEGIN: Final = re.compile(
    rf"(?<!-)-{{2,6}}\s?BEGIN{_GAP}{{1,4}}(?:[A-Z0-9]{{2,12}}{_GAP}{{1,4}}){{0,3}}?PRIVATE{_GAP}{{1,4}}KEY"
    rf"(?:{_GAP}BLOCK)?(?:-{{2,6}})?|PuTTY-User-Key-File-\d[^\n]{{0,100}}|"
    r"Private-Lines:\s?\d{1,6}",
)
_END: Final = re.compile(
    r"(?<!-)-{2,6}\s?END\s(?:[A-Z0-9]{2,12}\s){0,4}?PRIVATE\s{1,4}KEY(?:\sBLOCK)?-{0,6}"
)
_BETWEEN: Final = re.compile(r"(?:\s|\\[nrt]|[\"'`>|,\\])+|\+(?=[\s\"'])")
"""Separators between the lines of a key: white space, escapes, quotes, and joints of code."""
_PIECE: Final = re.compile(
    r"(?:Proc-Type|DEK-Info|Version|Comment|Encryption|Public-Lines|Private-Lines|Private-MAC):"
    r"[^\n]{0,100}|[A-Za-z0-9+/=]{1,4000}"
)
_SHORT_PIECE: Final = 16
_ENDS_A_LINE: Final = re.compile(r"\s|\\n|-|\Z")
_MAX: Final = 20_000
_BODY_ONLY: Final = re.compile(
    r"(?:b3BlbnNzaC1rZXktdjE|MII[A-Za-z0-9+/]{2}[AQIBg]{2}BAAKCA[A-Za-z0-9]|MII[A-Za-z0-9+/]{2}"
    r"[A-Z]IBADANBgkqhkiG9w0BAQEFAASC|MHcCAQEE|MC4CAQAwBQYDK2Vw|MIGHAgEAMBMGByqGSM49|lQ[OPHIFc][A-Z]B)"
    r"[A-Za-z0-9+/=]{24,4000}"
)
_LINE: Final = re.compile(r"\s{0,8}[A-Za-z0-9+/=]{16,100}\s{0,4}\Z")
_MAX_LINES: Final = 400


def find_private_keys(text: str) -> Iterator[SecretFinding]:
    """Yield every private key, from its first line to its last, or as far as its lines reach."""
    if ARMOUR.search(text) is None:
        yield from _bodies(text)
        return
    ends = list(_END.finditer(text))
    begins = [match for match in _BEGIN.finditer(text) if not text.startswith("END", match.start())]
    for index, begin in enumerate(begins, 1):
        following = begins[index].start() if index < len(begins) else len(text)
        limit = min(following, begin.end() + _MAX)
        yield SecretFinding(PRIVATE_KEY, begin.start(), _reach(text, begin.end(), limit, ends))
    for end in ends:
        yield SecretFinding(PRIVATE_KEY, _start_of(text, end.start()), end.end())
    yield from _bodies(text)


def _bodies(text: str) -> Iterator[SecretFinding]:
    for body in _BODY_ONLY.finditer(text):
        end = _body_end(text, body.end(), min(len(text), body.end() + _MAX))
        yield SecretFinding(PRIVATE_KEY, body.start(), end)


def _reach(text: str, position: int, limit: int, ends: list[re.Match[str]]) -> int:
    """Return the end of a key: its last line if there is one before `limit`, else the end of its
    lines."""
    last = bisect_left(ends, position, key=re.Match.start)
    if last < len(ends) and ends[last].start() < limit:
        return ends[last].end()
    return _body_end(text, position, limit)


def _body_end(text: str, position: int, limit: int) -> int:
    """Return the end of the last piece from `position` on that looks like a line of a key."""
    end = position
    while position < limit:
        between = _BETWEEN.match(text, position, limit)
        start = between.end() if between is not None else position
        piece = _PIECE.match(text, start, limit)
        if piece is None:
            if between is None:
                break
            position = start
            continue
        short = len(piece[0]) < _SHORT_PIECE and ":" not in piece[0]
        if short and not _ENDS_A_LINE.match(text, piece.end()):
            break
        end = position = piece.end()
    return end


def _start_of(text: str, end: int) -> int:
    """Return the span of a key without its first lines: the lines of its kind before the last
    one."""
    for _ in range(_MAX_LINES):
        begin = text.rfind("\n", 0, max(0, end - 1)) + 1
        if begin >= end or end - begin > _MAX_LINES or not _LINE.match(text, begin, end):
            return end
        end = begin
    return end
