"""Checks the chain of the audit log, page by page."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from typing import Final

from msgspec import Struct

from gateway.errors import UsageError
from memory.ports.audit import Link
from memory.stores.audit import FIRST, SqlAuditLog, first_broken
from parley.config import Settings
from parley.security.keys import audit_key, audit_key_file

PAGE: Final = 1_000
NO_KEY: Final = (
    "The audit's key {path} is missing. Restore it from a backup: a new key matches no entry."
)


class ChainReport(Struct, frozen=True):
    """The result of a check: the number of correct entries, the time of the first and the last of
    them, the number of the first wrong entry (0 for none), the number and hash of the last correct
    one."""

    entries: int
    since: datetime | None
    until: datetime | None
    broken: int
    last: int
    hash: str


def existing_key(settings: Settings) -> bytes:
    """Return the key of the chain. Raises `BadInput` if its file is missing."""
    path = audit_key_file(settings)
    if path is not None and not path.exists():
        raise UsageError(NO_KEY.format(path=path))
    return audit_key(settings)


async def walk(
    trail: SqlAuditLog,
    key: bytes,
    begin: int = 1,
    page: int = PAGE,
    checked: Callable[[int], None] = lambda _: None,
) -> ChainReport:
    """Check every entry from `begin` on, on a thread. `checked` gets the number of the last entry
    of each page. Raises `BadInput` when there is no entry `begin`."""
    previous, after = FIRST, begin - 1
    if after:
        before = await trail.links(after - 1, 1)
        if not before or before[0].number != after:
            raise UsageError(f"The audit has no entry {after} to start from.")
        previous = before[0].hash
    count, first, last = 0, None, None
    async for links in pages(trail, after, page):
        broken = await asyncio.to_thread(first_broken, key, links, previous, after)
        correct = links[: broken - after - 1] if broken else links
        count += len(correct)
        first = first or links[0].entry.at
        if correct:
            last, previous, after = correct[-1].entry.at, correct[-1].hash, correct[-1].number
        if broken:
            return ChainReport(count, first, last, broken, after, previous)
        checked(after)
    return ChainReport(count, first, last, 0, after, previous)


async def pages(trail: SqlAuditLog, after: int, page: int = PAGE) -> AsyncIterator[list[Link]]:
    """All entries after a number, in order, including those that are added meanwhile."""
    while links := await trail.links(after, page):
        yield links
        after = links[-1].number
