"""Private keys in armour: whole, cut off, with escaped line ends, or without their first line."""

import re
from collections.abc import Iterator
from typing import Final

from safety.patterns import Pattern, literal, some
from safety.secret_kinds import Finding, Level, SecretKind

PRIVATE_KEY: Final = SecretKind(
    "private_key",
    Level.DEFINITE,
    Pattern(
        (*literal("-----BEGIN "), *some("[A-Z0-9 ]", 0, 30), *literal("PRIVATE KEY")),
        "-----BEGIN ",
    ),
)

_GAP: Final = r"(?:\s|\\[nrt]|[\"'`+>|,\\])"
_BEGIN: Final = re.compile(
    rf"-{{2,6}}\s?BEGIN{_GAP}{{1,4}}(?:[A-Z0-9]{{2,12}}{_GAP}{{1,4}}){{0,3}}PRIVATE{_GAP}{{1,4}}KEY"
    rf"(?:{_GAP}BLOCK)?(?:-{{2,6}})?|PuTTY-User-Key-File-\d[^\n]{{0,100}}|Private-Lines:\s?\d+",
)
_END: Final = re.compile(r"-{2,6}\s?END[A-Z0-9 \s]{0,60}PRIVATE\s{1,4}KEY(?:\sBLOCK)?-{0,6}")
_BODY: Final = re.compile(
    rf"(?:{_GAP}*(?:[A-Za-z0-9+/=]{{16,}}|(?:Proc-Type|DEK-Info|Version|Comment|Encryption|"
    rf"Public-Lines|Private-Lines|Private-MAC):[^\n]{{0,100}}|[A-Za-z0-9+/]{{1,80}}={{0,2}}(?=\s|\\n|-|$)))*"
)
_MAX: Final = 20_000
_BODY_ONLY: Final = re.compile(
    r"(?:b3BlbnNzaC1rZXktdjE|MII[A-Za-z0-9+/]{2}[AQIBg]{2}BAAKCA[A-Za-z0-9]|MII[A-Za-z0-9+/]{2}"
    r"[A-Z]IBADANBgkqhkiG9w0BAQEFAASC|MHcCAQEE|MC4CAQAwBQYDK2Vw|MIGHAgEAMBMGByqGSM49|lQ[OPHIFc][A-Z]B)"
    r"[A-Za-z0-9+/=]{24,}"
)
_TAIL: Final = re.compile(r"(?:[A-Za-z0-9+/=]{16,}\s{1,4}){1,100}\Z")


def find_private_keys(text: str) -> Iterator[Finding]:
    """Every private key, from its first line to its last, or as far as one reaches."""
    position = 0
    while begin := _BEGIN.search(text, position):
        position = _reach(text, begin.end())
        yield Finding(PRIVATE_KEY, begin.start(), position)
    for end in _END.finditer(text):
        yield Finding(PRIVATE_KEY, _start_of(text, end.start()), end.end())
    for body in _BODY_ONLY.finditer(text):
        yield Finding(PRIVATE_KEY, body.start(), _reach(text, body.end()))


def _reach(text: str, position: int) -> int:
    limit = min(len(text), position + _MAX)
    last = _END.search(text, position, limit)
    if last and not _BEGIN.search(text, position, last.start()):
        return last.end()
    body = _BODY.match(text, position, limit)
    return body.end() if body else position


def _start_of(text: str, end: int) -> int:
    """Of a key without its first lines: the lines of its kind before the last one."""
    tail = _TAIL.search(text, max(0, end - _MAX), end)
    return tail.start() if tail else end
