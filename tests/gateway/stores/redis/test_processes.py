"""Processes report to each other through Redis, by its clock."""

import asyncio

import pytest

from db.errors import StoreUnavailable
from gateway.ports.processes import AccountReport, ProcessReport, SeenProcess
from gateway.stores.redis import processes
from gateway.stores.redis.hot_state import RedisHotState
from tests.gateway.stores.redis.conftest import Open
from tests.support.waiting import eventually

TELEGRAM = AccountReport("telegram", "ready", "", 12.5, None)
ADAPTER = ProcessReport("box", "adapter", "telegram", (TELEGRAM,), ("telegram", "web"))
WORKER = ProcessReport("box", "worker", configured=("telegram", "web"))


def by_name(seen: tuple[SeenProcess, ...]) -> dict[str, SeenProcess]:
    return {one.name: one for one in seen}


async def test_each_process_sees_the_reports_of_all(state: RedisHotState, another: Open) -> None:
    other = await another()
    await state.processes.report(ADAPTER)
    seen = by_name(await other.processes.report(WORKER))
    assert {one.report.role for one in seen.values()} == {"adapter", "worker"}
    assert seen[state.worker].report == ADAPTER
    assert all(one.age < 5 and not one.ended for one in seen.values())
    assert by_name(await other.processes.look()).keys() == seen.keys(), "a look is no report"


async def test_a_process_that_stops_says_so_and_a_new_report_takes_it_back(
    state: RedisHotState,
) -> None:
    await state.processes.report(WORKER)
    await state.processes.leave()
    (seen,) = await state.processes.look()
    assert seen.ended
    (seen,) = await state.processes.report(WORKER)
    assert not seen.ended


async def test_a_gap_starts_the_watch_anew(
    state: RedisHotState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "MISSING_AFTER", 0.2)
    watching: list[float] = []

    async def has_watched() -> bool:
        (seen,) = await state.processes.report(WORKER)
        watching.append(seen.watching)
        return seen.watching > 0.3

    await eventually(has_watched)
    silent = asyncio.Event()
    asyncio.get_running_loop().call_later(0.3, silent.set)
    await silent.wait()
    (seen,) = await state.processes.report(WORKER)
    assert seen.watching < watching[-1]
    assert seen.age < 0.2


async def test_old_and_surplus_processes_are_forgotten(
    another: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "MAX_PROCESSES", 3)
    states = [await another() for _ in range(5)]
    for one in states:
        seen = await one.processes.report(WORKER)
        await asyncio.sleep(0.002)  # Redis measures milliseconds
    assert [one.name for one in seen] == [one.worker for one in states[-3:]]
    keys = await states[0].client.scan(states[0].client.key("processes"), 100)
    assert keys
    for key in keys:
        assert await states[0].client.command("PTTL", key) > 0, "everything expires by itself"
    monkeypatch.setattr(processes, "FORGOTTEN_AFTER", 0.001)
    assert len(await states[0].processes.report(WORKER)) <= 1


async def test_a_report_that_cannot_be_read_is_left_out(state: RedisHotState) -> None:
    await state.processes.report(WORKER)
    await state.client.command("HSET", state.processes._keys[0], "other", '{"role": 7}')
    await state.client.command("ZADD", state.processes._keys[1], 9e15, "other")
    assert by_name(await state.processes.look()).keys() == {state.worker}


async def test_an_unavailable_store_is_an_error_that_names_it(state: RedisHotState) -> None:
    await state.client.stop()
    with pytest.raises(StoreUnavailable) as raised:
        await state.processes.report(WORKER)
    assert raised.value.store == "Redis"
