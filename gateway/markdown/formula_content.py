"""Tells a formula from prose, a price and escaped brackets by what stands between its signs."""

import re
from typing import Final

_NAME: Final = re.compile(r"\\[A-Za-z]+\*?")
_TEXTS: Final = re.compile(r"\\(?:text\w*|mbox|operatorname|math\w+)\s*\{[^{}]*\}")
_WORDS: Final = re.compile(r"[^\W\d_]{2,}")
_PROSE: Final = re.compile(
    r"(?<![^\W\d_])[^\W\d_]{2,}+[,.;:!?]?\s++(?:[^\W\d_]{2,}|\d|[^\W\d_]\s++[^\W\d_]{2,})"
    r"|[\d)][,.;:]?\s++[^\W\d_]{2,}"
)
_LATEX: Final = re.compile(r"\\[A-Za-z{}|,;!%]|[\^]|[A-Za-z0-9)}\]]_[A-Za-z0-9{\\]")
_MARKDOWN_ESCAPE: Final = re.compile(r"(?<!\\)\\[*.+\-<>@?~`]")
"""Escapes of Markdown that mean nothing in a formula: what holds one is text."""
_RELATION: Final = re.compile(r"[=<>≤≥≠≈∈→±×·⋅+*/^]|(?<=\w)\s*[-−]\s*(?=\w)")
_OPERAND: Final = re.compile(r"\w")
_DANGLING: Final = re.compile(r"^\s*(?:[)\]*/,;.]|\|[^|]*$)|[-+*/=<>,;:(\[]\s*$")
_SHORT: Final = re.compile(r"\s*[A-Za-z]{1,2}'*\s*|\s*[A-Z]{3}\s*")
_NUMBER: Final = re.compile(r"\s*[-+]?\d[\d.,]*\s*")


def is_formula(source: str) -> bool:
    """Return True if the text between two signs is a formula rather than prose or a price."""
    bare = _NAME.sub(" ", _TEXTS.sub(" ", source))
    if not source.strip() or _PROSE.search(bare) or _MARKDOWN_ESCAPE.search(source):
        return False
    if _LATEX.search(source):
        return True
    if not _OPERAND.search(source) or _DANGLING.search(source) or not _balanced(source):
        return False
    if any(len(word) > 3 for word in _WORDS.findall(bare)):
        return bool(_RELATION.search(source))
    return bool(
        _SHORT.fullmatch(source)
        or _NUMBER.fullmatch(source)
        or _RELATION.search(source)
        or not _WORDS.search(bare)
    )


def has_latex(source: str) -> bool:
    """Return True for commands, raised and lowered parts."""
    return bool(_LATEX.search(source))


def has_operator(source: str) -> bool:
    """Return True for a sign of calculation or comparison."""
    return bool(_RELATION.search(source))


def _balanced(source: str) -> bool:
    return source.count("(") + source.count("[") == source.count(")") + source.count("]")
