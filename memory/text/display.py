"""Texts of people as one line, as a quotation in a chat message, and in a question about them."""

import hashlib
from typing import Final

from memory.model.record import MAX_DOCUMENT
from safety.unicode import cut

MAX_LINE: Final = 160
MAX_IN_QUESTION: Final = 4_000
"""Characters of a text that a question shows whole: each memory, and each task of a handoff. Ours;
no client or platform has a smaller limit, or it is sent in several messages."""
MAX_IN_LIST: Final = 400
"""The same for each text of a question about several."""


def one_line(text: str, most: int = MAX_LINE) -> str:
    """Return a text as one line, with the marks escaped that would format its surroundings. A
    longer one says how many characters follow."""
    line = " ".join(text.split())
    shown = cut(line, most)
    more = len(line) - len(shown)
    return f"{_escaped(shown)}… ({more:,} more characters)" if more else _escaped(shown)


def in_question(text: str, most: int = MAX_IN_QUESTION) -> str:
    """Return a text, in one line, as a question about it shows it: whole, or of more than `most`
    characters its beginning and its end, with the number of those between them and a fingerprint of
    all, so that the question about another text is another question."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    begin, end = cut(line, most // 2), line[-(most // 2) :]
    hidden = len(line) - len(begin) - len(end)
    mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
    note = f"[… {hidden:,} of {len(line):,} characters are not shown, fingerprint {mark} …]"
    return f"{begin} {note} {end}"


def listed_in_question(text: str) -> str:
    """Return a text as an item of a question in a chat."""
    return _escaped(in_question(text, MAX_IN_LIST))


def _escaped(line: str) -> str:
    for mark in "\\`*_[]<>~|":
        line = line.replace(mark, f"\\{mark}")
    return line


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
