"""The footer of an answer: notices about what the assistant stored on its own, how to undo it, and
the question whether to keep a memory.

If the person cannot be told alone, notices wait for their next direct message, as ids, so that
deleted memories are never shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from gateway.immutable import replace
from gateway.message import Choice
from gateway.ports.memory import NO_FOOTER, AnswerFooter
from gateway.text import (
    NO_TEXT,
    Sentence,
    Text,
    as_json,
    counted,
    from_json,
    joined,
    label,
    text,
    verbatim,
)
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import ID_PREFIX, UNDO_FOR, short_id
from memory.service.contradictions import Contradiction
from memory.service.handle import MemoryHandle
from memory.service.review import Proposals
from memory.stores.conflicts import Kept
from memory.stores.reviews import ReviewItem
from memory.text.display import escaped, italic, one_line, unformatted
from memory.write.notices import replacement_notice
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
"""Characters of a sentence of an earlier version."""
MAX_STORED: Final = 1_000
"""Characters of a waiting sentence as it is stored."""
MAX_WAITING: Final = 100
SENTENCE: Final = "="
"""Begins an entry that is a sentence and quotes nothing."""

DOCUMENTS: Final[Mapping[str, Sentence]] = {
    "soul": text("I rewrote your preferences (`/soul` shows them)"),
    "bible": text("I rewrote the notes of this project (`/bible` shows them)"),
}
UNDO_DOCUMENT: Final[Mapping[str, Sentence]] = {
    "soul": label("Undo preferences"),
    "bible": label("Undo project notes"),
}
UNDO_LABEL: Final = label("Undo")
RESTORE: Final = "memory:restore:"
RESTORE_LABEL: Final = label("Restore")
MAX_RESTORED: Final = 1
"""Buttons of one answer that restore; the platforms have room for three in all."""
NOTED: Final = text("Noted: {noted}")
MORE_NOTED: Final = counted(
    "{count} more (`/memories` shows them)", "{count} more (`/memories` shows them)"
)
NOTED_IN_GROUP: Final = text("Noted in a group: {noted}")
FROM_GROUP: Final = text("From a group, not stored yet: {noted} · `/memories review`")


class SavedNotice(Struct, frozen=True):
    """A notice: `text` describes the writes, `name` is the argument of `/undo`. `restores` are the
    buttons for what was replaced."""

    text: Text
    name: str
    button: Choice
    restores: tuple[Choice, ...] = ()

    @property
    def typed(self) -> Text:
        """The text with the command that undoes it."""
        return joined((self.text, verbatim(f"`/undo {self.name}`")), " · ")


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
    shown: list[Text] = [_quoted(one.content) for one in named[:MAX_NAMED]]
    if len(named) > MAX_NAMED:
        shown.append(MORE_NOTED.of(count=len(named) - MAX_NAMED))
    noted = [NOTED.of(noted=joined(shown, " · "))] if shown else []
    lines = joined((*map(_escaped, sentence_entries), *noted), " ")
    first = stored[0].memory_id
    replaced = tuple(one.replaced_id for one in stored if one.replaced_id)
    notice = SavedNotice(
        lines, short_id(first), _button(UNDO_LABEL, first), restore_buttons(replaced)
    )
    return (notice, *documents)


def restore_buttons(memory_ids: Sequence[str]) -> tuple[Choice, ...]:
    """Return the buttons that restore replaced memories; at most `MAX_RESTORED`."""
    return tuple(Choice(RESTORE_LABEL, f"{RESTORE}{one}") for one in memory_ids[:MAX_RESTORED])


def undelivered_notices(
    results: Sequence[WriteResult],
    notices: Sequence[Text],
    *,
    notes: bool,
    without: Sequence[Text] = (),
) -> list[str]:
    """Return the notices that wait until the person can read them alone: ids, and `notices`, which
    quote nothing. Without `notes` only open decisions; sentences in `without` are left out."""
    stored = [one.memory_id for one in results if one.outcome is Outcome.STORED and notes]
    waiting = [one.review_id for one in results if one.outcome is Outcome.REVIEW]
    own = [n for one in results for n in one.notices if n != one.replacement_notice]
    sentences = dict.fromkeys((*own, *notices))
    sentence_entries = [entry_of_sentence(one) for one in sentences if one not in without]
    return [one for one in (*stored, *waiting, *sentence_entries) if one]


def entry_of_sentence(sentence: Text) -> str:
    """Return the waiting entry of a sentence that quotes nothing."""
    stored = as_json(sentence)
    return f"{SENTENCE}{stored if len(stored) <= MAX_STORED else sentence.english[:MAX_SENTENCE]}"


def is_waiting_notice(handle: MemoryHandle, sentence: Text) -> bool:
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


async def deliver_notices(handle: MemoryHandle) -> tuple[Text, ...]:
    """Return the waiting lines for a direct message, and remove them. Raises `StoreUnavailable`."""
    kept = handle.choices.waiting_notices
    if not kept:
        return ()
    now = handle.request.at
    lines: list[Text | None] = []
    waiting = {one.id: one for one in await handle.review.waiting(MAX_WAITING)}
    for entry in kept:
        seconds, _, what = entry.partition("|")
        age = now - datetime.fromtimestamp(int(seconds), UTC)
        line = await _line(handle, what, waiting, age) if age <= NOTICE_WAITS_FOR else None
        lines.append(line)
    await handle.privacy.drop_notices(kept)
    return tuple(dict.fromkeys(filter(None, lines)))


async def _line(
    handle: MemoryHandle, what: str, waiting: dict[str, ReviewItem], age: timedelta
) -> Text | None:
    if what.startswith(SENTENCE):
        return _escaped(from_json(what.removeprefix(SENTENCE)))
    if what.startswith(REVIEW_PREFIX):
        pending = waiting.get(what)
        return None if pending is None else FROM_GROUP.of(noted=_quoted(pending.record.content))
    record = await handle.read.get(what) if what.startswith(ID_PREFIX) else None
    if record is None:
        return None
    command = "undo" if age < UNDO_FOR else "forget"
    old = await handle.read.get(record.supersedes) if record.supersedes else None
    noted: Text = NOTED_IN_GROUP.of(noted=_quoted(record.content))
    if old is not None:
        noted = _escaped(replacement_notice(record, old))
    return joined((noted, verbatim(f"`/{command} {short_id(what)}`")), " · ")


def _document(name: str) -> SavedNotice:
    document = name.partition("-")[0]
    return SavedNotice(DOCUMENTS[document], name, _button(UNDO_DOCUMENT[document], name))


def _button(shown: Sentence, name: str) -> Choice:
    return Choice(shown, f"{UNDO}{name}", typed=verbatim("/undo"))


def _quoted(words: str) -> Text:
    return verbatim(f"“{one_line(words.strip().removesuffix('.'), MAX_CHARACTERS)}”")


def _escaped(sentence: Text) -> Text:
    return escaped(sentence, lambda words: one_line(words, 2 * MAX_SENTENCE))


MAX_SHOWN: Final = 200
MAX_NAMED_QUESTIONS: Final = 3
KEEP: Final = "memory:keep:"
BESIDE: Final = "memory:beside:"
DISCARD: Final = "memory:discard:"
PROPOSALS: Final = text(
    "Proposals wait for an operator's decision: {places}. Choose the project with `/project`, then "
    "write `/memories review`."
)
# Translators: proposals in a list, with the title of their project and their number.
_PROPOSED_IN: Final = text("“{project}” ({number})")
_PROPOSED_FOR_ALL: Final = text("for everybody ({number})")
KEEP_THIS: Final = text("Keep this? “{memory}”")
AFTER_THAT: Final = text("After that I ask about: {memories}")
AFTER_THAT_MORE: Final = counted(
    "After that I ask about: {memories}, and {count} more",
    "After that I ask about: {memories}, and {count} more",
)
KEEP_LABEL: Final = label("Keep")
FORGET_LABEL: Final = label("Forget it")
REPLACE_LABEL: Final = label("Replace")
BOTH_LABEL: Final = label("Keep both")
OLD_LABEL: Final = label("Keep the old one")
STILL_TRUE: Final = text("Is this still true? “{old}” You also said: “{new}”")
TRUE: Final[Mapping[Kept, str]] = {
    "newer": "memory:true:newer:",
    "older": "memory:true:older:",
    "both": "memory:true:both:",
}
"""What the values of the answers begin with; two short ids follow."""
TRUE_LABELS: Final[Mapping[Kept, Sentence]] = {
    "newer": label("Only the new one"),
    "older": label("Only the old one"),
    "both": label("Both are true"),
}


def places_of(proposals: Sequence[Proposals]) -> Text:
    """Return the projects with open proposals, and their numbers."""
    return joined(
        (
            _PROPOSED_IN.of(project=verbatim(one_line(one.title)), number=one.count)
            if one.project
            else _PROPOSED_FOR_ALL.of(number=one.count)
            for one in proposals
        ),
        ", ",
    )


def request_notice(handle: MemoryHandle) -> tuple[Text, ...]:
    """Return the notice about the chosen project, escaped for italics."""
    notice = handle.request.notice
    return (unformatted(notice),) if notice else ()


def proposals_line(proposed: Sequence[Proposals]) -> tuple[Text, ...]:
    """Return the line about open proposals for an operator, escaped for italics."""
    return (PROPOSALS.of(places=places_of(proposed)),) if proposed else ()


def footer_of(
    results: Sequence[WriteResult],
    further: Sequence[Text] = (),
    noted: Sequence[SavedNotice] = (),
    without: Sequence[Text] = (),
) -> AnswerFooter:
    """Return the notices and questions for the person after the model stored a memory. The
    sentences `without` are left out."""
    if not (results or further or noted):
        return NO_FOOTER
    notices = [n for result in results for n in result.notices if n != result.replacement_notice]
    left_out = set(map(unformatted, without))
    said = dict.fromkeys((*map(unformatted, notices), *further))
    lines: list[Text] = [one for one in said if one not in left_out]
    reviewed = [result for result in results if result.outcome is Outcome.REVIEW]
    waiting = [result for result in reviewed if not result.for_operators]
    buttons: tuple[Choice, ...] = ()
    if waiting:
        first, more = waiting[0], len(waiting) - 1
        buttons = keep_buttons(first.review_id, replaces=first.replaces)
        lines.append(KEEP_THIS.of(memory=verbatim(shortened(first.content))))
        if first.replaces:
            lines.append(unformatted(first.reason))
        if more:
            lines.append(_asked_later(waiting[1:]))
    passed_on = (unformatted(one.reason) for one in reviewed if one.for_operators)
    lines += dict.fromkeys(passed_on)
    buttons += tuple(one.button for one in noted)
    buttons += tuple(button for one in noted for button in one.restores)
    note = _in_italics([*(one.text for one in noted), *lines])
    typed = _in_italics([*(one.typed for one in noted), *lines])
    return AnswerFooter(note, buttons, typed=typed if noted else NO_TEXT)


def _in_italics(lines: Iterable[Text]) -> Text:
    return joined(map(italic, lines), "\n")


def _asked_later(waiting: Sequence[WriteResult]) -> Text:
    """Return the first waiting memories, and the number of others."""
    named = joined(
        (verbatim(f"“{shortened(one.content)}”") for one in waiting[:MAX_NAMED_QUESTIONS]), ", "
    )
    more = len(waiting) - MAX_NAMED_QUESTIONS
    if more > 0:
        return AFTER_THAT_MORE.of(memories=named, count=more)
    return AFTER_THAT.of(memories=named)


def still_true(asked: Contradiction) -> tuple[Text, tuple[Choice, ...]]:
    """Return the question which of two memories is true, and its three answers."""
    old, new = (verbatim(shortened(one.content)) for one in (asked.older, asked.newer))
    pair = f"{short_id(asked.older.id)}:{short_id(asked.newer.id)}"
    answers = (Choice(TRUE_LABELS[kept], f"{begins}{pair}") for kept, begins in TRUE.items())
    return STILL_TRUE.of(old=old, new=new), tuple(answers)


def with_question(footer: AnswerFooter, asked: Contradiction) -> AnswerFooter:
    """Return a footer without buttons, with the question which of two memories is true."""
    question, answers = still_true(asked)
    note = joined((footer.note, italic(question)), "\n") if footer.note else italic(question)
    return replace(footer, note=note, buttons=answers)


def keep_buttons(review_id: str, *, replaces: bool = False) -> tuple[Choice, ...]:
    """Return the answers to "Keep this?"; with `replaces` a third one."""
    if not replaces:
        discard = Choice(FORGET_LABEL, f"{DISCARD}{review_id}")
        return Choice(KEEP_LABEL, f"{KEEP}{review_id}"), discard
    return (
        Choice(REPLACE_LABEL, f"{KEEP}{review_id}"),
        Choice(BOTH_LABEL, f"{BESIDE}{review_id}"),
        Choice(OLD_LABEL, f"{DISCARD}{review_id}"),
    )


def shortened(words: str) -> str:
    """Return one short line of a memory, without markup."""
    line = unformatted(verbatim(" ".join(words.split()))).english
    return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}…"
