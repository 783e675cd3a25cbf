"""`/privacy erase` confirms the erasure, and no data of the person remains."""

import sqlite3
from pathlib import Path

import pytest

from simulators.base import Fault
from simulators.telegram import TelegramSimulator
from tests.e2e.conftest import open_lab, open_lab_with_model
from tests.e2e.harness import Lab
from tests.e2e.test_memory import Talk, direct
from tests.support.databases import WORD_INDEXES, migrated_database
from tests.support.servers import PostgresServer, RedisServer
from tests.support.waiting import eventually

pytestmark = pytest.mark.xdist_group("databases")


async def erase(ada: Talk) -> str:
    await ada.command("remember", "I prefer tabs")
    await ada.say("My dog is called Luna")
    await ada.command("forget", "Luna")
    surely = await ada.press(await ada.command("privacy", "erase"), "Erase everything")
    return (await ada.press(surely, "Yes, all of it")).text


def left_of(db: sqlite3.Connection, words: tuple[str, ...]) -> set[str]:
    """The tables in which one of these words still stands."""
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    results = set()
    # The pages of the full-text indexes are rewritten later: tests/memory/stores/test_deleted.py.
    for table in (name for name in names if not name.startswith(WORD_INDEXES)):
        for row in db.execute(f'SELECT * FROM "{table}"'):
            text = " ".join(
                one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one)
                for one in row
            )
            if any(word in text for word in words):
                results.add(table)
    return results


async def test_erasure_is_confirmed_and_leaves_no_data_of_the_person(lab: Lab) -> None:
    ada = direct(lab)
    assert "Everything is erased" in await erase(ada)
    assert "Everything is erased" in await erase(ada), "what the first one left is no hindrance"
    words = ("tabs", "Luna", f":{ada.person.id}")
    await lab.idle()
    left = await lab.app.storage.long_lived.run_job(lambda db: left_of(db, words))
    assert left <= {"memory_audit", "buckets", "inbox", "adapter_state"}
    rows = "SELECT key FROM adapter_state WHERE value LIKE ? OR key LIKE ?"
    about = await lab.app.storage.long_lived.run_job(
        lambda db: db.execute(rows, (f"%{ada.person.id}%",) * 2).fetchall()
    )
    # WhatsApp takes the answer only while this is known, for 24 hours.
    assert [key for (key,) in about if not key.startswith("window:")] == []
    assert await lab.app.storage.long_lived.run_job(lambda db: left_of(db, words[:2])) == set()


@pytest.mark.parametrize("variant", ["telegram-polling", "slack-socket"])
async def test_erasure_leaves_no_text_that_waits_for_its_rest(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path) as lab:
        ada, room = lab.platform.person("Ada"), lab.platform.room("general")
        if isinstance(lab.platform, TelegramSimulator):
            lab.platform.api.privacy = False
        full = ("The whale swims in the sea and " * 200)[:3_900]
        await lab.platform.say(ada, room, full, mention=True)
        await lab.platform.say(ada, room, "and sings.")
        await lab.answer(room)
        await lab.platform.say(ada, lab.platform.direct(ada), full)
        await lab.answer(lab.platform.direct(ada))
        rows = "SELECT key, value FROM adapter_state WHERE value LIKE ? OR key LIKE ?"

        def about(db: sqlite3.Connection) -> list[tuple[str, str]]:
            return db.execute(rows, (f"%{ada.id}%",) * 2).fetchall()

        assert await lab.app.storage.long_lived.run_job(about), "the texts are stored"
        assert "Everything is erased" in await erase(direct(lab))
        assert await lab.app.storage.long_lived.run_job(about) == []


async def test_erasure_works_on_redis_and_postgresql(
    tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    stores = {"storage": {"url": redis.url}, "database": {"url": migrated_database(postgres)}}
    async with open_lab("whatsapp", tmp_path, stores) as lab:
        assert "Everything is erased" in await erase(direct(lab))


async def test_a_turn_that_runs_meanwhile_stores_no_text(tmp_path: Path) -> None:
    async with open_lab_with_model("telegram-polling", tmp_path) as (lab, model):
        ada = direct(lab)
        surely = await ada.press(await ada.command("privacy", "erase"), "Erase everything")
        model.faults.add(Fault("messages", "slow", delay=2.0))
        await lab.platform.say(ada.person, ada.room, "My dog is called Luna")
        await lab.waits("message")
        await eventually(lambda: model.bodies, 30)
        await lab.platform.press(ada.person, ada.room, surely.id, "Yes, all of it")
        await lab.platform.wait_for(
            ada.room, lambda shown: any("Everything is erased" in one.text for one in shown)
        )
        await lab.idle()
        left = await lab.app.storage.long_lived.run_job(lambda db: left_of(db, ("Luna",)))
        assert left == set()
