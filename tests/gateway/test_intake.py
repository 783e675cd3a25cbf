"""What the door lets in, when events come at once, are cut off, or find no room."""

import asyncio

import pytest

from gateway.errors import StoreUnavailable
from gateway.message import InlineQueried, MessageAuthor
from tests.support.gateway import gateway
from tests.support.messages import direct, received

ADA = MessageAuthor("ada", "Ada")


async def test_an_adapter_that_is_cut_off_while_storing_leaves_nothing_unanswered() -> None:
    async with gateway() as g:
        handing_over = asyncio.create_task(g.intake(received("hello")))
        await asyncio.sleep(0)
        handing_over.cancel()
        await g.rest()
        assert g.texts == ["answer"]


async def test_without_room_nothing_is_stored_and_the_platform_is_told_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.lanes.MAX_WAITING", 0)
    async with gateway() as g:
        with pytest.raises(StoreUnavailable, match="waiting already"):
            await g.intake(received("one too many"))
        assert await g.rows("inbox") == 0


async def test_inline_queries_have_a_bound_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.routing.MAX_CONTROL_TASKS", 3)
    async with gateway() as g:
        for number in range(5):
            await g.intake(InlineQueried(f"q{number}", direct(), ADA, "why"))
        assert len(g.router._controls) == 3
        assert g.counts["inline_refused", "test"] == 2


async def test_what_arrives_after_the_end_is_left_in_the_inbox() -> None:
    async with gateway() as g:
        await g.router.stop()
        await g.take(received("late"))
        assert g.texts == []
        assert len(await g.services.stores.inbox.unfinished(10)) == 1
        assert g.router.idle
