"""One text that the platform's client sent as several messages: the messages that are its pieces,
and the text as its author wrote it."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

from gateway.message import MAX_CONTENT, ChatMessage, TextCut, utf16_units

WAIT_SECONDS: Final = 1.5
"""The time for which a nearly full message waits for its next piece. Clients send the pieces one
after the other, within a few hundred milliseconds."""
MAX_GAP: Final = timedelta(seconds=2)
"""The longest time between the sending of two pieces; Telegram and WhatsApp give whole seconds."""
NEARLY_FULL: Final = 0.9
"""The part of the limit from which on a message waits. Clients prefer the end of a line or a word
to the limit itself, and search the last few hundred characters for one."""
SEARCHED: Final = 300
"""The last characters before the limit in which a client looks first for the end of a line, then
for the end of a sentence or a word."""
SENTENCE_ENDS: Final = frozenset(".!?…")
UNSPACED: Final = (
    ("\u0e00", "\u0eff"),  # Thai, Lao
    ("\u1000", "\u109f"),  # Burmese
    ("\u1780", "\u17ff"),  # Khmer
    ("\u2e80", "\ua4cf"),  # Chinese, Japanese
    ("\uf900", "\ufaff"),
    ("\uff00", "\uffef"),
    ("\U00020000", "\U0003ffff"),
)
LEFT_OUT: Final = "\n[…]\n"
"""In place of the text between two pieces that is not kept."""
MAX_PIECES: Final = 10
MAX_UNITS: Final = 100_000
"""Pieces, and UTF-16 code units, of one text."""


def units_of(message: ChatMessage) -> int:
    """Return the length of a message as its client counted it, in UTF-16 code units."""
    return message.units or utf16_units(message.content)


def awaits_rest(message: ChatMessage, cut: TextCut | None) -> bool:
    """Return True for a nearly full message: another piece may follow at once."""
    return cut is not None and _fills(message, cut, NEARLY_FULL)


def may_be_first(message: ChatMessage, cut: TextCut | None) -> bool:
    """Return True for a message that is long enough for a piece of a longer text."""
    return cut is not None and _fills(message, cut, min(cut.shortest, NEARLY_FULL))


def continues(pieces: Sequence[ChatMessage], message: ChatMessage, cut: TextCut | None) -> bool:
    """Return True if `message` is the next piece of the text whose pieces so far end with
    `pieces`, messages of its conversation. A message with a file, a mention of the assistant, or an
    answer to something else is one of its own."""
    first, last = pieces[0], pieces[-1]
    if not may_be_first(last, cut) or last.person != message.person:
        return False
    own = bool(message.content) and not (
        message.mentions_bot or message.attachments or message.material or message.replaces
    )
    return (
        own
        and (last.channel_id, last.thread_id) == (message.channel_id, message.thread_id)
        and message.reply_to_id in (None, first.reply_to_id)
        and timedelta() <= message.timestamp - last.timestamp <= MAX_GAP
        and len(pieces) < MAX_PIECES
        and sum(map(units_of, pieces)) + units_of(message) <= MAX_UNITS
    )


def texts_of(messages: Iterable[ChatMessage], cut: TextCut | None) -> list[list[ChatMessage]]:
    """Return the messages as texts, each with its pieces in order."""
    texts: list[list[ChatMessage]] = []
    for message in messages:
        if texts and continues(texts[-1], message, cut):
            texts[-1].append(message)
        else:
            texts.append([message])
    return texts


def seam(before: ChatMessage, after: ChatMessage, cut: TextCut | None) -> str:
    """Return what stood between two pieces. A client that cuts at a space or the end of a line
    drops it, because platforms trim messages; it cuts within a word only at the limit."""
    head, tail, length = before.content, after.content, units_of(before)
    if len(head) >= MAX_CONTENT:
        return LEFT_OUT
    limit = min((limit for limit in cut.limits if limit >= length), default=0) if cut else 0
    if head[-1:].isspace() or tail[:1].isspace() or length >= limit:
        return ""
    word, room = tail.split(maxsplit=1)[0], limit - length
    if _without_spaces(head[-1:]) or _without_spaces(word[:1]):
        return "\n"
    in_line = 1 + utf16_units(word) > room or (head[-1:] in SENTENCE_ENDS and room < SEARCHED)
    searched = head[-max(1, SEARCHED - room) :]
    return " " if in_line and "\n" not in searched else "\n"


def _fills(message: ChatMessage, cut: TextCut, part: float) -> bool:
    length = units_of(message)
    return any(part * limit <= length <= limit for limit in cut.limits)


def _without_spaces(character: str) -> bool:
    """Return True for a character of a script that does not separate words by spaces."""
    return any(first <= character <= last for first, last in UNSPACED)
