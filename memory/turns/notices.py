"""The lines that show a person what the assistant stored of its own accord, and how to undo it.

Where nothing can be said to the person alone, what there is to say waits for their next direct
message: as ids, so that what is deleted meanwhile is told nowhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from gateway.message import Button
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import ID_PREFIX, UNDO_FOR, short_id
from memory.ports.reviews import ReviewItem
from memory.service.handle import MemoryHandle
from memory.text.display import one_line
from memory.write.path import REVIEW_PREFIX

UNDO: Final = "memory:undo:"
MAX_NAMED: Final = 3
"""Memories that one line names."""
MAX_CHARACTERS: Final = 80
"""Characters of each."""
UNTOLD_FOR: Final = timedelta(days=7)
"""How long something waits to be told in private."""
SAID_ONCE_FOR: Final = timedelta(days=1)
"""How long a sentence that waits stands for further ones of the same wording."""
MAX_SENTENCE: Final = 200
MAX_WAITING: Final = 100
SENTENCE: Final = "="
"""Begins an entry that is a sentence without anything of what was said."""

DOCUMENTS: Final = {
    "soul": "I rewrote your SOUL (`/soul` shows it)",
    "bible": "I rewrote the BIBLE of this project (`/bible` shows it)",
}


@dataclass(frozen=True, slots=True)
class SavedNotice:
    """What was noted in a turn: `text` says it, `name` is what `/undo` takes."""

    text: str
    name: str
    button: Button

    @property
    def typed(self) -> str:
        """The same, with the command that undoes it."""
        return f"{self.text} · `/undo {self.name}`"


def saved_notices(
    results: Sequence[WriteResult], written: Sequence[str]
) -> tuple[SavedNotice, ...]:
    """What was stored without a question: memories in one line, and each of the versions of
    documents that were `written`, named as `/undo` takes them."""
    stored = [one for one in results if one.outcome is Outcome.STORED and one.memory_id]
    documents = tuple(map(_document, written))
    if not stored:
        return documents
    told = [one.told_replaced for one in stored if one.told_replaced]
    named = [one for one in stored if not one.told_replaced]
    shown = [_quoted(one.content) for one in named[:MAX_NAMED]]
    if len(named) > MAX_NAMED:
        shown.append(f"{len(named) - MAX_NAMED} more (`/memories` shows them)")
    lines = [*map(_escaped, told), *([f"Noted: {' · '.join(shown)}"] if shown else [])]
    first = stored[0].memory_id
    return (SavedNotice(" ".join(lines), short_id(first), _button("Undo", first)), *documents)


def undelivered_notices(
    results: Sequence[WriteResult],
    notices: Sequence[str],
    *,
    notes: bool,
    without: Sequence[str] = (),
) -> list[str]:
    """What has to wait until the person can be told alone: ids, and `notices` that quote nothing.
    Without `notes` only what asks for a decision; `without` sentences that are said otherwise."""
    stored = [one.memory_id for one in results if one.outcome is Outcome.STORED and notes]
    waiting = [one.review_id for one in results if one.outcome is Outcome.REVIEW]
    said = [n for one in results for n in one.notices if n != one.told_replaced]
    sentences = dict.fromkeys((*said, *notices))
    told = [entry_of_sentence(one) for one in sentences if one not in without]
    return [one for one in (*stored, *waiting, *told) if one]


def entry_of_sentence(sentence: str) -> str:
    """What waits for a sentence that quotes nothing of what was said."""
    return f"{SENTENCE}{sentence[:MAX_SENTENCE]}"


def is_waiting_notice(handle: MemoryHandle, sentence: str) -> bool:
    """True where this sentence has waited for less than `SAID_ONCE_FOR`: repeated, it would push
    out what else waits."""
    now, wanted = handle.request.at, entry_of_sentence(sentence)
    for entry in handle.choices.untold:
        seconds, _, what = entry.partition("|")
        if what == wanted and now - datetime.fromtimestamp(int(seconds), UTC) < SAID_ONCE_FOR:
            return True
    return False


def entries_at(at: datetime, untold: Sequence[str]) -> list[str]:
    """The same as it is kept, with the moment."""
    return [f"{int(at.timestamp())}|{one}" for one in untold]


async def deliver_notices(handle: MemoryHandle) -> tuple[str, ...]:
    """The lines that waited until this person writes in private; they wait no longer. Raises
    `StoreUnavailable`."""
    kept = handle.choices.untold
    if not kept:
        return ()
    now, lines = handle.request.at, []
    waiting = {one.id: one for one in await handle.review.waiting(MAX_WAITING)}
    for entry in kept:
        seconds, _, what = entry.partition("|")
        age = now - datetime.fromtimestamp(int(seconds), UTC)
        line = await _line(handle, what, waiting, age) if age <= UNTOLD_FOR else ""
        lines.append(line)
    await handle.privacy.drop_notices(kept)
    return tuple(dict.fromkeys(filter(None, lines)))


async def _line(
    handle: MemoryHandle, what: str, waiting: dict[str, ReviewItem], age: timedelta
) -> str:
    if what.startswith(SENTENCE):
        return _escaped(what.removeprefix(SENTENCE))
    if what.startswith(REVIEW_PREFIX):
        pending = waiting.get(what)
        if pending is None:
            return ""
        shown = _quoted(pending.record.content)
        return f"From a group, not kept yet: {shown} · `/memories review`"
    record = await handle.read.get(what) if what.startswith(ID_PREFIX) else None
    if record is None:
        return ""
    command = "undo" if age < UNDO_FOR else "forget"
    return f"Noted in a group: {_quoted(record.content)} · `/{command} {short_id(what)}`"


def _document(name: str) -> SavedNotice:
    document = name.partition("-")[0]
    return SavedNotice(DOCUMENTS[document], name, _button(f"Undo {document.upper()}", name))


def _button(label: str, name: str) -> Button:
    return Button(label, f"{UNDO}{name}", typed="/undo")


def _quoted(text: str) -> str:
    return f"“{one_line(text.strip().removesuffix('.'), MAX_CHARACTERS)}”"


def _escaped(text: str) -> str:
    return one_line(text, 2 * MAX_SENTENCE)
