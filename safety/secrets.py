"""Recognising credentials in text, in three degrees of certainty.

The degrees and their first patterns come from the memory rules: definite ones are always removed,
probable ones removed with a note, possible ones shown to the person. Formats of tokens are those
their issuers document.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from safety.patterns import Element, Pattern, literal, some

_ALNUM: Final = "[A-Za-z0-9]"
_KEY_CHAR: Final = "[A-Za-z0-9_-]"
_GAP: Final = some(r"\s", 0, 100)
_IS: Final = (*some("[\"']", 0, 1), *_GAP, *some("[:=]", 1, 1), *_GAP)
_PRIVATE_KEY_END: Final = re.compile("-----END [A-Z ]{1,40}-----")
_MAX_PRIVATE_KEY: Final = 20_000


class Level(StrEnum):
    """How certain it is that a text is a secret."""

    DEFINITE = "definite"
    PROBABLE = "probable"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True)
class SecretKind:
    """One kind of secret; `name` is a stable code, fit for logs."""

    name: str
    level: Level
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Finding:
    """A secret found at `start` to `end` of a text; it does not hold the secret itself."""

    kind: SecretKind
    start: int
    end: int


def _definite(name: str, anchor: str, *rest: Element) -> SecretKind:
    return SecretKind(name, Level.DEFINITE, Pattern((*literal(anchor), *rest), anchor))


CONNECTION_STRING: Final = SecretKind(
    "connection_string",
    Level.PROBABLE,
    Pattern(
        (
            *literal("://"),
            *some(r"[^\s:/@]", 0, 100),
            *literal(":"),
            *some(r"[^\s/@]", 1, 200),
            *literal("@"),
        ),
        anchor="://",
    ),
)
"""An address with a password in it, from `://` on."""

KINDS: Final[tuple[SecretKind, ...]] = (
    _definite("anthropic_key", "sk-ant-", *some(_KEY_CHAR, 20, 200)),
    _definite("openai_key", "sk-proj-", *some(_KEY_CHAR, 20, 300)),
    _definite("openai_key", "sk-svcacct-", *some(_KEY_CHAR, 20, 300)),
    _definite("openai_key", "sk-admin-", *some(_KEY_CHAR, 20, 300)),
    _definite("openai_key", "sk-", *some(_ALNUM, 32, 128)),
    _definite("aws_key_id", "AKIA", *some("[A-Z0-9]", 16, 16)),
    _definite("aws_key_id", "ASIA", *some("[A-Z0-9]", 16, 16)),
    SecretKind(
        "aws_secret",
        Level.DEFINITE,
        Pattern(
            (
                *literal("secret_access_key"),
                *_IS,
                *some("[\"']", 0, 1),
                *some("[A-Za-z0-9/+=]", 40, 40),
            ),
            ignore_case=True,
        ),
    ),
    *(
        _definite("github_token", prefix, *some(_ALNUM, 36, 255))
        for prefix in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")
    ),
    _definite("github_token", "github_pat_", *some("[A-Za-z0-9_]", 22, 255)),
    _definite("gitlab_token", "glpat-", *some(_KEY_CHAR, 20, 100)),
    _definite(
        "slack_token", "xox", *some("[abeoprs]", 1, 1), *literal("-"), *some(_KEY_CHAR, 10, 250)
    ),
    _definite("slack_token", "xapp-", *some(_KEY_CHAR, 10, 250)),
    _definite("slack_webhook", "hooks.slack.com/services/", *some("[A-Za-z0-9/]", 20, 100)),
    _definite("google_key", "AIza", *some(_KEY_CHAR, 35, 35)),
    _definite("stripe_key", "sk_live_", *some(_ALNUM, 16, 250)),
    _definite("stripe_key", "rk_live_", *some(_ALNUM, 16, 250)),
    SecretKind(
        "telegram_token",
        Level.DEFINITE,
        Pattern((*some("[0-9]", 8, 10), *literal(":AA"), *some(_KEY_CHAR, 33, 33)), anchor=":AA"),
    ),
    SecretKind(
        "discord_token",
        Level.DEFINITE,
        Pattern(
            (
                *some("[MNO]", 1, 1),
                *some(_KEY_CHAR, 23, 27),
                *literal("."),
                *some(_KEY_CHAR, 6, 6),
                *literal("."),
                *some(_KEY_CHAR, 27, 60),
            ),
            anchor=".",
        ),
    ),
    _definite(
        "jwt", "eyJ", *some(_KEY_CHAR, 8, 300), *literal(".eyJ"), *some("[A-Za-z0-9_.-]", 8, 4000)
    ),
    _definite("private_key", "-----BEGIN ", *some("[A-Z ]", 0, 24), *literal("PRIVATE KEY")),
    CONNECTION_STRING,
    SecretKind(
        "password",
        Level.PROBABLE,
        Pattern((*literal("password"), *_IS, *some(r"\S", 1, 200)), ignore_case=True),
    ),
    SecretKind(
        "bearer_token",
        Level.PROBABLE,
        Pattern(
            (*literal("bearer"), *some(r"\s", 1, 100), *some("[A-Za-z0-9._-]", 1, 1000)),
            ignore_case=True,
        ),
    ),
    SecretKind("long_base64", Level.POSSIBLE, Pattern(some("[A-Za-z0-9+/]", 64, 10_000))),
    SecretKind("forty_hex_digits", Level.POSSIBLE, Pattern(some("[0-9a-f]", 40, 40))),
)
"""Every kind, the most certain first."""


def find_secrets(text: str) -> list[Finding]:
    """All secrets of a text in order of their place; overlapping ones only once, the surest.

    Time grows with the length of the text and nothing else.
    """
    found: list[Finding] = []
    for kind in KINDS:
        if kind.pattern.anchor not in text:
            continue
        for match in kind.pattern.whole.finditer(text):
            finding = Finding(kind, match.start(), _end(kind, text, match.end()))
            found.append(finding)
    return _without_overlaps(found)


def _end(kind: SecretKind, text: str, end: int) -> int:
    """A private key goes on to its last line, or as far as one can reach."""
    if kind.name != "private_key":
        return end
    reach = min(len(text), end + _MAX_PRIVATE_KEY)
    last = _PRIVATE_KEY_END.search(text, end, reach)
    return last.end() if last else reach


def _without_overlaps(found: list[Finding]) -> list[Finding]:
    order = list(Level)
    kept: list[Finding] = []
    for finding in sorted(found, key=lambda f: (f.start, order.index(f.kind.level), -f.end)):
        previous = kept[-1] if kept else None
        if previous is None or finding.start >= previous.end:
            kept.append(finding)
        elif order.index(finding.kind.level) < order.index(previous.kind.level):
            kept[-1] = finding
    return kept
