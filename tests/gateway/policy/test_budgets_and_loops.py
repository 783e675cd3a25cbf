"""Money that cannot be overspent, and bots that cannot keep each other going."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.budgets import MICRO, BudgetAccount, Budgets, accounts_for, decide_budget
from gateway.policy.rate_limits import BotLoopGuard, BotLoopLimits
from tests.support.messages import place

NOW = datetime(2026, 11, 21, 23, 59, tzinfo=UTC)
ADA = "test:main:ada"


def test_only_configured_budgets_have_an_account() -> None:
    accounts = accounts_for("t", ADA, place(), Budgets(user_per_day=1.5), NOW)
    assert [(a.name, a.limit) for a in accounts] == [("user_per_day", 1_500_000)]
    assert "2026-11-21" in accounts[0].key


def test_one_person_cannot_use_the_whole_budget_of_a_workspace() -> None:
    budgets = Budgets(workspace_per_day=8, workspace_per_month=100, user_per_month=2)
    limits = {a.name: a.limit / MICRO for a in accounts_for("t", ADA, place(), budgets, NOW)}
    assert limits == {
        "user_per_day": 2,
        "user_per_month": 2,
        "workspace_per_day": 8,
        "workspace_per_month": 100,
    }


def test_the_share_of_a_person_is_configurable() -> None:
    budgets = Budgets(workspace_per_day=8, user_share=0.5)
    limits = [a.limit / MICRO for a in accounts_for("t", ADA, place(), budgets, NOW)]
    assert limits == [4, 8]
    assert accounts_for("t", ADA, place(), Budgets(user_share=0.5), NOW) == ()


def test_a_new_day_starts_a_new_account() -> None:
    budgets = Budgets(user_per_day=1, user_per_month=1)
    today = accounts_for("t", ADA, place(), budgets, NOW)
    tomorrow = accounts_for("t", ADA, place(), budgets, datetime(2026, 11, 22, tzinfo=UTC))
    assert today[0].key != tomorrow[0].key
    assert today[1].key == tomorrow[1].key


def test_an_exhausted_budget_is_named() -> None:
    accounts = (
        BudgetAccount("user_per_day", "a", MICRO),
        BudgetAccount("workspace_per_day", "b", MICRO),
    )
    outcome = decide_budget(accounts, (0, MICRO), 1)
    assert not outcome.decision.allowed
    assert outcome.decision.reason == "workspace_per_day"


def test_alerts_are_sent_once_at_50_75_and_90_percent() -> None:
    account = (BudgetAccount("user_per_day", "a", 100),)
    assert decide_budget(account, (40,), 10).alerts == (("user_per_day", 0.5),)
    assert decide_budget(account, (50,), 10).alerts == ()
    assert decide_budget(account, (60,), 35).alerts == (
        ("user_per_day", 0.75),
        ("user_per_day", 0.9),
    )


@given(
    limit=st.integers(0, 1000),
    asks=st.lists(st.integers(0, 400), max_size=30),
)
def test_reservations_never_exceed_the_limit(limit: int, asks: list[int]) -> None:
    account, used = (BudgetAccount("user_per_day", "a", limit),), 0
    for ask in asks:
        if decide_budget(account, (used,), ask).decision.allowed:
            used += ask
    assert used <= limit


def test_two_bots_are_stopped_for_the_whole_pause() -> None:
    guard = BotLoopGuard(BotLoopLimits(messages=3, window=60, pause=300))
    verdicts = [guard.check("c", by_bot=True, now=float(i)).reason for i in range(5)]
    assert verdicts == ["bot", "bot", "bot", "bot_loop", "bot_loop_paused"]
    assert guard.check("c", by_bot=True, now=302.0).reason == "bot_loop_paused"
    assert guard.check("c", by_bot=True, now=304.0).allowed


def test_people_never_count_as_a_loop() -> None:
    guard = BotLoopGuard(BotLoopLimits(messages=1))
    assert all(guard.check("c", by_bot=False, now=0.0).allowed for _ in range(50))


def test_a_slow_bot_is_not_a_loop() -> None:
    guard = BotLoopGuard(BotLoopLimits(messages=2, window=60))
    assert all(guard.check("c", by_bot=True, now=i * 40.0).allowed for i in range(20))
