"""Finds a user and a password together after a label: "login: bob / …", "creds bob:…"."""

import re
from collections.abc import Iterator
from typing import Final

from safety.secret_detection.kinds import Finding
from safety.secret_detection.labelled import PASSWORD
from safety.secret_detection.value_rules import NEVER, is_strong

SHORTEST_PASSWORD: Final = 6
"""Characters of the shortest password in such a pair."""
PAIR_WORDS: Final = re.compile(
    r"log-?in|logon|creds?\b|credentials|user/pass(?:word)?|username/password|user/pw|user:pass|"
    r"account|sign-?in|ssh|ftp|логин|учетк|доступ|usuario|usuário|utilisateur|identifiants?|"
    r"zugangsdaten|anmeldedaten|benutzer|accesso|utente|acceso|acesso|账号|帐号|账户|用户名|登录|"
    r"アカウント|ログイン|계정|로그인|تسجيل|حساب|kullanıcı|giriş|tài khoản|konto|"
    r"gebruiker|inlog|akun|लॉगिन|লগইন"
)
_STEMS: Final = (
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


def find_credential_pairs(text: str, lowered: str) -> Iterator[Finding]:
    """Yield the passwords of such pairs."""
    if _SEPARATOR.search(text) is None:
        return
    if text.isascii() and not any(map(lowered.__contains__, _STEMS)):
        return
    for match in PAIR_WORDS.finditer(lowered):
        pair = _PAIR.match(text, match.end())
        if pair is None:
            continue
        value = pair["bare"].rstrip(".,:!?")
        if is_strong(value) and not NEVER.match(value) and not _is_place(text, pair):
            begin = pair.start("bare")
            yield Finding(PASSWORD, begin, begin + len(value))


def _is_place(text: str, pair: re.Match[str]) -> bool:
    """`host:8080/path`, a ratio, a path: no pair."""
    follows = text[pair.end() : pair.end() + 1]
    if follows in {"/", "(", "[", "="} or "=" in pair["bare"].rstrip("="):
        return True
    return pair["user"].isdigit() or pair["user"] in {"http", "https"}
