"""Text in the raised and lowered characters of Unicode."""

from collections.abc import Mapping

from gateway.markdown.latex_symbols import LOWERED, RAISED


def raised(text: str) -> str:
    """Return a text in raised characters, `^(text)` where one has none."""
    return _shifted(text, RAISED, "^")


def lowered(text: str) -> str:
    """Return a text in lowered characters, `_(text)` where one has none."""
    return _shifted(text, LOWERED, "_")


def _shifted(text: str, table: Mapping[str, str], sign: str) -> str:
    text = text.replace("\u2212", "-")
    if all(char in table or char in " ." for char in text):
        return "".join(table.get(char, char) for char in text)
    return f"{sign}{text}" if len(text) == 1 else f"{sign}({text})"
