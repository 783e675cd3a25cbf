"""The times that questions name, in sixteen languages.

`python -m tests.memory.recall.test_times` prints how many are read right, by kind and by language.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall.time_counts import Kind
from memory.recall.time_span import MAX_QUESTION, TimeSpan, parse_time
from memory.recall.time_words import languages
from tests.support.for_each import for_each

ZURICH: Final = ZoneInfo("Europe/Zurich")
NOW: Final = datetime(2026, 11, 27, 9, 14, tzinfo=ZURICH)
"""A Friday."""
NONE: Final = "none"
PART: Final = "part of a day"


class Asked(NamedTuple):
    """A line of the file: a question, and the days that it is about, None for no time."""

    kind: str
    language: str
    question: str
    days: tuple[datetime, datetime] | None

    def is_right(self, found: TimeSpan | None) -> bool:
        """Return True for exactly these days, or for a part of them."""
        if found is None or self.days is None:
            return found is None and self.days is None
        begin, end = self.days
        if self.kind == PART or "night" in self.question:
            return begin <= found.start < found.end <= end and found.end - found.start < HALF
        return found.start == begin and (found.end == end or min(found.end, end) >= NOW)


HALF: Final = timedelta(hours=13)
PIECES: Final = (
    *("in", "May", "3", "ago", "last", "week", "10.11.", "31", "between", "and", "-", "on", "10th"),
    *(
        "昨日",
        "月",
        "日",
        "三",
        "天",
        "前",
        "salı",
        "و10",
        "،",
        "2026-02-30",
        "9999",
        "1000",
        "years",
    ),
    *("0", "since", "the", "every"),
)


def asked() -> Iterator[Asked]:
    """Return the lines of the file."""
    path = Path(__file__).with_name("questions_with_times.txt")
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            kind, language, question, days = line.split("|")
            yield Asked(kind, language, question, _days(days))


def _days(written: str) -> tuple[datetime, datetime] | None:
    if written == "-":
        return None
    first, _, last = written.partition("..")
    begin, end = (datetime.fromisoformat(one) for one in (first, last or first))
    return begin.replace(tzinfo=ZURICH), (end + timedelta(days=1)).replace(tzinfo=ZURICH)


@pytest.mark.parametrize("language", languages())
def test_questions_of_every_language_are_read(language: str) -> None:
    """Also those of people whose app speaks English and who ask in their own language."""
    lines = [one for one in asked() if one.language == language]
    wrong = [
        one.question
        for one in lines
        for told in ((language,), ("en",))
        if not one.is_right(parse_time(one.question, told, NOW, ZURICH))
    ]
    assert len(lines) >= 15
    assert not wrong


@for_each(
    ("zone", "begin", "end"),
    [
        ("UTC", "2026-11-26T00:00", "2026-11-27T00:00"),
        ("Europe/Zurich", "2026-11-25T23:00", "2026-11-26T23:00"),
        ("Pacific/Auckland", "2026-11-25T11:00", "2026-11-26T11:00"),
        ("America/Los_Angeles", "2026-11-26T08:00", "2026-11-27T08:00"),
    ],
)
def test_days_are_those_of_the_zone(zone: str, begin: str, end: str) -> None:
    now = datetime(2026, 11, 27, 8, 14, tzinfo=UTC)
    found = parse_time("What did I say yesterday?", ("en",), now, ZoneInfo(zone))
    assert found is not None
    shown = (found.start.isoformat()[:16], found.end.isoformat()[:16])
    assert shown == (begin, end)


@for_each(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-10-26", 24)])
def test_a_day_has_the_hours_that_the_clock_has(day: str, hours: int) -> None:
    now = datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=ZURICH) + timedelta(days=1)
    found = parse_time("What did I say yesterday?", ("en",), now, ZURICH)
    assert found is not None
    assert found.end - found.start == timedelta(hours=hours)


@for_each(
    ("question", "kind", "subject"),
    [
        ("What did we talk about yesterday?", Kind.PAST, ""),
        ("Worüber haben wir gestern gesprochen?", Kind.PAST, ""),
        ("昨日は何の話をしましたか?", Kind.PAST, ""),
        ("What did we decide yesterday about the budget?", Kind.PAST, "budget"),
        ("What is planned on Tuesday for the garden?", Kind.WEEKDAY, "garden"),
        ("What should I cook today?", Kind.PRESENT, "cook"),
        ("What is on 14 March?", Kind.DATE, ""),
    ],
)
def test_the_subject_is_what_else_is_asked(question: str, kind: Kind, subject: str) -> None:
    found = parse_time(question, ("en",), NOW, ZURICH)
    assert found is not None
    assert (found.kind, found.subject) == (kind, subject)


@given(
    st.text(max_size=MAX_QUESTION + 100)
    | st.lists(
        st.sampled_from(PIECES),
        max_size=30,
    ).map(" ".join),
    st.sampled_from(languages()),
    st.datetimes(datetime(1971, 1, 1), datetime(2099, 1, 1)),  # noqa: DTZ001 - a zone is added
)
def test_any_text_gives_a_time_before_now_or_none(text: str, language: str, now: datetime) -> None:
    at = now.replace(tzinfo=UTC)
    found = parse_time(text, (language,), at, ZURICH)
    if found is not None:
        assert found.start < found.end or found.start == at
        assert found.start <= at


def _shown() -> Iterator[str]:
    right: Counter[str] = Counter()
    of: Counter[str] = Counter()
    for one in asked():
        fits = one.is_right(parse_time(one.question, ("en",), NOW, ZURICH))
        for group in (
            one.kind,
            f"language {one.language}",
            "no time" if one.days is None else "time",
        ):
            of[group] += 1
            right[group] += fits
    yield from (f"{group:22} {right[group]:4} of {of[group]:4}" for group in of)


if __name__ == "__main__":
    print("\n".join(_shown()))  # noqa: T201 - it is a command


@for_each(
    ("question", "day"),
    [
        ("What did we decide on the fourth Friday of the month?", "2026-11-27"),
        ("What did we decide on the last Sunday of the month?", "2026-10-25"),
        ("What did we decide on the last Monday of December?", "2025-12-29"),
        ("What did we decide on the first Monday of December 2024?", "2024-12-02"),
        ("What did we decide on the 2nd Tuesday of October last year?", "2025-10-14"),
        ("What did we decide on the fifth Sunday of August?", "2026-08-30"),
        ("What did we decide on the fifth Sunday of this month?", ""),
        ("What did we decide on the fifth Tuesday of October?", ""),
    ],
)
def test_a_weekday_of_a_month_is_the_latest_one_that_has_begun(question: str, day: str) -> None:
    found = parse_time(question, ("en",), NOW, ZURICH)
    if day:
        assert found is not None
        assert f"{found.start.astimezone(ZURICH):%Y-%m-%d}" == day
        assert found.end - found.start <= timedelta(hours=25)
    else:
        assert found is None or found.end - found.start > timedelta(days=20)
