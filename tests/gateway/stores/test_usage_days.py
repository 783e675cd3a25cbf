"""Usage by day: no figure changes when single calls are summed and deleted, on both databases."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from db import Statement, Work, execute
from db.errors import StoreUnavailable
from gateway.conversation import ConversationKey
from gateway.immutable import replace
from gateway.people import Audience
from gateway.policy.budgets import BudgetAccount
from gateway.ports import Usage
from gateway.ports.traces import NO_CONVERSATION, Trace
from gateway.ports.unit_of_work import CompletedTurn
from gateway.ports.usage import LATENCIES, UsageFilter, UsageKey, UsageRow, UsageSum
from gateway.stores import usage_days as days_module
from gateway.stores.personal_data import SqlPersonalData
from gateway.stores.unit_of_work import LongLivedTurns, withdraw_turn
from gateway.stores.usage import UsageLedger
from gateway.stores.usage_days import MAX_NAMED, UsageDays, UsageFigures, quantile
from tests.support.clock import FakeClock
from tests.support.databases import Engine, sqlite_database, started
from tests.support.property_cases import cases

FIRST: Final = datetime(2026, 11, 1, tzinfo=UTC)
DAY: Final = timedelta(days=1)
LATE: Final = FIRST + 400 * DAY
ADA, BOB = "test:main:ada", "test:main:bob"
KEYS: Final[tuple[UsageKey, ...]] = ("day", "person", "workspace", "channel", "model")
EVERYBODY: Final = UsageFilter("t", FIRST, LATE)
OPEN: Final = Statement("SELECT count(*) FROM usage WHERE summed = 0")
ROWS: Final = Statement("SELECT count(*) FROM usage")
DAYS: Final = Statement("SELECT count(*) FROM usage_quarters")


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn to store."""

    person: str
    hours: int
    micros: int = 5
    channel: str = "C1"
    model: str = "m"
    audience: str = Audience.PUBLIC_ROOM
    outcome: str = "answered"
    milliseconds: float = 900.0
    tenant: str = "t"


TURNS: Final = st.builds(
    Turn,
    person=st.sampled_from((ADA, BOB, "")),
    hours=st.integers(0, 100),
    micros=st.integers(0, 10**13),
    channel=st.sampled_from(("C1", "C2")),
    model=st.sampled_from(("m", "n", "")),
    audience=st.sampled_from((*Audience, "")),
    outcome=st.sampled_from(("answered", "failed", "refused:limits")),
    milliseconds=st.floats(0, 200_000),
    tenant=st.sampled_from(("t", "t2")),
)


class Book:
    """The stores about usage of one database."""

    def __init__(self, engine: Engine, clock: FakeClock) -> None:
        self.engine = engine
        self.ledger = UsageLedger(engine, clock)
        self.days = UsageDays(engine)
        self.figures = UsageFigures(engine)
        self.writer = LongLivedTurns(engine)
        self.personal = SqlPersonalData(engine, clock)

    async def store(self, turn: Turn, number: int, accounts: Sequence[BudgetAccount] = ()) -> None:
        """Store a turn as the end of a message does; without a model, only its trace."""
        await self.writer.keep(completed(turn, number, accounts))

    async def sum_up(self, before: datetime) -> int:
        total = 0
        while step := await self.days.sum_up(before):
            total += step
        return total

    async def everything(self, wanted: UsageFilter = EVERYBODY) -> dict[str, Any]:
        """All figures of a filter, by each key, and the totals of `parley usage`."""
        persons = None if wanted.persons is None else list(wanted.persons)
        return {
            "totals": await self.ledger.totals("t", FIRST, persons),
            **{key: await self.figures.by(key, wanted, 1_000) for key in KEYS},
            "every person": await self.figures.by("person", wanted, MAX_NAMED + 1),
        }

    async def count(self, statement: Statement) -> int:
        return int((await self.engine.fetch(statement))[0][0])


def completed(turn: Turn, number: int, accounts: Sequence[BudgetAccount] = ()) -> CompletedTurn:
    at = FIRST + timedelta(hours=turn.hours, seconds=number)
    key = ConversationKey(turn.tenant, "test", "main", "W1", turn.channel)
    row = UsageRow(
        turn.tenant, turn.person, "test:main:W1", turn.model, Usage(10, 5, 3, 2), turn.micros, at
    )
    trace = Trace(
        *(f"x{number}", f"m{number}", "test", "main", str(key), "message", at),
        *((), turn.outcome, turn.milliseconds),
        audience=turn.audience,
    )
    return CompletedTurn(key, (), (row,) if turn.model else (), tuple(accounts), trace, (), ())


@pytest.fixture
def book(engine: Engine, clock: FakeClock) -> Book:
    return Book(engine, clock)


@settings(max_examples=cases(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=st.lists(TURNS, max_size=12), cuts=st.lists(st.integers(-2, 110), max_size=4))
def test_no_figure_changes_when_calls_are_summed_and_deleted(
    tmp_path_factory: pytest.TempPathFactory, turns: list[Turn], cuts: list[int]
) -> None:
    """Some turns come after their day was summed."""
    asyncio.run(_check_sums(tmp_path_factory.mktemp("days") / "days.db", turns, cuts))


async def _check_sums(file: Any, turns: list[Turn], cuts: list[int]) -> None:
    async with started(sqlite_database(file)) as engine:
        await _same_before_and_after(Book(engine, FakeClock()), turns, cuts)


async def _same_before_and_after(book: Book, turns: list[Turn], cuts: list[int]) -> None:
    early, late = turns[: len(turns) // 2], turns[len(turns) // 2 :]
    for number, turn in enumerate(early):
        await book.store(turn, number)
    for cut in cuts:
        await book.sum_up(FIRST + timedelta(hours=cut))
    for number, turn in enumerate(late, len(early)):
        await book.store(turn, number)
    before = [await book.everything(one) for one in filters()]
    assert all(one["person"] == one["every person"] for one in before)
    for cut in cuts:
        await book.sum_up(FIRST + timedelta(hours=cut))
        assert [await book.everything(one) for one in filters()] == before
    await book.sum_up(LATE)
    while await book.ledger.prune(LATE, FIRST):
        pass
    assert await book.count(ROWS) == 0
    assert [await book.everything(one) for one in filters()] == before
    of_t = [turn.micros for turn in turns if turn.model and turn.tenant == "t"]
    assert sum(one.micros for one in before[0]["day"]) == sum(of_t)
    assert sum(one.micros for one in before[0]["totals"]) == sum(of_t)


def filters() -> list[UsageFilter]:
    return [
        EVERYBODY,
        replace(EVERYBODY, persons=(ADA, "test:main:eve")),
        replace(EVERYBODY, person=BOB, until=FIRST + 2 * DAY),
        replace(EVERYBODY, since=FIRST + DAY, channel="C1", workspace="test:main:W1"),
        replace(EVERYBODY, channel="", model="m"),
    ]


async def test_figures_stay_on_either_database(book: Book) -> None:
    turns = [
        Turn(ADA, 1, 7),
        Turn(ADA, 2, 8, channel="C2", milliseconds=1_400),
        Turn(BOB, 30, 10**13, model="n", audience=Audience.DIRECT),
        Turn(BOB, 31, 0, outcome="failed"),
        Turn("", 32, model="", outcome="refused:limits"),
        Turn(ADA, 33, 11, tenant="t2"),
    ]
    await _same_before_and_after(book, turns, [0, 30, 24])


async def test_usage_is_summed_by_each_key(book: Book) -> None:
    turns = (
        Turn(ADA, 1, 7),
        Turn(ADA, 2, 8, channel="C2", milliseconds=1_400),
        Turn(BOB, 30, 20, model="n", audience=Audience.DIRECT),
        Turn(BOB, 31, 0, outcome="failed"),
        Turn("", 32, model=""),
    )
    for number, turn in enumerate(turns):
        await book.store(turn, number)
    await book.sum_up(FIRST + DAY)
    every = await book.everything()
    shown = {
        key: [(one.name, one.calls, one.micros, one.messages, one.errors) for one in every[key]]
        for key in KEYS
    }
    first, second = (str(round((FIRST + n * DAY).timestamp() * 1e6)) for n in (0, 1))
    assert shown == {
        "day": [(first, 2, 15, 2, 0), (second, 2, 20, 3, 1)],
        "person": [(BOB, 2, 20, 2, 1), (ADA, 2, 15, 2, 0), ("", 0, 0, 1, 0)],
        "workspace": [("test:main:W1", 4, 35, 5, 1)],
        "channel": [
            ("test:main:W1\n", 1, 20, 1, 0),
            ("test:main:W1\nC2", 1, 8, 1, 0),
            ("test:main:W1\nC1", 2, 7, 3, 1),
        ],
        "model": [("n", 1, 20, 1, 0), ("m", 3, 15, 3, 1), ("", 0, 0, 1, 0)],
    }
    day: UsageSum = every["day"][0]
    assert day.usage == Usage(20, 10, 6, 4)
    assert [(index, n) for index, n in enumerate(day.took) if n] == [
        (LATENCIES.index(1_000), 1),
        (LATENCIES.index(1_500), 1),
    ]
    assert (
        await book.figures.by("person", replace(EVERYBODY, person=ADA), 5) == every["person"][1:2]
    )
    assert await book.figures.by("person", EVERYBODY, 1) == every["person"][:1]
    assert await book.figures.by("person", replace(EVERYBODY, persons=("",)), 5) == []
    assert await book.figures.by("day", replace(EVERYBODY, tenant="t2"), 5) == []
    since = FIRST + timedelta(hours=2)
    recent = await book.ledger.recent_totals("t", since, None)
    assert [(one.model, one.micros) for one in recent] == [("n", 20), ("m", 8)]


async def test_a_repeated_turn_is_charged_once_also_after_its_day_is_summed(book: Book) -> None:
    account = (BudgetAccount("user_per_day", "user:t:ada:2026-11-01", 100),)
    await book.store(Turn(ADA, 1, 7), 1, account)
    await book.sum_up(LATE)
    before = await book.everything()
    await book.store(Turn(ADA, 1, 7), 1, account)
    await book.sum_up(LATE)
    assert await book.everything() == before
    assert await book.ledger.spent(account) == [7]
    assert await book.count(ROWS) == 1


async def test_a_call_is_deleted_only_after_its_day_is_summed(book: Book) -> None:
    await book.store(Turn(ADA, 1), 1)
    assert await book.ledger.prune(LATE, FIRST) == 0
    await book.sum_up(FIRST + timedelta(hours=1))
    assert await book.count(OPEN) == 1, "it is not older"
    await book.sum_up(FIRST + DAY)
    assert await book.count(OPEN) == 0
    assert await book.ledger.prune(FIRST + timedelta(hours=1), FIRST) == 0
    assert await book.ledger.prune(LATE, FIRST) == 1


async def test_days_are_deleted_when_they_are_old(book: Book) -> None:
    for number, hours in enumerate((1, 50)):
        await book.store(Turn(ADA, hours), number)
    await book.sum_up(LATE)
    assert await book.days.prune(FIRST) == 0
    assert await book.days.prune(FIRST + DAY) == 2, "of each table"
    assert [one.calls for one in await book.figures.by("day", EVERYBODY, 9)] == [1]


async def test_a_person_exports_their_days_and_an_erasure_keeps_the_sums(book: Book) -> None:
    turns = (Turn(ADA, 1, 7), Turn(BOB, 1, 9), Turn(ADA, 30, 4, audience=Audience.DIRECT))
    for number, turn in enumerate((*turns, Turn("", 1, 2), Turn(ADA, 2, 6, tenant="t2"))):
        await book.store(turn, number)
    await book.sum_up(LATE)
    before = await book.everything()
    rows = [one for one in await book.personal.export("t", (ADA,)) if one["table"] == "usage_days"]
    assert [(one["day"], one["channel"], one["micros"]) for one in rows] == [
        (FIRST.timestamp(), "C1", 7),
        ((FIRST + DAY).timestamp(), "", 4),
    ]
    await book.personal.erase("t", (ADA,))
    after = await book.everything()
    assert [after[key] for key in ("totals", "day", "channel", "model")] == [
        before[key] for key in ("totals", "day", "channel", "model")
    ]
    assert [(one.name, one.micros) for one in after["person"]] == [("", 13), (BOB, 9)]
    elsewhere = replace(EVERYBODY, tenant="t2", persons=(ADA,))
    assert [one.micros for one in await book.figures.by("person", elsewhere, 9)] == [6]
    exported = await book.personal.export("t", (ADA,))
    assert not [one for one in exported if one["table"] == "usage_days"]


async def test_a_turn_of_an_erased_person_is_summed_without_their_name(book: Book) -> None:
    done = completed(Turn(ADA, 1), 1)
    await book.writer.keep(done)
    await book.engine.run(lambda: withdraw_turn(done))
    trace = (await book.engine.fetch(Statement("SELECT conversation FROM traces")))[0][0]
    assert trace == NO_CONVERSATION
    before = await book.everything()
    await book.sum_up(LATE)
    assert await book.everything() == before
    assert [(one.name, one.calls, one.messages) for one in before["person"]] == [("", 1, 1)]


async def test_a_sum_that_is_killed_loses_and_doubles_nothing(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        await book.store(Turn(ADA if number % 2 else BOB, number), number)
    before = await book.everything()
    with monkeypatch.context() as broken:
        for mark in ("MARK_CALLS", "MARK_MESSAGES"):
            broken.setattr(days_module, mark, Statement("UPDATE no_such_table SET summed = 1"))
            with pytest.raises(StoreUnavailable):
                await book.sum_up(LATE)
            assert await book.everything() == before
    assert await book.count(DAYS) == 0
    await book.sum_up(LATE)
    assert await book.everything() == before
    assert await book.count(DAYS) == 4


async def test_the_sums_of_everybody_begin_at_any_quarter_of_an_hour(book: Book) -> None:
    """As a day does in every time zone."""
    for number, hours in enumerate((1, 2, 3)):
        await book.store(Turn(ADA, hours, 10**hours), number)
    since = FIRST + timedelta(hours=1, minutes=45)
    for _ in range(2):
        for key in ("day", "model"):
            (one,) = await book.figures.by(key, replace(EVERYBODY, since=since), 9)
            assert (one.micros, one.messages, one.calls) == (1_100, 2, 2)
        await book.sum_up(LATE)


async def test_a_database_of_an_earlier_version_gets_the_sums_of_everybody(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, hours in enumerate((1, 2, 30)):
        await book.store(Turn(ADA, hours, model="mn"[number % 2]), number)
    before = await book.everything()
    await book.sum_up(LATE)

    def again() -> Work[None]:
        yield from execute(Statement("DROP TABLE usage_quarters"), {})
        for statement in days_module.QUARTERS:
            yield from execute(Statement(statement), {})

    await book.engine.run(again)
    assert await book.everything() == before


async def test_two_processes_sum_each_call_once(
    book: Book, second_engine: Engine, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(days_module, "AT_ONCE", {"sqlite": 3, "postgres": 3})
    other = Book(second_engine, clock)
    for number in range(20):
        await book.store(Turn(ADA if number % 2 else BOB, number), number)
    before = await book.everything()
    sums = await asyncio.gather(*(one.sum_up(LATE) for one in (book, other, book)))
    assert sum(sums) == 40
    assert await book.everything() == before


@pytest.mark.parametrize(
    ("counts", "share", "expected"),
    [
        ({}, 0.5, None),
        ({250: 10}, 0.5, 125.0),
        ({1_000: 1, 3_000: 1}, 0.5, 1_000.0),
        ({250: 95, 60_000: 5}, 0.95, 250.0),
        ({250: 90, None: 10}, 0.95, 60_000.0),
    ],
)
def test_a_quantile_is_interpolated_between_bounds(
    counts: dict[int | None, int], share: float, expected: float | None
) -> None:
    took = [counts.get(bound, 0) for bound in (*LATENCIES, None)]
    assert quantile(took, share) == expected
