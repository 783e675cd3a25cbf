"""The audit log is append-only, and every later change is detected."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from db import Statement
from db.errors import StoreUnavailable
from memory.ports.audit import AuditEntry, Link
from memory.stores.audit import SqlAuditLog, chained, first_broken
from tests.support.databases import Engine

KEY = b"a key of the operator's"
AT = datetime(2026, 11, 21, 9, 30, 15, 123456, tzinfo=UTC)


@pytest.fixture
def log(engine: Engine) -> SqlAuditLog:
    return SqlAuditLog(engine, KEY)


def entry(number: int) -> AuditEntry:
    return AuditEntry("memory_write", "default", f"p{number}", AT, (("size", number),))


async def test_entries_of_concurrent_writers_are_chained(log: SqlAuditLog) -> None:
    await asyncio.gather(*(log.append(entry(number)) for number in range(40)))
    links = await log.links(0, 100)
    assert [link.number for link in links] == list(range(1, 41))
    assert {link.entry.person for link in links} == {f"p{number}" for number in range(40)}
    assert first_broken(KEY, links) == 0
    assert first_broken(b"another key", links) == 1


async def test_verification_reads_pages(log: SqlAuditLog) -> None:
    for number in range(5):
        await log.append(entry(number))
    first, second = await log.links(0, 3), await log.links(3, 3)
    assert first_broken(KEY, first) == 0
    assert first_broken(KEY, second, first[-1].hash, first[-1].number) == 0


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE memory_audit SET person = 'somebody else'",
        "DELETE FROM memory_audit WHERE number = 1",
    ],
)
async def test_existing_entries_cannot_be_changed(
    engine: Engine, log: SqlAuditLog, change: str
) -> None:
    await log.append(entry(1))
    with pytest.raises(StoreUnavailable, match="only added to"):
        await engine.change(Statement(change))


def links_of(count: int) -> list[Link]:
    links: list[Link] = []
    for number in range(1, count + 1):
        previous = links[-1].hash if links else "0" * 64
        links.append(chained(KEY, number, entry(number), previous))
    return links


def test_changed_missing_and_added_entries_are_detected() -> None:
    links = links_of(5)
    assert first_broken(KEY, links) == 0
    changed = list(links)
    changed[2] = Link(3, entry(99), links[2].previous, links[2].hash)
    assert first_broken(KEY, changed) == 3
    assert first_broken(KEY, links[:1] + links[2:]) == 2
    forged = chained(b"a guess", 6, entry(6), links[-1].hash)
    assert first_broken(KEY, [*links, forged]) == 6


async def test_recorded_entries_are_read_back(log: SqlAuditLog) -> None:
    (link,) = links_of(1)
    await log.append(link.entry)
    assert await log.links(0, 10) == [link]


async def test_entries_of_a_time_are_found(log: SqlAuditLog) -> None:
    times = [AT + timedelta(seconds=number) for number in range(5)]
    for at in times:
        await log.append(AuditEntry("memory_read", "t", "p", at))
    result = await log.between(times[1], times[3], 10)
    assert [link.entry.at for link in result] == times[1:4]
    assert [link.number for link in await log.between(times[1], times[3], 2)] == [2, 3]
