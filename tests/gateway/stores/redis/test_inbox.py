"""The inbox in Redis: a call whose answer was lost can be repeated."""

from typing import Any

import pytest

from db.errors import StoreUnavailable
from gateway.stores.redis.client import Script
from gateway.stores.redis.hot_state import RedisHotState
from gateway.stores.redis.inbox import ADD
from tests.gateway.stores.redis.workers import DAY, entry
from tests.support.messages import outbound


async def test_the_same_answer_stored_again_counts_once(state: RedisHotState) -> None:
    await state.inbox.add(entry(1, 1), DAY)
    answer = (outbound("r1:0"), outbound("r1:1"))
    assert await state.inbox.finish(("id-1",), answer)
    assert await state.inbox.finish(("id-1",), answer)
    assert not await state.inbox.finish(("id-1",), (outbound("r2:0"),))
    waiting = [send.outbound.key for send in await state.outbox.waiting(10)]
    assert waiting == ["r1:0", "r1:1"]


async def test_an_event_answered_before_its_acceptance_was_confirmed_is_new(
    state: RedisHotState, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, lost = state.client._run, 0

    async def losing_the_first_reply(script: Script, *rest: Any) -> Any:
        nonlocal lost
        answer = await run(script, *rest)
        if script is ADD and not lost:
            lost += 1
            assert await state.inbox.finish(("id-1",), ())
            raise StoreUnavailable("the connection broke before the answer came")
        return answer

    monkeypatch.setattr(state.client, "_run", losing_the_first_reply)
    assert await state.inbox.add(entry(1, 1), DAY)
    assert lost == 1
    assert not await state.inbox.add(entry(1, 1), DAY)


async def test_conversations_keep_their_order_within_a_partition(state: RedisHotState) -> None:
    for number in range(200):
        await state.inbox.add(entry(number, 7), DAY)
    left = await state.inbox.unfinished(200)
    for conversation in range(7):
        mine = [item.id for item in left if item.conversation == f"conversation-{conversation}"]
        assert mine == [f"id-{number}" for number in range(conversation, 200, 7)]
    assert len(await state.inbox.unfinished(50)) == 50
