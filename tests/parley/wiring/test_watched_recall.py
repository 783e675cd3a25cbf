"""The metrics record each recall."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from db.errors import StoreUnavailable
from gateway.observe.recall_metrics import RecallMeasurement
from memory.model.recollection import Recollection, Stage
from memory.model.scope import AccessScope
from memory.ports.recall import Query
from parley.wiring.watched_recall import WatchedRecall
from tests.memory.stores.records import AT, access
from tests.support.clock import FakeClock


class Recalling:
    """Implements `Recall` with what it is given."""

    def __init__(self, answer: Callable[[], Awaitable[Recollection]]) -> None:
        self._answer = answer

    async def recall(self, access: AccessScope, query: Query) -> Recollection:
        return await self._answer()


async def test_steps_and_candidates_are_handed_on() -> None:
    clock, seen = FakeClock(), list[RecallMeasurement]()

    async def answer() -> Recollection:
        await clock.advance(0.5)
        stages = (Stage("bm25", 2.0), Stage("scoring", 0.5))
        return Recollection((), {"bm25": 3}, ("no_model",), stages)

    found = await WatchedRecall(Recalling(answer), clock, seen.append).recall(
        access(), Query("why", AT)
    )
    assert found.notes == ("no_model",)
    (one,) = seen
    assert (one.seconds, one.ended, one.results) == (0.5, "ok", 0)
    assert list(one.steps) == [("bm25", 0.002), ("scoring", 0.0005)]
    assert list(one.candidates) == [("bm25", 3)]
    assert list(one.notes) == ["no_model"]


async def test_a_failure_is_told_and_goes_on_to_whoever_asked() -> None:
    seen: list[RecallMeasurement] = []

    async def fail() -> Recollection:
        raise StoreUnavailable("away")

    watched = WatchedRecall(Recalling(fail), FakeClock(), seen.append)
    with pytest.raises(StoreUnavailable):
        await watched.recall(access(), Query("why", AT))
    assert [one.ended for one in seen] == ["StoreUnavailable"]


async def test_nobody_waits_any_longer() -> None:
    seen, begun = list[RecallMeasurement](), asyncio.Event()

    async def hang() -> Recollection:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    watched = WatchedRecall(Recalling(hang), FakeClock(), seen.append)
    asking = asyncio.create_task(watched.recall(access(), Query("why", AT)))
    await begun.wait()
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking
    assert [one.ended for one in seen] == ["stopped"]
