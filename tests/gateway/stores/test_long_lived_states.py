"""The long-lived state of adapters, on both engines."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.errors import BadInput
from gateway.stores.long_lived_states import LongLivedStates
from tests.support.clock import FakeClock
from tests.support.databases import Engine

YEAR = timedelta(days=365)


async def test_values_belong_to_an_account_and_expire(engine: Engine) -> None:
    clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    states = LongLivedStates(engine, clock)
    main, other = states.of("telegram", "main"), states.of("telegram", "other")
    await main.put("a", "1", YEAR)
    await main.put("a", "2", 2 * YEAR)
    await main.put("b", "\x003", YEAR)
    assert (await main.get("a"), await other.get("a"), await main.get("c")) == ("2", None, None)
    await clock.advance(YEAR.total_seconds())
    assert (await main.get("a"), await main.get("b")) == ("2", None)
    assert (await states.prune(), await states.prune()) == (1, 0)
    with pytest.raises(BadInput):
        await main.put("x" * 201, "1", YEAR)
    with pytest.raises(BadInput):
        await main.put("x", "1" * 4_001, YEAR)
