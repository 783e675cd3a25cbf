"""A rich message as a text with entities, and the files in it.

Fields: Bot API 10.1, "RichMessage", "RichBlock", "RichText". A kind that is unknown here is read by
its fields, so that its text is not lost.
"""

from typing import Final

from adapters.shared.json_readers import (
    JsonObject,
    array,
    as_mapping,
    as_text,
    integer,
    items,
    mapping,
    number,
    objects,
    text,
)
from adapters.telegram.entities import MAX_ENTITIES, units_of
from gateway.message import MAX_CONTENT

MAX_NODES: Final = 10_000
"""Blocks and pieces of text that are read of one message, at every depth together."""
CUT: Final = "[…]"
"""Stands for what is beyond `MAX_NODES` or `MAX_CONTENT`."""
_DEEPEST: Final = 24
_MAX_CHILDREN: Final = 2_000
_MAX_COLUMNS: Final = 50
_MAX_FILES: Final = 25
_MEDIA: Final = {
    **{kind: kind for kind in ("animation", "audio", "document", "photo", "video")},
    "voice_note": "voice",
}
"""Fields of a block with a file, and the field of a message with such a file."""
_ENTITIES: Final = {
    **{kind: kind for kind in ("bold", "italic", "underline", "strikethrough", "spoiler", "code")},
    **{kind: kind for kind in ("mention", "text_mention", "hashtag", "email_address")},
    **dict.fromkeys(("url", "link"), "text_link"),
    **dict.fromkeys(("pre", "preformatted"), "pre"),
    **dict.fromkeys(("blockquote", "expandable_blockquote", "pullquote"), "blockquote"),
}
_BEFORE: Final = {"superscript": "^", "subscript": "_"}
"""Signs without which a number would be another one."""


def flattened(rich: JsonObject) -> tuple[str, list[object]]:
    """The text of a rich message and its entities, as of an ordinary message. A command in it is
    text."""
    writer = _Writer()
    writer.blocks(rich, _DEEPEST, "")
    return writer.result()


def files_in(rich: JsonObject) -> list[JsonObject]:
    """The files of a rich message, each as the fields of a message with this file."""
    found: list[JsonObject] = []
    left = MAX_NODES
    waiting = list(reversed(items(rich, "blocks", _MAX_CHILDREN)))
    while waiting and left and len(found) < _MAX_FILES:
        left -= 1
        block = waiting.pop()
        found += [{_MEDIA[key]: block[key]} for key in _MEDIA if key in block]
        children = items(block, "blocks", _MAX_CHILDREN) + items(block, "items", _MAX_CHILDREN)
        waiting += reversed(children[:left])
    return found[:_MAX_FILES]


class _Writer:
    """Writes the text, and notes the entities in UTF-16 units."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._entities: list[object] = []
        self._units = 0
        self._left = MAX_NODES
        self._room = MAX_CONTENT - len(CUT) - 1
        self._at_line_start = True
        self._cut = False

    def result(self) -> tuple[str, list[object]]:
        """The text and the entities that were written."""
        if self._cut:
            self._pieces.append(f"\n{CUT}")
        return "".join(self._pieces), self._entities

    def blocks(self, source: JsonObject, depth: int, indent: str) -> None:
        """Write the blocks under "blocks", each on a line of its own."""
        for block in items(source, "blocks", _MAX_CHILDREN):
            self._line(indent)
            self._block(block, depth, indent)

    def _block(self, block: JsonObject, depth: int, indent: str) -> None:
        if not self._takes(depth):
            return
        kind, start = text(block, "type", 50), self._units
        match kind:
            case "heading" | "section_heading":
                self._write("#" * min(max(integer(block, "size") or 1, 1), 6) + " ")
            case "divider":
                self._write("---")
            case "map":
                self._write(location_line(mapping(block, "location")))
        for key in ("text", "summary"):
            self._rich_text(block.get(key), depth)
        if expression := text(block, "expression"):
            self._write(f"$${expression}$$")
        for item in items(block, "items", _MAX_CHILDREN):
            self._item(item, depth - 1, indent)
        for row in array(block, "cells", _MAX_CHILDREN):
            self._row(row, depth - 1, indent)
        self.blocks(block, depth - 1, indent)
        self._caption(block, depth - 1, indent)
        self._entity(kind, start, block)

    def _item(self, item: JsonObject, depth: int, indent: str) -> None:
        """An item of a list, its blocks indented below each other."""
        if not self._takes(depth):
            return
        self._line(indent)
        self._write(f"{text(item, 'label', 20).strip() or '-'} ")
        if item.get("has_checkbox") is True:
            self._write("[x] " if item.get("is_checked") is True else "[ ] ")
        for number_, block in enumerate(items(item, "blocks", _MAX_CHILDREN)):
            if number_:
                self._line(indent + "  ")
            self._block(block, depth - 1, indent + "  ")

    def _row(self, row: object, depth: int, indent: str) -> None:
        self._line(indent)
        for number_, cell in enumerate(objects(row, _MAX_COLUMNS)):
            if number_:
                self._write(" | ")
            self._rich_text(cell.get("text"), depth)

    def _caption(self, block: JsonObject, depth: int, indent: str) -> None:
        caption = mapping(block, "caption")
        for value in (caption.get("text"), caption.get("credit"), block.get("credit")):
            if value:
                self._line(indent)
                self._rich_text(value, depth)

    def _rich_text(self, value: object, depth: int) -> None:
        """A string, a list of pieces, or one piece with a format."""
        if value is None or not self._takes(depth):
            return
        if isinstance(value, str):
            self._write(as_text(value))
            return
        if isinstance(value, list):
            for piece in value[:_MAX_CHILDREN]:
                self._rich_text(piece, depth - 1)
            return
        piece = as_mapping(value)
        kind, start = text(piece, "type", 50), self._units
        self._write(_BEFORE.get(kind, ""))
        if expression := text(piece, "expression"):
            self._write(f"${expression}$")
        elif "text" in piece:
            self._rich_text(piece["text"], depth - 1)
        else:
            self._write(text(piece, "alternative_text", 100))
        self._entity(kind, start, piece)

    def _takes(self, depth: int) -> bool:
        """Count a node; False beyond a limit."""
        self._left -= 1
        fits = depth > 0 and self._left >= 0
        self._cut = self._cut or not fits
        return fits

    def _line(self, indent: str) -> None:
        """Begin a line, unless one just began."""
        if not self._at_line_start:
            self._write("\n")
            self._write(indent)
            self._at_line_start = True

    def _write(self, words: str) -> None:
        kept = words[: self._room]
        self._cut = self._cut or len(kept) < len(words)
        if kept:
            self._pieces.append(kept)
            self._room -= len(kept)
            self._units += units_of(kept)
            self._at_line_start = False

    def _entity(self, kind: str, start: int, source: JsonObject) -> None:
        known = _ENTITIES.get(kind)
        if known is None or self._units == start or len(self._entities) >= MAX_ENTITIES:
            return
        more = {key: source[key] for key in ("url", "user", "language") if key in source}
        length = self._units - start
        self._entities.append({"type": known, "offset": start, "length": length, **more})


def location_line(raw: JsonObject) -> str:
    """The coordinates of a location in words."""
    latitude, longitude = number(raw, "latitude"), number(raw, "longitude")
    if latitude is None or longitude is None:
        return "Location"
    return f"Location: {latitude:.6f}, {longitude:.6f}"
