"""Which occurrence happens, after an outage, at a change of the clocks, and if the clock is set."""

from datetime import UTC, datetime, timedelta

from gateway.appointments.occurrence import Happening, happening
from gateway.appointments.recurrence import Rule
from tests.gateway.appointments.values import NINE, appointment

AT_NINE = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
DAY = timedelta(days=1)
WITHIN = timedelta(hours=24)


def at(moment: datetime, rule: Rule | None = None, **changes: int) -> Happening:
    return happening(appointment(rule=rule, **changes), moment, WITHIN)


def test_one_is_on_time_then_late_then_missed() -> None:
    assert [
        at(AT_NINE + delay).lateness
        for delay in (
            timedelta(),
            timedelta(minutes=5),
            timedelta(minutes=6),
            WITHIN,
            WITHIN + timedelta(seconds=1),
        )
    ] == ["on_time", "on_time", "late", "late", "missed"]
    assert at(AT_NINE).following is None


def test_nothing_is_late_that_the_clock_shows_again() -> None:
    early = at(AT_NINE - timedelta(hours=3), Rule("day"))
    assert (early.appointment.due, early.lateness, early.missed) == (NINE, "on_time", 0)
    assert early.following == NINE + DAY


def test_only_the_latest_time_of_a_rule_happens_and_the_earlier_ones_are_counted() -> None:
    found = at(AT_NINE + 3 * DAY + timedelta(hours=1), Rule("day"), missed=2)
    assert found.appointment.due == NINE + 3 * DAY
    assert (found.missed, found.lateness) == (5, "late")
    assert found.following == NINE + 4 * DAY


def test_a_rule_that_ended_meanwhile_has_a_last_time() -> None:
    found = at(AT_NINE + 9 * DAY, Rule("day", until=(NINE + 2 * DAY).date()))
    assert found.appointment.due == NINE + 2 * DAY
    assert (found.following, found.lateness, found.missed) == (None, "missed", 2)


def test_a_century_of_outage_is_passed_in_bounded_steps() -> None:
    found = at(AT_NINE + 36_500 * DAY, Rule("day"))
    assert found.lateness == "missed"
    assert found.following is not None
    assert found.following > NINE + 36_500 * DAY


def test_local_times_stay_when_the_clocks_change() -> None:
    one = appointment(rule=Rule("day"), due=datetime.fromisoformat("2027-03-27T09:00"))
    before = happening(one, one.due_at, WITHIN)
    assert one.due_at == datetime(2027, 3, 27, 8, tzinfo=UTC)
    assert before.following == datetime.fromisoformat("2027-03-28T09:00")
    after = appointment(rule=Rule("day"), due=before.following)
    assert after.due_at == datetime(2027, 3, 28, 7, tzinfo=UTC)


def test_an_occurrence_has_the_same_name_in_every_zone() -> None:
    assert appointment().occurrence == appointment(zone="Asia/Tokyo").occurrence == "20261130090000"


def test_the_next_times_are_those_of_the_whole_rule() -> None:
    leap = datetime.fromisoformat("2028-02-29T09:00")
    one = appointment(rule=Rule("year"), first=leap, due=datetime.fromisoformat("2031-02-28T09:00"))
    assert [at.day for at in one.coming(3)] == [28, 29, 28]
    ending = appointment(rule=Rule("day", until=(NINE + DAY).date()))
    assert len(ending.coming(3)) == 2
    assert appointment().coming(3) == (AT_NINE,)
