"""Indents the content of list items by four spaces, as the site's Markdown parser requires.

Forges accept two or three spaces, the width of the marker.
"""

import re
from typing import Final

_MARKER: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)]) +(?=\S)")
_FENCE: Final = re.compile(r"(?:`{3,}|~{3,})")
_WIDTH: Final = 4


def with_wide_lists(text: str) -> str:
    """The text with every level of a list indented by four spaces, and a blank line between an
    item of several paragraphs and the next one."""
    lines: list[str] = []
    levels: list[int] = []  # the column at which the content of each open item begins
    fence = ""
    several = False  # the open item has more than one paragraph
    for line in text.split("\n"):
        content = line.lstrip(" ")
        column = len(line) - len(content)
        marker = None if fence else _MARKER.match(content)
        if content and not fence:
            while levels and column < levels[-1]:
                levels.pop()
        if marker and several and lines[-1]:
            lines.append("")
        several = not marker and (several or not content)
        begin = levels[-1] if levels else 0
        indent = _WIDTH * len(levels) + max(0, column - begin)
        lines.append(" " * indent + content if content else "")
        if marker:
            levels.append(column + len(marker[0]))
        fence = _open_fence(fence, content)
    return "\n".join(lines)


def _open_fence(fence: str, content: str) -> str:
    """The fence that is open after a line; empty if none is."""
    match = _FENCE.match(content)
    if match is None:
        return fence
    if fence:
        return "" if content.startswith(fence) else fence
    return match[0]
