"""Tokens and money: sums per period, reservations of running turns, a row for each call, and what a
person or everybody spent.

Limits are exact across processes: a reservation locks its accounts before it reads the sums and
until it is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from db import Database, Statement, Work, among, execute, lock, together
from db.database import delete_some, deleting_some
from db.statements import begins, either
from db.transaction import Fetch
from db.values import micros
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience, PersonId
from gateway.policy.budgets import (
    BudgetAccount,
    BudgetDecision,
    Budgets,
    accounts_for,
    decide_budget,
)
from gateway.ports import Clock, Usage
from gateway.ports.identities import IdentityResolver
from gateway.ports.usage import UsageRow, UsageTotal

KEEP_RESERVED: Final = timedelta(hours=1)
"""The age at which a reservation belongs to a dead turn and no longer counts."""
OF_ENDED: Final = 1_000
"""The first position of the calls of a turn that was ended. A shutdown ends it too, and the next
start repeats it under the same id: those calls are additional."""
DEAD_AT_ONCE: Final = 100
"""Reservations of dead turns that one reservation deletes."""
FORGET_DEAD: Final = deleting_some("reserved", "key, turn", "at <= :dead", "at")
SUM: Final = Statement("""
    SELECT COALESCE((SELECT micros FROM spent WHERE key = :key), 0) + COALESCE(
        (SELECT SUM(micros) FROM reserved WHERE key = :key AND turn <> :turn AND at > :dead), 0)
""")
RESERVE: Final = Statement("""
    INSERT INTO reserved (turn, key, micros, at) VALUES (:turn, :key, :micros, :at)
    ON CONFLICT (key, turn) DO UPDATE SET micros = excluded.micros, at = excluded.at
""")
OWE: Final = Statement("""
    INSERT INTO spent (key, micros, since)
    SELECT :key, :micros, :since
    WHERE NOT EXISTS (SELECT 1 FROM usage WHERE turn = :turn AND position = :position)
    ON CONFLICT (key) DO UPDATE SET micros = spent.micros + excluded.micros
""")
"""Adds a call to an account, unless it is counted already. Run it before `COUNT`."""
COUNT: Final = Statement("""
    INSERT INTO usage (turn, position, tenant, person, workspace, model, input_tokens,
        output_tokens, cache_read_tokens, cache_write_tokens, micros, at)
    VALUES (:turn, :position, :tenant, :person, :workspace, :model, :input_tokens,
        :output_tokens, :cache_read_tokens, :cache_write_tokens, :micros, :at)
    ON CONFLICT (turn, position) DO NOTHING
""")
RELEASE: Final = Statement(f"""
    DELETE FROM reserved WHERE turn = :turn AND {among("key", "keys")}
""")
COSTS: Final = "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, micros"
# A plus keeps SQLite from the index of people, which finds every row of the tenant.
OF_EVERYBODY: Final = either(sqlite="+tenant", postgres="tenant") + " IN (:tenant, '')"
OF_PERSONS: Final = f"tenant = :tenant AND {among('person', 'persons')}"


def _calls(of: str, summed: int) -> str:
    return f"""
        SELECT model, 1 AS calls, {COSTS} FROM usage
        WHERE summed = {summed} AND at >= :since AND {of}
    """


def _days(of: str) -> str:
    at, table = ("quarter", "usage_quarters") if of == OF_EVERYBODY else ("day", "usage_days")
    return f"""
        SELECT model, calls, {COSTS} FROM {table} WHERE calls > 0 AND {at} >= :since AND {of}
    """


def _by_model(*parts: str) -> Statement:
    return Statement(f"""
        SELECT model, sum(calls), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
            sum(cache_write_tokens), sum(micros)
        FROM ({" UNION ALL ".join(parts)}) AS every
        GROUP BY model ORDER BY sum(micros) DESC, model LIMIT 1000
    """)


TOTALS: Final = {of: _by_model(_calls(of, 0), _days(of)) for of in (OF_EVERYBODY, OF_PERSONS)}
RECENT: Final = {of: _by_model(_calls(of, 0), _calls(of, 1)) for of in (OF_EVERYBODY, OF_PERSONS)}
LARGEST: Final = Statement(f"""
    SELECT key, micros FROM spent WHERE {begins("key", ":kind")}
        AND substr(key, length(key) - length(:period) + 1) = :period
    ORDER BY micros DESC, key LIMIT :limit
""")
PERSON_OF: Final = Statement("SELECT person FROM usage WHERE turn = :turn LIMIT 1")
PRUNE_ROWS: Final = deleting_some("usage", "id", "summed = 1 AND at < :before", "at")
PRUNE_SUMS: Final = deleting_some("spent", "key", "since < :before", "since")

MAX_DAYS = 400
"""Days for which usage is stored."""
SUM_AFTER: Final = timedelta(hours=1)
"""The age at which a call is summed by day."""
OF_A_PERSON = "user_"
"""The scopes of a person's budgets; those of a workspace belong to no person."""


def settle_usage(
    turn: str, rows: Sequence[UsageRow], accounts: Sequence[BudgetAccount], first: int = 0
) -> Work[None]:
    """Replace the reservation of a turn by its cost. A call that was counted before, at the same
    position from `first` on, is not counted again."""
    calls = [_call(turn, position, row) for position, row in enumerate(rows, start=first)]
    if calls:
        yield from lock(f"turn {turn}")
        since = max(row.at for row in rows)
        owed = [
            {**call, "key": key, "since": micros(since)}
            for key in sorted({account.key for account in accounts})  # one order prevents deadlocks
            for call in calls
        ]
        if owed:
            yield from execute(OWE, *owed)
        yield from execute(COUNT, *calls)
    if accounts:
        yield from execute(RELEASE, {"turn": turn, "keys": [account.key for account in accounts]})


class UsageLedger:
    """Tokens and money."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def reserve(
        self, turn: str, accounts: Sequence[BudgetAccount], estimate: int
    ) -> BudgetDecision:
        """Reserve `estimate` in every account, or in none; atomic. It replaces the turn's earlier
        reservation, which stays if the answer is no."""
        if not accounts:
            return decide_budget((), (), estimate)
        now = self._clock.now()
        dead = micros(now - KEEP_RESERVED)

        def work() -> Work[BudgetDecision]:
            yield from lock(*(f"account {account.key}" for account in accounts))
            yield from execute(FORGET_DEAD, {"dead": dead, "most": DEAD_AT_ONCE})
            outcome = decide_budget(accounts, (yield from _sums(accounts, dead, turn)), estimate)
            if outcome.decision.allowed:
                row = {"turn": turn, "micros": estimate, "at": micros(now)}
                yield from execute(RESERVE, *({**row, "key": one.key} for one in accounts))
            return outcome

        return await self._database.run(work)

    async def settle(
        self, turn: str, rows: Sequence[UsageRow], accounts: Sequence[BudgetAccount]
    ) -> None:
        """Replace the reservation of an ended turn by its cost. If the turn is repeated later, both
        count."""
        await self._database.run(lambda: settle_usage(turn, rows, accounts, OF_ENDED))

    async def spent(self, accounts: Sequence[BudgetAccount]) -> list[int]:
        """Return settled plus reserved amounts, in the order of the accounts."""
        dead = micros(self._clock.now() - KEEP_RESERVED)
        return await self._database.run(lambda: _sums(accounts, dead))

    async def totals(
        self, tenant: str, since: datetime, persons: Sequence[str] | None
    ) -> list[UsageTotal]:
        """Return sums by model since the begin of a UTC day, most expensive first: of these people
        (`str(PersonId)`), or with None of the tenant, including the program's own calls."""
        return await self._totals(TOTALS, tenant, since, persons)

    async def recent_totals(
        self, tenant: str, since: datetime, persons: Sequence[str] | None
    ) -> list[UsageTotal]:
        """Return the same since any time at which single calls are still stored."""
        return await self._totals(RECENT, tenant, since, persons)

    async def _totals(
        self,
        statements: Mapping[str, Statement],
        tenant: str,
        since: datetime,
        persons: Sequence[str] | None,
    ) -> list[UsageTotal]:
        statement = statements[OF_EVERYBODY if persons is None else OF_PERSONS]
        params = {
            "tenant": tenant,
            "since": micros(since),
            "persons": [person for person in persons or () if person],
        }
        return [
            UsageTotal(str(model), int(calls), Usage(*map(int, tokens)), int(cost))
            for model, calls, *tokens, cost in await self._database.fetch(statement, params)
        ]

    async def largest(self, kind: str, period: str, limit: int) -> list[tuple[str, int]]:
        """Return the names and sums (without reservations) of the accounts of a kind ("user" or
        "workspace") in a period ("2026-11-21" or "2026-11"), the largest first. A name is
        "tenant:" and a person or "platform:account:workspace"."""
        params = {"kind": f"{kind}:", "period": f":{period}", "limit": limit}
        rows = await self._database.fetch(LARGEST, params)
        ends = len(kind) + 1, -len(period) - 1
        return [(str(key)[ends[0] : ends[1]], int(micros)) for key, micros in rows]

    async def person_of(self, turn: str) -> str:
        """Return the person whose turn called a model; empty if none did, or they were erased."""
        rows = await self._database.fetch(PERSON_OF, {"turn": turn})
        return str(rows[0][0]) if rows else ""

    async def prune(self, calls: datetime, before: datetime) -> int:
        """Delete some calls from before `calls` that are summed by day, and sums that started
        before `before`; returns how many, 0 at the end. `calls` is further back than a turn can be
        repeated, `before` further than the longest period."""
        rows = await delete_some(self._database, PRUNE_ROWS, {"before": micros(calls)})
        return rows + await delete_some(self._database, PRUNE_SUMS, {"before": micros(before)})

    def paid_by(self, payer: "Payer") -> "PaidLedger":
        """Return this ledger for turns that somebody else pays for."""
        return PaidLedger(self._database, self._clock, payer)


class Payer(Struct, frozen=True):
    """The payer of the turns of a playground: `person` is a `str(PersonId)`, `sender` the key
    under which budgets count them, `workspace` the place that the rows of usage name."""

    tenant: str
    person: str
    sender: str
    workspace: str


class PaidLedger(UsageLedger):
    """Charges turns to one person, whoever asked in them. Only budgets of people are charged."""

    def __init__(self, database: Database, clock: Clock, payer: Payer) -> None:
        super().__init__(database, clock)
        self._payer = payer

    async def reserve(
        self, turn: str, accounts: Sequence[BudgetAccount], estimate: int
    ) -> BudgetDecision:
        return await super().reserve(turn, self._own(accounts), estimate)

    async def settle(
        self, turn: str, rows: Sequence[UsageRow], accounts: Sequence[BudgetAccount]
    ) -> None:
        payer = self._payer
        paid = [
            replace(row, tenant=payer.tenant, person=payer.person, workspace=payer.workspace)
            for row in rows
        ]
        await super().settle(turn, paid, self._own(accounts))

    def _own(self, accounts: Sequence[BudgetAccount]) -> tuple[BudgetAccount, ...]:
        """Return the same accounts of the payer: a key ends with its period, which has no colon."""
        prefix = f"user:{self._payer.tenant}:{self._payer.sender}"
        return tuple(
            replace(one, key=f"{prefix}:{one.key.rpartition(':')[2]}")
            for one in accounts
            if one.name.startswith(OF_A_PERSON)
        )


def _sums(accounts: Sequence[BudgetAccount], dead: int, without: str = "") -> Work[list[int]]:
    questions = (
        Fetch(SUM, {"key": account.key, "turn": without, "dead": dead}) for account in accounts
    )
    return [int(rows[0][0]) for rows in (yield from together(*questions))]


def _call(turn: str, position: int, row: UsageRow) -> Mapping[str, object]:
    return {
        "turn": turn,
        "position": position,
        "tenant": row.tenant,
        "person": row.person,
        "workspace": row.workspace,
        "model": row.model,
        "input_tokens": row.usage.input_tokens,
        "output_tokens": row.usage.output_tokens,
        "cache_read_tokens": row.usage.cache_read_tokens,
        "cache_write_tokens": row.usage.cache_write_tokens,
        "micros": row.micros,
        "at": micros(row.at),
    }


def first_day(now: datetime, days: int) -> datetime:
    """Return the begin of the first of so many UTC days, of which today is the last."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today - timedelta(days=days - 1)


class BudgetUse(Struct, frozen=True):
    """A budget of a person: `spent` and `limit` in millionths of a dollar; `spent` includes
    reservations of running answers."""

    name: str
    spent: int
    limit: int


class SpendingSummary(Struct, frozen=True):
    """`totals` by model, the dearest first."""

    totals: tuple[UsageTotal, ...]
    allowances: tuple[BudgetUse, ...] = ()

    @property
    def micros(self) -> int:
        """All models together, in millionths of a dollar."""
        return sum(total.micros for total in self.totals)


class SpendingReader(Struct, frozen=True):
    """Every method raises `StoreUnavailable`. `budgets` returns those in force."""

    ledger: UsageLedger
    identities: IdentityResolver
    budgets: Callable[[], Budgets]
    clock: Clock

    async def of_everybody(self, tenant: str, days: int) -> SpendingSummary:
        """Return the spending of a tenant and of the program itself, in the last `days`."""
        since = first_day(self.clock.now(), days)
        return SpendingSummary(tuple(await self.ledger.totals(tenant, since, None)))

    async def of(
        self, tenant: str, person: PersonId, persons: Sequence[str], days: int
    ) -> SpendingSummary:
        """Return the spending of a person; `persons` are all linked identities."""
        now = self.clock.now()
        totals = await self.ledger.totals(tenant, first_day(now, days), persons)
        sender = await self.identities.human(tenant, person)
        place = Place(person.platform, person.account, "", Audience.DIRECT)
        every = accounts_for(tenant, sender, place, self.budgets(), now)
        own = [account for account in every if account.name.startswith(OF_A_PERSON)]
        spent = await self.ledger.spent(own) if own else []
        return SpendingSummary(
            tuple(totals),
            tuple(BudgetUse(a.name, s, a.limit) for a, s in zip(own, spent, strict=True)),
        )
