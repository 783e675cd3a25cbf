"""Learned token counts are available after a restart."""

import json
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.errors import StoreUnavailable
from gateway.llm.calibration import (
    EXACT,
    Calibration,
    PersistentCalibrations,
    TokenCalibrations,
    read,
    written,
)
from gateway.llm.tokens import by_script
from gateway.ports import AdapterState
from gateway.stores.sqlite.hot_state import MAX_VALUE, SqliteAdapterStates
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database
from tests.support.for_each import for_each

TRUE = Calibration(1.15, 0.8, 0.7, 1.3, 346)


def taught(prompts: int) -> Calibration:
    calibration = EXACT
    for n in range(1, prompts + 1):
        scripts = by_script("Съешь ещё этих булок. " * n + "And some tea. " * 20)
        calibration = calibration.observe(scripts, 0, round(TRUE.predict(scripts, 0)))
    return calibration


def of_script(text: str) -> Calibration:
    """Return the calibration from prompts in one script."""
    calibration = EXACT
    for n in range(1, 41):
        scripts = by_script(text * 5 * n)
        calibration = calibration.observe(scripts, 0, round(TRUE.predict(scripts, 0)))
    return calibration


@pytest.fixture
async def state() -> AsyncIterator[AdapterState]:
    database = sqlite_database(":memory:")
    await database.start()
    yield SqliteAdapterStates(database, FakeClock()).of("parley", "counting")
    await database.stop()


async def test_the_calibration_survives_a_restart(state: AdapterState) -> None:
    before, learned = TokenCalibrations(), taught(9)
    before.learn("claude", learned)
    await PersistentCalibrations(before, state, lambda: ["claude", "other"]).save()

    after = TokenCalibrations()
    await PersistentCalibrations(after, state, lambda: ["claude", "other"]).load()
    assert after.latest("claude") == after.steady("claude") == learned
    assert after.latest("other") == EXACT


def test_a_long_turn_does_not_overwrite_the_calibration_of_shorter_ones() -> None:
    known = TokenCalibrations()
    known.learn("claude", taught(12))
    known.learn("claude", taught(2))
    assert known.latest("claude") == taught(12)


async def test_only_changes_are_written(state: AdapterState) -> None:
    known, puts = TokenCalibrations(), list[str]()

    class Watched:
        get = state.get

        async def put(self, key: str, value: str, ttl: object) -> None:
            puts.append(key)

    kept = PersistentCalibrations(known, Watched(), lambda: ["a", "b"])
    await kept.save()
    known.learn("a", taught(1))
    await kept.save()
    await kept.save()
    known.learn("a", taught(2))
    await kept.save()
    assert puts == ["a", "a"]


async def test_several_processes_keep_the_best_value_of_each(state: AdapterState) -> None:
    latin, chinese = of_script("And some tea, and a cake. "), of_script("茶とお菓子をください。")
    for learned in (latin, chinese):
        known = TokenCalibrations()
        known.learn("claude", learned)
        await PersistentCalibrations(known, state, lambda: ["claude"]).save()

    after = TokenCalibrations()
    await PersistentCalibrations(after, state, lambda: ["claude"]).load()
    assert after.latest("claude").latin == latin.latin == pytest.approx(TRUE.latin, abs=0.05)
    assert after.latest("claude").three == chinese.three == pytest.approx(TRUE.three, abs=0.05)
    assert after.latest("claude").samples == 40


async def test_the_state_of_a_single_process_is_kept_unchanged(state: AdapterState) -> None:
    known = TokenCalibrations()
    process = PersistentCalibrations(known, state, lambda: ["claude"])
    for prompts in (40, 41, 80):
        known.learn("claude", taught(prompts))
        await process.save()
    text = await state.get("claude")
    assert text is not None
    assert read(text) == taught(80)


async def test_an_unavailable_store_does_not_stop_the_calibration() -> None:
    class Away:
        async def get(self, key: str) -> str | None:
            raise StoreUnavailable("gone")

        async def put(self, key: str, value: str, ttl: object) -> None:
            raise StoreUnavailable("gone")

    known = TokenCalibrations()
    kept = PersistentCalibrations(known, Away(), lambda: ["a"])
    await kept.load()
    known.learn("a", taught(1))
    assert await kept.save() == 0


def test_a_state_is_small_and_survives_storage() -> None:
    calibration = taught(40)
    assert read(written(calibration)) == calibration
    assert len(written(calibration)) < 1_000 < MAX_VALUE


def broken(**changes: object) -> str:
    return json.dumps({**json.loads(written(taught(3))), **changes})


@for_each(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        broken(latin=0.1),
        broken(constant=-1),
        broken(samples="many"),
        broken(four=float("nan")),
        broken(covariance=[]),
        broken(covariance=[[0.0] * 5] * 5),
        broken(covariance=[[float("inf")] * 5] * 5),
        broken(another=1),
    ],
)
def test_an_invalid_state_is_discarded(text: str) -> None:
    assert read(text) is None


@given(st.text(max_size=200))
def test_any_stored_state_is_read_without_a_crash(text: str) -> None:
    read(text)
