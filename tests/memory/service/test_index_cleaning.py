"""The words of a forgotten memory leave the database's file with the command."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from db.errors import StoreUnavailable
from memory.model.record import Draft, Kind, Tier
from memory.service import index_cleaning
from memory.service.handle import MemoryHandle
from memory.service.index_cleaning import IndexCleaning
from parley.wiring.storage import MemoryStores
from tests.memory.rig import Rig, rig_on
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database

SECRET = "xylophonist"


def bytes_of(folder: Path) -> bytes:
    """Everything on the disk, after the write-ahead log is folded in."""
    with closing(sqlite3.connect(folder / "parley.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return b"".join(file.read_bytes() for file in folder.glob("parley.db*")).lower()


async def forget(rig: Rig, ada: MemoryHandle, memory_id: str, how: str) -> None:
    match how:
        case "forget":
            shown = (await ada.erasure.matches(SECRET)).items
            assert (await ada.erasure.forget([one.refs for one in shown], "topic")).items == 1
        case "delete":
            assert await ada.erasure.delete([memory_id]) == [memory_id]
        case "clear":
            assert await ada.erasure.clear((Tier.SEMANTIC,)) == 101
        case _:
            await ada.erasure.erase_all()


@pytest.mark.parametrize("how", ["forget", "delete", "clear", "erase"])
async def test_no_byte_of_a_forgotten_word_is_left(tmp_path: Path, how: str) -> None:
    clock, database = FakeClock(), sqlite_database(tmp_path / "parley.db")
    await database.start()
    rig = rig_on(MemoryStores(database, clock), database, clock)
    ada, bob = await rig.handle("ada"), await rig.handle("bob")
    for number in range(100):
        await ada.write.remember(Draft(f"Shelf {number} holds jars of number {number}", Kind.FACT))
        await bob.write.remember(Draft(f"Rack {number} holds tins of number {number}", Kind.FACT))
        if number == 50:
            kept = await ada.write.remember(Draft(f"Ida is a {SECRET} in Graz", Kind.FACT))
    assert SECRET.encode() in bytes_of(tmp_path)
    await forget(rig, ada, kept.memory_id, how)
    assert SECRET[:6].encode() not in bytes_of(tmp_path)
    await database.stop()


async def test_a_cleaning_is_bounded_and_followed_by_a_rest(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_cleaning, "MAX_STEPS", 3)
    steps = {"large": 0, "small": 0}

    async def large() -> int:
        steps["large"] += 1
        return 1

    async def small() -> int:
        steps["small"] += 1
        return 0

    cleaning = IndexCleaning((large, small), clock)
    await clock.advance(1)
    await cleaning.run()
    assert steps == {"large": 3, "small": 1}
    await clock.advance(index_cleaning.REST - 0.1)
    await cleaning.run()
    assert steps == {"large": 3, "small": 1}
    await clock.advance(0.2)
    await cleaning.run()
    assert steps == {"large": 6, "small": 2}


async def test_a_cleaning_that_fails_does_not_undo_the_deletion(clock: FakeClock) -> None:
    async def broken() -> int:
        raise StoreUnavailable("the disk is full", "sqlite")

    await IndexCleaning((broken,), clock).run()
