"""Who wrote a text that a person sends or shows: the person, or somebody else.

`ChatMessage.content` is the author's own text. Every other text of a message is a `Material` with
its authorship. Only own text is a command, addresses the assistant or proves a memory.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

Authorship: TypeAlias = Literal[
    "forwarded",  # a message of somebody else, or an earlier one of the author
    "quoted",  # the message that is replied to
    "your_answer",  # the same, where this assistant wrote it
    "room",  # said earlier by somebody else in the same room
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
    "tool",  # a result of a tool of a closed domain
    "web",  # a result of a tool that reads from anywhere
]

MAX_PIECES: Final = 20
"""Materials of one message."""
MAX_MATERIAL: Final = 40_000
"""Characters of all materials of one message together: the same as of own text."""
MAX_WRITER: Final = 200
"""Characters kept of a writer's name."""
_QUOTE: Final = ">"
_QUOTE_TO_THE_END: Final = ">>>"


@dataclass(frozen=True, slots=True)
class Material:
    """A text that the author of the message did not write. `by` names its writer, of a file the
    file, of a result the tool; empty where nobody is named."""

    authorship: Authorship
    text: str
    by: str = ""


def within_bounds(pieces: Iterable[Material]) -> tuple[Material, ...]:
    """The pieces that say something, within `MAX_PIECES` and `MAX_MATERIAL`."""
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
    """The texts alone, one below the other: to be searched for or to be counted."""
    return "\n".join(piece.text for piece in pieces)


def in_one_word(name: str) -> str:
    """A name that somebody else chose, as a mention of it stands within own text: letters, digits,
    "_" and "'", the rest of it as single dashes. So no sentence begins, ends or stands in it."""
    kept = (
        char if char.isalnum() or char in "_'" or unicodedata.category(char)[0] == "M" else " "
        for char in name
    )
    return "-".join("".join(kept).split())


def without_quotations(text: str) -> str:
    """Own text without the lines that are marked as a quotation ("> ...", and all after ">>>")."""
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
