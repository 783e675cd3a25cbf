"""The text of a message and the entities in it: mentions, commands, hashtags, links.

Telegram counts offsets in UTF-16 units (https://core.telegram.org/api/entities).
"""

from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from adapters.shared.json_readers import (
    JsonObject,
    array,
    as_mapping,
    integer,
    mapping,
    numeric_id,
    text,
)

_QUOTES: Final = ("blockquote", "expandable_blockquote")
MAX_ENTITIES: Final = 100
"""Entities read of one message; the Bot API itself delivers at most 100."""


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """This bot: its id, its username without `@`, and its account. Both are empty if unknown."""

    id: str = ""
    username: str = ""
    account: str = "main"

    def is_named(self, name: str) -> bool:
        """True for this bot's username, with or without `@`, in any case."""
        return bool(self.username) and name.lstrip("@").lower() == self.username.lower()


class MessageText(Struct, frozen=True):
    """A text and its entities.

    `content` has this bot's own mention removed, and "> " before each line of a quotation.
    `command` is lower case, without slash and bot name; `for_other_bot` is true when the command
    names another bot.
    """

    content: str = ""
    command: str = ""
    arguments: str = ""
    for_other_bot: bool = False
    mentions_bot: bool = False
    mentions_others: bool = False
    mentions: tuple[str, ...] = ()
    hashtags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entity:
    """A range of the text, in UTF-16 units."""

    kind: str
    start: int
    end: int
    words: str
    raw: JsonObject = field(repr=False)


def read_text(source: str, entities: object, me: BotIdentity) -> MessageText:
    """The parsed text, as the bot `me` sees it."""
    if not isinstance(entities, list) or not entities:
        return MessageText(content=source)
    known = _entities(source, entities)
    mentions: list[tuple[str, bool]] = []
    hashtags: list[str] = []
    command, for_other_bot, command_names_me = "", False, False
    quotations = _outermost([entity for entity in known if entity.kind in _QUOTES])
    changes = [(at, at, "> ") for quotation in quotations for at in _line_starts(quotation)]
    for entity in _outside(known, quotations):
        match entity.kind:
            case "mention" | "text_mention":
                name, ours = _mentioned(entity, me)
                mentions.append((name, ours))
                if ours:
                    changes.append((entity.start, entity.end, ""))
            case "bot_command" if entity.start == 0 and entity.words.startswith("/"):
                command, _, target = entity.words.removeprefix("/").partition("@")
                for_other_bot = bool(target and me.username) and not me.is_named(target)
                command_names_me = me.is_named(target)
                if target and not for_other_bot:
                    changes.append((1 + len(command), entity.end, ""))
            case "hashtag":
                hashtags.append(entity.words.removeprefix("#"))
            case "text_link":
                url = text(entity.raw, "url")
                if url and url.rstrip("/") != entity.words.rstrip("/"):
                    changes.append((entity.end, entity.end, f" ({url})"))
    content = _replaced(source, changes)
    return MessageText(
        content=content,
        command=command.lower(),
        arguments=content[1 + len(command) :].strip() if command else "",
        for_other_bot=for_other_bot,
        mentions_bot=command_names_me or any(ours for _, ours in mentions),
        mentions_others=not all(ours for _, ours in mentions),
        mentions=tuple(name for name, _ in mentions),
        hashtags=tuple(hashtags),
    )


def _mentioned(entity: _Entity, me: BotIdentity) -> tuple[str, bool]:
    """A username without `@`, or an id where there is none; and whether it is this bot's."""
    if entity.kind == "text_mention":
        user_id = numeric_id(mapping(entity.raw, "user"), "id")
        return user_id, bool(user_id) and user_id == me.id
    return entity.words.removeprefix("@"), me.is_named(entity.words)


def _outside(entities: list[_Entity], quotations: list[_Entity]) -> list[_Entity]:
    """The entities outside of quotations: a quoted command is no command, and a quoted mention
    addresses nobody."""
    return [
        entity
        for entity in entities
        if not any(quotation.start <= entity.start < quotation.end for quotation in quotations)
    ]


def _outermost(entities: list[_Entity]) -> list[_Entity]:
    """The entities, in order, without those that begin inside another one."""
    kept: list[_Entity] = []
    for entity in entities:
        if not kept or entity.start >= kept[-1].end:
            kept.append(entity)
    return kept


def _line_starts(entity: _Entity) -> list[int]:
    """The offsets of the lines of a range, in UTF-16 units."""
    starts, at = [entity.start], entity.start
    for line in entity.words.split("\n")[:-1]:
        at += len(line.encode("utf-16-le")) // 2 + 1
        starts.append(at)
    return [start for start in starts if start < entity.end]


def _entities(source: str, entities: list[object]) -> list[_Entity]:
    """The entities that lie inside the text, in order."""
    plain = source.isascii()
    raw = b"" if plain else source.encode("utf-16-le")
    units = len(source) if plain else len(raw) // 2
    parsed: list[_Entity] = []
    for entity in entities[:MAX_ENTITIES]:
        raw_entity = as_mapping(entity)
        start, length = integer(raw_entity, "offset"), integer(raw_entity, "length")
        if start is None or length is None or start < 0 or length <= 0 or start + length > units:
            continue
        end = start + length
        words = source[start:end] if plain else _decode(raw[2 * start : 2 * end])
        parsed.append(_Entity(text(raw_entity, "type"), start, end, words, raw_entity))
    parsed.sort(key=lambda entity: entity.start)
    return parsed


def _decode(raw: bytes) -> str:
    return raw.decode("utf-16-le", "replace")


def _replaced(source: str, changes: list[tuple[int, int, str]]) -> str:
    """The text with these ranges (UTF-16 units) replaced; a removed one takes one space along."""
    if not changes:
        return source
    raw = source.encode("utf-16-le")
    kept: list[str] = []
    at = 0
    for start, end, words in sorted(changes):
        if start < at:
            continue
        before = _decode(raw[2 * at : 2 * start])
        kept += (before, words)
        at = end
        if not words:
            at = _after_cut("".join(kept), raw, end)
    kept.append(_decode(raw[2 * at :]))
    return "".join(kept).strip()


def _after_cut(before: str, raw: bytes, end: int) -> int:
    """The offset at which the text continues behind a removed mention."""
    if not before.strip():
        while raw[2 * end : 2 * end + 2] in (b",\x00", b":\x00", b" \x00", b"\n\x00"):
            end += 1
    elif before[-1].isspace() and raw[2 * end : 2 * end + 2] == b" \x00":
        end += 1
    return end


def entities_of(message: JsonObject) -> tuple[str, list[object]]:
    """The text of a message, or its caption, with the entities that belong to it."""
    body = text(message, "text")
    if body:
        return body, array(message, "entities")
    return text(message, "caption"), array(message, "caption_entities")
