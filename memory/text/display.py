"""Texts of people as one line, as a quotation in a chat message, and in a question about them; and
sentences as paragraphs, lists and italics."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gateway.immutable import replace
from gateway.text import Joined, Listed, Sentence, Text, Value, Verbatim, joined, verbatim
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


def paragraphs(*parts: Text | None) -> Text:
    """Return texts as paragraphs; those that say nothing are left out."""
    said = [one for one in parts if one]
    return said[0] if len(said) == 1 else joined(said, "\n\n")


def bullets(items: Iterable[Text]) -> Text:
    """Return texts as a list."""
    return joined((joined((verbatim("- "), one)) for one in items), "\n")


def italic(text: Text) -> Text:
    """Return a text in italics."""
    return joined((verbatim("_"), text, verbatim("_")))


def unformatted(text: Text) -> Text:
    """Return a text whose words of people are escaped for italics."""
    return escaped(text, lambda words: words.replace("_", "\\_").replace("*", "\\*"))


def escaped(text: Text, escape: Callable[[str], str]) -> Text:
    """Return a text with the words of people in it escaped."""
    match text:
        case Verbatim():
            return verbatim(escape(text.markdown))
        case Joined():
            return replace(text, parts=tuple(escaped(one, escape) for one in text.parts))
        case Sentence():
            values = tuple((name, _escaped_value(value, escape)) for name, value in text.values)
            return replace(text, values=values)


def _escaped_value(value: Value, escape: Callable[[str], str]) -> Value:
    if isinstance(value, Listed):
        return replace(value, parts=tuple(escaped(one, escape) for one in value.parts))
    return escaped(value, escape) if isinstance(value, Sentence | Verbatim | Joined) else value


MAX_QUOTED: Final = 5
MAX_QUOTED_LINE: Final = 80
"""Lines that a sentence quotes, and characters of each."""


def quoted_lines(lines: Sequence[str]) -> Text:
    """Return the first lines in quotation marks, and an ellipsis for further ones."""
    quoted = [verbatim(f"“{one_line(line, MAX_QUOTED_LINE)}”") for line in lines[:MAX_QUOTED]]
    return joined([*quoted, verbatim("…")] if len(lines) > MAX_QUOTED else quoted, ", ")
