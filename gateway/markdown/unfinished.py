"""Closes open marks of an unfinished answer, so that it can be shown."""

import re
from typing import Final

from gateway.markdown.flanking import flanks
from gateway.markdown.html_tags import ELEMENTS

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_BLANK: Final = re.compile(r"\n[ \t]*\n")
_FORMULA: Final = (
    r"\$\$[^$`]*\$\$|\$[^$`\n]+\$"
    r"|(?<!\\)\\\((?:[^\\]|\\[^()])*+\\\)|(?<!\\)\\\[(?:[^\\]|\\[^\[\]])*+\\\]"
)
_CUT_FORMULA: Final = re.compile(
    rf"((?<!`)`++[^`]*+`++|{_FORMULA}|\\[^(\[])"
    r"|(?:\$\$|\\\(|\\\[)(?:(?!\\[()\[\]]|\$\$|`).){0,500}\Z|\\\Z",
    re.DOTALL,
)
"""An unfinished formula, apart from what is complete."""
_TOKEN: Final = re.compile(
    _FORMULA + r"|\\.|`+|\*+|_+|~~|\|\||[~|]\Z"
    r"|<(/?)([A-Za-z][A-Za-z0-9]{0,10})(?:\s[^<>\n]{0,300})?>",
    re.DOTALL,
)
_INCOMPLETE_TAG: Final = re.compile(
    r"<(?:!-{0,2}|!--(?:(?!-->).)*|/?(?:[A-Za-z][A-Za-z0-9]{0,10}"
    r"(?:\s+[A-Za-z-]{1,40}=\"[^\"<>]{0,2000}\"){0,12}(?:\s*|\s+[A-Za-z-]{1,40}(?:=\"?[^\"<>]{0,2000})?))?)\Z",
    re.DOTALL,
)
_LINK: Final = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\s]{0,2000}$")
_LOOK_BACK: Final = 20_000
_MOST_OPEN: Final = 100
"""Open marks that are tracked, the innermost ones."""


def close_unfinished(markdown: str) -> str:
    """Return the text with open code, emphasis, strikethrough, spoilers and HTML closed.

    An incomplete mark, address or formula at the very end is left out until it is complete. For
    display only; the complete answer is rendered unchanged. Runs in linear time.
    """
    fence, after = _fences(markdown)
    if fence:
        separator = "" if markdown.endswith("\n") else "\n"
        return f"{markdown}{separator}{fence}"
    start = _last_paragraph(markdown, after)
    paragraph = _LINK.sub(r"\1", markdown[start:])
    paragraph = _CUT_FORMULA.sub(lambda found: found[1] or "", paragraph)
    return markdown[:start] + _closed(_without_tag(paragraph))


def _without_tag(paragraph: str) -> str:
    """Leave out a tag or a comment that has no end yet."""
    begin = paragraph.rfind("<!--")
    if begin < 0 or "-->" in paragraph[begin:]:
        begin = paragraph.rfind("<")
    tag = _INCOMPLETE_TAG.match(paragraph, begin) if begin >= 0 else None
    return paragraph[:begin] if tag else paragraph


def _fences(markdown: str) -> tuple[str, int]:
    """Return the open fence, empty for none, and the position after the last closed one."""
    fence, after, position = "", 0, 0
    for line in markdown.split("\n"):
        position = min(position + len(line) + 1, len(markdown))
        match = _FENCE.match(line)
        if match is None:
            continue
        marker, rest = match.groups()
        if not fence:
            fence = "" if marker[0] == "`" and "`" in rest else marker
        elif marker.startswith(fence) and not rest.strip():
            fence, after = "", position
    return fence, after


def _last_paragraph(markdown: str, after: int) -> int:
    start = max(len(markdown) - _LOOK_BACK, after)
    for match in _BLANK.finditer(markdown, start):
        start = match.end()
    return start


def _closed(paragraph: str) -> str:
    """Close the marks that are open at the end of the paragraph, innermost first."""
    opened: list[str] = []
    code = ""
    for match in _TOKEN.finditer(paragraph):
        mark, at_end = match[0], match.end() == len(paragraph)
        if mark[0] in "$\\" and len(mark) > 2 and not code:
            continue
        if code:
            if at_end and mark != code and mark[0] == "`":
                paragraph = paragraph[: match.start()]
            code = "" if mark == code else code
        elif mark.startswith("`"):
            if at_end:
                return _with_closers(paragraph[: match.start()], opened)
            code = mark
        elif mark.startswith("<"):
            _take_tag(match, opened)
        elif not mark.startswith("\\"):
            opens, closes = flanks(paragraph, match.start(), match.end())
            taken = _take(mark, opened, opens=opens, closes=closes)
            if at_end and not taken:
                return _with_closers(paragraph[: match.start()], opened)
    return (
        paragraph + code + "".join(reversed(opened)) if code else _with_closers(paragraph, opened)
    )


def _with_closers(text: str, opened: list[str]) -> str:
    """Append the closing marks before trailing spaces, where they have an effect."""
    body = text.rstrip()
    return body + "".join(reversed(opened)) + text[len(body) :]


def _take(mark: str, opened: list[str], *, opens: bool, closes: bool) -> bool:
    """Let a mark close or open something; False if it does neither."""
    if closes:
        last = next((i for i in range(len(opened) - 1, -1, -1) if opened[i] == mark), None)
        if last is not None:
            del opened[last:]
            return True
        if opened and opened[-1] == mark[0] * 3 and len(mark) < 3:
            opened[-1] = opened[-1][len(mark) :]
            return True
    if opens:
        _open(mark, opened)
    return opens


def _take_tag(tag: re.Match[str], opened: list[str]) -> None:
    """Let a tag of HTML begin or end an element."""
    ending = f"</{tag[2]}>"
    if not tag[1] and tag[2].lower() in ELEMENTS:
        _open(ending, opened)
    elif tag[1] and ending in opened:
        last = max(index for index, held in enumerate(opened) if held == ending)
        del opened[last:]


def _open(closing: str, opened: list[str]) -> None:
    if len(opened) >= _MOST_OPEN:
        del opened[0]
    opened.append(closing)
