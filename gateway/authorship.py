"""Authorship of texts: written by the person who sends them, or by another author.

`ChatMessage.content` is the author's own text. Every other text of a message is a `Material` with
its authorship. Only own text can be a command, address the assistant or prove a memory.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from gateway.immutable import replace

Authorship: TypeAlias = Literal[
    "forwarded",  # a message of another author, or an earlier one of the same author
    "quoted",  # the message that is replied to
    "your_answer",  # the same, where this assistant wrote it
    "room",  # written earlier by another person in the same room
    "thread",  # an earlier message of the thread, not addressed to this assistant; never stored
    "via_bot",  # made by a bot, sent in the author's name
    "chosen",  # offered by this assistant while the author typed, and sent by the author
    "contact",  # a contact card
    "location",  # a place, with the name that a map service gives it
    "card",  # a poll, a checklist, an order, a sticker and the like
    "form",  # the answers of a form, which can be filled in beforehand
    "preview",  # a page that the author's text links to
    "advert",  # the advertisement through which a chat was opened
    "button",  # the label of a pressed button
    "file",
    "heard",  # the author's own voice message, as a program wrote it down; it may have misheard
    "recording",  # the same for a recording in which anybody may speak
    "repository",  # text of a repository that not everybody may read, or an answer made from it
    "tool",  # a result of a tool of a closed domain
    "web",  # a result of a tool that reads from anywhere
]

MAX_PIECES: Final = 20
"""Materials of one message."""
MAX_MATERIAL: Final = 40_000
"""Characters of all materials of one message together: the same limit as for own text."""
MAX_WRITER: Final = 200
"""Characters of a writer's name."""
_QUOTE: Final = ">"
_QUOTE_TO_THE_END: Final = ">>>"
_STRUCK_MARK: Final = "~~"
_STRUCK: Final = re.compile(r"~~[^~\n]+~~")


@dataclass(frozen=True, slots=True)
class Material:
    """A text that the author of the message did not write."""

    authorship: Authorship
    """The relation of the text to the author of the message."""
    text: str
    """The text."""
    by: str = ""
    """The writer of the text, for a file the file, for a result the tool; empty if unknown."""


def within_bounds(pieces: Iterable[Material]) -> tuple[Material, ...]:
    """Return the non-empty pieces, within `MAX_PIECES` and `MAX_MATERIAL`."""
    kept: list[Material] = []
    left = MAX_MATERIAL
    for piece in pieces:
        text = piece.text[:left]
        if not text.strip():
            continue
        left -= len(text)
        kept.append(replace(piece, text=text, by=piece.by[:MAX_WRITER]))
        if len(kept) == MAX_PIECES or not left:
            break
    return tuple(kept)


def text_of(pieces: Sequence[Material]) -> str:
    """Return the texts only, one below the other, for a search or to count tokens."""
    return "\n".join(piece.text for piece in pieces)


def in_one_word(name: str) -> str:
    """Return another person's name as a single word for a mention within own text: letters, digits,
    "_" and "'"; anything else becomes a dash. So it cannot start, end or form a sentence."""
    kept = (
        char if char.isalnum() or char in "_'" or unicodedata.category(char)[0] == "M" else " "
        for char in name
    )
    return "-".join("".join(kept).split())


def without_quotations(text: str) -> str:
    """Return own text without quoted lines ("> ...", and everything after ">>>") and without
    struck-out words ("~~...~~"), which their author took back."""
    if _STRUCK_MARK in text:
        text = _STRUCK.sub(" ", text)
    if _QUOTE not in text:
        return text
    kept: list[str] = []
    for line in text.splitlines():
        begins = line.lstrip()
        if begins.startswith(_QUOTE_TO_THE_END):
            break
        if not begins.startswith(_QUOTE):
            kept.append(line)
    return "\n".join(kept)
