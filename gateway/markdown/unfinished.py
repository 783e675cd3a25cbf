"""Closes open marks of an unfinished answer, so that it can be shown."""

import re
from typing import Final

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_BLANK: Final = re.compile(r"\n[ \t]*\n")
_FORMULA: Final = (
    r"\$\$[^$`]*\$\$|\$[^$`\n]+\$|\\\((?:(?!\\[()]).)*+\\\)|\\\[(?:(?!\\[\[\]]).)*+\\\]"
)
_CUT_FORMULA: Final = re.compile(
    rf"(`+[^`]*+`+|{_FORMULA}|\\[^(\[])"
    r"|(?:\$\$|\\\(|\\\[)(?:(?!\\[()\[\]]|\$\$|`).){0,500}\Z|\\\Z",
    re.DOTALL,
)
"""An unfinished formula, apart from what is complete."""
_TOKEN: Final = re.compile(_FORMULA + r"|\\.|`+|\*{1,3}|_{1,3}|~~|\|\||[~|]\Z", re.DOTALL)
_LINK: Final = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\s]{0,2000}$")
_LOOK_BACK: Final = 20_000
_MOST_OPEN: Final = 100
"""Open marks that are tracked, the innermost ones."""


def close_unfinished(markdown: str) -> str:
    """Return the text with open code, emphasis, strikethrough and spoilers closed.

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
    return markdown[:start] + _closed(paragraph)


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
        elif not mark.startswith("\\"):
            taken = _take(
                mark,
                opened,
                paragraph[match.start() - 1 : match.start()],
                paragraph[match.end() : match.end() + 1],
            )
            if at_end and not taken:
                return _with_closers(paragraph[: match.start()], opened)
    return (
        paragraph + code + "".join(reversed(opened)) if code else _with_closers(paragraph, opened)
    )


def _with_closers(text: str, opened: list[str]) -> str:
    """Append the closing marks before trailing spaces, where they have an effect."""
    body = text.rstrip()
    return body + "".join(reversed(opened)) + text[len(body) :]


def _take(mark: str, opened: list[str], before: str, after: str) -> bool:
    """Let a mark close or open something; False if it does neither."""
    if before and not before.isspace():
        last = next((i for i in range(len(opened) - 1, -1, -1) if opened[i] == mark), None)
        if last is not None:
            del opened[last:]
            return True
        if opened and opened[-1] == mark[0] * 3 and len(mark) < 3:
            opened[-1] = opened[-1][len(mark) :]
            return True
    if after and not after.isspace() and not (mark[0] == "_" and before.isalnum()):
        if len(opened) >= _MOST_OPEN:
            del opened[0]
        opened.append(mark)
        return True
    return False
