"""Finds passwords in the options and arguments of known programs: `mysql -p…`, `psexec … -p …`,
`curl -u …:…`, `net use … /user:… …`.

The option alone says nothing: `-p` is a port of `ssh` and a password of `sshpass`. So each row
names the programs of an option, from their manuals.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from safety.secret_detection.kinds import SecretFinding
from safety.secret_detection.labelled import PASSWORD
from safety.secret_detection.plausibility import is_placeholder, looks_like_password


class PasswordOption(Struct, frozen=True):
    """An option with a password. `joined`: the value follows without a space, `apart`: behind a
    space, `:` or `=`."""

    name: str
    programs: tuple[str, ...]
    joined: bool = False
    apart: bool = True


_DATABASES: Final = ("mysql", "mariadb", "mydumper", "myloader", "xtrabackup")
_SNMP: Final = ("snmpget", "snmpwalk", "snmpset", "snmpbulkwalk")
_OPTIONS: Final = (
    PasswordOption("p", (*_DATABASES, "7z", "7za", "rar", "arj"), joined=True, apart=False),
    PasswordOption("p", ("sshpass", "unrar"), joined=True),
    PasswordOption("hp", ("rar",), joined=True, apart=False),
    PasswordOption(
        "p",
        (
            *("psexec", "paexec", "pskill", "pslist", "psservice", "psinfo", "psshutdown"),
            *("psloglist", "psgetsid", "remcom", "winexe", "crackmapexec", "netexec", "nxc"),
            *("evil-winrm", "winrs", "smbmap", "bloodhound-python", "kerbrute", "certipy"),
            *("rdesktop", "xfreerdp", "mongo", "mongosh", "mongodump", "mongorestore"),
            *(
                "mongoexport",
                "mongoimport",
                "cqlsh",
                "snowsql",
                "arangosh",
                "clickhouse",
                "influx",
                "docker login",
            ),
            *("podman login", "registry login", "buildah login"),
            *("nerdctl login", "skopeo login"),
            *("az login", "oc login", "cf login", "twine upload", "rabbitmqadmin", "ncftp"),
        ),
    ),
    PasswordOption("pw", ("plink", "pscp", "psftp", "putty", "klink", "kitty", "winscp")),
    PasswordOption("a", ("redis-cli", "keydb-cli", "valkey-cli")),
    PasswordOption(
        "P", ("sqlcmd", "bcp", "osql", "isql", "tsql", "bteq", "unzip", "zip", "mosquitto_pub")
    ),
    PasswordOption("P", ("mosquitto_sub", "ipmitool", "racadm", "fisql")),
    PasswordOption(
        "w", ("ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldappasswd")
    ),
    PasswordOption("w", ("ldapcompare", "ldapmodrdn", "ldbsearch")),
    PasswordOption("A", _SNMP),
    PasswordOption("X", _SNMP),
    PasswordOption("k", ("openssl enc", "openssl aes", "openssl des")),
    PasswordOption("rp", ("schtasks",)),
    PasswordOption("pass", ("cmdkey", "xfreerdp", "wfreerdp")),
    PasswordOption("pd", ("netdom",)),
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
_HTTP: Final = (
    "curl",
    "http",
    "https",
    "xh",
    "wget",
    "ab",
    "siege",
    "wrk",
    "httpie",
    "lftp",
    "xhs",
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
_ORACLE: Final = re.compile(
    r"(?:sqlplus|rman|exp|imp|expdp|impdp|sqlldr)[ \t]{1,4}(?:-\S{1,10}[ \t]{1,4}){0,3}"
    r"(?:target[ \t]{1,4}|userid=)?[\"']?[\w$#]{1,30}/(?P<bare>[^\s/@\"']{3,100})(?=[@\"'\s]|\Z)"
)
_SIGNS: Final = (" -", "\t-", "\n-", " /")
_ARGUMENTS: Final = (
    *(("%", _SAMBA_USER), ("/u", _NET_USER), ("net ", _NET), ("net.exe", _NET), ("echo ", _ECHOED)),
    ("printf ", _ECHOED),
    *((stem, _ORACLE) for stem in ("sqlplus ", "sqlldr ", "rman ", "dp ", "exp ", "imp ")),
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
                yield _finding(match)


def _options(text: str, lowered: str) -> Iterator[SecretFinding]:
    for joined, expression in ((False, _APART), (True, _JOINED)):
        for match in expression.finditer(text):
            before = _statement(lowered, match.start())
            if _takes(match["name"], before, joined=joined) and _is_given(match):
                yield _finding(match)


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


def _finding(match: re.Match[str]) -> SecretFinding:
    begin, end = match.span(match.lastgroup or 0)
    while end > begin + 1 and match.string[end - 1] in ",;":
        end -= 1
    return SecretFinding(PASSWORD, begin, end)
