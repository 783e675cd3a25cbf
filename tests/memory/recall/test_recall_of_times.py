"""Questions about a time find what is from that time, in the time zone of the person."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from gateway.immutable import replace
from memory.model.record import Kind, Record
from memory.model.scope import AccessScope
from memory.recall.time_listing import SLICES, Answer, answered_by
from memory.recall.time_span import parse_time
from tests.memory.recall.making import Asking, turn
from tests.memory.stores.records import access, record
from tests.support.for_each import for_each

ZURICH: Final = ZoneInfo("Europe/Zurich")
NOW: Final = datetime(2026, 11, 27, 9, 14, tzinfo=ZURICH)
TODAY, YESTERDAY, TUESDAY = "Order flour", "The oven is too hot", "Bob wants the contract"
TENTH, WEEK_BEFORE, OCTOBER = "Paint the door green", "Lea plays the flute", "The roof leaks"
SAID: Final = (
    ("2026-11-27T08:00", TODAY),
    ("2026-11-26T15:00", YESTERDAY),
    ("2026-11-24T10:00", TUESDAY),
    ("2026-11-18T10:00", WEEK_BEFORE),
    ("2026-11-10T10:00", TENTH),
    ("2026-10-05T10:00", OCTOBER),
)


@pytest.fixture
async def diary(here: Asking) -> Asking:
    """A person's turns on six days."""
    for number, (at, content) in enumerate(SAID):
        when = datetime.fromisoformat(at).replace(tzinfo=ZURICH).astimezone(UTC)
        await here.keep(turn(content, at=when, id=f"t{number}", group=f"c{number}"))
    return here


async def found(
    diary: Asking, question: str, by: AccessScope | None = None, zone: tzinfo = ZURICH
) -> list[str]:
    languages = ("en",)
    return await diary.texts(question, by, model=False, zone=zone, languages=languages, at=NOW)


@for_each(
    ("question", "answers"),
    [
        ("What did we talk about yesterday?", [YESTERDAY]),
        ("What did I tell you three days ago?", [TUESDAY]),
        ("What did we discuss on Tuesday?", [TUESDAY]),
        ("What did we talk about last week?", [WEEK_BEFORE]),
        ("What did I say on November 10?", [TENTH]),
        ("What did we decide on 10 November 2026?", [TENTH]),
        ("What did we talk about last month?", [OCTOBER]),
        ("What did I say in October?", [OCTOBER]),
        ("What did I ask you this morning?", [TODAY]),
        ("What did we do today?", [TODAY]),
        ("What is new since Wednesday?", [TODAY, YESTERDAY]),
        ("What did we say between 9 and 20 November?", [WEEK_BEFORE, TENTH]),
        ("Worüber haben wir gestern gesprochen?", [YESTERDAY]),
        ("De quoi avons-nous parlé mardi ?", [TUESDAY]),
        ("¿De qué hablamos la semana pasada?", [WEEK_BEFORE]),
        ("О чём мы говорили позавчера?", []),
        ("昨日は何の話をしましたか?", [YESTERDAY]),
        ("三天前我说了什么?", [TUESDAY]),
        ("What did we talk about on Sunday?", []),
    ],
)
async def test_what_is_from_the_time_is_found_and_nothing_else(
    diary: Asking, question: str, answers: list[str]
) -> None:
    assert sorted(await found(diary, question)) == sorted(answers)


async def test_the_subject_comes_first_and_the_rest_of_the_day_after_it(diary: Asking) -> None:
    late = datetime(2026, 11, 26, 20, tzinfo=UTC)
    await diary.keep(turn("The dog ate the bread", at=late, id="dog", group="d"))
    assert await found(diary, "What did I say about the dog yesterday?") == [
        "The dog ate the bread",
        YESTERDAY,
    ]


async def test_a_subject_without_anything_from_that_time_is_looked_up_everywhere(
    diary: Asking,
) -> None:
    assert await found(diary, "What did I say about the flute the day before yesterday?") == [
        WEEK_BEFORE
    ]


async def test_the_present_hides_nothing_that_the_question_needs(diary: Asking) -> None:
    await diary.keep(record("Ada may not cook with nuts", kind=Kind.FACT, id="nuts"))
    assert "Ada may not cook with nuts" in await found(diary, "What should I cook today with nuts?")


async def test_a_weekday_that_belongs_to_the_subject_hides_nothing(diary: Asking) -> None:
    await diary.keep(record("The bakery opens at 7 on Tuesday", kind=Kind.FACT, id="opens"))
    assert (await found(diary, "When does the bakery open on Tuesday?"))[0].startswith("The bakery")


async def test_the_day_is_that_of_the_person(diary: Asking) -> None:
    """22:30 in Zurich on Wednesday is Thursday in Auckland."""
    at = datetime(2026, 11, 25, 21, 30, tzinfo=UTC)
    await diary.keep(turn("Feed the parrot", at=at, id="parrot", group="p"))
    question = "What did we talk about yesterday?"
    assert "Feed the parrot" not in await found(diary, question)
    there = ZoneInfo("Pacific/Auckland")
    assert "Feed the parrot" in await found(diary, question, zone=there)


async def test_nobody_else_reads_what_was_said_then(diary: Asking) -> None:
    stranger = access("discord:main:eve")
    question = "What did we talk about yesterday?"
    assert await found(diary, question, by=stranger) == []


async def test_a_fact_that_was_true_then_is_found_then(diary: Asking) -> None:
    lived = replace(
        record(
            "Ada lives in Bern", kind=Kind.FACT, id="bern", at=datetime(2026, 11, 1, tzinfo=UTC)
        ),
        true_from=datetime(2026, 11, 16, tzinfo=UTC),
        true_until=datetime(2026, 11, 23, tzinfo=UTC),
    )
    await diary.keep(lived)
    assert (await found(diary, "Where did Ada live last week, in Bern?"))[0] == "Ada lives in Bern"
    assert "Ada lives in Bern" not in await found(diary, "Where does Ada live, in Bern?")


async def test_a_long_time_is_not_only_its_last_day(here: Asking) -> None:
    month: list[Record] = []
    for day in range(31):
        at = datetime(2026, 10, 1, 9, tzinfo=UTC) + timedelta(days=day)
        month += [
            turn(
                f"Note {day} of {number}",
                at=at + timedelta(minutes=number),
                id=f"{day}-{number}",
                group=f"g{day}",
            )
            for number in range(3)
        ]
    await here.keep(*month)
    days = {text.split()[1] for text in await found(here, "What did we talk about last month?")}
    assert len(days) >= SLICES - 1
    assert min(map(int, days)) < 6 < 25 < max(map(int, days))


async def test_the_answer_says_what_decided(diary: Asking) -> None:
    for question, note in (
        ("What did we talk about yesterday?", Answer.WITHIN),
        ("What did we talk about on Sunday?", Answer.NOTHING),
        ("What should I cook today?", Answer.ANYTHING),
    ):
        recalled = await diary.recall(question, at=NOW, zone=ZURICH, model=False)
        assert note in recalled.notes


@for_each(
    ("question", "found_by_words", "listed", "answer"),
    [
        ("What did we say yesterday?", False, True, Answer.WITHIN),
        ("What did we say yesterday?", False, False, Answer.NOTHING),
        ("What did we say yesterday about tea?", False, True, Answer.WITHIN),
        ("What did we say yesterday about tea?", False, False, Answer.ANYTHING),
        ("What did we say on Tuesday about tea?", True, True, Answer.WITHIN),
        ("What did we say on Tuesday about tea?", False, True, Answer.ANYTHING),
        ("What did we say on 10 November about tea?", True, True, Answer.ANYTHING),
        ("Which tea do I drink today?", True, True, Answer.ANYTHING),
    ],
)
def test_only_the_past_binds_strictly(
    question: str, found_by_words: bool, listed: bool, answer: Answer
) -> None:
    time = parse_time(question, ("en",), NOW, ZURICH)
    assert time is not None
    assert answered_by(time, found=found_by_words, listed=listed) is answer
