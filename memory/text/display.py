"""Texts of people as one line or as a quotation in a chat message."""

from typing import Final

from memory.model.record import MAX_DOCUMENT

MAX_LINE: Final = 160


def one_line(text: str, most: int = MAX_LINE) -> str:
    """Return a text as one line, with the marks escaped that would format its surroundings."""
    line = " ".join(text.split())
    for mark in "\\`*_[]<>~|":
        line = line.replace(mark, f"\\{mark}")
    return line if len(line) <= most else f"{line[:most].rstrip(chr(92))}…"


def quoted(text: str) -> str:
    """Return a whole text as a quotation, with the marks escaped that would begin a heading, a list
    or another quotation in it."""
    lines = text.splitlines()
    return "\n>\n".join(f"> {_plain(line)}" for line in lines if line.strip())


def _plain(line: str) -> str:
    shown = one_line(line, MAX_DOCUMENT * 2)
    if shown[0] in "#-+=":
        return f"\\{shown}"
    number = len(shown) - len(shown.lstrip("0123456789"))
    if number and shown[number : number + 1] in (".", ")"):
        return f"{shown[:number]}\\{shown[number:]}"
    return shown
