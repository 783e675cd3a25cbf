"""Telegram's HTML, parsed as strictly as the Bot API does.

Facts from https://core.telegram.org/bots/api#html-style: what is not one of these tags, is not
closed, or is closed in the wrong order makes the whole request fail.
"""

import re
from dataclasses import dataclass
from typing import Final

from simulators.telegram.entities import Entity, utf16_length

_STYLES: Final = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "a": "text_link",
    "tg-emoji": "custom_emoji",
}
_ARGUMENTS: Final = (("a", "href"), ("span", "class"), ("tg-emoji", "emoji-id"))
_NAMED: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_REFERENCE = re.compile(r"&(?:#x([0-9a-fA-F]{1,8})|#([0-9]{1,8})|(lt|gt|amp|quot));?")
_UNQUOTED = re.compile(r"[A-Za-z0-9.\-]*")
_SPACE: Final = " \t\r\n\x0b\x0c\x00"


class HtmlRejected(Exception):
    """The markup is not Telegram's; the text is what the Bot API says of it."""


@dataclass(slots=True)
class _Open:
    tag: str
    start: int
    position: int
    argument: str = ""
    expandable: bool = False


def decode_references(text: str) -> str:
    """Replace the four named and all numeric character references; leave any other alone."""
    if "&" not in text:
        return text
    return _REFERENCE.sub(_decode, text)


def _decode(match: re.Match[str]) -> str:
    hexadecimal, decimal, name = match.groups()
    if name:
        return _NAMED[name]
    code = int(hexadecimal, 16) if hexadecimal else int(decimal)
    if code == 0 or code > 0x10FFFF:
        return match.group(0)
    if 0xD800 <= code <= 0xDFFF:
        raise HtmlRejected(
            "Text contains invalid Unicode characters after decoding HTML entities, "
            "check for unmatched surrogate code units"
        )
    return chr(code)


def parse_html(source: str) -> tuple[str, tuple[Entity, ...]]:
    """The text without markup and its entities, offsets in UTF-16 units.

    Raises `HtmlRejected` where Telegram answers "can't parse entities".
    """
    return _Parser(source).parse()


class _Parser:
    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self._pieces: list[str] = []
        self._units = 0
        self._open: list[_Open] = []
        self._entities: list[Entity] = []

    def parse(self) -> tuple[str, tuple[Entity, ...]]:
        source = self._source
        while self._at < len(source):
            following = source.find("<", self._at)
            end = len(source) if following < 0 else following
            self._add(decode_references(source[self._at : end]))
            self._at = end
            if following < 0:
                break
            if source.startswith("</", self._at):
                self._end_tag()
            else:
                self._start_tag()
        if self._open:
            raise HtmlRejected(
                f'Can\'t find end tag corresponding to start tag "{self._open[-1].tag}"'
            )
        return "".join(self._pieces), _merged(self._entities)

    def _add(self, text: str) -> None:
        self._pieces.append(text)
        self._units += utf16_length(text)

    def _bytes(self, position: int) -> int:
        return len(self._source[:position].encode("utf-8", "surrogatepass"))

    def _reject(self, problem: str, position: int) -> HtmlRejected:
        return HtmlRejected(f"{problem} at byte offset {self._bytes(position)}")

    def _skip(self, until: str) -> int:
        position = self._at
        while position < len(self._source) and self._source[position] not in until:
            position += 1
        return position

    def _skip_space(self) -> None:
        while self._at < len(self._source) and self._source[self._at] in _SPACE:
            self._at += 1

    def _start_tag(self) -> None:
        begin = self._at
        self._at += 1
        end = self._skip(_SPACE + ">")
        if end >= len(self._source):
            raise self._reject("Unclosed start tag", begin)
        tag = self._source[begin + 1 : end].lower()
        if tag not in _STYLES:
            raise self._reject(f'Unsupported start tag "{tag}"', begin)
        self._at = end
        opened = _Open(tag, self._units, begin)
        while True:
            self._skip_space()
            if self._at >= len(self._source):
                raise self._reject("Unclosed start tag", begin)
            if self._source[self._at] == ">":
                break
            self._attribute(opened)
        self._at += 1
        if tag == "span" and opened.argument != "tg-spoiler":
            raise self._reject('Tag "span" must have class "tg-spoiler"', begin)
        self._open.append(opened)

    def _attribute(self, opened: _Open) -> None:
        end = self._skip(_SPACE + "=>")
        name = self._source[self._at : end].lower()
        if not name:
            raise self._reject(f'Empty attribute name in the tag "{opened.tag}"', opened.position)
        self._at = end
        self._skip_space()
        if self._at >= len(self._source):
            raise self._reject(f'Unclosed start tag "{opened.tag}"', opened.position)
        if self._source[self._at] != "=":
            if opened.tag == "blockquote" and name == "expandable":
                opened.expandable = True
                return
            raise self._reject(
                f'Expected equal sign in declaration of an attribute of the tag "{opened.tag}"',
                opened.position,
            )
        self._at += 1
        value = self._value(opened)
        if (opened.tag, name) in _ARGUMENTS:
            opened.argument = value
        elif opened.tag == "code" and name == "class":
            opened.argument = value.removeprefix("language-") if "language-" in value else ""
        elif opened.tag == "blockquote" and name == "expandable":
            opened.expandable = True

    def _value(self, opened: _Open) -> str:
        self._skip_space()
        if self._at >= len(self._source):
            raise self._reject(f'Unclosed start tag "{opened.tag}"', opened.position)
        quote = self._source[self._at]
        if quote in "\"'":
            end = self._source.find(quote, self._at + 1)
            if end < 0:
                raise self._reject("Unclosed start tag", opened.position)
            value = decode_references(self._source[self._at + 1 : end])
            self._at = end + 1
            return value
        match = _UNQUOTED.match(self._source, self._at)
        end = match.end() if match else self._at
        value = self._source[self._at : end].lower()
        if end < len(self._source) and self._source[end] not in _SPACE + ">":
            raise self._reject("Unexpected end of name token", self._at)
        self._at = end
        return value

    def _end_tag(self) -> None:
        begin = self._at
        if not self._open:
            raise self._reject("Unexpected end tag", begin)
        self._at += 2
        end = self._skip(_SPACE + ">")
        name = self._source[self._at : end].lower()
        self._at = end
        self._skip_space()
        if self._at >= len(self._source) or self._source[self._at] != ">":
            raise self._reject("Unclosed end tag", begin)
        self._at += 1
        opened = self._open.pop()
        if name and name != opened.tag:
            raise HtmlRejected(
                f"Unmatched end tag at byte offset {self._bytes(begin)}, "
                f'expected "</{opened.tag}>", found "</{name}>"'
            )
        length = self._units - opened.start
        if length:
            self._close(opened, length)

    def _close(self, opened: _Open, length: int) -> None:
        kind = _STYLES[opened.tag]
        if opened.tag == "a":
            url = opened.argument or "".join(self._pieces)
            if "." not in url and not url.startswith("tg:"):
                return
            self._entities.append(Entity(kind, opened.start, length, url=url))
        elif opened.tag == "tg-emoji":
            if not opened.argument.isdigit():
                raise HtmlRejected("Invalid custom emoji identifier specified")
            self._entities.append(Entity(kind, opened.start, length, custom=opened.argument))
        elif opened.tag == "blockquote":
            kind = "expandable_blockquote" if opened.expandable else kind
            self._entities.append(Entity(kind, opened.start, length))
        else:
            language = opened.argument if opened.tag == "code" else ""
            self._entities.append(Entity(kind, opened.start, length, language=language))


def _merged(entities: list[Entity]) -> tuple[Entity, ...]:
    """`<pre><code class=language-x>` is one entity `pre` with a language."""
    spans = {(one.offset, one.length) for one in entities if one.kind == "pre"}
    languages = {
        (one.offset, one.length): one.language
        for one in entities
        if one.kind == "code" and one.language and (one.offset, one.length) in spans
    }
    kept = [
        Entity("pre", one.offset, one.length, language=languages[one.offset, one.length])
        if one.kind == "pre" and (one.offset, one.length) in languages
        else one
        for one in entities
        if not (one.kind == "code" and (one.offset, one.length) in languages)
    ]
    return tuple(sorted(kept, key=lambda one: (one.offset, -one.length)))
