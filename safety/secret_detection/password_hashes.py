"""Finds hashes of passwords: who has one can guess the password.

The forms are those of crypt(3), of the Modular Crypt Format and the PHC string format, of LDAP
(RFC 2307), of databases, routers and Kerberos (RFC 3961), as their documentation gives them.
"""

import re
from collections.abc import Iterator
from typing import Final

from safety.patterns import Pattern, literal
from safety.secret_detection.kinds import Level, SecretFinding, SecretKind
from safety.secret_detection.plausibility import looks_random

PASSWORD_HASH: Final = SecretKind(
    "password_hash", Level.PROBABLE, Pattern(literal("$"), anchor="$")
)

_B64: Final = r"[A-Za-z0-9./+=_-]"
_ALONE: Final = r"(?<![A-Za-z0-9$./])"
_CRYPT: Final = re.compile(
    rf"{_ALONE}\$(?:"
    r"(?:1|apr1)\$[^\s$:\"']{0,16}\$[A-Za-z0-9./]{22}"
    r"|2[abxy]?\$\d\d\$[A-Za-z0-9./]{53}"
    r"|[56]\$(?:rounds=\d{1,9}\$)?[^\s$:\"']{0,16}\$[A-Za-z0-9./]{43,86}"
    r"|[89]\$[A-Za-z0-9./]{14}\$[A-Za-z0-9./]{43}"
    r"|(?:y|gy|7|sm3|sm3_yescrypt)\$[A-Za-z0-9./$]{20,200}"
    r"|[PHS]\$[A-Za-z0-9./]{31,52}"
    r"|(?:md5|sha1)[,$][A-Za-z0-9./=,$]{20,80}"
    r"|(?:argon2(?:id|i|d)|scrypt|pbkdf2(?:-[a-z0-9]{1,12})?|bcrypt-sha256|balloon)"
    rf"\$(?:{_B64}|[,$]){{20,400}}"
    r"|(?:NT|DCC2?|MSSQL|SHA|ml|office|krb5[a-z]{2,8}|keepass|sntp-ms|racf|xmpp-scram)\$"
    r"[^\s\"'`]{16,8000}"
    r")"
)
"""Behind `$`: the scheme's code, its settings, the salt, the hash."""
_NAMED: Final = re.compile(
    r"(?<![\w.-])(?:"
    r"(?:pbkdf2|scrypt):[\w:]{1,40}\$[^\s$\"']{4,64}\$[a-f0-9]{32,256}"
    rf"|(?:pbkdf2_sha\d{{1,3}}|argon2|scrypt|bcrypt(?:_sha256)?|md5|sha1)\$(?:{_B64}|[,$]){{24,400}}"
    r"|SCRAM-SHA-(?:1|256|512)\$\d{1,9}:[A-Za-z0-9+/=]{8,64}\$[A-Za-z0-9+/=]{20,120}:[A-Za-z0-9+/=]{20,120}"
    r"|grub\.pbkdf2\.sha\d{1,3}\.\d{1,9}\.[A-Fa-f0-9]{32,256}\.[A-Fa-f0-9]{64,256}"
    r")"
)
"""Those of web frameworks, of PostgreSQL (RFC 5803), and of GRUB."""
_LDAP: Final = re.compile(
    r"\{(?:S?SHA(?:256|384|512)?|S?MD5|PBKDF2[\w-]{0,12}|ARGON2|BCRYPT|CRYPT|X-[\w-]{1,20})\}"
    r"[A-Za-z0-9./+=$,_-]{13,400}"
)
_DUMPS: Final = re.compile(
    r"(?<![\w.$\\-])(?:[\w.$-]{1,64}\\)?[\w.$-]{1,64}:(?:"
    r"\d{1,10}:(?P<bare>[a-fA-F0-9]{32}:[a-fA-F0-9]{32}):::"
    r"|:[\w.-]{1,64}:(?P<reply>[a-fA-F0-9]{16,48}:[a-fA-F0-9]{32,48}:[a-fA-F0-9]{16,2000}))"
)
"""Accounts of Windows: the hashes of a dump, and the reply to a challenge of NTLM."""
_MYSQL: Final = re.compile(r"(?<![\w*])\*[0-9A-F]{40}(?![\w*])|\$A\$\d{3}\$[^\s\"']{40,80}")
_ROUTERS: Final = re.compile(
    r"(?i)(?<![a-z])(?:password|secret|key-string|key|authentication|md5|community)[ \t]{1,3}"
    r"(?:7[ \t]{1,3}(?P<seven>\d\d[0-9a-f]{4,128})|"
    r"(?:[04589]|sha256|sha512|encrypted)[ \t]{1,3}(?P<other>[^\s\"']{16,200}))(?![^\s\"';])"
)
"""Passwords of routers: `password 7 0822…`, `secret 5 $1$…`, `secret 9 $9$…`."""
_HEX: Final = re.compile(r"(?<![\w-])(?:md5|0x0[12]00)?[a-fA-F0-9]{32,280}(?![\w-])")
_LABEL: Final = re.compile(
    r"(?i)(?<![a-z])(?:nt(?:lm(?:v[12])?)?|lm|password|passwd|pwd|pass|mysql|rolpassword|kerberos|"
    r"aes(?:128|256))(?:[ _-]?(?:hash(?:es)?|hmac))?[\"']?\s{0,3}(?:[:=]{1,2}|\bis|\bas)\s{0,3}"
    r"[\"']?\Z"
)
"""Before a hash in hexadecimal digits."""
_LABEL_LENGTH: Final = 40
_SIGNS: Final = ("$", "}", "*", "::", "pbkdf2.")
_TYPES: Final = tuple(f" {kind} " for kind in (*"045789", "sha256", "sha512", "encrypted"))
_STEMS: Final = ("hash", "pass", "pwd", "ntlm", "mysql", "hmac", "kerb", "lm:", "nt:")
SHORTEST_HASH: Final = 13
"""Characters of the longest word in the shortest text with a hash: one of DES."""
_LABELLED_HASH: Final = 32
_MARKS: Final = (
    ("$", _CRYPT),
    ("$", _NAMED),
    ("pbkdf2.", _NAMED),
    ("}", _LDAP),
    ("*", _MYSQL),
    ("$A$", _MYSQL),
    ("::", _DUMPS),
)
"""A text in every hash of an expression."""


def find_password_hashes(text: str, lowered: str, longest: int) -> Iterator[SecretFinding]:
    """Yield every hash of a password; `lowered` is the text in small letters, `longest` the length
    of its longest word."""
    if any(map(text.__contains__, _SIGNS)):
        for expression in dict.fromkeys(one for mark, one in _MARKS if mark in text):
            for match in expression.finditer(text):
                yield SecretFinding(PASSWORD_HASH, *match.span(match.lastgroup or 0))
    if any(map(lowered.__contains__, _TYPES)):
        for match in _ROUTERS.finditer(text):
            if match["seven"] or _is_encoded(match["other"]):
                yield SecretFinding(PASSWORD_HASH, *match.span(match.lastgroup or 0))
    if longest >= _LABELLED_HASH and any(map(lowered.__contains__, _STEMS)):
        for match in _HEX.finditer(text):
            before = text[max(0, match.start() - _LABEL_LENGTH) : match.start()]
            if _LABEL.search(before) is not None:
                yield SecretFinding(PASSWORD_HASH, *match.span())


def _is_encoded(value: str) -> bool:
    return any(map(str.isdigit, value)) and (looks_random(value) or "$" in value)
