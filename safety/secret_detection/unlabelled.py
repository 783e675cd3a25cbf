"""Finds secrets without a label: numbers of cards, keys of wallets and of AWS; hashes of passwords,
with which somebody can guess the password; and random sequences that may be something else, about
which the person is asked.

The forms of hashes are those of crypt(3), of the Modular Crypt Format and the PHC string format, of
LDAP (RFC 2307), of databases, routers and Kerberos (RFC 3961), as their documentation gives them.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from safety.patterns import Pattern, literal, some
from safety.secret_detection.kinds import Level, SecretFinding, SecretKind
from safety.secret_detection.plausibility import looks_random

CARD: Final = SecretKind("card_number", Level.PROBABLE, Pattern(literal("4")))
WALLET_KEY: Final = SecretKind("wallet_key", Level.PROBABLE, Pattern(literal("0x"), "0x"))
UNLABELLED_AWS_SECRET: Final = SecretKind("bare_aws_secret", Level.PROBABLE, Pattern(literal("/")))

_DIGITS: Final = re.compile(
    r"[2-6](?<![A-Za-z0-9_.,#/+=@-][2-6])\d{3}(?:\d{9,15}|(?:[ -]\d{2,7}){2,4})"
    r"(?![A-Za-z0-9_/@]|[-.,]\d)"
)
FOUR_DIGITS: Final = re.compile(r"[2-6]\d{3}")
"""The beginning of every card number."""
SHORTEST_UNLABELLED: Final = 40
"""Characters of the shortest key in this module."""
_GROUPS: Final = frozenset({(16,), (15,), (4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (14,), (19,), (13,)})
_ISSUERS: Final = (
    (("4",), (16, 19, 13)),
    (tuple(map(str, range(51, 56))), (16,)),
    (tuple(map(str, range(2221, 2721))), (16,)),
    (("34", "37"), (15,)),
    (("6011", "65", *map(str, range(644, 650))), (16,)),
    (("62",), (16, 19)),
    (tuple(map(str, range(3528, 3590))), (16,)),
    (("36", "38", "39", *map(str, range(300, 306))), (14,)),
    (tuple(map(str, range(2200, 2205))), (16,)),
)
"""First digits and lengths of the issuers' numbers: Visa, Mastercard, American Express, Discover,
UnionPay, JCB, Diners, Mir (ISO/IEC 7812)."""
_PLAIN_LENGTHS: Final = frozenset({15, 16})
_NO_CARD: Final = re.compile(
    r"(?i)order|imei|isbn|phone|tel\b|track|invoice|sku|ean|serial|\bid\b|_id|number of|ticket|ref|"
    r"case|account id|user|channel|message|timestamp|заказ|телефон|pedido|commande|bestell|订单|"
    r"注文|meid|barcode|upc|gtin|version|build"
)
_SAYS_CARD: Final = re.compile(
    r"(?i)card|visa|master|amex|american express|карт|tarjeta|carte|karte|cartão|carta|卡|カード|"
    r"카드|بطاقة|کارت|कार्ड|কার্ড|کارڈ|kartu|kart|thẻ|kaart|cc[ :=#]|pan[ :=]|discover|maestro"
)
_CONTEXT: Final = 40
_HEX: Final = re.compile(r"(?<![\w/=])0[xX](?P<body>[0-9a-fA-F]{64})(?![0-9a-zA-Z])")
_NO_KEY: Final = re.compile(
    r"(?i)tx|trans|hash|block|receipt|root|topic|event|sha|digest|parent|commit|state|log|storage|"
    r"slot|proof|merkle|signature|uint|bytes32|0x[0-9a-f]{64}|keccak|selector|nonce|salt|checksum|id\b"
)
_FORTY: Final = re.compile(r"(?<![A-Za-z0-9/+_.=%-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_.%-]{1,3})")
_MIN_DISTINCT: Final = 22
_MIN_TURNS: Final = 9
_MIN_DIGITS: Final = 2
_MAX_SLASHES: Final = 4


def find_unlabelled(text: str, longest: int) -> Iterator[SecretFinding]:
    """Yield every card number, key of a wallet and secret of AWS."""
    yield from _cards(text)
    if "0x" in text or "0X" in text:
        for match in _HEX.finditer(text):
            before = text[max(0, match.start() - _CONTEXT) : match.start()]
            line = before.rsplit("\n", 1)[-1] if "\n" in before else before
            if len(set(match["body"].lower())) >= 10 and not _NO_KEY.search(line):
                yield SecretFinding(WALLET_KEY, *match.span())
    if longest >= SHORTEST_UNLABELLED:
        for match in _FORTY.finditer(text):
            if is_aws_secret(match[0]) and not _is_media(text, match.start()):
                yield SecretFinding(UNLABELLED_AWS_SECRET, *match.span())


def is_aws_secret(value: str) -> bool:
    """Return True for 40 random characters of base64: no words, no path, no hexadecimal."""
    if len(set(value)) < _MIN_DISTINCT or value.count("/") > _MAX_SLASHES:
        return False
    digits = sum(map(str.isdigit, value))
    cases = [char.isupper() for char in value if char.isalpha()]
    turns = sum(a != b for a, b in pairwise(cases))
    return digits >= _MIN_DIGITS and turns >= _MIN_TURNS and "EXAMPLE" not in value


def _cards(text: str) -> Iterator[SecretFinding]:
    for match in _DIGITS.finditer(text):
        number = match[0].replace(" ", "").replace("-", "")
        groups = tuple(map(len, re.split("[ -]", match[0])))
        if groups not in _GROUPS or not _is_issued(number) or not _has_check_digit(number):
            continue
        near = text[max(0, match.start() - _CONTEXT) : match.start()].rsplit("\n", 1)[-1]
        says_card = bool(_SAYS_CARD.search(near))
        if not says_card and (
            _NO_CARD.search(near) or (len(groups) == 1 and len(number) not in _PLAIN_LENGTHS)
        ):
            continue
        if len(set(number)) > 1:
            yield SecretFinding(CARD, *match.span())


def _is_issued(number: str) -> bool:
    return any(number.startswith(first) and len(number) in sizes for first, sizes in _ISSUERS)


def _has_check_digit(number: str) -> bool:
    """The Luhn sum of ISO/IEC 7812-1."""
    total = 0
    for index, char in enumerate(reversed(number)):
        digit = int(char) * (1 + index % 2)
        total += digit - 9 if digit > 9 else digit
    return total % 10 == 0


LONG_BASE64: Final = SecretKind(
    "long_base64", Level.POSSIBLE, Pattern(some("[A-Za-z0-9+/]", 64, 10_000))
)
FORTY_HEX: Final = SecretKind(
    "forty_hex_digits", Level.POSSIBLE, Pattern(some("[0-9a-f]", 40, 40)), exact=True
)
_ALONE: Final = re.compile(r"[A-Za-z0-9]")
_COMMIT: Final = re.compile(
    r"(?i)(?:commit|rev(?:ision)?|sha-?1?|hash|checksum|digest|tree|blob|parent|merge|head|git|"
    r"fingerprint|etag|cherry|transaction|txn?|txid|block|root|md5|integrity|@|pin(?:ned)?)\W{0,6}(?:\w{1,20}\W{1,3}){0,3}\Z"
)
_POSSIBLE_CONTEXT: Final = 60
_MEDIA: Final = re.compile(
    r"data:(?:image|font|audio|video|application/(?:x-)?font)[\w./+;=-]{0,40};base64,\Z"
)
_DIGEST: Final = re.compile(r"(?:0[xX])?[0-9a-fA-F]{64,128}")
_SHA: Final = re.compile(r"(?i)sha-?\d{1,3}[-:]\Z")


def find_possible_secrets(text: str) -> Iterator[SecretFinding]:
    """Yield long sequences of base64 that are neither paths nor digests, and forty hexadecimal
    digits that are not commits."""
    for match in LONG_BASE64.pattern.whole.finditer(text):
        media = _is_media(text, match.start())
        if not media and not _is_path(match[0]) and not _is_digest(text, *match.span()):
            yield SecretFinding(LONG_BASE64, *match.span())
    for match in FORTY_HEX.pattern.whole.finditer(text):
        start, end = match.span()
        alone = not (start and _ALONE.match(text[start - 1])) and not _ALONE.match(text, end)
        if alone and not _COMMIT.search(text, max(0, start - _POSSIBLE_CONTEXT), start):
            yield SecretFinding(FORTY_HEX, start, end)


def _is_media(text: str, start: int) -> bool:
    """Return True behind the beginning of a picture, a font, a sound or a film in an address."""
    return _MEDIA.search(text, max(0, start - _POSSIBLE_CONTEXT), start) is not None


def _is_digest(text: str, start: int, end: int) -> bool:
    """Return True for a value that the words before it call a hash, a transaction or a block."""
    before = max(0, start - _POSSIBLE_CONTEXT)
    if _SHA.search(text, before, start):
        return True
    whole = _DIGEST.fullmatch(text, start, end)
    return whole is not None and _COMMIT.search(text, before, start) is not None


def _is_path(value: str) -> bool:
    return value.count("/") > len(value) // 12 and "+" not in value


PASSWORD_HASH: Final = SecretKind(
    "password_hash", Level.PROBABLE, Pattern(literal("$"), anchor="$")
)

_B64: Final = r"[A-Za-z0-9./+=_-]"
_HASH_START: Final = r"(?<![A-Za-z0-9$./])"
_CRYPT: Final = re.compile(
    rf"{_HASH_START}\$(?:"
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
_HEX_HASH: Final = re.compile(r"(?<![\w-])(?:md5|0x0[12]00)?[a-fA-F0-9]{32,280}(?![\w-])")
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
        for match in _HEX_HASH.finditer(text):
            before = text[max(0, match.start() - _LABEL_LENGTH) : match.start()]
            if _LABEL.search(before) is not None:
                yield SecretFinding(PASSWORD_HASH, *match.span())


def _is_encoded(value: str) -> bool:
    return any(map(str.isdigit, value)) and (looks_random(value) or "$" in value)
