"""`parley memory review`: what waits for its owner's word."""

import sys
from collections.abc import Sequence
from typing import Final

from gateway.errors import BadInput
from memory.model.outcome import Outcome
from memory.ports.reviews import ReviewItem
from memory.service.handle import MemoryHandle
from parley.cli.confirm import choice
from parley.cli.memory_access import PersonOptions, with_memory
from parley.cli.memory_table import plain, print_json, show_decided, show_waiting
from parley.config import Settings

MAX_WAITING: Final = 100
MIN_ID: Final = 8
"""Characters of an id that name it, when no other one begins so."""


def review(wanted: PersonOptions, approve: Sequence[str], reject: Sequence[str]) -> int:
    """Decide the named ones, or each one by one; without a terminal they are only shown."""

    async def job(handle: MemoryHandle, _: Settings) -> int:
        waiting = await handle.review.waiting(MAX_WAITING)
        if approve or reject:
            return await _named(handle, waiting, wanted, approve, reject)
        if wanted.as_json or not waiting or not (sys.stdin.isatty() and sys.stdout.isatty()):
            show_waiting(waiting, as_json=wanted.as_json)
            return 0
        return await _asked(handle, waiting)

    return with_memory(wanted, job)


def history(wanted: PersonOptions) -> int:
    """Print what was decided, the latest first."""

    async def job(handle: MemoryHandle, _: Settings) -> None:
        show_decided(await handle.review.decided(MAX_WAITING), as_json=wanted.as_json)

    with_memory(wanted, job)
    return 0


async def _named(
    handle: MemoryHandle,
    waiting: Sequence[ReviewItem],
    wanted: PersonOptions,
    approve: Sequence[str],
    reject: Sequence[str],
) -> int:
    decided = [(_one(waiting, name), True) for name in approve]
    decided += [(_one(waiting, name), False) for name in reject]
    if len({pending.id for pending, _ in decided}) < len(decided):
        raise BadInput("The same one is named twice.")
    status = 0
    for pending, yes in decided:
        good, told = await _decide(handle, pending, keep=yes)
        status = status if good else 1
        if wanted.as_json:
            print_json([{"id": pending.id, "kept": yes and good, "told": told}])
        else:
            sys.stdout.write(f"{pending.id}  {told}\n")
    return status


async def _asked(handle: MemoryHandle, waiting: Sequence[ReviewItem]) -> int:
    status = 0
    for number, pending in enumerate(waiting, 1):
        sys.stdout.write(
            f"\n{number} of {len(waiting)}, {pending.submitted_at.date()}: "
            f"{plain(pending.record.content, 1_000)}\n({plain(pending.reason)})\n"
        )
        answer = choice("Keep it? [y]es [n]o [l]ater [q]uit", "ynlq")
        if answer == "q":
            break
        if answer in "yn":
            good, told = await _decide(handle, pending, keep=answer == "y")
            status = status if good else 1
            sys.stdout.write(f"{told}\n")
    return status


async def _decide(handle: MemoryHandle, pending: ReviewItem, *, keep: bool) -> tuple[bool, str]:
    if not keep:
        await handle.review.reject(pending.id)
        return True, "Not kept."
    result = await handle.review.approve(pending.id)
    return result.outcome is Outcome.STORED, result.reason


def _one(waiting: Sequence[ReviewItem], name: str) -> ReviewItem:
    found = [one for one in waiting if one.id == name]
    if not found and len(name) >= MIN_ID:
        found = [one for one in waiting if one.id.startswith(name)]
    if len(found) != 1:
        raise BadInput(f"Nothing waits under {name[:80]!r}. It may have been decided already.")
    return found[0]
