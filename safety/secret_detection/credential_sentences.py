"""Recognises sentences that contain a credential. They are never stored as knowledge."""

import re
from typing import Final

from safety.secret_detection.detect import find_secrets
from safety.secret_detection.kinds import Level
from safety.secret_detection.plausibility import (
    is_placeholder,
    looks_like_password,
    looks_random,
    may_be_a_word,
)

_TOLD: Final = re.compile(
    r"(?i)\b(?P<what>pass(?:word|phrase|code|wort)|kennwort|pwd|mot\sde\spasse|contraseña|senha|"
    r"wachtwoord|парол[ья]|secret|api.?key|token|credentials?|pin(?:\scode)?|密码|パスワード)\b"
    r"(?:\s(?:for|of|to|für|zum?|de|del|du|pour|para|per)(?:\s[^\s:=]{1,30}){1,4}?)?"
    r"\s{0,3}(?:\s(?:is|are|was|lautet|ist|est|es|é|è)\s|[:=：]|是|は)\s{0,4}"
    r"(?:(?:now|still|currently|jetzt)\s)?[\"'`“„«]?(?P<value>[^\s\"'`”“»,;]{1,200})"
)
_WORDS: Final = re.compile(r"(?i)pass|kennwort|pwd|contrase|senha|wachtw|парол|pin|密码|パス")


def looks_like_credential(text: str) -> bool:
    """Return True if the text contains a password, key or token; talk about them does not count."""
    if any(f.kind.level is not Level.POSSIBLE for f in find_secrets(text)):
        return True
    return any(_tells(match, text) for match in _TOLD.finditer(text))


def _tells(match: re.Match[str], text: str) -> bool:
    value = match["value"].rstrip(".!?)")
    if is_placeholder(value):
        return False
    if not _WORDS.match(match["what"]):
        return looks_random(value, 8) or (looks_like_password(value) and len(value) >= 6)
    if match["what"].lower().startswith("pin"):
        return value.isdigit() and len(value) >= 4
    if looks_like_password(value) or (value.isdigit() and len(value) >= 4):
        return True
    # A plain word tells only when nothing follows: "is kept in the vault" goes on.
    rest = text[match.end() :].lstrip("\"'`”»)")
    ends = not rest.strip() or match["value"][-1] in ".!" or rest[:1] in "\n.!,;"
    return ends and may_be_a_word(value)
