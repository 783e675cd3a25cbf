"""What people are told about their memory."""

from collections.abc import Sequence
from typing import Final

from memory.record import MAX_DOCUMENT, Record
from memory.store.ports import Pending

MAX_LINE: Final = 160
_SAID: Final = {"user": "you said", "assistant": "I said", "tool": "a tool said"}

NOTHING: Final = "I remember nothing of yours here. `/remember …` tells me something."
WAITING: Final = "And this, which waits for your word:"
NOTHING_WAITS: Final = "Nothing waits for your word."
WHAT_TO_REMEMBER: Final = "What shall I remember? Write it behind the command: `/remember …`"
WHAT_TO_FORGET: Final = "What shall I forget? Name a topic (`/forget my dog`) or one `/forget ID`."
KNOWN: Final = "I know that already."
ONLY_PRIVATE: Final = "Please ask me that in a direct message, where nobody reads along."
CLOSED: Final = "This question is no longer open."
LEFT: Final = "Nothing was changed."
PRIVACY: Final = """\
**What I keep about you**

{counts}

- `/memories` shows it, `/forget …` deletes a topic.
- `/privacy export` gives you all of it as a file, `/privacy erase` deletes all of it.
- In rooms I {rooms} use what you told me elsewhere; `/privacy rooms {other}` changes that.
- I keep what you say to me, not what you say to others. What we talk about goes after {days} \
days, what I was asked to remember stays until you delete it."""
LINK: Final = """\
To make me know you on another platform as the same person, write me there, in a direct message, \
within ten minutes: `/link {code}`

What I remember and your plan then belong to both. `/link off` separates them again."""

NO_FIGURES: Final = "No figures of it yet."
NO_DOCUMENT: Final = "Nothing is written there yet. Write it behind the command: `/{name} …`"
DOCUMENT_WAYS: Final = (
    "_Version {number}, {at}. `/{name} …` rewrites it, `/{name} undo` brings the one before back._"
)
PROPOSED: Final = "Only operators of this project change that. I proposed it to them."


def listed(records: Sequence[Record], total: int) -> str:
    """Memories, one a line, with the id that `/forget` takes."""
    lines = [
        f"- {one_line(record.content)} _({_kind(record)}, {record.provenance.at.date()})_ "
        f"`{short_id(record.id)}`"
        for record in records
    ]
    if total > len(records):
        lines.append(f"\nand {total - len(records)} more: `/memories WORDS` searches them.")
    return "\n".join(lines)


def _kind(record: Record) -> str:
    """What a memory is; of a turn, who said it: it is no knowledge, only kept."""
    return _SAID[record.role] if record.role else record.kind


def question(pending: Pending, others: int) -> str:
    """One memory, or document, that waits for somebody's word. A document is shown whole."""
    record = pending.record
    asked = f"Make this the {pending.target.upper()}?" if pending.target else "Keep this?"
    shown = quoted(record.content) if pending.target else f"> {one_line(record.content)}"
    text = f"{asked}\n\n{shown}\n\n_{pending.reason}_"
    return f"{text}\n\n{others} more wait after it." if others else text


def one_line(text: str, most: int = MAX_LINE) -> str:
    """A text in one line, without marks that would format what stands around it."""
    line = " ".join(text.split())
    for mark in "\\`*_[]<>~|":
        line = line.replace(mark, f"\\{mark}")
    return line if len(line) <= most else f"{line[:most].rstrip(chr(92))}…"


def quoted(text: str) -> str:
    """A whole text as a quotation, line by line, letter for letter."""
    lines = text.splitlines()
    return "\n>\n".join(f"> {one_line(line, MAX_DOCUMENT * 2)}" for line in lines if line.strip())


def short_id(memory_id: str) -> str:
    """The first part of an id, enough for a person to name it."""
    return memory_id[:12]
