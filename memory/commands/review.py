"""`/memories review`, and the buttons under its questions."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gateway.message import Button, Reply
from gateway.ports.memory import Caller
from memory.commands import texts
from memory.model.outcome import Outcome, WriteResult
from memory.ports.reviews import ReviewItem
from memory.recall.selection import without_secrets
from memory.service.handle import MemoryHandle
from memory.text.display import one_line
from memory.turns.notices import BESIDE, DISCARD, KEEP, keep_buttons, places_of, unformatted

LATER: Final = "memory:later:"
MAX_WAITING: Final = 100
DECISIONS: Final = (KEEP, BESIDE, DISCARD, LATER)


async def review(handle: MemoryHandle, caller: Caller) -> Reply:
    """Ask about the first waiting entry here, or name the places of others."""
    waiting, hidden = _decidable(handle, caller, await handle.review.waiting(MAX_WAITING))
    question = await _asked(waiting)
    parts = [question.markdown] if waiting else [texts.NOTHING_WAITS] * (not hidden)
    parts += [texts.WAITS_PRIVATELY] * hidden
    return replace(question, markdown="\n\n".join((*parts, *await _elsewhere(handle))))


async def decide(handle: MemoryHandle, caller: Caller, value: str) -> Reply:
    """Run a button and ask about the next entry. Raises `NotFound` for a decided one."""
    deed = next(prefix for prefix in DECISIONS if value.startswith(prefix))
    review_id = value.removeprefix(deed)
    waiting, _ = _decidable(handle, caller, await handle.review.waiting(MAX_WAITING))
    following = _after(waiting, review_id)
    parts = ""
    if deed == DISCARD:
        await handle.review.reject(review_id)
        parts = "I will not keep it."
    elif deed != LATER:
        result = await handle.review.approve(review_id, beside=deed == BESIDE)
        parts = kept(result)
        if result.outcome is Outcome.REFUSED:
            return Reply(parts)
    question = await _asked(following)
    text = "\n\n".join(filter(None, (parts, question.markdown)))
    return replace(question, markdown=text or texts.NOTHING_WAITS)


def kept(result: WriteResult) -> str:
    """Return the outcome of a write, in words for the person."""
    match result.outcome:
        case Outcome.STORED:
            text = "I will remember that."
        case Outcome.REVIEW:
            question = "Replace the old memory, or keep both?" if result.replaces else "Keep it?"
            text = f"{result.reason}\n\n{question}\n\n> {one_line(result.content)}"
        case Outcome.BLOCKED if result.code == "duplicate":
            text = texts.KNOWN
        case _:
            text = result.reason
    return "\n\n".join((text, *(f"_{unformatted(notice)}_" for notice in result.notices)))


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


async def _asked(waiting: Sequence[ReviewItem]) -> Reply:
    """Return the question about the first entry; None without entries."""
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
