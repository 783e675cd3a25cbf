"""Hard budgets across processes, which two pools represent."""

import asyncio
import random
from collections.abc import AsyncIterator
from datetime import timedelta

import psycopg
import pytest

from gateway.policy.budgets import BudgetAccount
from gateway.ports import Usage
from gateway.ports.usage import UsageRow
from gateway.stores.usage import UsageLedger
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT, migrated_database, new_database, postgres_database
from tests.support.messages import AT
from tests.support.servers import PostgresServer

pytestmark = pytest.mark.xdist_group("postgres")

PERSON = BudgetAccount("user_per_day", "user:ada:2026-11-21", 1_000)
ROOM = BudgetAccount("workspace_per_day", "workspace:w:2026-11-21", 700)
MONTH = BudgetAccount("workspace_per_month", "workspace:w:2026-11", 5_000)


def row(micros: int) -> UsageRow:
    return UsageRow("t", "ada", "W1", "model", Usage(10, 5), micros, AT)


@pytest.fixture
async def ledgers(
    postgres: PostgresServer, clock: FakeClock
) -> AsyncIterator[tuple[UsageLedger, UsageLedger]]:
    """Two ledgers on one database, each with connections of its own."""
    url = migrated_database(postgres)
    pools = postgres_database(url, PATIENT), postgres_database(url, PATIENT)
    await asyncio.gather(*(pool.start() for pool in pools))
    yield UsageLedger(pools[0], clock), UsageLedger(pools[1], clock)
    await asyncio.gather(*(pool.stop() for pool in pools))


async def test_fifty_concurrent_reservations_of_two_processes_get_exactly_the_limit(
    ledgers: tuple[UsageLedger, UsageLedger],
) -> None:
    accounts = (PERSON, ROOM, MONTH)
    outcomes = await asyncio.gather(
        *(ledgers[n % 2].reserve(f"turn-{n}", accounts, 30) for n in range(50))
    )
    allowed = [outcome for outcome in outcomes if outcome.decision.allowed]
    assert len(allowed) == 700 // 30
    assert await ledgers[0].spent(accounts) == [690, 690, 690]


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
async def test_limits_are_exact_at_a_stricter_isolation_level_of_the_database(
    postgres: PostgresServer, clock: FakeClock, isolation: str
) -> None:
    url = new_database(postgres)
    name = url.rpartition("/")[2]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            f"ALTER DATABASE {name} SET default_transaction_isolation = '{isolation}'".encode()
        )
    pool = postgres_database(url, PATIENT)
    await pool.start()
    ledger = UsageLedger(pool, clock)
    reserved = (ledger.reserve(f"turn-{n}", (ROOM,), 30) for n in range(50))
    outcomes = await asyncio.gather(*reserved)
    assert sum(outcome.decision.allowed for outcome in outcomes) == 700 // 30
    await pool.stop()


async def test_accounts_in_any_order_cause_no_deadlock(
    ledgers: tuple[UsageLedger, UsageLedger],
) -> None:
    chance = random.Random(7)

    async def turn(number: int) -> int:
        accounts = [PERSON, ROOM, MONTH]
        chance.shuffle(accounts)
        ledger = ledgers[number % 2]
        estimate, cost = chance.randint(20, 60), chance.randint(1, 20)
        outcome = await ledger.reserve(f"turn-{number}", accounts[: number % 3 + 1], estimate)
        if not outcome.decision.allowed:
            return 0
        await ledger.settle(f"turn-{number}", (row(cost),), accounts[: number % 3 + 1])
        return cost

    await asyncio.gather(*(turn(number) for number in range(200)))
    person, room, month = await ledgers[1].spent((PERSON, ROOM, MONTH))
    assert 0 < person <= PERSON.limit
    assert 0 < room <= ROOM.limit
    assert 0 < month <= MONTH.limit


async def test_no_sum_is_visible_between_reservation_and_settlement(
    ledgers: tuple[UsageLedger, UsageLedger],
) -> None:
    await ledgers[0].reserve("turn-0", (PERSON,), 100)
    seen: set[int] = set()
    settled = asyncio.create_task(ledgers[0].settle("turn-0", (row(40),), (PERSON,)))
    while not settled.done():
        seen.update(await ledgers[1].spent((PERSON,)))
    assert seen <= {100, 40}
    assert await ledgers[1].spent((PERSON,)) == [40]


async def test_reservations_of_crashed_turns_expire(
    ledgers: tuple[UsageLedger, UsageLedger], clock: FakeClock
) -> None:
    for number in range(5):
        await ledgers[0].reserve(f"dead-{number}", (PERSON, ROOM), 100)
    await clock.advance(timedelta(hours=1).total_seconds())
    assert await ledgers[1].spent((PERSON,)) == [0]
    outcomes = await asyncio.gather(
        *(ledgers[n % 2].reserve(f"turn-{n}", (PERSON,), 100) for n in range(20))
    )
    assert sum(outcome.decision.allowed for outcome in outcomes) == 10
