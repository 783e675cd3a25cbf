"""The decision about a message in a conversation that an operator took over."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.policy.takeover_return import decide_takeover

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
IDLE = timedelta(hours=8)


@pytest.mark.parametrize(
    ("ago", "allowed", "reason"),
    [
        (timedelta(0), False, "taken_over"),
        (IDLE - timedelta(seconds=1), False, "taken_over"),
        (IDLE, True, "returned_when_idle"),
        (timedelta(days=9), True, "returned_when_idle"),
        (-timedelta(seconds=5), False, "taken_over"),
    ],
)
def test_the_assistant_is_silent_until_the_operator_was_idle(
    ago: timedelta, allowed: bool, reason: str
) -> None:
    decision = decide_takeover(NOW - ago, NOW, IDLE)
    assert (decision.allowed, decision.reason) == (allowed, reason)
