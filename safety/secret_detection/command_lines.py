"""Finds secrets in commands and in files of programs: options, SQL, `.netrc`, `.pgpass`,
`htpasswd`."""

import re
from collections.abc import Iterator
from typing import Final

from safety.secret_detection.kinds import SecretFinding, SecretKind
from safety.secret_detection.labelled import ASSIGNED_KEY, PASSWORD
from safety.secret_detection.plausibility import (
    is_placeholder,
    is_uuid,
    letters_by_chance,
    looks_like_password,
    looks_random,
)
from safety.secret_detection.program_options import find_in_options
from safety.secret_detection.value_rules import SHORTEST_KEY, is_strong

_OPTION: Final = re.compile(
    r"(?i)-(?<!\S-)-?(?:[a-z0-9]{1,20}-){0,5}"
    r"(?P<word>(?:store|key|new|old|src|dest|trust|admin|root|user|db)?pass(?:word|wd|phrase)?|"
    r"pwd|pw|secret|token|apikey|key|pat|certificate|creds)"
    r"(?:=|[ \t]{1,4})[\"']?(?P<bare>[^\s\"'`<>()\[\]{},;|-][^\s\"'`]{2,400})"
)
_OF_PASSWORDS: Final = ("pass", "pwd", "pw", "creds")
_LOGIN: Final = re.compile(r"(?i)\blogin\s{1,4}\S{1,200}\s{1,10}password\s{1,4}(?P<bare>\S{1,200})")
_PASS_IN: Final = re.compile(r"(?<=\s)(?:\")?pass:(?P<bare>[^\s\"'`]{4,200})")
_HTPASSWD: Final = re.compile(
    r"htpasswd[ \t]{1,4}-\w{0,6}b\w{0,6}[ \t]{1,4}(?:[^\s-]\S{0,100}[ \t]{1,4})\S{1,60}[ \t]{1,4}"
    r"[\"']?(?P<bare>[^\s\"'`]{4,200})"
)
_SET: Final = re.compile(
    r"(?m)^[ \t]{0,8}(?:ENV|ARG|setx|SETX|set[ \t]-[gx]{1,2})[ \t]{1,4}(?P<name>\w{1,100})"
    r"[ \t]{1,4}[\"']?(?P<bare>[^\s\"'=]{4,400})"
)
_SECRET_SET: Final = re.compile(
    r"secret[ \t]{1,3}set[ \t]{1,4}\w{1,100}[ \t]{1,4}(?:--body|-b)(?:=|[ \t]{1,4})[\"']?"
    r"(?P<bare>[^\s\"'`<$({-][^\s\"'`]{3,400})"
)
"""`gh secret set NAME --body VALUE`, of GitHub's command line."""
_NAMES: Final = ("key", "token", "secret", "pass", "pwd", "pat", "certificate", "credential")
_COMMAND: Final = 160
_SQL: Final = re.compile(
    r"(?i)(?<![a-z])identified[ \t]{1,4}(?:with[ \t]{1,4}[\w'\"]{1,40}[ \t]{1,4})?"
    r"(?:by|as)[ \t]{1,4}(?:values[ \t]{1,4})?(?P<quote>[\"'])(?P<bare>[^\"'\r\n]{3,200})(?P=quote)"
)
_IS_SQL: Final = re.compile(r"(?<![a-z])(?:user|grant|role)(?![a-z])")
_PGPASS: Final = re.compile(
    r"(?m)^(?P<host>[\w.*-]{1,80}):(?:\d{2,5}|\*):[\w.*-]{1,60}:[\w.*-]{1,60}:(?P<bare>[^\s:]{4,200})$"
)
_COLONS_OF_PGPASS: Final = 4
_ORACLE: Final = re.compile(r"jdbc:oracle:\w{2,6}:\w{1,60}/(?P<bare>[^\s/@\"']{3,100})@")
_BASIC_CALL: Final = re.compile(
    r"(?i)(?:\bauth\s{0,2}=\s{0,2}|basicauth|authenticate|credentials?|login|sign_?in)\(\s{0,4}"
    r"(?P<first>[\"'])(?P<user>[^\"'\r\n]{1,80})(?P=first)\s{0,4},\s{0,4}"
    r"(?P<second>[\"'])(?P<bare>[^\"'\r\n]{3,200})(?P=second)"
)
_FOUR: Final = re.compile(r"(?i)(?<![a-z])app(?:lication)?s?[ _-]?pass(?:word|wort|code)")
_GROUPS: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:[a-z]{4}(?: [a-z]{4}){3}|[A-Za-z0-9]{4}(?: [A-Za-z0-9]{4}){5})"
    r"(?![A-Za-z0-9])"
)
"""Passwords for programs, as Google and WordPress write them: groups of four."""
_TELLS_GROUPS: Final = re.compile(r"(?:[:=|>\"'`*\n→]|\bis)\s{0,4}[\"'`*]{0,3}\Z")
_NEAR: Final = 70
_MIN_TYPED: Final = 2


def find_in_commands(text: str, lowered: str) -> Iterator[SecretFinding]:
    """Yield every secret in an option, a statement or a line of a known form."""
    if "-" in text:
        yield from _long_options(text)
    yield from find_in_options(text, lowered)
    if text.count(":") >= _COLONS_OF_PGPASS:
        for match in _PGPASS.finditer(text):
            if _is_strong(match):
                yield _finding(PASSWORD, match)
    if any(map(lowered.__contains__, STATEMENT_STEMS)):
        yield from _in_statements(text, lowered)
    if "app" in lowered and "pass" in lowered:
        yield from _of_four(text)


def _in_statements(text: str, lowered: str) -> Iterator[SecretFinding]:
    for stem, expression, fits in _STATEMENTS:
        if stem in lowered:
            for match in expression.finditer(text):
                if fits(match):
                    yield _finding(PASSWORD, match)


def _is_typed(match: re.Match[str]) -> bool:
    value = match["bare"]
    return not is_placeholder(value) and value[0] not in "$<{%[(" and len(set(value)) > _MIN_TYPED


def _is_sql(match: re.Match[str]) -> bool:
    """Only in a statement about a user: prose says "identified by" of other things."""
    before = match.string[max(0, match.start() - _COMMAND) : match.start()].lower()
    return _IS_SQL.search(before) is not None and _is_typed(match)


def _is_strong(match: re.Match[str]) -> bool:
    return is_strong(match["bare"]) or letters_by_chance(match["bare"])


def _is_set(match: re.Match[str]) -> bool:
    value = match["bare"]
    named = any(name in match["name"].lower() for name in _NAMES)
    return named and (looks_like_password(value) or looks_random(value, SHORTEST_KEY))


_STATEMENTS: Final = (
    ("login", _LOGIN, _is_typed),
    ("pass:", _PASS_IN, _is_typed),
    ("secret set", _SECRET_SET, _is_typed),
    ("htpasswd", _HTPASSWD, _is_typed),
    ("identified", _SQL, _is_sql),
    ("jdbc:oracle", _ORACLE, _is_typed),
    ("auth", _BASIC_CALL, _is_strong),
    ("login(", _BASIC_CALL, _is_strong),
    ("credential", _BASIC_CALL, _is_strong),
    ("sign", _BASIC_CALL, _is_strong),
    ("env ", _SET, _is_set),
    ("arg ", _SET, _is_set),
    ("set", _SET, _is_set),
)
"""A text without which there is none in small letters; the expression; when its value counts."""
STATEMENT_STEMS: Final = tuple(dict.fromkeys(stem for stem, _, _ in _STATEMENTS))
"""Every such statement contains one of these, in small letters."""


def _long_options(text: str) -> Iterator[SecretFinding]:
    for match in _OPTION.finditer(text):
        value, word = match["bare"], match["word"].lower()
        if word.endswith(_OF_PASSWORDS) or "pass" in word:
            given = looks_like_password(value) or letters_by_chance(value)
            if given and (word != "creds" or ":" in value):
                yield _finding(PASSWORD, match)
        elif is_uuid(value) or looks_random(value, SHORTEST_KEY):
            yield _finding(ASSIGNED_KEY, match)


def _of_four(text: str) -> Iterator[SecretFinding]:
    for match in _FOUR.finditer(text):
        near = text[match.end() : match.end() + _NEAR]
        groups = _GROUPS.search(near)
        if groups is None:
            continue
        rest = near[groups.end() :]
        label = _TELLS_GROUPS.search(near[: groups.start()])
        if label or (not near[: groups.start()].strip() and not rest.split("\n")[0].strip()):
            begin = match.end()
            yield SecretFinding(PASSWORD, begin + groups.start(), begin + groups.end())


def _finding(kind: SecretKind, match: re.Match[str]) -> SecretFinding:
    begin, end = match.span("bare")
    while end > begin + 1 and match.string[end - 1] in ",;":
        end -= 1
    return SecretFinding(kind, begin, end)
