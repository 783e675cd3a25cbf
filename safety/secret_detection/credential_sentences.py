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


STATED_WORD: Final = "stated_word"
"""The kind of a word that may be a secret, for the audit log."""
_STATED: Final = re.compile(
    r"(?i)(?:\A|[.!?\n]\s{0,2})(?:(?:remember|note|that|please)[:,]?\s){0,2}"
    r"(?:(?:my|our|mein|meine|unser|mi|mon|ma|notre|minha|meu|mio|mia|moje|moj|mój|мой|наш|"
    r"mijn|mitt|min)\s)?(?!(?:the|an?|das|der|die|el|la|le|les|o|os|as|il|lo|de)\s)"
    r"(?:\w{1,20}[ -]){0,2}"
    r"(?P<label>secret|api.?key|token|credentials?|passphrase|geheimnis|schlüssel|jeton|clave|secreto|"
    r"chave|segredo|chiave|segreto|sekret|klucz|секрет|токен|ключ|sleutel|nyckel)\s{1,3}"
    r"(?:is|are|lautet|ist|est|es|é|è|to|jest|это|är|[:=])\s{1,3}[\"'`“„«]?"
    r"(?P<value>[^\W\d_]{5,60})[\"'`”»]?[.!]?\s{0,3}(?:\Z|\n)"
)


def may_state_credential(text: str) -> bool:
    """Return True for a sentence that states one word as a key or a secret: only its author knows
    whether the word is one. "The secret is patience" has an article and explains."""
    return any(
        may_be_a_word(match["value"], match["label"].lower()) for match in _STATED.finditer(text)
    )


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
