"""`/memories`: lists of a person's memories and of their chat messages, page by page;
`/memories review`, and the buttons under its questions; `/undo` and its button."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from gateway.immutable import replace
from gateway.message import Choice, Reply
from gateway.people import Audience
from gateway.ports import CommandSpec
from gateway.ports.memory import Caller
from gateway.ports.rights import IN_CHAT
from gateway.text import NO_TEXT, Sentence, Text, counted, described, label, text, verbatim
from memory.actions import reviews as on
from memory.actions.call import in_chat
from memory.actions.memories import NotKept
from memory.commands import texts
from memory.commands.open_questions import Questions, Shown
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import ID_PREFIX, Record
from memory.recall.selection import without_secrets
from memory.service.contradictions import Answer
from memory.service.handle import MemoryHandle
from memory.service.read import ListName, MemoryPage
from memory.service.write import UndoResult, document_named
from memory.stores.conflicts import Kept
from memory.stores.reviews import ReviewItem
from memory.text.display import bullets, italic, one_line, paragraphs, quoted, unformatted
from memory.turns.footer import (
    BESIDE,
    DISCARD,
    KEEP,
    TRUE,
    keep_buttons,
    places_of,
    restore_buttons,
    still_true,
)
from memory.write.notices import replacement_notice

PREFIX: Final = "memory:page:"
CHAT: Final = "chat"
"""The argument of `/memories` for chat messages."""
MAX_SEARCH: Final = 500
_LETTERS: Final[dict[str, ListName]] = {"l": "learned", "s": "said"}

LATER: Final = "memory:later:"
MAX_WAITING: Final = 100
DECISIONS: Final = (KEEP, BESIDE, DISCARD, LATER)

UNDO_SPEC: Final = CommandSpec(
    "undo",
    described("Delete what I noted on my own"),
    True,
    "id",
    True,
    described("an ID; without one: the latest"),
    allowed=IN_CHAT,
)
MAX_NAME: Final = 60
REMEMBERED: Final = text("I will remember that.")
BOTH_STAY: Final = text("I keep both.")
NOT_KEPT: Final = text("I will not keep it.")
KEEP_IT: Final = text("Keep it?")
REPLACE_OR_KEEP: Final = text("Replace the old memory, or keep both?")
MAX_UNDONE: Final = 5
TAKEN_BACK: Final = text("I deleted what I had noted.")
MORE: Final = counted("and {count} more", "and {count} more")
RESTORED: Final = text("I remember this again:")
DOCUMENT: Final[Mapping[str, Sentence]] = {
    "soul": text("I undid my change of your preferences."),
    "bible": text("I undid my change of the project notes."),
}
NO_DOCUMENT: Final[Mapping[str, Sentence]] = {
    "soul": text(
        "It was changed since then, or I wrote it more than a day ago. `/soul undo` restores the "
        "previous version."
    ),
    "bible": text(
        "It was changed since then, or I wrote it more than a day ago. `/bible undo` restores the "
        "previous version."
    ),
}
PREVIOUS_PAGE: Final = label("Previous page")
NEXT_PAGE: Final = label("Next page")
CHAT_MESSAGES: Final = label("Chat messages")
WHAT_I_LEARNED: Final = label("What I learned")
LATER_LABEL: Final = label("Later")


class MemoryLists:
    """Shows a person's own memories. In a room only memories learned there, without buttons,
    because only that person could use them."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    async def first(self, handle: MemoryHandle, caller: Caller, text: str) -> Reply:
        """Return the first page of learned memories, of chat messages, or of the matches of a
        text."""
        name: ListName = "said" if text.casefold() == CHAT else "learned"
        shown = Shown(str(caller.principal.person), "" if name == "said" else text[:MAX_SEARCH])
        read = reader(handle, caller)
        page = await read.read.page(name, shown.text, 0)
        reply = _page_reply(page, caller.id, caller, await marks_of(read, page))
        if reply.buttons:
            await self._questions.keep_pages(caller.id, shown)
        planned = texts.planned(await handle.read.plan_use())
        return replace(reply, markdown=noted_below(reply.markdown, planned)) if planned else reply

    async def press(self, handle: MemoryHandle, caller: Caller, value: str) -> Reply:
        """Return the page of a button."""
        list_id, _, requested = value.removeprefix(PREFIX).partition(":")
        name, number = _LETTERS.get(requested[:1]), requested[1:]
        shown = await self._questions.pages_of(list_id)
        if shown is None or name is None or not (number.isascii() and number.isdigit()):
            return Reply(texts.OLD_LIST)
        if shown.person != str(caller.principal.person):
            return Reply(texts.LIST_OF_OTHERS)
        read = reader(handle, caller)
        page = await read.read.page(name, shown.text, int(number[:6]))
        return _page_reply(page, list_id, caller, await marks_of(read, page))


async def marks_of(handle: MemoryHandle, page: MemoryPage) -> texts.Marks:
    """Return the ids of the memories that those of a page may contradict."""
    return await handle.contradictions.marks() if page.records and page.name == "learned" else {}


def noted_below(said: Text, note: Text) -> Text:
    """Return a text with a note in italics under it, if there is one."""
    return paragraphs(said, italic(note) if note else None)


def reader(handle: MemoryHandle, caller: Caller) -> MemoryHandle:
    """Return the handle for the answer to a command: in a room without memories from other
    places."""
    return handle if caller.alone else handle.before_others()


def _page_reply(page: MemoryPage, list_id: str, caller: Caller, marks: texts.Marks) -> Reply:
    shown = texts.page(page, marks)
    in_room = caller.place.audience is not Audience.DIRECT
    if in_room and not (caller.alone and page.total):
        shown = paragraphs(shown, texts.ELSEWHERE)
    return Reply(shown, _buttons(page, list_id) if caller.alone else ())


def _buttons(page: MemoryPage, list_id: str) -> tuple[Choice, ...]:
    """Return at most three buttons with at most 20 characters, the common limits of the
    platforms."""
    here, there = ("l", "s") if page.name == "learned" else ("s", "l")
    other = CHAT_MESSAGES if page.name == "learned" else WHAT_I_LEARNED
    buttons: list[Choice] = []
    if page.first:
        buttons.append(Choice(PREVIOUS_PAGE, f"{PREFIX}{list_id}:{here}{page.next - 2}"))
    if page.more:
        buttons.append(Choice(NEXT_PAGE, f"{PREFIX}{list_id}:{here}{page.next}"))
    if page.other:
        buttons.append(Choice(other, f"{PREFIX}{list_id}:{there}0"))
    return tuple(buttons)


async def review(handle: MemoryHandle, caller: Caller) -> Reply:
    """Ask about the first waiting entry here, or name the places of others."""
    waiting, hidden = _decidable(handle, caller, await handle.review.waiting(MAX_WAITING))
    question = await _review_question(waiting)
    if not waiting and caller.alone:
        question = await which_is_true(handle) or question
    nothing = texts.NOTHING_WAITS if not (question.markdown or hidden) else None
    privately = texts.WAITS_PRIVATELY if hidden else None
    elsewhere = await _elsewhere(handle)
    return replace(question, markdown=paragraphs(question.markdown, nothing, privately, elsewhere))


async def which_is_true(handle: MemoryHandle) -> Reply | None:
    """Ask about the first two memories that may contradict each other; None without any."""
    asked = await handle.contradictions.first()
    return None if asked is None else Reply(*still_true(asked))


async def settled(handle: MemoryHandle, value: str) -> Reply:
    """Record the answer which of two memories is true. Raises `NotFound` for a decided question."""
    kept, begins = next(one for one in TRUE.items() if value.startswith(one[1]))
    older, _, newer = value.removeprefix(begins).partition(":")
    answers: Mapping[Kept, Answer] = {"older": "one", "newer": "other", "both": "both"}
    decided = await handle.contradictions.settle(older, newer, answers[kept])
    if decided.replaced is None:
        return Reply(BOTH_STAY)
    left = decided.replaced
    said = unformatted(replacement_notice(decided.true[0], left))
    return Reply(said, restore_buttons((left.id,)))


async def restored(handle: MemoryHandle, memory_id: str) -> Reply:
    """Make a replaced memory valid again. Raises `NotFound` and `BadInput`."""
    record = await handle.contradictions.restore(memory_id)
    return Reply(paragraphs(RESTORED, _first([record])))


async def decide(handle: MemoryHandle, caller: Caller, value: str) -> Reply:
    """Run a button and ask about the next entry. Raises `NotFound` for a decided one."""
    decision = next(prefix for prefix in DECISIONS if value.startswith(prefix))
    review_id = value.removeprefix(decision)
    waiting, _ = _decidable(handle, caller, await handle.review.waiting(MAX_WAITING))
    following = _after(waiting, review_id)
    done: Text | None = None
    if decision == DISCARD:
        await on.reject(in_chat(handle, caller), on.Reject(id=review_id))
        done = NOT_KEPT
    elif decision != LATER:
        given = on.Approve(id=review_id, keep_both=decision == BESIDE)
        try:
            decided = await on.approve(in_chat(handle, caller), given)
            done = _with_notices(REMEMBERED, decided.notices)
        except NotKept as refused:
            done = kept(refused.result)
            if refused.result.outcome is Outcome.REFUSED:
                return Reply(done)
    question = await _review_question(following)
    said = paragraphs(done, question.markdown)
    return replace(question, markdown=said or texts.NOTHING_WAITS)


def kept(result: WriteResult) -> Text:
    """Return the outcome of a write, in words for the person."""
    match result.outcome:
        case Outcome.STORED:
            said: Text = REMEMBERED
        case Outcome.REVIEW:
            question = REPLACE_OR_KEEP if result.replaces else KEEP_IT
            said = paragraphs(result.reason, question, verbatim(quoted(result.content)))
        case Outcome.BLOCKED if result.code == "duplicate":
            said = texts.KNOWN
        case _:
            said = result.reason
    return _with_notices(said, result.notices)


def _with_notices(said: Text, notices: Sequence[Text]) -> Text:
    return paragraphs(said, *(italic(unformatted(notice)) for notice in notices))


def _decidable(
    handle: MemoryHandle, caller: Caller, waiting: Sequence[ReviewItem]
) -> tuple[list[ReviewItem], bool]:
    """Return the entries that can be decided here, and True if others cannot: a SOUL is private,
    and where others read the question its buttons do not work."""
    if not caller.alone:
        return [], bool(waiting)
    here = [one for one in waiting if not (one.target == "soul" and handle.access.room)]
    return here, len(here) < len(waiting)


def _after(waiting: Sequence[ReviewItem], review_id: str) -> list[ReviewItem]:
    """Return the entries after this one, then those before it."""
    ids = [one.id for one in waiting]
    place = ids.index(review_id) + 1 if review_id in ids else 0
    return [one for one in (*waiting[place:], *waiting[:place]) if one.id != review_id]


async def _review_question(waiting: Sequence[ReviewItem]) -> Reply:
    """Return the question about the first entry; an empty reply without entries."""
    if not waiting:
        return Reply(NO_TEXT)
    first, others = waiting[0], len(waiting) - 1
    # A document may be long, and is read for secrets again.
    shown = replace(first, record=await asyncio.to_thread(without_secrets, first.record))
    buttons = keep_buttons(first.id, replaces=bool(first.record.supersedes))
    if others:
        buttons = (*buttons, Choice(LATER_LABEL, f"{LATER}{first.id}"))
    return Reply(texts.question(shown, others), buttons)


async def _elsewhere(handle: MemoryHandle) -> Text | None:
    """Return the line about proposals in other projects."""
    proposed = await handle.review.proposed()
    others = [one for one in proposed if one.project not in ("", handle.access.project)]
    return texts.WAITS_THERE.of(places=places_of(others)) if others else None


async def undone(handle: MemoryHandle, caller: Caller, name: str) -> Reply:
    """Undo the turn of one memory, one version of a document, or the latest turn. Raises `NotFound`
    if this person has none."""
    name = name.strip().strip("`")[:MAX_NAME]
    document = document_named(name)
    if document is not None:
        which, number = document
        if await handle.documents.take_back(which, number):
            return Reply(DOCUMENT[which])
        return Reply(NO_DOCUMENT[which])
    memory_id = f"{ID_PREFIX}{name}" if name and not name.startswith(ID_PREFIX) else name
    result = await handle.write.undo(memory_id)
    quiet = caller.place.audience is not Audience.DIRECT and not caller.alone
    return Reply(TAKEN_BACK if quiet else undo_text(result))


def undo_text(result: UndoResult) -> Text:
    """Return the deleted memories and those that are valid again."""
    more = len(result.gone) - MAX_UNDONE
    parts: list[Text] = [TAKEN_BACK, _first(result.gone)]
    if more > 0:
        parts.append(MORE.of(count=more))
    if result.restored:
        parts += [RESTORED, _first(result.restored)]
    return paragraphs(*parts)


def _first(records: Sequence[Record]) -> Text:
    return bullets(verbatim(one_line(one.content)) for one in records[:MAX_UNDONE])
