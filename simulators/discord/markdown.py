"""Discord's own Markdown, as people see it: safe HTML, and the same as text without markup.

Only what Discord shows is known here: no tables, no images, no HTML, three levels of headings.
"""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

MAX_DEPTH: Final = 12

Names = Callable[[str, str], str]
"""(kind, id) to a readable name; kind is "user", "role" or "channel"."""


@dataclass(frozen=True, slots=True)
class Look:
    """A text as people see it."""

    html: str
    text: str

    def __add__(self, other: "Look") -> "Look":
        return Look(self.html + other.html, self.text + other.text)


_NOTHING: Final = Look("", "")

_FENCE: Final = re.compile(
    r"(?<!`)(?:`(?!`)(?P<one>(?:[^`]|`{2,}+)+?)`|``(?!`)(?P<two>(?:[^`]|`{3,}+|`(?!`))+?)``)(?!`)"
    r"|```(?:(?P<language>[\w+#.-]{1,30})\n)?(?P<code>.*?)```",
    re.DOTALL,
)
"""Inline code or a fence: what begins first is read first."""
_HEADING: Final = re.compile(r"(#{1,3}) +(\S.*)")
_SUBTEXT: Final = re.compile(r"-# +(\S.*)")
_BULLET: Final = re.compile(r"( *)[-*] +(\S.*)")
_NUMBER: Final = re.compile(r"( *)(\d{1,9})\. +(\S.*)")
_LINK: Final = re.compile(
    r"\[([^\[\]\n]+)\]\(<?(https?://[^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?\)"
)
_BARE_LINK: Final = re.compile(r"<(https?://[^\s<>]+)>|(https?://[^\s<>]*[^\s<>.,:;\"')\]*_~|])")
_ENTITY: Final = re.compile(
    r"<(?:@!?(?P<user>\d+)|@&(?P<role>\d+)|#(?P<channel>\d+)"
    r"|a?:(?P<emoji>\w+):\d+|t:(?P<time>-?\d+)(?::[tTdDfFR])?"
    r"|(?P<command>/[\w-]{1,32}(?: [\w-]{1,32}){0,2}):\d+)>"
)
_ESCAPE: Final = re.compile(r"\\([^a-zA-Z0-9\s])", re.ASCII)
_CODE: Final = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_SPANS: Final = (
    (re.compile(r"\*\*\*(?=\S)(.+?)\*\*\*(?!\*)", re.DOTALL), "<strong><em>", "</em></strong>"),
    (re.compile(r"\*\*(.+?)\*\*(?!\*)", re.DOTALL), "<strong>", "</strong>"),
    (re.compile(r"__(.+?)__(?!_)", re.DOTALL), "<u>", "</u>"),
    (re.compile(r"~~(.+?)~~(?!~)", re.DOTALL), "<s>", "</s>"),
    (re.compile(r"\|\|(.+?)\|\|", re.DOTALL), '<span class="spoiler">', "</span>"),
    (re.compile(r"\*(?![\s*])(.+?)(?<![\s*])\*(?!\*)", re.DOTALL), "<em>", "</em>"),
    (re.compile(r"_(?!_)(.+?)(?<!_)_(?!\w)", re.DOTALL), "<em>", "</em>"),
)
_SPECIAL: Final = frozenset("\\`*_~|<[h\n")


def look(content: str, names: Names) -> Look:
    """The HTML with which Discord shows `content`. The HTML holds no markup but its own."""
    shown, position = _NOTHING, 0
    for fence in _FENCE.finditer(content):
        inline = fence["one"] or fence["two"] or ""
        if inline and "```" not in inline:
            continue
        shown += _lines(content[position : fence.start()].removesuffix("\n"), names)
        if inline:
            shown += _long_inline(inline)
        else:
            shown += _fence(fence["language"] or "", fence["code"])
        position = fence.end()
        if content.startswith("\n", position):
            position += 1
    shown += _lines(content[position:], names)
    return Look(shown.html, shown.text.strip("\n"))


def _fence(language: str, code: str) -> Look:
    code = code.strip("\n")
    css = f' class="language-{html.escape(language)}"' if language else ""
    return Look(f"<pre><code{css}>{html.escape(code)}</code></pre>", f"\n{code}\n")


def _long_inline(code: str) -> Look:
    code = code.removeprefix(" ") if code.startswith(" `") else code
    code = code.removesuffix(" ") if code.endswith("` ") else code
    shown = html.escape(code).replace("\n", "<br>")
    return Look(f"<p><code>{shown}</code></p>", f"\n{code}\n")


def _lines(content: str, names: Names) -> Look:
    """Everything outside fences: block by block."""
    if not content:
        return _NOTHING
    shown, paragraph = _NOTHING, list[str]()
    lines = content.split("\n")
    index = 0
    while index < len(lines):
        line = lines[index]
        if line.startswith(">>> "):
            quoted = "\n".join([line[4:], *lines[index + 1 :]])
            return shown + _paragraph(paragraph, names) + _quote(quoted, names)
        block = _block(line, names)
        if line.startswith("> "):
            end = index
            while end < len(lines) and lines[end].startswith("> "):
                end += 1
            block = _quote("\n".join(each[2:] for each in lines[index:end]), names)
            index = end - 1
        if block is None:
            paragraph.append(line)
        else:
            shown += _paragraph(paragraph, names) + block
            paragraph = []
        index += 1
    return shown + _paragraph(paragraph, names)


def _block(line: str, names: Names) -> Look | None:
    if match := _HEADING.fullmatch(line):
        level = len(match[1])
        return _wrap(f"<h{level}>", _inline(match[2], names), f"</h{level}>", "\n")
    if match := _SUBTEXT.fullmatch(line):
        return _wrap('<p class="subtext">', _inline(match[1], names), "</p>", "\n")
    if match := _BULLET.fullmatch(line):
        return _item(len(match[1]), "•", match[2], names)
    if match := _NUMBER.fullmatch(line):
        return _item(len(match[1]), f"{match[2]}.", match[3], names)
    return None


def _item(indent: int, mark: str, text: str, names: Names) -> Look:
    level = min(indent // 2, 10)
    inner = _inline(text, names)
    return Look(
        f'<div class="item" style="margin-left:{level + 1}em">{mark} {inner.html}</div>',
        f"{'  ' * level}{mark} {inner.text}\n",
    )


def _quote(content: str, names: Names) -> Look:
    inner = _inline(content, names)
    return _wrap("<blockquote>", inner, "</blockquote>", "\n")


def _paragraph(lines: list[str], names: Names) -> Look:
    text = "\n".join(lines)
    if not text.strip():
        return Look("", "\n" * len(lines))
    return _wrap("<p>", _inline(text, names), "</p>", "\n")


def _wrap(before: str, inner: Look, after: str, end: str) -> Look:
    return Look(before + inner.html + after, inner.text + end)


def _inline(text: str, names: Names, depth: int = 0) -> Look:
    """Spans, code, links and mentions; what is nested too deeply stays as written."""
    if depth >= MAX_DEPTH:
        return Look(html.escape(text), text)
    pages, words = list[str](), list[str]()
    position = plain_from = 0
    while position < len(text):
        result = _span(text, position, names, depth) if text[position] in _SPECIAL else None
        if result is None:
            position += 1
            continue
        span, end = result
        plain = text[plain_from:position]
        pages += [html.escape(plain), span.html]
        words += [plain, span.text]
        position = plain_from = end
    rest = text[plain_from:]
    return Look("".join(pages) + html.escape(rest), "".join(words) + rest)


def _span(text: str, at: int, names: Names, depth: int) -> tuple[Look, int] | None:
    if text[at] == "\n":
        return Look("<br>", "\n"), at + 1
    if match := _ESCAPE.match(text, at):
        return Look(html.escape(match[1]), match[1]), match.end()
    if match := _CODE.match(text, at):
        code = match[2].strip() or match[2]
        return Look(f"<code>{html.escape(code)}</code>", code), match.end()
    if match := _LINK.match(text, at):
        return _wrap(
            _anchor(match[2]), _inline(match[1], names, depth + 1), "</a>", ""
        ), match.end()
    if match := _BARE_LINK.match(text, at):
        url = match[1] or match[2]
        return Look(f"{_anchor(url)}{html.escape(url)}</a>", url), match.end()
    if match := _ENTITY.match(text, at):
        return _entity(match, names), match.end()
    if text[at] == "_" and at and text[at - 1].isalnum():
        return None
    for pattern, before, after in _SPANS:
        if (match := pattern.match(text, at)) and match[1].strip():
            return _wrap(before, _inline(match[1], names, depth + 1), after, ""), match.end()
    return None


def _anchor(url: str) -> str:
    return f'<a href="{html.escape(url)}" rel="noopener noreferrer">'


def _entity(match: "re.Match[str]", names: Names) -> Look:
    kind = match.lastgroup or ""
    value = match[kind]
    if kind == "emoji":
        return Look(f":{value}:", f":{value}:")
    if kind == "time":
        return Look(f"<time>{value}</time>", value)
    mark = "#" if kind == "channel" else "@"
    name = value if kind == "command" else mark + names(kind, value)
    return Look(f'<span class="mention">{html.escape(name)}</span>', name)
