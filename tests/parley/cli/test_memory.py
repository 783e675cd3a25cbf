"""`parley memory`: the user of the terminal acts for a person, and is asked for confirmation."""

import asyncio
import json
import os
import pty
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.conversation import ConversationKey
from gateway.llm.prices import AS_OF
from gateway.message import Place
from gateway.people import Audience, PersonId, Principal, Role
from gateway.policy.budgets import BudgetAccount
from gateway.ports import Usage
from gateway.ports.clock import SystemClock
from gateway.ports.conversations import ConversationTask, StoredTurn
from gateway.ports.memory import Caller
from gateway.ports.usage import UsageRow
from memory.model.record import Draft, Kind
from memory.service.handle import MemoryHandle
from parley.config import from_mapping
from parley.wiring.memory import wire_memory
from parley.wiring.storage import Storage
from simulators.telegram import TelegramSimulator
from tests.parley.cli.kit import (
    ROOT,
    environment,
    parley,
    read_until,
    started,
)
from tests.parley.cli.warm import warm
from tests.support.databases import migrated_database
from tests.support.patience import PATIENCE
from tests.support.turns import answered

ADA, BOB = "telegram:main:ada", "telegram:main:bob"
MINE = ("--person", ADA)
KEY = "correct horse battery"


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
async def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with a configuration, and memories of two people."""
    url = (
        "sqlite:///data/parley.db"
        if request.param == "sqlite"
        else migrated_database(request.getfixturevalue("postgres"))
    )
    return await filled(tmp_path, url)


@pytest.fixture
async def small(tmp_path: Path) -> Path:
    """The same, on SQLite only."""
    return await filled(tmp_path, "sqlite:///data/parley.db")


async def filled(folder: Path, url: str) -> Path:
    sections = {
        "database": {"url": url},
        "memory": {"audit_key": "a key of the operator's"},
        "budgets": {"user_per_day": 1.0},
    }
    (folder / "config").mkdir()
    (folder / "config" / "parley.yaml").write_text(yaml.safe_dump(sections))
    absolute = url.replace("sqlite:///", f"sqlite:///{folder}/")
    expected = from_mapping(sections | {"database": {"url": absolute}})
    storage, clock = Storage(expected, SystemClock()), SystemClock()
    await storage.start()
    memory = wire_memory(expected, storage, clock).memory
    assert memory is not None
    for name in ("ada", "bob"):
        handle = await memory.for_principal(caller(name))
        await remembered(handle, name)
        await answered(
            storage.stores.unit_of_work, handle, f"turn of {name}", "hello there", "good day"
        )
        await talked(storage, name)
    await storage.stop()
    return folder


async def talked(storage: Storage, name: str) -> None:
    """A conversation goes on, has a task, and cost something."""
    person, now = f"telegram:main:{name}", SystemClock().now()
    key = ConversationKey("default", "telegram", "main", "", name)
    turn = StoredTurn("m1", "user", f"{name} asks", now, person, name)
    turns = (turn, StoredTurn("m1", "assistant", f"answer to {name}", now))
    await storage.stores.conversations.append(key, turns)
    await storage.stores.notes.set_task(
        key, ConversationTask(f"Plan {name}'s trip", person, name), now
    )
    row = UsageRow("default", person, "", "a-model", Usage(10, 5), 250_000, now)
    day = BudgetAccount("user_per_day", f"user:default:{person}:{now:%Y-%m-%d}", 1_000_000)
    await storage.stores.usage.settle(f"turn of {name}", (row,), (day,))


async def remembered(handle: MemoryHandle, name: str) -> None:
    await handle.write.remember(Draft(f"{name} has a dog named Rex", Kind.FACT, ("pets",)))
    await handle.write.remember(
        Draft(f"{name} prefers [red]tabs[/red] \x1b[31mover", Kind.PREFERENCE)
    )
    await handle.write.infer(Draft(f"{name} likes cats a lot", Kind.FACT))


def caller(name: str) -> Caller:
    person = PersonId("telegram", "main", name)
    place = Place("telegram", "main", f"{name}-dm", Audience.DIRECT)
    return Caller(
        f"x-{name}",
        Principal("default", person, Role.MEMBER),
        name,
        place,
        name,
        SystemClock().now(),
    )


async def lines(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    ended = await parley(*arguments, "--json", cwd=folder)
    assert ended.status == 0, ended.err
    return [json.loads(line) for line in ended.out.splitlines()]


async def contents(folder: Path, person: str = ADA) -> list[str]:
    return [line["content"] for line in await lines(folder, "memory", "list", "--person", person)]


async def test_decisions_are_listed_without_their_text(folder: Path) -> None:
    assert await lines(folder, "memory", "review", "--history", *MINE) == []
    (waiting,) = await lines(folder, "memory", "review", *MINE)
    await parley("memory", "review", "--reject", str(waiting["id"]), *MINE, cwd=folder)
    (decided,) = await lines(folder, "memory", "review", "--history", *MINE)
    assert (decided["id"], decided["decision"]) == (waiting["id"], "rejected")
    assert "cats" not in json.dumps(decided)
    assert await lines(folder, "memory", "review", "--history", "--person", BOB) == []


async def test_working_memory_is_listed_and_cleared_with_everything_else(folder: Path) -> None:
    shown = await lines(folder, "memory", "list", "--tier", "working", *MINE)
    assert {(line["content"], line["role"]) for line in shown} == {
        ("ada asks", "user"),
        ("answer to ada", "assistant"),
        ("Plan ada's trip", ""),
    }
    assert {line["tier"] for line in shown} == {"working"}
    semantic = await lines(folder, "memory", "list", "--tier", "semantic", *MINE)
    assert {line["tier"] for line in semantic} == {"semantic"}
    await parley("memory", "clear", "semantic", "--yes", *MINE, cwd=folder)
    assert len(await lines(folder, "memory", "list", "--tier", "working", *MINE)) == 3
    await parley("memory", "clear", "all", "--yes", "--yes", *MINE, cwd=folder)
    theirs = await lines(folder, "memory", "list", "--tier", "working", "--person", BOB)
    assert {line["content"] for line in theirs} == {"bob asks", "answer to bob", "Plan bob's trip"}


async def test_costs_are_shown_by_person_and_in_total(folder: Path) -> None:
    (mine,) = await lines(folder, "usage", *MINE)
    assert (mine["micros"], mine["models"][0]["calls"]) == (250_000, 1)
    assert mine["budgets"] == [{"name": "user_per_day", "spent": 250_000, "limit": 1_000_000}]
    (every,) = await lines(folder, "usage", "--days", "2")
    assert (every["micros"], every["budgets"]) == (500_000, [])
    ended = await parley("usage", *MINE, cwd=folder)
    assert ended.out.splitlines() == [
        "$0.2500  a-model: 1 answer, 10 tokens read, 5 written",
        f"$0.2500  in all, by the prices of {AS_OF} and those of budgets.prices",
        "user_per_day: $0.2500 of $1.0000 used",
    ]
    nobody = await parley("usage", "--person", "telegram:main:eve", cwd=folder)
    assert nobody.out.splitlines()[0] == "Nothing was spent in this time."


async def test_validate_reports_the_outcome_and_stores_nothing(small: Path) -> None:
    before = await contents(small)
    ended = await parley(
        *("memory", "validate", "ada owns a boat", "--source", "user", *MINE), cwd=small
    )
    assert (ended.status, ended.out.splitlines()[0].split(":")[0]) == (0, "tier_1, stored at once")
    for arguments, answer in (
        (("ada owns a boat",), "tier_2, waits for the person's decision"),
        (("ada owns a boat", "--source", "file"), "tier_2, waits for the person's decision"),
        (("Maybe ada owns a boat", "--source", "user"), "tier_3, not stored"),
        (("ada has a dog named Rex", "--source", "user"), "tier_3, not stored"),
    ):
        ended = await parley("memory", "validate", *arguments, *MINE, cwd=small)
        assert (ended.status, ended.out.splitlines()[0].split(":")[0]) == (1, answer)
    wrong = await parley("memory", "validate", "x", "--type", "gossip", *MINE, cwd=small)
    assert (wrong.status, "there is no 'gossip'" in wrong.err) == (1, True)
    nowhere = await parley("memory", "validate", "x", "--source", "gossip", *MINE, cwd=small)
    assert (nowhere.status, "'gossip' is not one of" in nowhere.err) == (1, True)
    assert await contents(small) == before


async def test_people_are_listed_with_counts_only(small: Path) -> None:
    assert await lines(small, "memory", "people") == [
        {"person": person, "episodic": 2, "semantic": 2, "waiting": 1} for person in (ADA, BOB)
    ]
    shown = await parley("memory", "people", cwd=small)
    assert shown.out == f"{ADA}  2  2  1\n{BOB}  2  2  1\n"


async def test_a_person_lists_searches_and_forgets_their_own_memories(folder: Path) -> None:
    assert len(await contents(folder)) == 4
    assert not [text for text in await contents(folder) if "bob" in text]
    rows = await lines(folder, "memory", "search", "dog", *MINE)
    assert [(line["content"], line["tags"]) for line in rows] == [
        ("ada has a dog named Rex", ["pets"])
    ]
    kept = await parley("memory", "forget", "dog", *MINE, cwd=folder)
    assert kept.status == 1
    assert "ada has a dog" in kept.out
    assert "Nothing was deleted" in kept.err
    gone = await parley("memory", "forget", "dog", *MINE, "--yes", cwd=folder)
    assert (gone.status, gone.out.splitlines()[-1]) == (0, "1 deleted.")
    assert len(await contents(folder)) == 3
    assert len(await contents(folder, BOB)) == 4


@pytest.mark.parametrize(
    ("what", "needed", "gone", "left"),
    [("episodic", 1, 2, 2), ("semantic", 1, 3, 2), ("all", 2, 5, 0)],
    ids=["episodic", "semantic and what waits", "all and what waits"],
)
async def test_clearing_asks_once_or_twice_by_scope(
    small: Path, what: str, needed: int, gone: int, left: int
) -> None:
    for reply in range(needed):
        ended = await parley("memory", "clear", what, *MINE, *["--yes"] * reply, cwd=small)
        assert (ended.status, ended.out) == (1, "")
        assert ended.err.startswith("Nothing was deleted: ")
    assert len(await contents(small)) == 4
    ended = await parley("memory", "clear", what, *MINE, *["--yes"] * needed, cwd=small)
    assert (ended.status, ended.out) == (0, f"{gone} deleted.\n")
    assert len(await contents(small, BOB)) == 4
    if left:
        assert len(await contents(small)) == left
    else:
        ended = await parley("memory", "list", *MINE, cwd=small)
        assert (ended.status, "has no memories" in ended.err) == (1, True)


async def test_a_terminal_gets_questions_and_tables(small: Path) -> None:
    async with terminal(small, "memory", "list", *MINE) as run:
        shown, status = await run.rest()
    assert status == 0
    assert "since" in shown
    assert "[red]tabs[/red]" in shown
    assert "\x1b[31m" not in shown
    async with terminal(small, "memory", "clear", "all", *MINE) as run:
        await run.answer("?", "y")
        await run.answer("cannot be undone", "n")
        shown, status = await run.rest()
    assert (status, "Nothing was deleted." in shown) == (1, True)
    assert len(await contents(small)) == 4
    async with terminal(small, "memory", "review", *MINE) as run:
        await run.answer("[q]uit", "y")
        shown, status = await run.rest()
    assert (status, "Stored." in shown) == (0, True)
    async with terminal(small, "memory", "clear", "all", *MINE) as run:
        await run.answer("?", "y")
        await run.answer("cannot be undone", "y")
        shown, status = await run.rest()
    assert (status, "5 deleted." in shown) == (0, True)


async def test_a_pending_memory_is_decided_by_its_id(small: Path) -> None:
    (waits,) = await lines(small, "memory", "review", *MINE)
    assert waits["memory"]["content"] == "ada likes cats a lot"
    theirs = await parley("memory", "review", "--person", BOB, "--approve", waits["id"], cwd=small)
    assert (theirs.status, "No memory waits under" in theirs.err) == (1, True)
    (answer,) = await lines(small, "memory", "review", *MINE, "--approve", waits["id"][:12])
    assert (answer["kept"], answer["result"]) == (True, "Stored.")
    assert "ada likes cats a lot" in await contents(small)
    (other,) = await lines(small, "memory", "review", "--person", BOB)
    rejected = await parley("memory", "review", "--person", BOB, "--reject", other["id"], cwd=small)
    assert rejected.out == f"{other['id']}  Not kept.\n"
    assert await lines(small, "memory", "review", "--person", BOB) == []


async def test_an_export_names_the_zone_of_the_person(folder: Path) -> None:
    config = yaml.safe_load((folder / "config" / "parley.yaml").read_text())
    config["time"] = {"zone": "Asia/Seoul"}
    (folder / "config" / "parley.yaml").write_text(yaml.safe_dump(config))
    url = config["database"]["url"].replace("sqlite:///", f"sqlite:///{folder}/")
    settings = from_mapping({"database": {"url": url}})
    for chosen, expected in (("", "Asia/Seoul"), ("Europe/Zurich", "Europe/Zurich")):
        storage = Storage(settings, SystemClock())
        await storage.start()
        now = SystemClock().now()
        await storage.people_languages.put_zones("default", ADA, chosen, "", now)
        await storage.stop()
        out = await parley("memory", "export", f"in-{expected[:4]}", *MINE, cwd=folder)
        assert out.status == 0, out.err
        with (folder / f"in-{expected[:4]}").open() as lines:
            assert json.loads(next(lines))["zone"] == expected


async def test_memories_are_exported_cleared_and_imported_again(folder: Path) -> None:
    before = await contents(folder)
    (folder / "key").write_text(f"{KEY}\n")
    sealed = ("--key-file", "key")
    for file, key, more in (("plain", (), ()), ("sealed", sealed, ("--format", "parquet"))):
        out = await parley("memory", "export", file, *MINE, *key, *more, cwd=folder)
        assert (out.status, out.out.startswith(f"4 memories are in {file}")) == (0, True), out.err
        assert (folder / file).stat().st_mode & 0o777 == 0o600
        await parley("memory", "clear", "all", *MINE, "--yes", "--yes", cwd=folder)
        taken = await parley("memory", "import", file, *MINE, *key, cwd=folder)
        assert (taken.status, taken.out.splitlines()[-1]) == (0, "4 memories: 4 stored.")
        assert taken.out.splitlines()[0] == "line 2: stored"
    again = await parley("memory", "export", "plain", *MINE, cwd=folder)
    assert (again.status, "--force" in again.err) == (1, True)
    known = await parley("memory", "import", "plain", *MINE, cwd=folder)
    assert known.out.splitlines()[-1] == "4 memories: 4 known."
    assert await contents(folder) == before
    assert b"Rex" not in (folder / "sealed").read_bytes()


async def test_an_encrypted_file_requires_the_right_key(small: Path) -> None:
    env = {"PARLEY_EXPORT_KEY": KEY}
    nobody = await parley("memory", "export", "a", *MINE, "--encrypt", cwd=small)
    assert (nobody.status, "--key-file" in nobody.err) == (1, True)
    short = await parley(
        *("memory", "export", "a", *MINE, "--encrypt"), cwd=small, env={"PARLEY_EXPORT_KEY": "x"}
    )
    assert (short.status, "12 to 1000 characters" in short.err) == (1, True)
    assert not (small / "a").exists()
    out = await parley("memory", "export", "a", *MINE, "--encrypt", cwd=small, env=env)
    assert out.status == 0
    wrong = await parley(
        "memory", "import", "a", *MINE, cwd=small, env={"PARLEY_EXPORT_KEY": KEY + "!"}
    )
    assert (wrong.status, "does not decrypt the file" in wrong.err) == (1, True)


async def test_a_refused_line_is_reported_and_sets_the_exit_status(small: Path) -> None:
    file = small / "a.jsonl"
    file.write_text(
        '{"format":"parley-memory","version":1}\n{"content":"Has a cat"}\n{"content":1}\n'
    )
    ended = await parley("memory", "import", str(file), *MINE, cwd=small)
    assert ended.status == 1
    assert ended.out.splitlines()[0].startswith("line 2: stored: Nothing proves its origin")
    assert ended.out.splitlines()[1].startswith("line 3: unreadable: content: ")
    assert ended.out.splitlines()[2] == "2 memories: 1 stored, 1 unreadable."


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (("list",), 2, "memory people"),
        (("list", "--person", "ada"), 2, "memory people"),
        (("list", "--person", "telegram:main:nobody"), 1, "has no memories"),
        (("clear", "all", "--yes", "--yes"), 2, "--person"),
        (("clear", "working", *MINE), 2, "Invalid value"),
        (("import", "missing", *MINE), 1, "cannot read missing"),
        (("export", "no/such/folder", *MINE), 1, "cannot write"),
    ],
)
async def test_impossible_requests_are_reported(
    small: Path, arguments: tuple[str, ...], status: int, told: str
) -> None:
    ended = await parley("memory", *arguments, cwd=small)
    assert ended.status == status, ended
    assert told in " ".join(ended.err.split())
    assert "Traceback" not in ended.err


async def test_a_missing_memory_or_database_is_reported(tmp_path: Path) -> None:
    none = await parley("memory", "people", cwd=tmp_path)
    assert (none.status, "no database" in none.err) == (1, True)
    await filled(tmp_path, "sqlite:///data/parley.db")
    off = {"PARLEY_MEMORY__ENABLED": "false"}
    ended = await parley("memory", "list", *MINE, cwd=tmp_path, env=off)
    assert (ended.status, ended.err) == (1, "Memory is switched off (memory.enabled).\n")


async def test_it_works_while_the_gateway_runs(tmp_path: Path) -> None:
    telegram = TelegramSimulator()
    await telegram.start()
    (tmp_path / "config").mkdir()
    sections = {
        "platforms": {"telegram": telegram.settings()},
        "server": {"port": 0},
        "webhooks": {"port": 0},
    }
    (tmp_path / "config" / "parley.yaml").write_text(yaml.safe_dump(sections))
    ada = telegram.person("Ada")
    room = telegram.direct(ada)
    try:
        async with started("run", cwd=tmp_path) as gateway:
            await read_until(gateway.stdout, "ready gateway")
            await telegram.say(ada, room, "/remember I prefer tabs over spaces")
            await telegram.wait_for(
                room, lambda shown: any("I will remember" in m.text for m in shown)
            )
            (known,) = await lines(tmp_path, "memory", "people")
            mine = ("--person", known["person"])
            rows = await lines(tmp_path, "memory", "search", "tabs", *mine)
            assert [line["content"] for line in rows] == ["I prefer tabs over spaces"]
            gone = await parley("memory", "forget", "tabs", *mine, "--yes", cwd=tmp_path)
            assert gone.status == 0, gone.err
            await telegram.say(ada, room, "/memories tabs")
            await telegram.wait_for(
                room, lambda shown: any("found nothing about that" in m.text for m in shown)
            )
            verified = await parley("audit", "verify", cwd=tmp_path)
            assert verified.status == 0, verified
            gateway.send_signal(signal.SIGTERM)
            async with asyncio.timeout(PATIENCE):
                await gateway.communicate()
    finally:
        await telegram.stop()


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, status: asyncio.Task[int], end: int) -> None:
        self._status = status
        self._end = end
        self._shown = ""

    async def answer(self, question: str, text: str) -> None:
        """Wait for a question, and type the answer."""
        while question not in self._shown:
            assert await self._more(), f"ended before {question!r}: {self._shown}"
        self._shown = ""
        os.write(self._end, f"{text}\n".encode())

    async def rest(self) -> tuple[str, int]:
        """Return the rest of the output, and the status."""
        while await self._more():
            pass
        return self._shown, await self._status

    async def _more(self) -> bool:
        try:
            some = await asyncio.to_thread(os.read, self._end, 4_096)
        except OSError:  # how Linux says that the other end is closed
            return False
        self._shown += some.decode(errors="replace")
        return bool(some)


@asynccontextmanager
async def terminal(folder: Path, *arguments: str) -> AsyncIterator[Terminal]:
    """Runs `parley` on a pseudo-terminal, 200 columns wide."""
    end, theirs = pty.openpty()
    imported = await asyncio.to_thread(warm, os.environ["PATH"], str(ROOT))
    env = environment({"COLUMNS": "200", "TERM": "dumb"})
    status = asyncio.create_task(imported.run_on(theirs, arguments, cwd=folder, env=env))
    try:
        yield Terminal(status, end)
    finally:
        status.cancel()
        await asyncio.gather(status, return_exceptions=True)
        os.close(end)
