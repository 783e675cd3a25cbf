"""The footer of an answer: notices about what the assistant stored on its own, how to undo it, and
the question whether to keep a memory.

If the person cannot be told alone, notices wait for their next direct message, as ids, so that
deleted memories are never shown.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from gateway.message import Button
from gateway.ports.memory import NO_FOOTER, AnswerFooter
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import ID_PREFIX, UNDO_FOR, short_id
from memory.ports.documents import LABELS
from memory.service.handle import MemoryHandle
from memory.service.review import Proposals
from memory.stores.reviews import ReviewItem
from memory.text.display import one_line
from memory.write.write_path import REVIEW_PREFIX

UNDO: Final = "memory:undo:"
MAX_NAMED: Final = 3
"""Memories that one line names."""
MAX_CHARACTERS: Final = 80
"""Characters of each."""
NOTICE_WAITS_FOR: Final = timedelta(days=7)
"""The time for which a notice waits for a direct message."""
SAID_ONCE_FOR: Final = timedelta(days=1)
"""The time for which a waiting sentence replaces further equal ones."""
MAX_SENTENCE: Final = 200
MAX_WAITING: Final = 100
SENTENCE: Final = "="
"""Begins an entry that is a sentence and quotes nothing."""

DOCUMENTS: Final = {
    "soul": "I rewrote your preferences (`/soul` shows them)",
    "bible": "I rewrote the notes of this project (`/bible` shows them)",
}


class SavedNotice(Struct, frozen=True):
    """A notice: `text` describes the writes, `name` is the argument of `/undo`."""

    text: str
    name: str
    button: Button

    @property
    def typed(self) -> str:
        """The text with the command that undoes it."""
        return f"{self.text} · `/undo {self.name}`"


def saved_notices(
    results: Sequence[WriteResult], written: Sequence[str]
) -> tuple[SavedNotice, ...]:
    """Return notices of what was stored without a question: one for all memories, and one for each
    document version in `written`."""
    stored = [one for one in results if one.outcome is Outcome.STORED and one.memory_id]
    documents = tuple(map(_document, written))
    if not stored:
        return documents
    sentence_entries = [one.replacement_notice for one in stored if one.replacement_notice]
    named = [one for one in stored if not one.replacement_notice]
    shown = [_quoted(one.content) for one in named[:MAX_NAMED]]
    if len(named) > MAX_NAMED:
        shown.append(f"{len(named) - MAX_NAMED} more (`/memories` shows them)")
    lines = [*map(_escaped, sentence_entries), *([f"Noted: {' · '.join(shown)}"] if shown else [])]
    first = stored[0].memory_id
    return (SavedNotice(" ".join(lines), short_id(first), _button("Undo", first)), *documents)


def undelivered_notices(
    results: Sequence[WriteResult],
    notices: Sequence[str],
    *,
    notes: bool,
    without: Sequence[str] = (),
) -> list[str]:
    """Return the notices that wait until the person can read them alone: ids, and `notices`, which
    quote nothing. Without `notes` only open decisions; sentences in `without` are left out."""
    stored = [one.memory_id for one in results if one.outcome is Outcome.STORED and notes]
    waiting = [one.review_id for one in results if one.outcome is Outcome.REVIEW]
    own = [n for one in results for n in one.notices if n != one.replacement_notice]
    sentences = dict.fromkeys((*own, *notices))
    sentence_entries = [entry_of_sentence(one) for one in sentences if one not in without]
    return [one for one in (*stored, *waiting, *sentence_entries) if one]


def entry_of_sentence(sentence: str) -> str:
    """Return the waiting entry of a sentence that quotes nothing."""
    return f"{SENTENCE}{sentence[:MAX_SENTENCE]}"


def is_waiting_notice(handle: MemoryHandle, sentence: str) -> bool:
    """True if this sentence has waited for less than `SAID_ONCE_FOR`, so it is not added again."""
    now, entry_text = handle.request.at, entry_of_sentence(sentence)
    for entry in handle.choices.waiting_notices:
        seconds, _, what = entry.partition("|")
        if what == entry_text and now - datetime.fromtimestamp(int(seconds), UTC) < SAID_ONCE_FOR:
            return True
    return False


def entries_at(at: datetime, notices: Sequence[str]) -> list[str]:
    """Return entries with their time, as they are stored."""
    return [f"{int(at.timestamp())}|{one}" for one in notices]


async def deliver_notices(handle: MemoryHandle) -> tuple[str, ...]:
    """Return the waiting lines for a direct message, and remove them. Raises `StoreUnavailable`."""
    kept = handle.choices.waiting_notices
    if not kept:
        return ()
    now, lines = handle.request.at, []
    waiting = {one.id: one for one in await handle.review.waiting(MAX_WAITING)}
    for entry in kept:
        seconds, _, what = entry.partition("|")
        age = now - datetime.fromtimestamp(int(seconds), UTC)
        line = await _line(handle, what, waiting, age) if age <= NOTICE_WAITS_FOR else ""
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
        return f"From a group, not stored yet: {shown} · `/memories review`"
    record = await handle.read.get(what) if what.startswith(ID_PREFIX) else None
    if record is None:
        return ""
    command = "undo" if age < UNDO_FOR else "forget"
    return f"Noted in a group: {_quoted(record.content)} · `/{command} {short_id(what)}`"


def _document(name: str) -> SavedNotice:
    document = name.partition("-")[0]
    return SavedNotice(DOCUMENTS[document], name, _button(f"Undo {LABELS[document]}", name))


def _button(label: str, name: str) -> Button:
    return Button(label, f"{UNDO}{name}", typed="/undo")


def _quoted(text: str) -> str:
    return f"“{one_line(text.strip().removesuffix('.'), MAX_CHARACTERS)}”"


def _escaped(text: str) -> str:
    return one_line(text, 2 * MAX_SENTENCE)


MAX_SHOWN: Final = 200
MAX_NAMED_QUESTIONS: Final = 3
KEEP: Final = "memory:keep:"
BESIDE: Final = "memory:beside:"
DISCARD: Final = "memory:discard:"
PROPOSALS: Final = (
    "Proposals wait for an operator's decision: {places}. Choose the project with `/project`, then "
    "write `/memories review`."
)


def places_of(proposals: Sequence[Proposals]) -> str:
    """Return the projects with open proposals, and their numbers."""
    return ", ".join(
        f"“{one_line(one.title)}” ({one.count})" if one.project else f"for everybody ({one.count})"
        for one in proposals
    )


def request_notice(handle: MemoryHandle) -> tuple[str, ...]:
    """Return the notice about the chosen project, escaped for italics."""
    notice = handle.request.notice
    return (notice.replace("_", "\\_"),) if notice else ()


def proposals_line(proposed: Sequence[Proposals]) -> tuple[str, ...]:
    """Return the line about open proposals for an operator, escaped for italics."""
    return (PROPOSALS.format(places=places_of(proposed)),) if proposed else ()


def footer_of(
    results: Sequence[WriteResult],
    further: Sequence[str] = (),
    noted: Sequence[SavedNotice] = (),
    without: Sequence[str] = (),
) -> AnswerFooter:
    """Return the notices and questions for the person after the model stored a memory. The
    sentences `without` are left out."""
    if not (results or further or noted):
        return NO_FOOTER
    notices = [n for result in results for n in result.notices if n != result.replacement_notice]
    left_out = set(map(unformatted, without))
    lines = [n for n in dict.fromkeys((*map(unformatted, notices), *further)) if n not in left_out]
    reviewed = [result for result in results if result.outcome is Outcome.REVIEW]
    waiting = [result for result in reviewed if not result.for_operators]
    buttons: tuple[Button, ...] = ()
    if waiting:
        first, more = waiting[0], len(waiting) - 1
        buttons = keep_buttons(first.review_id, replaces=first.replaces)
        lines.append(f"Keep this? “{shortened(first.content)}”")
        if first.replaces:
            lines.append(unformatted(first.reason))
        if more:
            lines.append(f"After that I ask about: {_listed(waiting[1:])}")
    passed_on = (unformatted(one.reason) for one in reviewed if one.for_operators)
    lines += dict.fromkeys(passed_on)
    buttons += tuple(one.button for one in noted)
    note = _in_italics([*(one.text for one in noted), *lines])
    typed = _in_italics([*(one.typed for one in noted), *lines])
    return AnswerFooter(note, buttons, typed=typed if noted else "")


def _in_italics(lines: Sequence[str]) -> str:
    return "\n".join(f"_{line}_" for line in lines)


def _listed(waiting: Sequence[WriteResult]) -> str:
    """Return the first waiting memories, and the number of others."""
    named = [f"“{shortened(one.content)}”" for one in waiting[:MAX_NAMED_QUESTIONS]]
    more = len(waiting) - len(named)
    return ", ".join(named) + (f", and {more} more" if more else "")


def keep_buttons(review_id: str, *, replaces: bool = False) -> tuple[Button, ...]:
    """Return the answers to "Keep this?"; with `replaces` a third one."""
    if not replaces:
        discard = Button("Forget it", f"{DISCARD}{review_id}")
        return Button("Keep", f"{KEEP}{review_id}"), discard
    return (
        Button("Replace", f"{KEEP}{review_id}"),
        Button("Keep both", f"{BESIDE}{review_id}"),
        Button("Keep the old one", f"{DISCARD}{review_id}"),
    )


def shortened(text: str) -> str:
    """Return one short line of a memory, without markup."""
    line = unformatted(" ".join(text.split()))
    return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}…"


def unformatted(text: str) -> str:
    """Return a sentence escaped for italics."""
    return text.replace("_", "\\_").replace("*", "\\*")
