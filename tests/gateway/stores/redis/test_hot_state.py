"""Limits that several processes share are exact, and reckoned as the pure function does."""

import asyncio
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.policy.rate_limits import Bucket, BucketRule, Level, take
from gateway.stores.redis.hot_state import RedisHotState
from tests.gateway.stores.redis.conftest import Open
from tests.gateway.stores.redis.support import new_prefix
from tests.support.property_cases import cases

MOMENTS = st.floats(0, 200, allow_nan=False)
LEVELS: tuple[Level, ...] = ("user", "channel", "workspace", "reserve")


@settings(
    max_examples=cases(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.integers(1, 12), min_size=3, max_size=4), st.lists(MOMENTS, max_size=25))
async def test_the_script_computes_exactly_the_same_as_the_function(
    state: RedisHotState, limits: list[int], moments: list[float]
) -> None:
    start, name = 1_795_000_000.123456, new_prefix()
    rules = [
        BucketRule(level, f"{name}:{level}", limit)
        for level, limit in zip(LEVELS, limits, strict=False)
    ]
    held: list[Bucket | None] = [None] * len(rules)
    for moment in moments:
        expected = take(rules, held, start + moment)
        assert await state.buckets.take(rules, start + moment) == expected
        held = list(expected.buckets)


async def test_three_levels_are_exact_across_processes(another: Open) -> None:
    one, two = await another(), await another()
    now = 1_795_000_000.0
    workspace = BucketRule("workspace", "w", 100)

    def asking(number: int) -> tuple[BucketRule, ...]:
        user = BucketRule("user", f"u{number % 40}", 5)
        return (user, BucketRule("channel", f"c{number % 4}", 20), workspace)

    taken = await asyncio.gather(
        *((one, two)[n % 2].buckets.take(asking(n), now) for n in range(1000))
    )
    assert sum(t.allowed for t in taken) == 80  # four channels of 20 end before the workspace
    left = await one.buckets.take((workspace,), now)
    assert left.buckets[0].tokens == 19


async def test_once_is_exact_across_processes(another: Open) -> None:
    states = [await another(), await another()]
    questions = await asyncio.gather(
        *(states[n % 2].buckets.claim("k", timedelta(minutes=1)) for n in range(40))
    )
    assert sum(questions) == 1
