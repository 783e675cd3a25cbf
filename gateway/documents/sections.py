"""Divides a text that has no pages, so that its parts can be cited."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

_HEADING: Final = re.compile(r"^#{1,2} +(.{1,300})$", re.MULTILINE)
SECTION: Final = 4_000
"""Characters from which a text without pages is divided at its headings."""


def sections(text: str) -> Sequence[tuple[str, str]]:
    """Divide a text without pages at its headings of the two highest ranks, so that its parts can
    be cited: labels such as `section "Payment"`. Neighbours that are short together stay one."""
    if len(text) <= SECTION:
        return [("", text)]
    begins = len(text) - len(text.lstrip())
    starts = (found.start() for found in _HEADING.finditer(text))
    edges = [0, *(at for at in starts if at > begins), len(text)]
    parts: list[tuple[str, str]] = []
    for begin, end in pairwise(edges):
        part = text[begin:end]
        if parts and len(parts[-1][1]) + len(part) <= SECTION:
            parts[-1] = (parts[-1][0], parts[-1][1] + part)
            continue
        heading = _HEADING.match(part.lstrip("\n"))
        label = f'section "{heading[1].strip()}"' if heading is not None else ""
        parts.append((label, part))
    return parts
