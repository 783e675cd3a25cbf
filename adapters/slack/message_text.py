"""The readable text of a message: entities resolved, this bot's mention removed."""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gateway.authorship import in_one_word
from gateway.message import MAX_CONTENT

_ENTITY: Final = re.compile(r"<([^<>]{1,3000})>")
_LEADING_ME: Final = re.compile(r"\A(?:\s*\0[,:]?)+\s*")
_BROADCASTS: Final = {"here", "channel", "everyone"}
_MAX_MENTIONS: Final = 100


class SlackText(Struct, frozen=True):
    """A message's text and its mentions."""

    content: str
    mentions_me: bool
    mentions_others: bool
    mentions: tuple[str, ...]
    channels: tuple[str, ...]
    broadcast: bool


class _SlackTextReader:
    """Resolves the entities of one text and collects its mentions."""

    def __init__(self, me: str, names: Mapping[str, str]) -> None:
        self.me = me
        self.names = names
        self.users: dict[str, None] = {}
        self.groups: dict[str, None] = {}
        self.channels: dict[str, None] = {}
        self.broadcast = False

    def resolve(self, match: re.Match[str]) -> str:
        target, _, label = match.group(1).partition("|")
        sigil, rest = target[:1], target[1:]
        if sigil == "@":
            return self._person(rest, label)
        if sigil == "#":
            self.channels[rest] = None
            return f"#{in_one_word(label) or rest}"
        if sigil == "!":
            return self._special(rest, label)
        return _link(target, label)

    def _person(self, user: str, label: str) -> str:
        self.users[user] = None
        if self.me and user == self.me:
            return "\0"
        name = (label or self.names.get(user, "")).lstrip("@")
        return f"@{in_one_word(name) or user}"

    def _special(self, command: str, label: str) -> str:
        name, _, argument = command.partition("^")
        if name in _BROADCASTS:
            self.broadcast = True
            return f"@{name}"
        if name == "subteam":
            self.groups[argument] = None
            return f"@{in_one_word(label.lstrip('@')) or argument}"
        return label or command


def read_text(raw: str, me: str, names: Mapping[str, str], *, addressed: bool = False) -> SlackText:
    """The readable form of `raw` (Slack's mrkdwn with its `<…>` entities and `&amp;`).

    A person's own `<` arrives escaped, so every `<…>` is an entity. With `addressed`, Slack tells
    that this bot is mentioned: the only mentioned account is then the bot.
    """
    reader = _SlackTextReader(me or (_only_mention(raw) if addressed else ""), names)
    resolved = _ENTITY.sub(reader.resolve, raw.replace("\0", ""))
    content = _without_me(_LEADING_ME.sub("", resolved)).strip()
    users = tuple(reader.users)[:_MAX_MENTIONS]
    return SlackText(
        content=unescape(content)[:MAX_CONTENT],
        mentions_me=addressed or (bool(reader.me) and reader.me in reader.users),
        mentions_others=bool(reader.groups) or any(user != reader.me for user in users),
        mentions=users,
        channels=tuple(reader.channels)[:_MAX_MENTIONS],
        broadcast=reader.broadcast,
    )


def _without_me(resolved: str) -> str:
    """The text without this bot's mentions and the spaces before each."""
    *before, last = resolved.split("\0")
    return "".join((*(part.rstrip(" \t") for part in before), last))


def unescape(value: str) -> str:
    """Undo Slack's three escapes; the ampersand last, otherwise `&amp;lt;` would become <."""
    return value.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def escape(value: str) -> str:
    """Escape a text for mrkdwn, so that it contains no mention, link or command."""
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _only_mention(raw: str) -> str:
    users = {m.group(1).partition("|")[0] for m in _ENTITY.finditer(raw) if m.group(1)[0] == "@"}
    return next(iter(users))[1:] if len(users) == 1 else ""


def _link(target: str, label: str) -> str:
    address = target.removeprefix("mailto:").removeprefix("tel:")
    if not label or label in (target, address) or target.endswith(f"://{label}"):
        return address
    return f"{label} ({address})"
