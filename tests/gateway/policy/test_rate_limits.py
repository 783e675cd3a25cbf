"""Token buckets: exact, and all or none."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from gateway.people import PersonId
from gateway.policy.rate_limits import Bucket, BucketRule, RateLimits, Taken, rules_for, take
from tests.support.messages import direct, place

ADA = PersonId("test", "main", "ada")


def spend(
    rules: Sequence[BucketRule],
    times: int,
    at: float,
    before: Sequence[Bucket | None] | None = None,
) -> tuple[list[Taken], list[Bucket | None]]:
    held: list[Bucket | None] = list(before or [None] * len(rules))
    outcomes: list[Taken] = []
    for _ in range(times):
        taken = take(rules, held, at)
        held = list(taken.buckets)
        outcomes.append(taken)
    return outcomes, held


def test_five_messages_a_minute_pass_and_the_sixth_does_not() -> None:
    rules = rules_for(ADA, place(), RateLimits())
    outcomes, _ = spend(rules, 6, 0.0)
    assert [o.allowed for o in outcomes] == [True] * 5 + [False]
    assert outcomes[-1].level == "user"
    assert outcomes[-1].retry_after == 12.0


def test_waiting_as_long_as_told_is_enough() -> None:
    rules = rules_for(ADA, place(), RateLimits())
    outcomes, held = spend(rules, 6, 0.0)
    again, _ = spend(rules, 1, outcomes[-1].retry_after, held)
    assert again[0].allowed


def test_a_refusal_at_one_level_takes_nothing_at_the_others() -> None:
    rules = (BucketRule("user", "u", 5), BucketRule("channel", "c", 1))
    _, held = spend(rules, 1, 0.0)
    refused = take(rules, held, 0.0)
    assert not refused.allowed
    assert refused.level == "channel"
    assert held[0] is not None
    assert refused.buckets[0].tokens == held[0].tokens


def test_zero_lifts_a_limit() -> None:
    assert rules_for(ADA, direct(), RateLimits(0, 0, 0)) == ()


def test_two_people_have_two_buckets_and_share_the_channel() -> None:
    ada = rules_for(ADA, place(), RateLimits())
    ben = rules_for(PersonId("test", "main", "ben"), place(), RateLimits())
    assert ada[0].key != ben[0].key
    assert ada[1:] == ben[1:]


@given(
    limits=st.lists(st.integers(1, 30), min_size=1, max_size=3),
    gaps=st.lists(st.floats(0, 30, allow_nan=False), min_size=1, max_size=120),
)
def test_no_bucket_ever_gives_more_than_it_holds_and_regains(
    limits: list[int], gaps: list[float]
) -> None:
    rules = tuple(BucketRule("user", str(i), limit) for i, limit in enumerate(limits))
    held: list[Bucket | None] = [None] * len(rules)
    now, granted = 0.0, 0
    for gap in gaps:
        now += gap
        taken = take(rules, held, now)
        held = list(taken.buckets)
        granted += taken.allowed
        pairs = zip(taken.buckets, limits, strict=True)
        assert all(-1e-9 <= bucket.tokens <= limit for bucket, limit in pairs)
    assert granted <= min(limit + now * limit / 60 for limit in limits) + 1e-6
