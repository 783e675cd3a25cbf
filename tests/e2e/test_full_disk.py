"""A SQLite file that cannot grow, and a disk that is full: the program runs on and says so, no
accepted message is lost, no answer is sent twice."""

import asyncio
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread

import aiohttp
import yaml
from structlog.testing import capture_logs

from simulators.anthropic import AnthropicSimulator
from simulators.base import SimRoom
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import Lab, app_on, by_bot, configuration, simulated
from tests.parley.cli.kit import parley, read_until, started
from tests.parley.console.kit import OWNER, console_in, console_settings
from tests.support.patience import PATIENCE
from tests.support.ports import free_port
from tests.support.small_disk import Disk, small_disk
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


@contextmanager
def kept_full(disk: Disk) -> Iterator[None]:
    """The disk has no free block until the end, whatever the program deletes."""
    over = Event()

    def fill() -> None:
        while not over.wait(0.05):
            disk.fill()

    disk.fill()
    filling = Thread(target=fill)
    filling.start()
    try:
        yield
    finally:
        over.set()
        filling.join()
        disk.free()


def _is_delivered(folder: Path) -> bool:
    """True once the receipt of the first answer is stored: a kill repeats only what has none."""
    (file,) = folder.rglob("*.db")
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        found = database.execute("SELECT state FROM outbox").fetchall()
    return found == [("sent",)]


async def test_a_program_on_a_full_disk_runs_on_starts_again_and_continues_by_itself() -> None:
    sim = TelegramSimulator()
    ada = sim.person("Ada")
    room, port = sim.direct(ada), free_port()

    def answers() -> list[str]:
        return [shown.text.rpartition("You said: ")[2] for shown in by_bot(sim.shown(room))]

    with small_disk(24_000_000) as disk:
        async with simulated({"telegram": sim}) as webhooks, aiohttp.ClientSession() as http:
            settings = configuration({"telegram": sim}, disk.folder, webhooks)
            settings["server"] = {"port": port}
            config = disk.folder / "parley.yaml"
            config.write_text(yaml.safe_dump(settings))
            run = ("run", "--config", str(config))

            async def problems() -> dict[str, str]:
                async with http.get(f"http://127.0.0.1:{port}/readyz") as answer:
                    found: dict[str, str] = (await answer.json()).get("problems", {})
                    return found

            async def says_full() -> bool:
                return {"storage", "database", f"disk: {disk.folder}"} <= set(await problems())

            async def is_well() -> bool:
                return not await problems()

            async with started(*run, cwd=disk.folder) as process:
                await read_until(process.stdout, "ready gateway")
                await sim.say(ada, room, "before")
                await eventually(lambda: len(answers()) == 1)
                await eventually(lambda: _is_delivered(disk.folder))
                with kept_full(disk):
                    await eventually(says_full, 30)
                    assert str(disk.folder) in (await problems())["storage"]
                    assert "ree space" in (await problems())["storage"]
                    await sim.say(ada, room, "while it is full")
                    status = await parley("status", "--config", str(config), cwd=disk.folder)
                    assert status.status == 1
                    assert f"The disk of {disk.folder} is full" in status.out
                    assert process.returncode is None, "it runs on"
                    process.kill()  # and a start on the full disk works as well
                    await process.wait()
                    async with started(*run, cwd=disk.folder) as again:
                        await read_until(again.stdout, "ready gateway")
                        await eventually(says_full, 30)
                        assert again.returncode is None
                        again.kill()
                        await again.wait()
            async with started(*run, cwd=disk.folder) as process:
                await read_until(process.stdout, "ready gateway")
                await sim.say(ada, room, "after")
                await eventually(lambda: len(answers()) >= 3, 30)
                await eventually(is_well, 30)
                process.send_signal(signal.SIGTERM)
                await asyncio.wait_for(process.wait(), PATIENCE)
    assert answers()[1:] == ["while it is full", "after"], "nothing lost, nothing twice, in order"


async def test_a_program_that_cannot_start_on_a_full_disk_says_why_and_starts_later() -> None:
    with small_disk(4_000_000) as disk:
        config = disk.folder / "parley.yaml"
        settings = {
            "model": {"provider": "offline"},
            "platforms": {"web": {"enabled": True}},
            "database": {"url": f"sqlite:///{disk.folder}/data/parley.db"},
            "server": {"port": 0, "key_folder": str(disk.folder / "keys")},
            "webhooks": {"port": 0},
        }
        config.write_text(yaml.safe_dump(settings))
        disk.fill()
        for _ in range(3):
            ended = await parley("run", "--config", str(config), cwd=disk.folder)
            assert ended.status == 1, "not the status of a refused configuration: it is restarted"
            assert "No space left on device" in ended.err
            assert str(disk.folder) in ended.err
            assert "Free space" in ended.err
        assert list((disk.folder / "keys").iterdir()) == [], "no remains of the attempts"
        disk.free()
        async with started("run", "--config", str(config), cwd=disk.folder) as process:
            await read_until(process.stdout, "ready gateway")


async def test_on_a_full_disk_the_overview_names_the_folder_and_the_next_step() -> None:
    with small_disk(24_000_000) as disk:
        async with console_in(console_settings(disk.folder)) as console:
            visitor = await console.visitor(OWNER)
            database = console.app.storage.long_lived
            await database.run_job(  # a request notes the use of a session once in a minute
                lambda db: db.execute("UPDATE console_sessions SET seen_at = seen_at - 120000000")
            )
            with kept_full(disk):
                full = f"disk of {disk.folder} is full"
                health = console.app.health
                await eventually(
                    lambda: any(full in str(p) for p in health.readiness().problems.values()), 30
                )
                await eventually(lambda: not console.app.health.readiness().ready, 30)
                page = await visitor.get("/overview")
                assert page.status == 200, page.text
                assert f"The {full}" in page.text
                assert "free more than 100 MB there" in page.text
                refused = await visitor.get("/memory")
                assert refused.status == 503
                assert "until an operator frees space there" in refused.text
