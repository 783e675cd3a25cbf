"""What `parley outbox` does: answers that were given up, and questions too."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from gateway.errors import BadInput
from gateway.ports.clock import SystemClock
from gateway.ports.outbox import DeadLetter, DeadLetters
from gateway.ports.traces import Trace, Traces
from gateway.turn.pipeline import GAVE_UP
from parley.config import Settings, load
from parley.config.sections import sqlite_file

AT_ONCE: Final = 10_000
"""How many `--all` takes."""

T = TypeVar("T")

Job = Callable[[DeadLetters, Traces], Awaitable[T]]


def show(limit: int, config: Path | None, env: Mapping[str, str]) -> int:
    """Print the latest dead letters, newest first, and then the questions that were given up."""

    async def job(outbox: DeadLetters, traces: Traces) -> list[str]:
        letters = [described(letter) for letter in await outbox.dead_letters(limit)]
        return letters + [unanswered(trace) for trace in await traces.ended(GAVE_UP, limit)]

    found = _with_outbox(config, env, job)
    sys.stdout.write("\n".join(found or ["Nothing was given up."]) + "\n")
    return 0


def resend(keys: Sequence[str] | None, config: Path | None, env: Mapping[str, str]) -> int:
    """Queue dead letters again; 1 when one of the named ones is none."""

    async def job(outbox: DeadLetters, _: Traces) -> tuple[int, int]:
        wanted = await _wanted(outbox, keys)
        return len(wanted), await outbox.requeue(wanted)

    wanted, found = _with_outbox(config, env, job)
    return _told("queued again", wanted, found)


def drop(keys: Sequence[str] | None, config: Path | None, env: Mapping[str, str]) -> int:
    """Forget dead letters; 1 when one of the named ones is none."""

    async def job(outbox: DeadLetters, _: Traces) -> tuple[int, int]:
        wanted = await _wanted(outbox, keys)
        return len(wanted), await outbox.drop(wanted)

    wanted, found = _with_outbox(config, env, job)
    return _told("forgotten", wanted, found)


def described(letter: DeadLetter) -> str:
    """One dead letter as an operator reads it. What it says stays where it is."""
    outbound = letter.entry.outbound
    place = outbound.place
    account = "" if place.account == "main" else f"/{place.account}"
    thread = f" thread {place.thread_id}" if place.thread_id else ""
    at = letter.at.strftime("%Y-%m-%d %H:%M:%S UTC")
    tries = f"{letter.entry.attempts} failed tries"
    return (
        f"{outbound.key}  {at}  {place.platform}{account} {place.channel_id}{thread}"
        f"  {tries}\n    {_one_line(letter.reason)}"
    )


def unanswered(trace: Trace) -> str:
    """A question that one process after the other died of, as an operator reads it."""
    account = "" if trace.account == "main" else f"/{trace.account}"
    at = trace.at.strftime("%Y-%m-%d %H:%M:%S UTC")
    return (
        f"question  {at}  {trace.platform}{account} {trace.kind} {_one_line(trace.message_id)}\n"
        f"    never answered: the program died each time it tried (exchange {trace.id})"
    )


def _one_line(reason: str) -> str:
    """A platform's words may hold anything, escape sequences of a terminal among them."""
    return "".join(c if c.isprintable() else " " for c in reason)


def _told(done: str, wanted: int, found: int) -> int:
    sys.stdout.write(f"{found} {done}.\n")
    if found < wanted:
        sys.stderr.write(f"{wanted - found} were not among what was given up.\n")
    return int(found < wanted)


async def _wanted(outbox: DeadLetters, keys: Sequence[str] | None) -> list[str]:
    if keys is not None:
        return list(dict.fromkeys(keys))
    return [letter.entry.outbound.key for letter in await outbox.dead_letters(AT_ONCE)][::-1]


def _with_outbox(config: Path | None, env: Mapping[str, str], job: Job[T]) -> T:
    settings = load(config, env)
    file = sqlite_file(settings.storage_url)
    if settings.storage_url == "memory://" or (file and not Path(file).exists()):
        raise BadInput(f"There is no database at {settings.storage_url} yet.")
    return asyncio.run(_run(settings, job))


async def _run(settings: Settings, job: Job[T]) -> T:
    from parley.wiring.storage import Storage  # noqa: PLC0415 - opens nothing until it is needed

    storage = Storage(settings, SystemClock())
    outbox = storage.hot.dead
    if outbox is None:
        raise BadInput(f"{settings.storage_url.partition(':')[0]} keeps no dead letters.")
    try:
        await storage.start(exclusive=False)
        return await job(outbox, storage.stores.traces)
    finally:
        await storage.stop()
