"""Text of people as the model reads it: nobody's text can pose as somebody else's.

Own text stands as it was written, except where it would look like a frame of the prompt: a tag of
the prompt, or in a room the name of a writer in brackets at the beginning of a line. Text that the
author did not write stands escaped inside of `<material>`.
"""

import re
from collections.abc import Sequence
from typing import Final

from gateway.authorship import Material, within_bounds
from gateway.turn.context.delimiters import escaped, tagged
from safety.unicode import safe_unicode

TAG: Final = "material"
MAX_NAME: Final = 60
MARK: Final = "\\"
"""Stands before a bracket that would be read as the name of a writer."""
CHOSEN: Final = "(chose this as what to say to you)"
WORDLESS: Final = "(shows this without a word of their own)"

BRACKETS: Final = (
    "\\[\\]\uff3b\uff3d\ufe47\ufe48\u27e6\u27e7\u301a\u301b\u3010\u3011\u3014\u3015\u3016\u3017"
    "\u3018\u3019\ufe39-\ufe3c\u2045\u2046\u2772\u2773\u27ec\u27ed\u298b-\u2990\u2997\u2998"
    "\u2e22-\u2e25\u23a1-\u23a6\ufe5d\ufe5e\u0f3c\u0f3d\u169b\u169c\uff62\uff63"
)
"""The inside of a character set: square brackets and what looks like them."""
_BRACKETS: Final = frozenset(re.findall(f"[{BRACKETS}]", "".join(map(chr, range(0x10000)))))
_NOT_IN_NAMES: Final = re.compile(f"[\\x00-\\x1f\\x7f`<>\uff1c\uff1e{BRACKETS}]+")
_BREAKS: Final = str.maketrans(dict.fromkeys("\x0b\x0c\x1c\x1d\x1e", "\n"))
_LEADS: Final = " \t\xa0\u1680\u202f\u205f\u2800\u3000-*>\u2022\xb7\u2013\u2014+#|~_" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""Blanks and the marks of lists, quotations and headings: they may stand before a bracket."""
_FRAMES: Final = (
    "material|knowledge|memory|history|summary|system|project|task|soul|brief|bible|heartbeat"
    "|shared|earlier|talk"
)
_FRAME: Final = re.compile(rf"[<\uff1c](?=[\s/]{{0,8}}(?:{_FRAMES})(?![\w-]))", re.IGNORECASE)


def readable(text: str) -> str:
    """Text without hidden characters, whose lines end in line feeds only."""
    if text.isascii() and text.replace("\n", " ").isprintable():  # nothing of this is in it
        return text
    plain = text.replace("\r\n", "\n").replace("\r", "\n").translate(_BREAKS)
    return safe_unicode(plain)


def clean_name(name: str) -> str:
    """A name in one line, without hidden characters and brackets of any kind, at most 60
    characters."""
    return " ".join(_NOT_IN_NAMES.sub(" ", safe_unicode(name)).split())[:MAX_NAME].rstrip()


def own_words(text: str) -> str:
    """Own text, in which no tag of the prompt begins; the reader sees every letter of it."""
    plain = readable(text)
    if plain.isascii() and "<" not in plain:
        return plain
    return _FRAME.sub("&lt;", plain)


def own_in_room(text: str) -> str:
    """The same where writers are named in brackets: a bracket at the beginning of a line of one's
    own is marked with a backslash."""
    return marked(own_words(text))


def marked(text: str) -> str:
    """Readable text in which no line begins with a bracket that could name a writer. Doing it
    twice changes nothing."""
    return "\n".join(map(_marked, text.split("\n")))


def framed(pieces: Sequence[Material], shown_by: str = "") -> str:
    """What the author did not write, each piece in a tag that it cannot close; empty for none.

    `shown_by` names the author in a room, where several people show something.
    """
    if not pieces:
        return ""
    return "\n".join(_framed(piece, shown_by) for piece in within_bounds(pieces))


def _framed(piece: Material, shown_by: str) -> str:
    told: dict[str, str] = {"kind": piece.authorship}
    if by := clean_name(piece.by):
        told["from"] = by
    if shown_by:
        told["shown_by"] = clean_name(shown_by)
    return tagged(TAG, escaped(readable(piece.text)), told)


def _marked(line: str) -> str:
    begins = line.lstrip(_LEADS)
    if not begins or begins[0] not in _BRACKETS:
        return line
    indent = len(line) - len(begins)
    return f"{line[:indent]}{MARK}{begins}"
