"""The audit is only added to, and whoever changes it behind its back is found out."""

import asyncio
from datetime import UTC, datetime
from typing import LiteralString

import pytest

from db.sqlite import SqliteDatabase
from gateway.errors import StoreUnavailable
from memory.audit import chained, first_broken
from memory.store.audit_rows import link_from, row_of
from memory.store.ports import AuditEntry, Link
from memory.store.postgres.audit import PostgresAuditLog
from memory.store.sqlite.audit import SqliteAuditLog
from tests.memory.store.conftest import Engine

KEY = b"a key of the operator's"
AT = datetime(2026, 11, 21, 9, 30, 15, 123456, tzinfo=UTC)


def log_on(engine: Engine) -> SqliteAuditLog | PostgresAuditLog:
    if isinstance(engine, SqliteDatabase):
        return SqliteAuditLog(engine, KEY)
    return PostgresAuditLog(engine, KEY)


async def run(engine: Engine, sql: LiteralString) -> None:
    if isinstance(engine, SqliteDatabase):
        await engine.run_job(lambda db: db.execute(sql))
    else:
        await engine.change_raw(sql, ())


def entry(number: int) -> AuditEntry:
    return AuditEntry("memory_write", "default", f"p{number}", AT, (("size", number),))


async def test_entries_are_chained_whoever_writes_at_the_same_time(engine: Engine) -> None:
    log = log_on(engine)
    await asyncio.gather(*(log.append(entry(number)) for number in range(40)))
    links = await log.links(0, 100)
    assert [link.number for link in links] == list(range(1, 41))
    assert {link.entry.person for link in links} == {f"p{number}" for number in range(40)}
    assert first_broken(KEY, links) == 0
    assert first_broken(b"another key", links) == 1


async def test_verifying_goes_page_by_page(engine: Engine) -> None:
    log = log_on(engine)
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
async def test_what_stands_there_cannot_be_changed(engine: Engine, change: LiteralString) -> None:
    await log_on(engine).append(entry(1))
    with pytest.raises(StoreUnavailable, match="only added to"):
        await run(engine, change)


def links_of(count: int) -> list[Link]:
    links: list[Link] = []
    for number in range(1, count + 1):
        previous = links[-1].hash if links else "0" * 64
        links.append(chained(KEY, number, entry(number), previous))
    return links


def test_a_changed_a_missing_and_an_added_entry_are_found() -> None:
    links = links_of(5)
    assert first_broken(KEY, links) == 0
    changed = list(links)
    changed[2] = Link(3, entry(99), links[2].previous, links[2].hash)
    assert first_broken(KEY, changed) == 3
    assert first_broken(KEY, links[:1] + links[2:]) == 2
    forged = chained(b"a guess", 6, entry(6), links[-1].hash)
    assert first_broken(KEY, [*links, forged]) == 6


def test_a_row_is_the_same_entry_again() -> None:
    (link,) = links_of(1)
    assert link_from(row_of(link)) == link
