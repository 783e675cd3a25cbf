"""Walks through the audit, page by page, also while a gateway adds to it."""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, TypeVar

from gateway.errors import BadInput
from gateway.ports.clock import SystemClock
from memory.audit import FIRST, first_broken
from memory.ports.audit import AuditTrail, Link
from parley.cli.memory_access import readable
from parley.cli.memory_table import plain, print_json
from parley.config import Settings
from parley.security.audit_key import audit_key, audit_key_file
from parley.wiring.storage import Storage

PAGE: Final = 1_000
NO_KEY: Final = (
    "The audit's key {path} is not there. Put it back from a backup: a new one fits nothing."
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ChainReport:
    """How many entries were looked at, the time of the first and the last of them, the number of
    the first that is not what was written (0 for none), the last one's number and hash."""

    entries: int
    since: datetime | None
    until: datetime | None
    broken: int
    last: int
    hash: str


def verify(begin: int, config: Path | None, env: Mapping[str, str], *, as_json: bool) -> int:
    """Check the chain from an entry on; 1 when it is broken."""
    settings = readable(config, env)
    path = audit_key_file(settings)
    if path is not None and not path.exists():
        raise BadInput(NO_KEY.format(path=path))
    key = audit_key(settings)
    walked = _with_trail(settings, key, lambda trail: walk(trail, key, begin))
    if as_json:
        print_json([_values(walked)])
    else:
        sys.stdout.write(f"{_words(walked)}\n")
        if not key:
            sys.stderr.write("Without memory.audit_key, who knows the format can forge a chain.\n")
    return int(walked.broken > 0)


def show(
    person: str, limit: int, config: Path | None, env: Mapping[str, str], *, as_json: bool
) -> int:
    """Print the latest entries, of one person or of everybody."""

    async def job(trail: AuditTrail) -> list[Link]:
        latest: deque[Link] = deque(maxlen=limit)
        async for links in pages(trail, 0):
            latest.extend(link for link in links if person in ("", link.entry.person))
        return list(latest)

    links = _with_trail(readable(config, env), b"", job)
    if as_json:
        print_json([_line(link) for link in links])
    else:
        sys.stdout.write("\n".join([_described(one) for one in links] or ["No entries."]) + "\n")
    return 0


async def walk(trail: AuditTrail, key: bytes, begin: int = 1, page: int = PAGE) -> ChainReport:
    """Check every entry from `begin` on. Raises `BadInput` when there is no such entry."""
    previous, after = FIRST, begin - 1
    if after:
        before = await trail.links(after - 1, 1)
        if not before or before[0].number != after:
            raise BadInput(f"The audit has no entry {after}, after which to begin.")
        previous = before[0].hash
    count, first, last = 0, None, None
    async for links in pages(trail, after, page):
        broken = first_broken(key, links, previous, after)
        sound = links[: broken - after - 1] if broken else links
        count += len(sound)
        first = first or links[0].entry.at
        if sound:
            last, previous, after = sound[-1].entry.at, sound[-1].hash, sound[-1].number
        if broken:
            return ChainReport(count, first, last, broken, after, previous)
    return ChainReport(count, first, last, 0, after, previous)


async def pages(trail: AuditTrail, after: int, page: int = PAGE) -> AsyncIterator[list[Link]]:
    """All entries behind a number, in order. What is added meanwhile is there as well."""
    while links := await trail.links(after, page):
        yield links
        after = links[-1].number


def _with_trail(settings: Settings, key: bytes, job: Callable[[AuditTrail], Awaitable[T]]) -> T:
    async def run() -> T:
        storage = Storage(settings, SystemClock())
        try:
            await storage.start(exclusive=False)
            return await job(storage.memory.audit_on(key))
        finally:
            await storage.stop()

    return asyncio.run(run())


def _words(walked: ChainReport) -> str:
    if walked.broken:
        return (
            f"Entry {walked.broken} is not what was written, or one before it is missing."
            f" {walked.entries:,} entries before it are sound."
        )
    if walked.since is None or walked.until is None:
        return "The audit is empty."
    since, until = (f"{at:%Y-%m-%d %H:%M} UTC" for at in (walked.since, walked.until))
    return (
        f"{walked.entries:,} entries, {since} to {until}: all of them are as they were written.\n"
        f"The last is number {walked.last}, {walked.hash}.\n"
        "Keep that elsewhere: entries cut off the end show by it only."
    )


def _values(walked: ChainReport) -> dict[str, object]:
    return {
        "entries": walked.entries,
        "since": walked.since.isoformat() if walked.since else None,
        "until": walked.until.isoformat() if walked.until else None,
        "broken": walked.broken or None,
        "last": walked.last,
        "hash": walked.hash,
    }


def _line(link: Link) -> dict[str, object]:
    entry = link.entry
    return {
        "number": link.number,
        "at": entry.at.isoformat(),
        "action": entry.action,
        "tenant": entry.tenant,
        "person": entry.person,
        "details": dict(entry.details),
        "hash": link.hash,
    }


def _described(link: Link) -> str:
    entry = link.entry
    details = " ".join(f"{name}={value}" for name, value in entry.details)
    who = entry.person or "-"
    return plain(
        f"{link.number}  {entry.at:%Y-%m-%d %H:%M:%S}  {who}  {entry.action}  {details}", 400
    )
