"""Findings that a text tries to be a command: to a database, to a browser, to the model.

A heuristic that lowers trust and asks for a look, never a border: who is determined gets past it.
Each pattern asks for the shape of an attack, not for its words alone: "update the docs and set a
reminder" and "you are now connected to the VPN" are ordinary.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from safety.decoding import decoded
from safety.injection_detection.indirect import INDIRECT
from safety.injection_detection.patterns import PROMPT, SQL, XSS, Rule
from safety.secret_detection.credential_sentences import looks_like_credential

__all__ = [
    "Finding",
    "InjectionKind",
    "detect_injection",
    "looks_like_credential",
    "neutralise_markers",
]

MAX_FINDINGS: Final = 100
"""Findings of one text; more say nothing new."""


class InjectionKind(StrEnum):
    """The target of an injected command."""

    SQL = "sql"
    XSS = "xss"
    PROMPT = "prompt"


@dataclass(frozen=True, slots=True)
class Finding:
    """A match from `start` to `end`; `name` is a stable code for logs."""

    kind: InjectionKind
    name: str
    start: int
    end: int


_RULES: Final[tuple[tuple[InjectionKind, Rule], ...]] = (
    *((InjectionKind.SQL, rule) for rule in SQL),
    *((InjectionKind.XSS, rule) for rule in XSS),
    *((InjectionKind.PROMPT, rule) for rule in (*PROMPT, *INDIRECT)),
)
_STEMS: Final = tuple(
    (stem, number) for number, (_, rule) in enumerate(_RULES) for stem in rule.stems
)
_MARKERS: Final = re.compile(
    r"\[\s{0,4}(?P<role>SYSTEM|ADMIN|INSTRUCTION|INSTRUCTIONS|DEVELOPER|ROOT)\s{0,4}\]"
    r"|(?<!content: )(?P<words>IGNORE[ \t]{1,4}(?:ALL[ \t]{1,4})?PREVIOUS)",
    re.IGNORECASE,
)


def detect_injection(text: str) -> list[Finding]:
    """Return possible injections in order of their position, at most `MAX_FINDINGS`.

    Escapes and compatibility letters are looked through. Time grows with the text only.
    """
    plain = decoded(text)
    lowered = plain.view.lower()
    # Nearly every text has none of a rule's stems, so that this loop is what a text costs.
    rules = {number: None for stem, number in _STEMS if stem in lowered}
    found = [
        Finding(_RULES[number][0], _RULES[number][1].name, *plain.span(*match.span()))
        for number in rules
        for match in _RULES[number][1].expression.finditer(plain.view)
    ]
    return sorted(found, key=lambda finding: (finding.start, finding.end))[:MAX_FINDINGS]


def neutralise_markers(text: str) -> str:
    """Text of low trust without the markers that pose as an authority: `[SYSTEM]` becomes
    `[content: system]`, "ignore previous" `[content: ignore previous]`. Doing it twice changes
    nothing; the result can be longer.
    """
    return _MARKERS.sub(_as_content, text)


def _as_content(match: re.Match[str]) -> str:
    words = match["role"] or " ".join(match["words"].split())
    return f"[content: {words.lower()}]"
