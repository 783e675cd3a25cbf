"""The commands of `parley quarantine`."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar, get_args

from gateway.errors import BadInput
from gateway.inbound.crash_loop_guard import MAX_LISTED, CrashCounts
from gateway.ports.clock import SystemClock
from gateway.ports.quarantine import Quarantined
from gateway.ports.work_guard import WorkItem, WorkKind
from parley.config import Settings, load
from parley.config.sections import sqlite_file
from parley.wiring.storage import Storage

MEANINGS: Final[Mapping[WorkKind, str]] = {
    "message": "A message. Its author was told, where that was possible, and its text is deleted.",
    "waiting_turn": "A turn that memory could not store. The conversation itself holds it.",
    "send": "An answer that could not be sent. `parley outbox list` shows it too.",
    "chore": "A task of the housekeeping. It is tried again after a day.",
    "heartbeat": "The figures of a project. They are tried again after a day.",
    "embedding": "The vector of a memory, or the model for it. It is tried again after a day.",
    "payload": "A delivery of a platform. It was acknowledged without being read.",
}
ONCE: Final[tuple[WorkKind, ...]] = ("message",)
"""Kinds whose content is deleted, so that they cannot be tried again."""

T = TypeVar("T")


def show(limit: int, config: Path | None, env: Mapping[str, str]) -> int:
    """Print the latest entries, newest first."""

    async def job(storage: Storage) -> list[Quarantined]:
        return await storage.quarantine.listed(limit)

    found = _with_storage(config, env, job)
    lines = [described(entry) for entry in found]
    sys.stdout.write("\n".join(lines or ["The quarantine is empty."]) + "\n")
    return 0


def explain(key: str, config: Path | None, env: Mapping[str, str]) -> int:
    """Print one entry with its meaning; 1 when there is none with this key."""
    wanted = _item(key)

    async def job(storage: Storage) -> list[Quarantined]:
        return await storage.quarantine.listed(MAX_LISTED)

    for entry in _with_storage(config, env, job):
        if WorkItem(entry.kind, entry.id) == wanted:
            sys.stdout.write(f"{described(entry)}\n    {MEANINGS[entry.kind]}\n{_next(entry, key)}")
            return 0
    sys.stderr.write(f"{key} is not in quarantine; see `parley quarantine list`\n")
    return 1


def remove(
    keys: Sequence[str], config: Path | None, env: Mapping[str, str], *, discard: bool
) -> int:
    """Begin entries again, or forget them; 1 when one of them is none, or cannot be begun again."""
    items = [_item(key) for key in dict.fromkeys(keys)]
    gone = [] if discard else [item for item in items if item.kind in ONCE]
    for item in gone:
        sys.stderr.write(
            f"{item.key}: not retried, because its text is deleted; discard it instead.\n"
        )

    async def job(storage: Storage) -> int:
        deaths = CrashCounts(storage.stores.states.of("parley", "takeovers"))
        found = 0
        for item in items:
            if item in gone:
                continue
            if await storage.quarantine.remove(item.kind, item.id, discard=discard):
                found += 1
                if not discard:
                    await deaths.put(item, 0)
        return found

    found = _with_storage(config, env, job)
    sys.stdout.write(f"{'discarded' if discard else 'to be tried again'}: {found}\n")
    missing = len(items) - len(gone) - found
    if missing:
        sys.stderr.write(f"not in quarantine: {missing}; see `parley quarantine list`\n")
    return int(found < len(items))


def described(entry: Quarantined) -> str:
    """One entry as an operator reads it: which work, since when, whose, where from."""
    at, owner = entry.at.strftime("%Y-%m-%d %H:%M:%S UTC"), entry.owner
    person = f"person {owner.person}" if owner.person else ""
    place = f"place {owner.place}" if owner.place else ""
    parts = [f"{entry.kind}:{entry.id}", at, person, place, f"weight {entry.deaths}"]
    return "  ".join(_one_line(part) for part in parts if part)


def _next(entry: Quarantined, key: str) -> str:
    """The commands that an operator can use next, one a line."""
    again = "" if entry.kind in ONCE else f"    after an update: parley quarantine retry {key}\n"
    return f"{again}    to delete it: parley quarantine discard {key}\n"


def _item(key: str) -> WorkItem:
    kind, _, id_ = key.partition(":")
    for known in get_args(WorkKind):
        if kind == known and id_:
            return WorkItem(known, id_)
    raise BadInput(f"{key[:80]!r}: a key is KIND:ID, as `parley quarantine list` shows it.")


def _one_line(text: str) -> str:
    """Ids of platforms may hold anything, escape sequences of a terminal among them."""
    return "".join(c if c.isprintable() else " " for c in text)


def _with_storage(
    config: Path | None, env: Mapping[str, str], job: Callable[[Storage], Awaitable[T]]
) -> T:
    settings = load(config, env)
    for url in {settings.database.url, settings.storage_url}:
        file = sqlite_file(url)
        if url == "memory://" or (file and not Path(file).exists()):
            raise BadInput(
                f"There is no database at {url}. Name the configuration with --config, or start"
                " Parley once."
            )
    return asyncio.run(_run(settings, job))


async def _run(settings: Settings, job: Callable[[Storage], Awaitable[T]]) -> T:
    storage = Storage(settings, SystemClock())
    try:
        await storage.start(exclusive=False)
        return await job(storage)
    finally:
        await storage.stop()
