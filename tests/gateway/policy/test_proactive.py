"""The decision about a message that the assistant writes first."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.immutable import replace
from gateway.message import Reach
from gateway.policy import proactive
from gateway.policy.decision import Decision
from gateway.policy.proactive import Circumstances, Kind, ProactiveMessage, may_send
from gateway.policy.quiet_hours import QuietHours

ZURICH = ZoneInfo("Europe/Zurich")
NIGHT = QuietHours(22 * 60, 7 * 60)
AT_NIGHT = datetime(2026, 11, 21, 22, 15, tzinfo=UTC)  # 23:15 in Zurich
MORNING = datetime(2026, 11, 22, 6, tzinfo=UTC)
NOON = datetime(2026, 11, 21, 11, 20, tzinfo=UTC)
NOTICE = ProactiveMessage("notice")
FREE = Circumstances(NOON, ZURICH)


def circumstances(now: datetime = NOON, **facts: Any) -> Circumstances:
    changed: Circumstances = replace(FREE, now=now, **facts)
    return changed


def test_without_rules_a_message_is_sent() -> None:
    verdict = may_send(NOTICE, FREE)
    assert (verdict.action, verdict.reason) == ("send", proactive.SENT)
    assert verdict.decision() == Decision("proactive", True, "within_rules")


@pytest.mark.parametrize("kind", ["recurring", "notice"])
def test_quiet_hours_delay_what_nobody_asked_for_at_this_time(kind: Kind) -> None:
    verdict = may_send(ProactiveMessage(kind), circumstances(AT_NIGHT, own=NIGHT))
    assert (verdict.action, verdict.reason) == ("wait", proactive.OWN_HOURS)
    assert verdict.until == MORNING
    assert verdict.decision().detail == "until 2026-11-22 06:00 UTC"


def test_a_time_that_the_person_named_counts_more_than_their_hours() -> None:
    asked = ProactiveMessage("asked", asked_for=AT_NIGHT)
    verdict = may_send(asked, circumstances(AT_NIGHT, own=NIGHT))
    assert (verdict.action, verdict.reason) == ("send", proactive.ASKED_FOR)
    late = may_send(asked, circumstances(AT_NIGHT + timedelta(hours=3), own=NIGHT))
    assert late.action == "send", "still the same night"


def test_a_time_outside_of_the_hours_is_no_reason_to_disturb_them_later() -> None:
    asked = ProactiveMessage("asked", asked_for=NOON)
    verdict = may_send(asked, circumstances(AT_NIGHT, own=NIGHT))
    assert (verdict.action, verdict.until) == ("wait", MORNING)
    night_before = ProactiveMessage("asked", asked_for=AT_NIGHT - timedelta(days=1))
    assert may_send(night_before, circumstances(AT_NIGHT, own=NIGHT)).action == "wait"


def test_the_hours_of_a_place_hold_for_what_one_person_asked_for() -> None:
    asked = ProactiveMessage("asked", asked_for=AT_NIGHT)
    verdict = may_send(asked, circumstances(AT_NIGHT, place=NIGHT))
    assert (verdict.action, verdict.reason) == ("wait", proactive.PLACE_HOURS)


def test_over_the_limit_single_reminders_come_together_and_others_the_next_day() -> None:
    full = circumstances(sent=20, most=20)
    asked = may_send(ProactiveMessage("asked", asked_for=NOON), full)
    assert (asked.reason, asked.until) == (proactive.TOGETHER, NOON.replace(hour=12, minute=0))
    for kind in ("recurring", "notice"):
        other = may_send(ProactiveMessage(kind), full)
        assert (other.action, other.reason) == ("wait", proactive.LIMIT)
        assert other.until == datetime(2026, 11, 21, 23, tzinfo=UTC), "midnight in Zurich"


def test_a_day_has_room_up_to_the_limit_and_zero_is_no_limit() -> None:
    assert may_send(NOTICE, circumstances(sent=19, most=20)).action == "send"
    assert may_send(NOTICE, circumstances(sent=10_000, most=0)).action == "send"


def test_a_closed_window_waits_for_the_person() -> None:
    verdict = may_send(NOTICE, circumstances(reach="closed"))
    assert (verdict.action, verdict.reason) == ("wait_for_person", proactive.WINDOW)
    assert verdict.until == NOON + proactive.LOOK_AGAIN


@pytest.mark.parametrize(
    ("message", "action"),
    [
        (ProactiveMessage("notice", chars=900), "send"),
        (ProactiveMessage("notice", chars=901), "wait_for_person"),
        (ProactiveMessage("notice", chars=9, needs_buttons=True), "wait_for_person"),
    ],
)
def test_a_template_takes_a_short_text_without_buttons(
    message: ProactiveMessage, action: str
) -> None:
    verdict = may_send(message, circumstances(reach="template", template_chars=900))
    assert verdict.action == action
    assert verdict.by_template is (action == "send")


def test_who_lost_access_or_left_gets_nothing() -> None:
    refused = circumstances(access=Decision("access", False, "user_blocked"))
    verdict = may_send(ProactiveMessage("asked", asked_for=NOON), refused)
    assert (verdict.action, verdict.reason) == ("never", "user_blocked")
    assert may_send(NOTICE, circumstances(member=False)).reason == proactive.LEFT
    unsure = may_send(NOTICE, circumstances(member=None))
    assert (unsure.action, unsure.reason) == ("wait", proactive.UNSURE)


def test_what_is_of_no_use_any_more_is_dropped() -> None:
    verdict = may_send(ProactiveMessage("notice", until=NOON), FREE)
    assert (verdict.action, verdict.reason) == ("never", proactive.EXPIRED)


def test_the_next_day_begins_also_where_the_clock_skips_midnight() -> None:
    beirut = ZoneInfo("Asia/Beirut")
    before = datetime(2026, 3, 28, 21, 30, tzinfo=UTC)  # 23:30; the clock jumps to 01:00
    assert proactive.next_day(before, beirut) == datetime(2026, 3, 28, 22, tzinfo=UTC)


TIMES = st.integers(0, 2 * 365 * 1440).map(lambda minutes: NOON + timedelta(minutes=minutes))


@given(
    st.sampled_from(("asked", "recurring", "notice")),
    TIMES,
    st.none() | st.integers(-3000, 3000),
    st.sampled_from(("open", "template", "closed")),
    st.integers(0, 3),
    st.none() | st.integers(1, 1439),
    st.sampled_from(("Europe/Zurich", "America/Santiago", "Asia/Beirut", "Pacific/Apia")),
)
def test_a_message_that_waits_is_decided_again_later_and_ends(
    kind: Kind,
    now: datetime,
    asked: int | None,
    reach: Reach,
    sent: int,
    end: int | None,
    zone: str,
) -> None:
    """Each wait ends after now, and what the clock alone delays is sent after a few waits."""
    asked_for = None if asked is None else now + timedelta(minutes=asked)
    own = None if end is None else QuietHours(0, end)
    facts = Circumstances(now, ZoneInfo(zone), own, own, sent, 3, reach)
    for _ in range(6):
        verdict = may_send(ProactiveMessage(kind, asked_for), facts)
        if verdict.until is None:
            break
        assert verdict.until > facts.now
        facts = replace(facts, now=verdict.until, sent=0, reach="open")
    assert verdict.action == "send"
