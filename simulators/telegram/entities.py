"""Finds entities in a text as Telegram does, and shows them as the app does; offsets count UTF-16
units."""

import html
import re
from dataclasses import dataclass
from typing import Final

_FOUND = re.compile(
    r"(?P<url>\bhttps?://[^\s<>\"]*[^\s<>\".,;:!?)\]])"
    r"|(?P<email>\b[\w.+-]+@[\w-]+\.[\w.-]*\w)"
    r"|(?<![\w@])(?P<mention>@[A-Za-z][A-Za-z0-9_]{2,31})(?![\w-])"
    r"|(?<![\w/])(?P<bot_command>/[A-Za-z0-9_]{1,64}(?:@[A-Za-z][A-Za-z0-9_]{2,31})?)(?![\w/])"
    r"|(?<![\w#])(?P<hashtag>#\w*[^\W\d]\w*)"
)
_TAGS: Final = {
    "bold": ("<b>", "</b>"),
    "italic": ("<i>", "</i>"),
    "underline": ("<u>", "</u>"),
    "strikethrough": ("<s>", "</s>"),
    "spoiler": ('<span class="spoiler">', "</span>"),
    "code": ("<code>", "</code>"),
    "blockquote": ("<blockquote>", "</blockquote>"),
    "expandable_blockquote": ("<blockquote>", "</blockquote>"),
}
_SAFE_LINK = re.compile(r"(?i)(?:https?|tg|mailto):")


@dataclass(frozen=True, slots=True)
class Entity:
    """A stretch of text with a meaning. `user` is the id behind a `text_mention`."""

    kind: str
    offset: int
    length: int
    url: str = ""
    language: str = ""
    custom: str = ""
    user: int = 0

    def as_json(self) -> dict[str, object]:
        """As in the Bot API."""
        body: dict[str, object] = {
            "type": self.kind,
            "offset": self.offset,
            "length": self.length,
        }
        if self.url:
            body["url"] = self.url
        if self.language:
            body["language"] = self.language
        if self.custom:
            body["custom_emoji_id"] = self.custom
        if self.user:
            body["user"] = {"id": self.user, "is_bot": False, "first_name": "Somebody"}
        return body


def utf16_length(text: str) -> int:
    """Length in UTF-16 units, the unit of every offset and limit of Telegram."""
    if text.isascii():
        return len(text)
    return len(text) + sum(character > "\uffff" for character in text)


def find_entities(text: str) -> tuple[Entity, ...]:
    """Return the entities that Telegram recognises itself: links, mentions, commands, hashtags."""
    if not any(mark in text for mark in "/@#"):
        return ()
    entities = []
    for match in _FOUND.finditer(text):
        kind = match.lastgroup or ""
        offset = utf16_length(text[: match.start()])
        entities.append(Entity(kind, offset, utf16_length(match.group())))
    return tuple(entities)


def with_found(text: str, entities: tuple[Entity, ...]) -> tuple[Entity, ...]:
    """`entities` and what Telegram finds in the rest of the text."""
    code = [one for one in entities if one.kind in ("code", "pre", "text_link")]
    extra = [
        one
        for one in find_entities(text)
        if not any(
            one.offset < other.offset + other.length and other.offset < one.offset + one.length
            for other in code
        )
    ]
    return tuple(sorted((*entities, *extra), key=lambda one: (one.offset, -one.length)))


def to_html(text: str, entities: tuple[Entity, ...]) -> str:
    """The text as safe HTML; everything that is not ours is escaped."""
    opening: dict[int, list[str]] = {}
    closing: dict[int, list[str]] = {}
    for one in _nested(entities):
        start, end = _tags(text, one)
        if start:
            opening.setdefault(one.offset, []).append(start)
            closing.setdefault(one.offset + one.length, []).insert(0, end)
    pieces: list[str] = []
    at = 0
    for character in text:
        pieces += closing.pop(at, ())
        pieces += opening.pop(at, ())
        pieces.append("<br>" if character == "\n" else html.escape(character))
        at += 2 if character > "\uffff" else 1
    pieces += closing.pop(at, ())
    return "".join(pieces)


def _nested(entities: tuple[Entity, ...]) -> list[Entity]:
    """Outer ones first, without those that only partly overlap an earlier one."""
    kept: list[Entity] = []
    for one in sorted(entities, key=lambda entity: (entity.offset, -entity.length)):
        end = one.offset + one.length
        if all(
            end <= other.offset + other.length or one.offset >= other.offset + other.length
            for other in kept
        ):
            kept.append(one)
    return kept


def _tags(text: str, entity: Entity) -> tuple[str, str]:
    if entity.kind in _TAGS:
        return _TAGS[entity.kind]
    if entity.kind == "pre":
        language = html.escape(entity.language)
        return f'<pre data-language="{language}"><code>', "</code></pre>"
    url = entity.url
    if entity.kind == "url":
        url = cut(text, entity.offset, entity.length)
    if entity.kind in ("text_link", "url") and _SAFE_LINK.match(url):
        return f'<a href="{html.escape(url)}" rel="noopener noreferrer nofollow">', "</a>"
    if entity.kind in ("mention", "text_mention", "bot_command", "hashtag"):
        return f'<span class="{entity.kind}">', "</span>"
    return "", ""


def cut(text: str, offset: int, length: int) -> str:
    """The piece of `text` at an offset in UTF-16 units."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return raw[2 * offset : 2 * (offset + length)].decode("utf-16-le", "replace")
