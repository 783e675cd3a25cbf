"""Shows WhatsApp's own formatting: as safe HTML, and as plain text without the marks.

*bold*, _italic_, ~struck~, `code`, ```monospace```, "> quote", "- item" or "* item", "1. item"
(WhatsApp Help Centre, "How to format your messages").
"""

import re
from dataclasses import dataclass
from html import escape
from typing import Final

MAX_DEPTH: Final = 8

_BLOCK: Final = re.compile(r"```(.+?)```", re.DOTALL)
_INLINE: Final = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|(?<![\w*])\*(?P<b>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])"
    r"|(?<!\w)_(?P<i>[^\s_](?:[^\n]*?[^\s])?)_(?!\w)"
    r"|(?<![\w~])~(?P<s>[^\s~](?:[^~\n]*[^\s~])?)~(?![\w~])"
)
_BULLET: Final = re.compile(r"[*-] (?=\S)")


@dataclass(frozen=True, slots=True)
class Look:
    """The same text twice."""

    html: str
    plain: str


def look(text: str) -> Look:
    """Return `text` as a reader sees it."""
    html: list[str] = []
    plain: list[str] = []
    for index, piece in enumerate(_BLOCK.split(text)):
        if index % 2:
            html.append(f"<code>{_lines(escape(piece))}</code>")
            plain.append(piece)
            continue
        shown = [_line(line) for line in piece.split("\n")]
        html.append("<br>".join(line.html for line in shown))
        plain.append("\n".join(line.plain for line in shown))
    return Look("".join(html), "".join(plain))


def _line(line: str) -> Look:
    if line.startswith("> "):
        inner = _inline(line[2:])
        return Look(f"<q>{inner.html}</q>", inner.plain)
    if bullet := _BULLET.match(line):
        inner = _inline(line[bullet.end() :])
        return Look(f"• {inner.html}", f"• {inner.plain}")
    return _inline(line)


def _inline(text: str, depth: int = 0) -> Look:
    html: list[str] = []
    plain: list[str] = []
    at = 0
    for match in _INLINE.finditer(text) if depth < MAX_DEPTH else ():
        html.append(escape(text[at : match.start()]))
        plain.append(text[at : match.start()])
        at = match.end()
        tag = match.lastgroup or "code"
        inside = match.group(tag)
        inner = Look(escape(inside), inside) if tag == "code" else _inline(inside, depth + 1)
        html.append(f"<{tag}>{inner.html}</{tag}>")
        plain.append(inner.plain)
    html.append(escape(text[at:]))
    plain.append(text[at:])
    return Look("".join(html), "".join(plain))


def _lines(text: str) -> str:
    return text.replace("\n", "<br>")
