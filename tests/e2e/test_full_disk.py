"""A SQLite file that cannot grow: no accepted message is lost, no answer is sent twice."""

import asyncio
from pathlib import Path

from structlog.testing import capture_logs

from simulators.anthropic import AnthropicSimulator
from simulators.base import SimRoom
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import Lab, app_on, by_bot, simulated
from tests.support.waiting import eventually


async def test_a_full_disk_loses_neither_messages_nor_answers(tmp_path: Path) -> None:
    sim = TelegramSimulator()
    people = [sim.person(f"Person {number}") for number in range(10)]
    rooms: list[SimRoom] = [sim.direct(person) for person in people]
    async with simulated({"telegram": sim}) as port, app_on({"telegram": sim}, tmp_path, port) as a:
        lab, database = Lab(a, sim), a.storage.long_lived
        await sim.say(people[0], rooms[0], "before")
        await lab.answer(rooms[0])
        await lab.idle()
        while await a.storage.memory.waiting.count():  # what it frees would be room again
            await asyncio.sleep(0.01)
        await database.run_job(_no_room)
        with capture_logs() as logs:
            for person, room in zip(people, rooms, strict=True):
                await sim.say(person, room, f"a question of {person.name} " + "x" * 3000)
            await eventually(lambda: any(line["event"] == "event_not_accepted" for line in logs))
        assert "disk is full" in str(logs)
        await database.run_job(lambda db: db.execute("PRAGMA max_page_count = 1000000").fetchall())
        for number, room in enumerate(rooms):
            await lab.answers(room, 2 if number == 0 else 1, 30)
        await lab.idle(30)
        for number, room in enumerate(rooms):
            assert len(by_bot(sim.shown(room))) == (2 if number == 0 else 1)


def _no_room(db) -> None:  # type: ignore[no-untyped-def]
    (free,) = db.execute("PRAGMA freelist_count").fetchone()
    db.execute("CREATE TABLE filler (content)")
    db.execute("INSERT INTO filler VALUES (zeroblob(?))", (4096 * free,))
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages}").fetchall()


async def test_messages_accepted_before_the_disk_was_full_are_answered_later(
    tmp_path: Path,
) -> None:
    sim, model = TelegramSimulator(), AnthropicSimulator()
    await model.start()
    section = {"provider": "anthropic", "api_key": model.api_key, "base_url": model.base_url}
    ada = sim.person("Ada")
    room = sim.direct(ada)
    try:
        async with (
            simulated({"telegram": sim}) as port,
            app_on({"telegram": sim}, tmp_path, port, {"model": section}) as a,
        ):
            model.open.clear()
            await sim.say(ada, room, "a question " + "x" * 3000)
            await model.wait_for_requests(1)
            await a.storage.long_lived.run_job(_no_room)
            with capture_logs() as logs:
                model.open.set()
                await eventually(lambda: "disk is full" in str(logs))
            database = a.storage.long_lived
            await database.run_job(
                lambda db: db.execute("PRAGMA max_page_count = 1000000").fetchall()
            )
            lab = Lab(a, sim)
            await lab.answers(room, 1, 30)
            assert len(await lab.quiet(room)) == 1
    finally:
        await model.stop()
