"""Finds secrets in commands and in files of programs: options and arguments of known programs
(`mysql -p…`, `psexec … -p …`, `curl -u …:…`, `net use … /user:… …`), options that are named after a
password, SQL, `.netrc`, `.pgpass`, `htpasswd`.

A short option alone says nothing: `-p` is a port of `ssh` and a password of `sshpass`. So each row
of `command_lines.txt` names the programs of an option, from their manuals.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from safety.secret_detection.kinds import SecretFinding, SecretKind
from safety.secret_detection.labelled import ASSIGNED_KEY, PASSWORD
from safety.secret_detection.plausibility import (
    is_placeholder,
    is_uuid,
    letters_by_chance,
    looks_like_password,
    looks_random,
)
from safety.secret_detection.value_rules import SHORTEST_KEY, is_strong
from safety.word_lists import phrases_of, read_word_lists


class PasswordOption(Struct, frozen=True):
    """An option with a password. `joined`: the value follows without a space, `apart`: behind a
    space, `:` or `=`."""

    name: str
    programs: tuple[str, ...]
    joined: bool
    apart: bool


_LISTS: Final = read_word_lists(__file__)
_HTTP: Final = tuple(phrases_of(_LISTS.pop("HTTP")))
"""Programs whose user may have a password behind a colon."""
_OPTIONS: Final = tuple(
    PasswordOption(name, tuple(phrases_of(programs)), "joined" in how, "apart" in how)
    for (how, name), programs in (
        (heading.split(": "), programs) for heading, programs in _LISTS.items()
    )
)
_BY_NAME: Final[dict[str, tuple[PasswordOption, ...]]] = {
    name: tuple(one for one in _OPTIONS if one.name == name)
    for name in dict.fromkeys(one.name for one in _OPTIONS)
}
PROGRAM_STEMS: Final = tuple(
    dict.fromkeys(program for option in _OPTIONS for program in option.programs)
)
_VALUE: Final = (
    r"(?:\"(?P<double>[^\"\r\n]{3,400})\"|'(?P<single>[^'\r\n]{3,400})'|"
    r"(?P<bare>[^\s\"'`-][^\s\"'`]{2,400}))"
)
_APART: Final = re.compile(
    rf"[-/](?<=\s[-/])(?P<name>{'|'.join(sorted(_BY_NAME, key=len, reverse=True))})"
    rf"(?:[ \t]{{1,2}}|[:=]){_VALUE}"
)
_JOINED: Final = re.compile(rf"-(?<=\s-)(?P<name>h?p){_VALUE}")
_USER: Final = re.compile(
    r"-(?<!\S-)-?(?:u|U|a|user|proxy-user|auth)(?:[ \t]{1,4}|=|(?<=-u))"
    r"(?:\"(?P<double>[^\"\r\n]{4,400})\"|'(?P<single>[^'\r\n]{4,400})'|"
    r"(?P<bare>[^\s\"'`|;&-][^\s`|;&]{3,400}))"
)
_SAMBA_USER: Final = re.compile(
    r"-(?<!\S-)-?(?:U|user)(?:[ \t]{1,2}|=)?[\"']?[\w.\\/@-]{1,64}%"
    r"(?P<bare>[^\s\"'`]{3,200})"
)
_NET: Final = re.compile(
    r"(?i)(?<![a-z])net(?:\.exe)?[ \t]{1,4}"
    r"(?:use[ \t][^\r\n]{0,20}?\\\\\S{1,120}|user[ \t]{1,4}[\w.\\-]{1,64})"
    r"[ \t]{1,4}(?:/user:\S{1,80}[ \t]{1,4})?[\"']?(?P<bare>[^\s\"'/*-][^\s\"']{2,200})"
)
_NET_USER: Final = re.compile(r"(?i)/(?<=\s/)(?:user|u):\S{1,60}[ \t](?P<bare>[^\s/][^\s]{2,200})")
_ECHOED: Final = re.compile(
    r"(?:echo|printf)[ \t]{1,4}(?:-[ne]{1,2}[ \t]{1,4})?[\"']?(?:[\w.-]{1,40}:)?"
    r"(?P<bare>[^\s\"'|$]{3,200})[\"']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?"
    r"(?:sudo[ \t]{1,4}-\w{0,4}S|chpasswd|passwd[ \t]{1,4}--stdin|docker[ \t]{1,4}login|kinit|gpg)"
)
_ARGUMENT: Final = re.compile(
    r"(?:rabbitmqctl[ \t]{1,4}(?:add_user|change_password|authenticate_user)[ \t]{1,4}\S{1,60}|"
    r"wpa_passphrase[ \t]{1,4}(?:\"[^\"\n]{1,40}\"|\S{1,40})|"
    r"mysqladmin[^\n|;]{0,100}?[ \t]password|"
    r"vault[ \t]{1,4}(?:login|operator[ \t]{1,4}unseal)|"
    r"aws[ \t]{1,4}configure[ \t]{1,4}set[ \t]{1,4}\S{0,40}(?:secret|token)\S{0,20})"
    r"[ \t]{1,4}[\"']?(?P<bare>[^\s\"'`<$({-][^\s\"'`]{2,200})"
)
"""Programs that take a password as an argument."""
_ORACLE_LOGIN: Final = re.compile(
    r"(?:sqlplus|rman|exp|imp|expdp|impdp|sqlldr)[ \t]{1,4}(?:-\S{1,10}[ \t]{1,4}){0,3}"
    r"(?:target[ \t]{1,4}|userid=)?[\"']?[\w$#]{1,30}/(?P<bare>[^\s/@\"']{3,100})(?=[@\"'\s]|\Z)"
)
_SIGNS: Final = (" -", "\t-", "\n-", " /")
_ARGUMENTS: Final = (
    *(("%", _SAMBA_USER), ("/u", _NET_USER), ("net ", _NET), ("net.exe", _NET), ("echo ", _ECHOED)),
    ("printf ", _ECHOED),
    *((stem, _ORACLE_LOGIN) for stem in ("sqlplus ", "sqlldr ", "rman ", "dp ", "exp ", "imp ")),
    *(
        (stem, _ARGUMENT)
        for stem in ("rabbitmqctl", "wpa_passphrase", "mysqladmin", "vault ", "aws ")
    ),
)
"""A text in small letters without which an expression finds nothing, and the expression."""
_STATEMENT: Final = 200
_ENDS_PROGRAM: Final = re.compile(r"(?:\d{1,2})?(?:\.exe)?[\"']?(?:\s|\Z)")


def find_in_options(text: str, lowered: str) -> Iterator[SecretFinding]:
    """Yield every password in an option or an argument of a program that takes it there."""
    options = any(map(text.__contains__, _SIGNS))
    if options and any(map(lowered.__contains__, PROGRAM_STEMS)):
        yield from _options(text, lowered)
    if options and ":" in text:
        for match in _USER.finditer(text):
            known = _names(_statement(lowered, match.start()), _HTTP)
            yield from _of_user(match, known=known)
    for expression in dict.fromkeys(one for stem, one in _ARGUMENTS if stem in lowered):
        for match in expression.finditer(text):
            if _is_given(match) and not (expression is _SAMBA_USER and _value(match).isdigit()):
                yield _option_finding(match)


def _options(text: str, lowered: str) -> Iterator[SecretFinding]:
    for joined, expression in ((False, _APART), (True, _JOINED)):
        for match in expression.finditer(text):
            before = _statement(lowered, match.start())
            if _takes(match["name"], before, joined=joined) and _is_given(match):
                yield _option_finding(match)


def _statement(lowered: str, place: int) -> str:
    """Return the command up to a place, with its lines that a backslash continues."""
    before = lowered[max(0, place - _STATEMENT) : place].replace("\\\r\n", "  ")
    before = before.replace("\\\n", " ").replace("`\n", " ").replace("^\n", " ")
    return before[before.rfind("\n") + 1 :]


def _takes(name: str, before: str, *, joined: bool) -> bool:
    return any(
        (option.joined if joined else option.apart) and _names(before, option.programs)
        for option in _BY_NAME[name]
    )


def _names(before: str, programs: tuple[str, ...]) -> bool:
    """Return True if one of the programs is a word of the command."""
    for program in programs:
        place = before.find(program)
        while place >= 0:
            end = place + len(program)
            alone = not before[max(0, place - 1) : place].isalnum()
            if alone and _ENDS_PROGRAM.match(before, end) is not None:
                return True
            place = before.find(program, place + 1)
    return False


def _is_given(match: re.Match[str]) -> bool:
    """Return True for a password, not for a variable, a placeholder or a path."""
    value = _value(match)
    if value[0] in "$<{%[(" or is_placeholder(value) or value.startswith(("/", "./", "~/")):
        return False
    return len(set(value)) > 1


def _of_user(match: re.Match[str], *, known: bool) -> Iterator[SecretFinding]:
    """`-u name:password`, `-u token:`, `-u :password`; of the first, only the password. `known`:
    the program takes them there."""
    begin, end = match.span(match.lastgroup or 0)
    value = match.string[begin:end].rstrip(",;")
    if value[0] == "<":
        return
    user, sign, password = value.partition(":")
    password = password.strip("\"'")
    if not sign or not (user or password) or password.startswith("//"):
        return
    if user.isdigit() and password.isdigit():
        return
    if password:
        at = match.string.index(password, begin + len(user) + 1)
        if _is_variable(password) or is_placeholder(password):
            return
        if known or (user and password[0] != "/" and looks_like_password(password)):
            yield SecretFinding(PASSWORD, at, at + len(password))
    elif (
        known and not _is_variable(user) and not is_placeholder(user) and looks_like_password(user)
    ):
        yield SecretFinding(PASSWORD, begin, begin + len(user))


def _is_variable(value: str) -> bool:
    return value[0] in "$<%[(" or value.startswith("{{")


def _value(match: re.Match[str]) -> str:
    return match[match.lastgroup or 0]


def _option_finding(match: re.Match[str]) -> SecretFinding:
    begin, end = match.span(match.lastgroup or 0)
    while end > begin + 1 and match.string[end - 1] in ",;":
        end -= 1
    return SecretFinding(PASSWORD, begin, end)


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
