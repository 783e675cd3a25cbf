"""Finds the links of a Markdown text, without those in its code."""

import re
from collections.abc import Callable, Iterator
from typing import Final

_FENCE: Final = re.compile(r"^(`{3,}|~{3,}).*?^\1[`~]*[ ]*$", re.DOTALL | re.MULTILINE)
_CODE: Final = re.compile(r"(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_TARGET: Final = re.compile(r"\]\(([^)\s]+)\)")


def targets(text: str) -> Iterator[tuple[int, int]]:
    """The places of all link targets in a text, in order."""
    masked = _CODE.sub(_blank, _FENCE.sub(_blank, text))
    yield from (match.span(1) for match in _TARGET.finditer(masked))


def with_targets(text: str, changed: Callable[[str], str]) -> str:
    """The text in which `changed` was applied to every link target."""
    parts, end = [], 0
    for start, stop in targets(text):
        parts += [text[end:start], changed(text[start:stop])]
        end = stop
    return "".join([*parts, text[end:]])


def is_external(target: str) -> bool:
    """Return True for an address with a scheme."""
    return "://" in target or target.startswith("mailto:")


def _blank(code: re.Match[str]) -> str:
    return "x" * len(code[0])
