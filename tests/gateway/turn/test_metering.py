"""The limit on the total cost of one turn, secondary calls included."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from db.sqlite import SqliteDatabase
from gateway.errors import ModelRefused
from gateway.llm.prices import Price
from gateway.policy.budgets import BudgetAccount
from gateway.ports import LLMProvider, ModelMessage, ModelRequest, TextBlock, Usage
from gateway.stores.usage import UsageLedger
from gateway.turn.metering import Meter
from tests.support.clock import FakeClock, settle
from tests.support.databases import sqlite_database
from tests.support.gateway import Model

ANSWER = ModelRequest("", (ModelMessage("user", (TextBlock("hello"),)),), max_tokens=1_000)
SUMMARY = ModelRequest("", (ModelMessage("user", (TextBlock("sum up"),)),), max_tokens=2_000)


@asynccontextmanager
async def metered(micros: int) -> AsyncIterator[tuple[Meter, Model, SqliteDatabase]]:
    """A meter over a budget of so many millionths; a token costs one."""
    database, model = sqlite_database(":memory:"), Model(name="priced")
    await database.start()
    model.open.set()
    account = BudgetAccount("user_per_day", "ada today", micros)
    meter = Meter(
        model,
        UsageLedger(database, FakeClock()),
        {"priced": Price(1, 1)},
        turn="t1",
        accounts=(account,),
        default_model="priced",
        count=lambda what, detail: None,
    )
    try:
        yield meter, model, database
    finally:
        await database.stop()


async def ask(provider: LLMProvider, request: ModelRequest) -> bool:
    """Return True if the call was made."""
    try:
        async for _ in provider.stream(request):
            pass
    except ModelRefused:
        return False
    return True


async def reserved(database: SqliteDatabase) -> int:
    row = await database.run_job(
        lambda db: db.execute("SELECT max(micros) FROM reserved").fetchone()
    )
    return int(row[0] or 0)


async def test_a_secondary_call_beyond_the_budget_does_not_refuse_the_turn() -> None:
    async with metered(1_500) as (meter, model, _):
        assert await ask(meter, ANSWER)
        assert not await ask(meter.aside(), SUMMARY)
        assert meter.refusal is None
        assert model.requests == [ANSWER]
        assert meter.micros == 120


async def test_an_answer_beyond_the_budget_is_refused() -> None:
    async with metered(500) as (meter, model, _):
        assert not await ask(meter, ANSWER)
        assert meter.refusal is not None
        assert meter.refusal.reason == "user_per_day"
        assert model.requests == []


async def test_a_secondary_call_does_not_wait_after_a_refused_answer() -> None:
    async with metered(500) as (meter, _, database):
        made = await asyncio.gather(ask(meter.aside(), SUMMARY), ask(meter, ANSWER))
        assert list(made) == [False, False]
        assert (meter.micros, await reserved(database)) == (0, 0)


async def test_if_the_budget_allows_one_call_it_is_the_answer() -> None:
    async with metered(2_100) as (meter, model, _):
        made = await asyncio.gather(ask(meter.aside(), SUMMARY), ask(meter, ANSWER))
        assert list(made) == [False, True]
        assert [request.max_tokens for request in model.requests] == [1_000]


async def test_concurrent_calls_are_reserved_together() -> None:
    async with metered(10_000) as (meter, model, database):
        model.open.clear()
        both = asyncio.gather(ask(meter.aside(), SUMMARY), ask(meter, ANSWER))
        await settle()
        assert len(model.requests) == 2
        assert await reserved(database) == meter.micros > 3_000
        model.open.set()
        assert list(await both) == [True, True]
        assert meter.micros == 240


async def test_a_call_without_a_reported_usage_costs_what_was_reserved() -> None:
    async with metered(10_000) as (meter, model, _):
        model.usage = Usage()
        assert await ask(meter, ANSWER)
        assert meter.micros >= ANSWER.max_tokens
