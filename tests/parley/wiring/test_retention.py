"""Expired data is deleted after its period, not before."""

from gateway.stores.feedback import Feedback, Thumbs
from parley.config import from_mapping
from parley.runtime.housekeeping import Housekeeping
from parley.wiring.retention import KEEP_FEEDBACK, storage_chores
from parley.wiring.storage import Storage
from tests.support.clock import FakeClock


async def test_feedback_is_deleted_after_its_period() -> None:
    clock = FakeClock()
    settings = from_mapping({"database": {"url": "memory://"}})
    storage = Storage(settings, clock)
    await storage.start()
    try:
        feedback = storage.stores.feedback
        await feedback.put(Feedback("key", "test:main:ada", "t", "x1", 1, clock.now()))
        housekeeping = Housekeeping(storage_chores(storage, settings, clock), clock)
        await clock.advance(KEEP_FEEDBACK.total_seconds())
        await housekeeping.round()
        assert await feedback.of(["x1"]) == {"x1": Thumbs(1, 0)}
        await clock.advance(1)
        await housekeeping.round()
        assert await feedback.of(["x1"]) == {}
    finally:
        await storage.stop()
