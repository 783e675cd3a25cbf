"""Finds citations in a text: decision records, commits, addresses, issues.

Hexadecimal digits are a commit if they mix letters and digits, or follow a word such as "commit";
an English word ("defaced"), a colour, a path of an address, an image digest and a number are not.
"""

import re
from collections.abc import Iterator
from typing import Final

from memory.ports.grounding import Citation, CitationKind

MAX_CITATIONS: Final = 20
"""Citations of one text; further ones are ignored."""
MAX_URL: Final = 2_048


def find_citations(text: str) -> tuple[Citation, ...]:
    """Return up to `MAX_CITATIONS` distinct citations in order; linear in the length of the
    text."""
    citations: list[Citation] = []
    rest = text
    for find in (_urls, _adrs, _issues, _commits):
        for citation in find(rest):
            if len(citations) == MAX_CITATIONS:
                break
            citations.append(citation)
        rest = _blanked(rest, citations)
    unique = {(c.kind, c.id, c.repository): c for c in reversed(citations)}
    return tuple(sorted(unique.values(), key=lambda citation: citation.start))


def _blanked(text: str, citations: list[Citation]) -> str:
    """Return the text without the citations, at the same positions: a path in a URL is not a
    commit."""
    for citation in citations:
        gap = " " * (citation.end - citation.start)
        text = text[: citation.start] + gap + text[citation.end :]
    return text


# --- addresses ------------------------------------------------------------------------------------

_URL: Final = re.compile(
    rf"(?<![A-Za-z0-9])https?://[^\s<>\"'`\\^|{{}}\x00-\x1f]{{1,{MAX_URL}}}", re.IGNORECASE
)
_CLOSING: Final = {")": "(", "]": "[", "}": "{"}


def _urls(text: str) -> Iterator[Citation]:
    for match in _URL.finditer(text):
        url = _without_ending(match[0])
        if len(url) > len("https://"):
            yield Citation(CitationKind.URL, url, match.start(), match.start() + len(url))


def _without_ending(url: str) -> str:
    """Return an address without the punctuation of its sentence; balanced brackets stay."""
    while url:
        last = url[-1]
        unbalanced = last in _CLOSING and url.count(last) > url.count(_CLOSING[last])
        if last not in ".,;:!?*_~»”’" and not unbalanced:
            return url
        url = url[:-1]
    return url


# --- decision records -----------------------------------------------------------------------------

_ADR: Final = re.compile(r"(?<![\w/.-])\[?\bADR[-\s_#]{0,2}([0-9]{1,5})(?![\w])\]?", re.IGNORECASE)


def _adrs(text: str) -> Iterator[Citation]:
    for match in _ADR.finditer(text):
        number = int(match[1])
        yield Citation(CitationKind.ADR, f"ADR-{number:03}", match.start(), match.end())


# --- issues ---------------------------------------------------------------------------------------

_ISSUE: Final = re.compile(
    r"(?<![\w/.@-])(?P<repository>[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100})"
    r"#(?P<named>[0-9]{1,9})(?!\w)"
    r"|(?<![\w&#/])#(?P<bare>[0-9]{1,9})(?![\w;])"
    r"|(?<![\w-])GH-(?P<github>[0-9]{1,9})(?!\w)"
)
_COLOUR_WORD: Final = re.compile(r"colou?r\W{0,4}(?:is\W|of\W|to\W)?\W{0,3}\Z", re.IGNORECASE)


def _issues(text: str) -> Iterator[Citation]:
    for match in _ISSUE.finditer(text):
        number = match["named"] or match["bare"] or match["github"]
        if match["bare"] and len(number) in {3, 6} and _follows(_COLOUR_WORD, match):
            continue
        repository = match["repository"] or ""
        yield Citation(CitationKind.ISSUE, str(int(number)), match.start(), match.end(), repository)


# --- commits --------------------------------------------------------------------------------------

_HEX: Final = re.compile(r"(?<![\w#@$.&%-])[0-9a-fA-F]{7,40}(?![\w-])(?!\.\w)")
_COMMIT_WORD: Final = re.compile(
    r"(?:\b(?:commits?|revisions?|revs?|changesets?|hash|sha-?1?|reverts?|reverted|cherry-picked)"
    r"(?:\s+(?:is|was|id|hash))?|\bgit\s+(?:show|log|checkout))\W{1,3}\Z",
    re.IGNORECASE,
)
_DIGEST: Final = re.compile(r"(?:sha-?(?:224|256|384|512)|md5|crc32|0x)\W{0,2}\Z", re.IGNORECASE)
_FLOAT: Final = re.compile(r"[0-9]+[eE][0-9]+\Z")
_ENGLISH: Final = frozenset({"defaced", "effaced", "acceded", "fabaceae"})
_NEARBY: Final = 40


def _commits(text: str) -> Iterator[Citation]:
    for match in _HEX.finditer(text):
        hexadecimal = match[0].lower()
        if hexadecimal in _ENGLISH or _follows(_DIGEST, match):
            continue
        mixed = not hexadecimal.isdigit() and not hexadecimal.isalpha()
        sure = mixed and not _FLOAT.match(hexadecimal)
        if sure or _follows(_COMMIT_WORD, match):
            yield Citation(CitationKind.COMMIT, hexadecimal, match.start(), match.end())


def _follows(words: re.Pattern[str], match: re.Match[str]) -> bool:
    before = match.string[max(match.start() - _NEARBY, 0) : match.start()]
    return words.search(before) is not None
