"""Finds secrets by the text around them, with the finders of each class.

A value after a label counts if it can be a secret: placeholders, types, names from code, and words
about passwords do not. Three classes are found here: a key after the name of an issuer with keys of
no special form (`heroku: 01234567-…`), a value before the comment that names it (`Client("…")  //
api key`), and a user and a password together after a label ("login: bob / …", "creds bob:…").
"""

import re
from collections.abc import Iterator
from typing import Final

from safety.patterns import Pattern, literal
from safety.secret_detection.command_lines import find_in_commands
from safety.secret_detection.http_headers import find_in_headers
from safety.secret_detection.kinds import Level, SecretFinding, SecretKind
from safety.secret_detection.label_words import VENDOR_NAMES, expression_of
from safety.secret_detection.labelled import (
    ASSIGNED_KEY,
    PASSWORD,
    PROPERTIES,
    find_labelled,
)
from safety.secret_detection.plausibility import is_uuid, looks_random
from safety.secret_detection.value_rules import NEVER, SHORTEST_KEY, is_strong
from safety.secret_detection.value_spans import PAIR, SIGN, TAIL, value_at

SHORTEST_PASSWORD: Final = 6
"""Characters of the shortest password in such a pair."""
PAIR_WORDS: Final = re.compile(
    r"log-?in|logon|creds?\b|credentials|user/pass(?:word)?|username/password|user/pw|user:pass|"
    r"account|sign-?in|ssh|ftp|логин|учетк|доступ|usuario|usuário|utilisateur|identifiants?|"
    r"zugangsdaten|anmeldedaten|benutzer|accesso|utente|acceso|acesso|账号|帐号|账户|用户名|登录|"
    r"アカウント|ログイン|계정|로그인|تسجيل|حساب|kullanıcı|giriş|tài khoản|konto|"
    r"gebruiker|inlog|akun|लॉगिन|লগইন"
)
_PASSWORD_STEMS: Final = (
    *("login", "log-in", "logon", "cred", "user/p", "username/p", "user:p", "account", "sign"),
    *("ssh", "ftp", "usuario", "utilisateur", "identifiant", "zugangsd", "anmelded", "benutzer"),
    *("access", "utente", "acceso", "acesso", "konto", "gebruiker", "inlog", "akun"),
)
_SEPARATOR: Final = re.compile(r"[/:|]|[,-][ \t]")
"""Stands between the user and the password."""
_PAIR: Final = re.compile(
    r"(?:[ \t]{1,3}(?:is|are|details|data|ist|sind|son|es|est|sono|это)(?=[ \t:：]))?"
    r"(?:[ \t]{0,3}[:：=>–—-]{1,2}\s{0,3}|[ \t]{1,3})[\"'`]?"
    r"(?P<user>[\w.@+-]{1,64})(?P<sign>[ \t]{1,2}[/|][ \t]{1,2}|[/:|]|,[ \t]|[ \t]{1,2}-[ \t]{1,2})"
    r"(?P<bare>[^\s\"'`<>()\[\]{},;|/]{4,120})"
)


def find_credential_pairs(text: str, lowered: str) -> Iterator[SecretFinding]:
    """Yield the passwords of such pairs."""
    if _SEPARATOR.search(text) is None:
        return
    if text.isascii() and not any(map(lowered.__contains__, _PASSWORD_STEMS)):
        return
    for match in PAIR_WORDS.finditer(lowered):
        pair = _PAIR.match(text, match.end())
        if pair is None:
            continue
        value = pair["bare"].rstrip(".,:!?")
        if is_strong(value) and not NEVER.match(value) and not _is_place(text, pair):
            begin = pair.start("bare")
            yield SecretFinding(PASSWORD, begin, begin + len(value))


def _is_place(text: str, pair: re.Match[str]) -> bool:
    """`host:8080/path`, a ratio, a path: no pair."""
    follows = text[pair.end() : pair.end() + 1]
    if follows in {"/", "(", "[", "="} or "=" in pair["bare"].rstrip("="):
        return True
    return pair["user"].isdigit() or pair["user"] in {"http", "https"}


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


def find_in_comments(text: str, lowered: str) -> Iterator[SecretFinding]:
    """The last quoted value before such a comment, on the same line."""
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
            yield SecretFinding(
                PASSWORD if match["password"] else ASSIGNED_KEY, end - len(value), end
            )


_NAMES: Final = expression_of(VENDOR_NAMES)
_LABEL_SIGNS: Final = (":", "=", "',", '",')
SHORTEST_OF_VENDORS: Final = 20
"""Characters of the shortest key that is found so."""


def find_after_vendor_names(text: str, lowered: str) -> Iterator[SecretFinding]:
    """Every such key; most texts have no sign that could set one."""
    if not any(map(text.__contains__, _LABEL_SIGNS)):
        return
    for match in _NAMES.finditer(lowered):
        start, end = match.span()
        if start and text[start - 1].isalpha() and not text.startswith(PROPERTIES, start - 2):
            continue
        tail = TAIL.match(text, end)
        sign = None
        if tail is not None:
            sign = SIGN.match(text, tail.end()) or PAIR.match(text, tail.end())
        span = value_at(text, sign.end()) if sign is not None else None
        if span is None:
            continue
        begin, stop, _ = span
        value = text[begin:stop].rstrip(".,:!?")
        if not NEVER.match(value) and (is_uuid(value) or looks_random(value, SHORTEST_OF_VENDORS)):
            yield SecretFinding(ASSIGNED_KEY, begin, begin + len(value))


SEED_PHRASE: Final = SecretKind(
    "seed_phrase", Level.PROBABLE, Pattern(literal("phrase"), ignore_case=True)
)
_SIGNS: Final = (
    *(*"-:=/($", "env ", "arg ", "set", "login", "identified"),
    *("net ", "vault ", "rabbitmqctl ", "wpa_"),
)
"""Every command with a secret contains one of these."""
_MARKED: Final = re.compile(r"[\dA-Z!#$%^?](?:(?<=\d)|(?<=[a-z][A-Z])|(?<=[!#$%^?])(?=\w))")
_SHORTEST_HEADER: Final = 10
"""Characters of the shortest word in a header that holds a secret: `a=12345678` of a cookie."""
_SEED_STEMS: Final = ("seed", "recovery", "mnemonic", "backup", "wallet")
_SHORTEST_SEED: Final = len("seed") + 1 + 12 * len("abc ") - 1
_SEED: Final = re.compile(r"seed|recovery|mnemonic|backup|secret|wallet")
_WORDS: Final = re.compile(r"(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8}\b")
_BEFORE_WORDS: Final = re.compile(r"[^\n:=]{0,50}[:=\n]\s{0,4}[\"']?")


def find_contextual(text: str, lowered: str, longest: int) -> list[SecretFinding]:
    """Yield every secret that the text around it labels; the place is that of the value.

    `lowered` is the text in small letters, of the same length, `longest` the length of its longest
    word.
    """
    findings = find_labelled(text, lowered)
    if any(map(lowered.__contains__, _SIGNS)):
        findings.extend(find_in_commands(text, lowered))
        findings.extend(find_in_comments(text, lowered))
        if longest >= SHORTEST_OF_VENDORS:
            findings.extend(find_after_vendor_names(text, lowered))
    if longest >= _SHORTEST_HEADER or "://" in text:
        findings.extend(find_in_headers(text, lowered, longest))
    if longest >= SHORTEST_PASSWORD and _MARKED.search(text) is not None:
        findings.extend(find_credential_pairs(text, lowered))
    if len(text) >= _SHORTEST_SEED and any(map(lowered.__contains__, _SEED_STEMS)):
        findings.extend(_seed_phrases(text, lowered))
    return findings


def _seed_phrases(text: str, lowered: str) -> Iterator[SecretFinding]:
    done = 0
    for match in _SEED.finditer(lowered):
        if match.start() < done:
            continue
        before = _BEFORE_WORDS.match(text, match.end())
        words = _WORDS.match(lowered, before.end()) if before is not None else None
        if words is not None:
            done = words.end()
            yield SecretFinding(SEED_PHRASE, *words.span())
