"""`parley memory review`: memories that wait for a decision."""

import sys
from collections.abc import Sequence
from typing import Annotated, Final

import typer

from gateway.errors import BadInput
from memory.model.outcome import Outcome
from memory.ports.reviews import ReviewItem
from memory.service.handle import MemoryHandle
from parley.cli.memory_access import PersonOptions, with_memory
from parley.cli.memory_table import plain, print_json, show_decided, show_waiting
from parley.cli.options import AsJson, Config, Person, choice
from parley.config import Settings

MAX_WAITING: Final = 100
MIN_ID: Final = 8
"""Characters from which the beginning of an id is enough, when it is the only one."""


def review(
    person: Person = "",
    approve: Annotated[
        list[str] | None, typer.Option("--approve", metavar="ID", help="Keep this one.")
    ] = None,
    reject: Annotated[
        list[str] | None, typer.Option("--reject", metavar="ID", help="Do not keep this one.")
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Show past decisions, without the text.")
    ] = False,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Decide the named ones, or each one by one; without a terminal they are only shown."""

    async def job(handle: MemoryHandle, _: Settings) -> int:
        if history:
            show_decided(await handle.review.decided(MAX_WAITING), as_json=as_json)
            return 0
        waiting = await handle.review.waiting(MAX_WAITING)
        if approve or reject:
            return await _decide_named(handle, waiting, approve or (), reject or (), as_json)
        if as_json or not waiting or not (sys.stdin.isatty() and sys.stdout.isatty()):
            show_waiting(waiting, as_json=as_json)
            return 0
        return await _ask_each(handle, waiting)

    return with_memory(PersonOptions(person, config, as_json), job)


async def _decide_named(
    handle: MemoryHandle,
    waiting: Sequence[ReviewItem],
    approve: Sequence[str],
    reject: Sequence[str],
    as_json: bool,
) -> int:
    decided = [(_one(waiting, name), True) for name in approve]
    decided += [(_one(waiting, name), False) for name in reject]
    if len({pending.id for pending, _ in decided}) < len(decided):
        raise BadInput("One memory is named twice.")
    status = 0
    for pending, keep in decided:
        done, result = await _decide(handle, pending, keep=keep)
        status = status if done else 1
        if as_json:
            print_json([{"id": pending.id, "kept": keep and done, "told": result}])
        else:
            sys.stdout.write(f"{pending.id}  {result}\n")
    return status


async def _ask_each(handle: MemoryHandle, waiting: Sequence[ReviewItem]) -> int:
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
            done, result = await _decide(handle, pending, keep=answer == "y")
            status = status if done else 1
            sys.stdout.write(f"{result}\n")
    return status


async def _decide(handle: MemoryHandle, pending: ReviewItem, *, keep: bool) -> tuple[bool, str]:
    if not keep:
        await handle.review.reject(pending.id)
        return True, "Not kept."
    result = await handle.review.approve(pending.id)
    return result.outcome is Outcome.STORED, result.reason


def _one(waiting: Sequence[ReviewItem], name: str) -> ReviewItem:
    matches = [one for one in waiting if one.id == name]
    if not matches and len(name) >= MIN_ID:
        matches = [one for one in waiting if one.id.startswith(name)]
    if len(matches) != 1:
        raise BadInput(f"No memory waits under {name[:80]!r}. It may have been decided already.")
    return matches[0]
