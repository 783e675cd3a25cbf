"""What a text says beside its words: mentions, commands, hashtags, links.

Telegram counts offsets in UTF-16 units (https://core.telegram.org/api/entities).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from adapters.telegram.json_readers import identity, integer, listing, mapping, text

_QUOTES: Final = ("blockquote", "expandable_blockquote")
MAX_ENTITIES: Final = 100
"""Entities read of one message; the Bot API itself delivers at most 100."""


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """This bot: its id, and its username without `@`."""

    id: str
    username: str = ""

    def is_named(self, name: str) -> bool:
        """True for our username, with or without `@`, in any case."""
        return bool(self.username) and name.lstrip("@").lower() == self.username.lower()


@dataclass(frozen=True, slots=True)
class MessageText:
    """A text and what its entities say.

    `content` has our own mention taken out, and "> " before each line of a quotation. `command`
    is lower case, without slash and bot name; `for_other_bot` is true when the command names
    another bot.
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
    """A stretch of the text, in UTF-16 units, and what is to stand there instead (if not None)."""

    kind: str
    start: int
    end: int
    words: str
    raw: Mapping[str, object]


def read_text(source: str, entities: object, me: BotIdentity | None) -> MessageText:
    """Everything that text and entities say, for a bot that is `me`."""
    if not isinstance(entities, list) or not entities:
        return MessageText(content=source)
    pieces = _pieces(source, entities)
    mentions: list[str] = []
    hashtags: list[str] = []
    instead: list[tuple[int, int, str]] = []
    mentions_bot = mentions_others = for_other_bot = False
    command = arguments = ""
    quoted = _apart([piece for piece in pieces if piece.kind in _QUOTES])
    instead += [(at, at, "> ") for quote in quoted for at in _line_starts(quote)]
    for piece in _without(pieces, quoted):
        match piece.kind:
            case "mention" | "text_mention":
                ours = _is_me(piece, me)
                mentions_bot |= ours
                mentions_others |= not ours
                if ours:
                    instead.append((piece.start, piece.end, ""))
                mentions.append(_named(piece))
            case "bot_command" if piece.start == 0 and piece.words.startswith("/"):
                command, _, target = piece.words.removeprefix("/").partition("@")
                ours = bool(target) and (me is None or me.is_named(target))
                for_other_bot = bool(target) and not ours
                mentions_bot |= ours and me is not None
                if ours:
                    instead.append((1 + len(command), piece.end, ""))
            case "hashtag":
                hashtags.append(piece.words.removeprefix("#"))
            case "text_link":
                url = text(piece.raw.get("url"))
                if url and url.rstrip("/") != piece.words.rstrip("/"):
                    instead.append((piece.end, piece.end, f" ({url})"))
    content = _replaced(source, instead)
    if command:
        arguments = content[1 + len(command) :].strip()
    return MessageText(
        content=content,
        command=command.lower(),
        arguments=arguments,
        for_other_bot=for_other_bot,
        mentions_bot=mentions_bot,
        mentions_others=mentions_others,
        mentions=tuple(mentions),
        hashtags=tuple(hashtags),
    )


def _without(pieces: list[_Entity], quoted: list[_Entity]) -> list[_Entity]:
    """The pieces outside of quotations: a quoted command is no command, and a quoted mention
    addresses nobody."""
    return [
        piece for piece in pieces if not any(one.start <= piece.start < one.end for one in quoted)
    ]


def _apart(pieces: list[_Entity]) -> list[_Entity]:
    """The pieces, in order, without those that begin inside another one."""
    kept: list[_Entity] = []
    for piece in pieces:
        if not kept or piece.start >= kept[-1].end:
            kept.append(piece)
    return kept


def _line_starts(piece: _Entity) -> list[int]:
    """Where the lines of a stretch begin, in UTF-16 units."""
    starts, at = [piece.start], piece.start
    for line in piece.words.split("\n")[:-1]:
        at += len(line.encode("utf-16-le")) // 2 + 1
        starts.append(at)
    return [start for start in starts if start < piece.end]


def _pieces(source: str, entities: list[object]) -> list[_Entity]:
    """The entities that lie inside the text, in order."""
    plain = source.isascii()
    raw = b"" if plain else source.encode("utf-16-le")
    units = len(source) if plain else len(raw) // 2
    found: list[_Entity] = []
    for entity in entities[:MAX_ENTITIES]:
        read = mapping(entity)
        start, length = integer(read.get("offset")), integer(read.get("length"))
        if start is None or length is None or start < 0 or length <= 0 or start + length > units:
            continue
        end = start + length
        words = source[start:end] if plain else _decode(raw[2 * start : 2 * end])
        found.append(_Entity(text(read.get("type")), start, end, words, read))
    found.sort(key=lambda piece: piece.start)
    return found


def _decode(raw: bytes) -> str:
    return raw.decode("utf-16-le", "replace")


def _is_me(piece: _Entity, me: BotIdentity | None) -> bool:
    if me is None:
        return False
    if piece.kind == "text_mention":
        return identity(mapping(piece.raw.get("user")).get("id")) == me.id
    return me.is_named(piece.words)


def _named(piece: _Entity) -> str:
    """A username without `@`, or the id of somebody who has none."""
    if piece.kind == "text_mention":
        return identity(mapping(piece.raw.get("user")).get("id"))
    return piece.words.removeprefix("@")


def _replaced(source: str, instead: list[tuple[int, int, str]]) -> str:
    """The text with the given stretches (UTF-16 units) replaced; one space goes with a cut."""
    if not instead:
        return source
    raw = source.encode("utf-16-le")
    kept: list[str] = []
    at = 0
    for start, end, words in sorted(instead):
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
    """Where the text goes on behind a mention that was cut out."""
    if not before.strip():
        while raw[2 * end : 2 * end + 2] in (b",\x00", b":\x00", b" \x00", b"\n\x00"):
            end += 1
    elif before[-1].isspace() and raw[2 * end : 2 * end + 2] == b" \x00":
        end += 1
    return end


def entities_of(message: Mapping[str, object]) -> tuple[str, list[object]]:
    """The text of a message, or its caption, with the entities that belong to it."""
    body = text(message.get("text"))
    if body:
        return body, listing(message.get("entities"))
    return text(message.get("caption")), listing(message.get("caption_entities"))
