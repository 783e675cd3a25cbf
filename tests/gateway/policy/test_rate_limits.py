"""Token buckets: exact, and all or none."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from gateway.message import MessageAuthor, Place
from gateway.policy.rate_limits import (
    Bucket,
    BucketRule,
    RateLimits,
    Taken,
    rules_for,
    sender_key,
    take,
)
from tests.support.messages import direct, place

ADA = "test:main:ada"
BEN = "test:main:ben"


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


def test_five_messages_a_minute_pass_and_the_sixth_is_refused() -> None:
    rules = rules_for("t", ADA, place(), RateLimits())
    outcomes, _ = spend(rules, 6, 0.0)
    assert [o.allowed for o in outcomes] == [True] * 5 + [False]
    assert outcomes[-1].level == "user"
    assert outcomes[-1].retry_after == 12.0


def test_a_message_after_the_stated_wait_passes() -> None:
    rules = rules_for("t", ADA, place(), RateLimits())
    outcomes, held = spend(rules, 6, 0.0)
    again, _ = spend(rules, 1, outcomes[-1].retry_after, held)
    assert again[0].allowed


def test_a_refusal_at_one_level_takes_no_token_at_the_others() -> None:
    rules = (BucketRule("user", "u", 5), BucketRule("channel", "c", 1))
    _, held = spend(rules, 1, 0.0)
    refused = take(rules, held, 0.0)
    assert not refused.allowed
    assert refused.level == "channel"
    assert held[0] is not None
    assert refused.buckets[0].tokens == held[0].tokens


def test_zero_removes_a_limit() -> None:
    assert (
        rules_for(
            "t",
            ADA,
            direct(),
            RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0),
        )
        == ()
    )
    assert (
        rules_for(
            "t",
            ADA,
            direct(),
            RateLimits(
                user_per_minute=0,
                channel_per_minute=0,
                workspace_per_minute=0,
                reserve_per_minute=5,
            ),
        )
        == ()
    )


def test_two_people_have_separate_buckets_and_share_the_channel() -> None:
    ada = rules_for("t", ADA, place(), RateLimits())
    ben = rules_for("t", BEN, place(), RateLimits())
    assert ada[0].key != ben[0].key
    shared = [rule for rule in ada if rule.level in ("channel", "workspace")]
    assert shared == [rule for rule in ben if rule.level in ("channel", "workspace")]
    assert len(shared) == 2


@given(
    limits=st.lists(st.integers(1, 30), min_size=1, max_size=3),
    gaps=st.lists(st.floats(0, 30, allow_nan=False), min_size=1, max_size=120),
)
def test_no_bucket_gives_more_than_its_capacity_and_refill(
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


class Room:
    """Buckets of several people in one place."""

    def __init__(self, at: Place, limits: RateLimits) -> None:
        self.at = at
        self.limits = limits
        self.held: dict[str, Bucket] = {}

    def ask(self, person: str, now: float) -> Taken:
        rules = rules_for("t", person, self.at, self.limits)
        taken = take(rules, [self.held.get(rule.key) for rule in rules], now)
        self.held.update(zip((rule.key for rule in rules), taken.buckets, strict=True))
        return taken


def test_thirty_accounts_do_not_block_another_one_in_a_workspace() -> None:
    room = Room(place(), RateLimits())
    for number in range(30):
        for _ in range(5):
            room.ask(f"test:main:{number}", 0.0)
    assert room.ask(ADA, 0.0).allowed
    refused = room.ask(ADA, 0.0)
    assert (refused.allowed, refused.level) == (False, "channel")


def test_without_a_workspace_nothing_is_shared_beyond_the_channel() -> None:
    for at in (direct(), place(workspace="")):
        levels = [rule.level for rule in rules_for("t", ADA, at, RateLimits())]
        assert levels == ["user", "channel", "reserve"]
    here = rules_for("t", ADA, place("C1", workspace=""), RateLimits())
    there = rules_for("t", BEN, place("C2", workspace=""), RateLimits())
    assert {rule.key for rule in here}.isdisjoint(rule.key for rule in there)


def test_a_refusal_states_when_the_reserve_has_a_token() -> None:
    room = Room(place(), RateLimits(user_per_minute=5, channel_per_minute=1, reserve_per_minute=2))
    outcomes = [room.ask(ADA, 0.0).allowed for _ in range(3)]
    assert outcomes == [True, True, False]
    assert room.ask(ADA, 0.0).retry_after == 30.0
    assert room.ask(ADA, 30.0).allowed


def test_names_of_which_one_person_can_have_many_are_one_sender() -> None:
    at = place()
    channel, other = MessageAuthor("-1001", is_chat=True), MessageAuthor("-1002", is_chat=True)
    hook = MessageAuthor("77", is_bot=True)
    keys = {sender_key(f"test:main:{a.id}", a, at) for a in (channel, other, hook)}
    assert len(keys) == 1
    assert sender_key(ADA, MessageAuthor("ada"), at) == ADA
    assert sender_key(ADA, channel, place("C2")) not in keys


@given(
    bounds=st.builds(
        RateLimits,
        user_per_minute=st.integers(1, 10),
        channel_per_minute=st.integers(1, 20),
        workspace_per_minute=st.integers(1, 40),
        reserve_per_minute=st.integers(1, 3),
    ),
    asked=st.lists(st.tuples(st.integers(0, 7), st.floats(0, 20)), max_size=150),
    workspace=st.sampled_from(["", "W1"]),
)
def test_nobody_is_refused_below_the_reserve_and_the_total_is_limited(
    bounds: RateLimits, asked: list[tuple[int, float]], workspace: str
) -> None:
    room = Room(place(workspace=workspace), bounds)
    now, passed = 0.0, dict.fromkeys(range(8), 0)
    last: dict[int, float] = {}
    for person, gap in asked:
        now += gap
        taken = room.ask(f"test:main:{person}", now)
        if now - last.get(person, -60.0) >= 60:
            assert taken.allowed, "nothing was answered for a minute"
        if not taken.allowed:
            assert taken.retry_after > 0
            continue
        passed[person] += 1
        last[person] = now
    minutes = now / 60 + 1
    shared = min(bounds.channel_per_minute, bounds.workspace_per_minute if workspace else 10**6)
    reserves = bounds.reserve_per_minute * minutes * sum(n > 0 for n in passed.values())
    assert sum(passed.values()) <= shared * minutes + reserves + 1e-6
    assert all(n <= bounds.user_per_minute * minutes + 1e-6 for n in passed.values())
