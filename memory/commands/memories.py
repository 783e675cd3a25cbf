"""`/memories`: lists of a person's memories and of their chat messages, page by page;
`/memories review`, and the buttons under its questions; `/undo` and its button."""

import asyncio
from collections.abc import Sequence
from typing import Final

from gateway.immutable import replace
from gateway.message import Button, Reply
from gateway.people import Audience
from gateway.ports import CommandSpec
from gateway.ports.memory import Caller
from gateway.ports.rights import IN_CHAT
from memory.actions import reviews as on
from memory.actions.call import in_chat
from memory.actions.memories import NotKept
from memory.commands import texts
from memory.commands.open_questions import Questions, Shown
from memory.model.outcome import Outcome, WriteResult
from memory.model.record import ID_PREFIX
from memory.recall.selection import without_secrets
from memory.service.handle import MemoryHandle
from memory.service.read import ListName, MemoryPage
from memory.service.write import UndoResult, document_named
from memory.stores.reviews import ReviewItem
from memory.text.display import one_line, quoted
from memory.turns.footer import BESIDE, DISCARD, KEEP, keep_buttons, places_of, unformatted

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
    "Delete what you noted on your own",
    True,
    "id",
    True,
    "an id; alone: the latest",
    allowed=IN_CHAT,
)
MAX_NAME: Final = 60
REMEMBERED: Final = "I will remember that."
MAX_UNDONE: Final = 5
TAKEN_BACK: Final = "I deleted what I had noted."
RESTORED: Final = "Valid again:"
DOCUMENT: Final = "I undid my change of the {name}."
NO_DOCUMENT: Final = (
    "It was changed since then, or I wrote it more than a day ago. `/{name} undo` restores the "
    "previous version."
)


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
        page = await reader(handle, caller).read.page(name, shown.text, 0)
        reply = _page_reply(page, caller.id, caller)
        if reply.buttons:
            await self._questions.keep_pages(caller.id, shown)
        planned = texts.planned(await handle.read.plan_use())
        return replace(reply, markdown=f"{reply.markdown}\n\n_{planned}_") if planned else reply

    async def press(self, handle: MemoryHandle, caller: Caller, value: str) -> Reply:
        """Return the page of a button."""
        list_id, _, requested = value.removeprefix(PREFIX).partition(":")
        name, number = _LETTERS.get(requested[:1]), requested[1:]
        shown = await self._questions.pages_of(list_id)
        if shown is None or name is None or not (number.isascii() and number.isdigit()):
            return Reply(texts.OLD_LIST)
        if shown.person != str(caller.principal.person):
            return Reply(texts.LIST_OF_OTHERS)
        page = await reader(handle, caller).read.page(name, shown.text, int(number[:6]))
        return _page_reply(page, list_id, caller)


def reader(handle: MemoryHandle, caller: Caller) -> MemoryHandle:
    """Return the handle for the answer to a command: in a room without memories from other
    places."""
    return handle if caller.alone else handle.before_others()


def _page_reply(page: MemoryPage, list_id: str, caller: Caller) -> Reply:
    text = texts.page(page)
    in_room = caller.place.audience is not Audience.DIRECT
    if in_room and not (caller.alone and page.total):
        text = f"{text}\n\n{texts.ELSEWHERE}"
    return Reply(text, _buttons(page, list_id) if caller.alone else ())


def _buttons(page: MemoryPage, list_id: str) -> tuple[Button, ...]:
    """Return at most three buttons with at most 20 characters, the common limits of the
    platforms."""
    here, there = ("l", "s") if page.name == "learned" else ("s", "l")
    other = "Chat messages" if page.name == "learned" else "What I learned"
    buttons: list[Button] = []
    if page.first:
        buttons.append(Button("Previous page", f"{PREFIX}{list_id}:{here}{page.next - 2}"))
    if page.more:
        buttons.append(Button("Next page", f"{PREFIX}{list_id}:{here}{page.next}"))
    if page.other:
        buttons.append(Button(other, f"{PREFIX}{list_id}:{there}0"))
    return tuple(buttons)


async def review(handle: MemoryHandle, caller: Caller) -> Reply:
    """Ask about the first waiting entry here, or name the places of others."""
    waiting, hidden = _decidable(handle, caller, await handle.review.waiting(MAX_WAITING))
    question = await _review_question(waiting)
    parts = [question.markdown] if waiting else [texts.NOTHING_WAITS] * (not hidden)
    parts += [texts.WAITS_PRIVATELY] * hidden
    return replace(question, markdown="\n\n".join((*parts, *await _elsewhere(handle))))


async def decide(handle: MemoryHandle, caller: Caller, value: str) -> Reply:
    """Run a button and ask about the next entry. Raises `NotFound` for a decided one."""
    decision = next(prefix for prefix in DECISIONS if value.startswith(prefix))
    review_id = value.removeprefix(decision)
    waiting, _ = _decidable(handle, caller, await handle.review.waiting(MAX_WAITING))
    following = _after(waiting, review_id)
    parts = ""
    if decision == DISCARD:
        await on.reject(in_chat(handle, caller), on.Reject(id=review_id))
        parts = "I will not keep it."
    elif decision != LATER:
        given = on.Approve(id=review_id, keep_both=decision == BESIDE)
        try:
            decided = await on.approve(in_chat(handle, caller), given)
            parts = _with_notices(REMEMBERED, decided.notices)
        except NotKept as refused:
            parts = kept(refused.result)
            if refused.result.outcome is Outcome.REFUSED:
                return Reply(parts)
    question = await _review_question(following)
    text = "\n\n".join(filter(None, (parts, question.markdown)))
    return replace(question, markdown=text or texts.NOTHING_WAITS)


def kept(result: WriteResult) -> str:
    """Return the outcome of a write, in words for the person."""
    match result.outcome:
        case Outcome.STORED:
            text = REMEMBERED
        case Outcome.REVIEW:
            question = "Replace the old memory, or keep both?" if result.replaces else "Keep it?"
            text = f"{result.reason}\n\n{question}\n\n{quoted(result.content)}"
        case Outcome.BLOCKED if result.code == "duplicate":
            text = texts.KNOWN
        case _:
            text = result.reason
    return _with_notices(text, result.notices)


def _with_notices(text: str, notices: Sequence[str]) -> str:
    return "\n\n".join((text, *(f"_{unformatted(notice)}_" for notice in notices)))


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
        return Reply("")
    first, others = waiting[0], len(waiting) - 1
    # A document may be long, and is read for secrets again.
    shown = replace(first, record=await asyncio.to_thread(without_secrets, first.record))
    buttons = keep_buttons(first.id, replaces=bool(first.record.supersedes))
    if others:
        buttons = (*buttons, Button("Later", f"{LATER}{first.id}"))
    return Reply(texts.question(shown, others), buttons)


async def _elsewhere(handle: MemoryHandle) -> list[str]:
    """Return the line about proposals in other projects."""
    proposed = await handle.review.proposed()
    others = [one for one in proposed if one.project not in ("", handle.access.project)]
    return [texts.WAITS_THERE.format(places=places_of(others))] if others else []


async def undone(handle: MemoryHandle, caller: Caller, name: str) -> Reply:
    """Undo the turn of one memory, one version of a document, or the latest turn. Raises `NotFound`
    if this person has none."""
    name = name.strip().strip("`")[:MAX_NAME]
    document = document_named(name)
    if document is not None:
        which, number = document
        if await handle.documents.take_back(which, number):
            return Reply(DOCUMENT.format(name=which.upper()))
        return Reply(NO_DOCUMENT.format(name=which))
    memory_id = f"{ID_PREFIX}{name}" if name and not name.startswith(ID_PREFIX) else name
    result = await handle.write.undo(memory_id)
    quiet = caller.place.audience is not Audience.DIRECT and not caller.alone
    return Reply(TAKEN_BACK if quiet else undo_text(result))


def undo_text(result: UndoResult) -> str:
    """Return the deleted memories and those that are valid again."""
    gone = [f"- {one_line(one.content)}" for one in result.gone[:MAX_UNDONE]]
    more = len(result.gone) - MAX_UNDONE
    parts = [TAKEN_BACK, "\n".join(gone), f"and {more} more" if more > 0 else ""]
    if result.restored:
        again = [f"- {one_line(one.content)}" for one in result.restored[:MAX_UNDONE]]
        parts += [RESTORED, "\n".join(again)]
    return "\n\n".join(filter(None, parts))
