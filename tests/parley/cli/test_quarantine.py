"""The commands of an operator for quarantined work."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from gateway.inbound.crash_loop_guard import CRASHES, CrashCounts
from gateway.ports.clock import SystemClock
from gateway.ports.work_guard import Quarantined, WorkItem, WorkOwner
from parley.config import from_mapping
from parley.wiring.storage import Storage
from tests.parley.cli.kit import parley

AT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
TURN, MESSAGE = WorkItem("waiting_turn", "t1"), WorkItem("message", "m1")


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, object]:
    made: dict[str, object] = {"database": {"url": f"sqlite:///{tmp_path}/parley.db"}}
    (tmp_path / "parley.yaml").write_text(yaml.safe_dump(made))

    async def fill() -> None:
        storage = Storage(from_mapping(made), SystemClock())
        await storage.start()
        owner = WorkOwner("default", "telegram:main:\x1b[31m7", "telegram:main:C1")
        for item in (TURN, MESSAGE):
            await storage.quarantine.add(Quarantined(item.kind, item.id, owner, 8, AT))
            await CrashCounts(storage.stores.states.of(*CRASHES)).put(item, 8)
        await storage.stop()

    asyncio.run(fill())
    return made


async def weight(settings: dict[str, object], item: WorkItem) -> int:
    storage = Storage(from_mapping(settings), SystemClock())
    await storage.start(exclusive=False)
    try:
        return await CrashCounts(storage.stores.states.of(*CRASHES)).of(item)
    finally:
        await storage.stop()


async def test_the_list_shows_kind_time_person_and_place(
    settings: dict[str, object], tmp_path: Path
) -> None:
    listed = await parley("quarantine", "list", "-c", "parley.yaml", cwd=tmp_path)
    assert listed.status == 0
    assert listed.out.splitlines() == [
        f"{kind}:{id_}  2026-11-21 09:00:00 UTC  person telegram:main: [31m7"
        "  place telegram:main:C1  weight 8"
        for kind, id_ in (("message", "m1"), ("waiting_turn", "t1"))
    ]
    shown = await parley("quarantine", "show", "message:m1", "-c", "parley.yaml", cwd=tmp_path)
    assert "Its author was notified" in shown.out
    assert "parley quarantine discard message:m1" in shown.out


async def test_released_work_starts_without_earlier_crashes(
    settings: dict[str, object], tmp_path: Path
) -> None:
    ended = await parley(
        "quarantine", "retry", "waiting_turn:t1", "message:m1", "-c", "parley.yaml", cwd=tmp_path
    )
    assert (ended.status, ended.out) == (1, "to be tried again: 1\n")
    assert "message:m1: not retried, because its text is deleted" in ended.err
    assert (await weight(settings, TURN), await weight(settings, MESSAGE)) == (0, 8)
    again = await parley(
        "quarantine", "retry", "waiting_turn:t1", "-c", "parley.yaml", cwd=tmp_path
    )
    assert (again.status, again.err) == (1, "not in quarantine: 1; see `parley quarantine list`\n")


async def test_discarded_work_is_deleted(settings: dict[str, object], tmp_path: Path) -> None:
    keys = ("waiting_turn:t1", "message:m1")
    ended = await parley("quarantine", "discard", *keys, "-c", "parley.yaml", cwd=tmp_path)
    assert (ended.status, ended.out) == (0, "discarded: 2\n")
    listed = await parley("quarantine", "list", "-c", "parley.yaml", cwd=tmp_path)
    assert listed.out == "The quarantine is empty.\n"
    shown = await parley("quarantine", "show", "message:m1", "-c", "parley.yaml", cwd=tmp_path)
    assert shown.status == 1
    assert shown.err.startswith("message:m1 is not in quarantine")


@pytest.mark.parametrize("key", ["t1", "letter:t1", "chore:"])
async def test_an_unknown_key_is_refused(
    key: str, settings: dict[str, object], tmp_path: Path
) -> None:
    ended = await parley("quarantine", "show", key, "-c", "parley.yaml", cwd=tmp_path)
    assert ended.status == 1
    assert "a key is KIND:ID" in ended.err
