"""Reads usage as sums by day, person, workspace, channel or model: from the sums of finished days,
and from the calls and traces that are not in them yet."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, get_args

from msgspec import Struct

from db import Database, Params, Row, Statement, among
from db.database import Reader
from db.statements import either
from db.values import micros
from gateway.ports.model import Usage
from gateway.ports.usage import LATENCIES, UsageFilter, UsageKey, UsageSum
from gateway.stores.usage_days import (
    CALL,
    COUNTS,
    KEY,
    MESSAGE,
    OF_CALLS,
    OF_MESSAGES,
    SUMS,
    TIMES,
    day_of,
)

NAMES: Final[Mapping[UsageKey, str]] = {
    "day": "{day}",
    "person": "{person}",
    "workspace": "{workspace}",
    "channel": "{workspace} || '\n' || {channel}",
    "model": "{model}",
}
COLUMNS: Final = {name: f"d.{name}" for name in (*KEY, *SUMS)}
OF_QUARTERS: Final = {**COLUMNS, "day": day_of("d.quarter")}
IN_QUARTERS: Final[frozenset[UsageKey]] = frozenset({"day", "model"})
"""The keys by which `usage_quarters` has the sums of everybody, if no filter is set."""
RANKED_BY: Final = ("micros", "messages")
Whose = Callable[[Mapping[str, str]], str]
"""Returns the condition on the tenant and the people, for the columns of a source."""


def _of_everybody(columns: Mapping[str, str]) -> str:
    # A plus keeps SQLite from the index of people, which finds every day of the tenant.
    tenant = either(sqlite=f"+{columns['tenant']}", postgres=columns["tenant"])
    return f"{tenant} IN (:tenant, '')"


def _of_named(columns: Mapping[str, str]) -> str:
    days = columns is COLUMNS  # an index of people finds few days, and many calls
    tenant = f"{columns['tenant']} IN (:tenant, '')" if days else _of_everybody(columns)
    return f"{tenant} AND {among(columns['person'], 'names')}"


def _of_persons(columns: Mapping[str, str]) -> str:
    return f"{columns['tenant']} = :tenant AND {among(columns['person'], 'persons')}"


class _Question(Struct, frozen=True):
    """The figures that a statement reads: the sums `shown` of each value of a key. Without
    `filtered`, no filter is set."""

    key: UsageKey
    whose: Whose
    shown: Sequence[str] = SUMS
    filtered: bool = True

    def part(self, columns: Mapping[str, str], of: str, at: str, more: str = "") -> str:
        """Return a query of one source; `at` is its time, to which the filter of the period
        applies."""
        sums = ", ".join(f"sum({columns.get(name, '0')}) AS {name}" for name in self.shown)
        filters = f"""AND (:person = '' OR {columns["person"]} = :person)
            AND (:workspace = '' OR {columns["workspace"]} = :workspace)
            AND (:channels OR {columns["channel"]} = :channel)
            AND (:model = '' OR {columns["model"]} = :model)"""
        return f"""
            SELECT {NAMES[self.key].format(**columns)} AS name, {sums} FROM {of}
            WHERE {at} >= :since AND {at} < :until {more} AND {self.whose(columns)}
                {filters if self.filtered else ""}
            GROUP BY 1
        """

    def statement(self) -> Statement:
        """Return the statement: the sums of the days, and of what is not in them yet."""
        quarters = not self.filtered and self.key in IN_QUARTERS
        sums = ", ".join(f"sum({name})" for name in self.shown)
        order = "name" if self.key == "day" else "sum(micros) DESC, sum(messages) DESC, name"
        parts = (
            self.part(OF_QUARTERS, "usage_quarters d", "d.quarter")
            if quarters
            else self.part(COLUMNS, "usage_days d", "d.day"),
            self.part(CALL, OF_CALLS, "u.at", "AND u.summed = 0"),
            self.part(MESSAGE, OF_MESSAGES, "t.at", "AND t.summed = 0 AND t.slot IS NULL"),
        )
        return Statement(f"""
            SELECT name, {sums} FROM ({" UNION ALL ".join(parts)}) AS every
            GROUP BY name ORDER BY {order} LIMIT :limit
        """)


KEYS: Final[Sequence[UsageKey]] = get_args(UsageKey)
EVERYBODYS: Final = {key: _Question(key, _of_everybody).statement() for key in KEYS}
PERSONS: Final = {key: _Question(key, _of_persons).statement() for key in KEYS}
UNFILTERED: Final = {
    key: _Question(key, _of_everybody, filtered=False).statement() for key in IN_QUARTERS
}
RANKED: Final = _Question("person", _of_everybody, RANKED_BY, filtered=False).statement()
NAMED: Final = _Question("person", _of_named, filtered=False).statement()
"""The dearest people, and the sums of these: faster than all sums of all people."""
MAX_NAMED: Final = 1_000
"""People up to whom the dearest are chosen first."""


class UsageFigures:
    """Sums of usage. Long periods take a while, so they are read beside other work."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def by(self, key: UsageKey, wanted: UsageFilter, limit: int) -> list[UsageSum]:
        """Return the sums of each value of a key: days in order, others with the dearest first.
        Raises `StoreUnavailable`."""
        params = {
            "tenant": wanted.tenant,
            "since": micros(wanted.since),
            "until": micros(wanted.until),
            "persons": [person for person in wanted.persons or () if person],
            "person": wanted.person,
            "workspace": wanted.workspace,
            "channels": wanted.channel is None,
            "channel": wanted.channel or "",
            "model": wanted.model,
            "limit": limit,
        }
        async with self._database.reader() as reader:
            rows = await _read(reader, key, wanted, params, limit)
        return [_sum(row) for row in rows]


async def _read(
    reader: Reader, key: UsageKey, wanted: UsageFilter, params: Params, limit: int
) -> list[Row]:
    if wanted.persons is not None:
        return await reader.fetch(PERSONS[key], params)
    unfiltered = wanted == UsageFilter(wanted.tenant, wanted.since, wanted.until)
    if unfiltered and key in IN_QUARTERS:
        return await reader.fetch(UNFILTERED[key], params)
    if unfiltered and key == "person" and limit <= MAX_NAMED:
        names = [str(row[0]) for row in await reader.fetch(RANKED, params)]
        return await reader.fetch(NAMED, {**params, "names": names})
    return await reader.fetch(EVERYBODYS[key], params)


def _sum(row: Row) -> UsageSum:
    values = dict(zip(SUMS, map(int, row[1:]), strict=True))
    tokens = (values[name] for name in COUNTS[1:5])
    return UsageSum(
        str(row[0]),
        values["calls"],
        Usage(*tokens),
        values["micros"],
        values["messages"],
        values["errors"],
        tuple(values[name] for name in TIMES),
    )


def quantile(took: Sequence[int], share: float) -> float | None:
    """Return the time in milliseconds within which this share of the answers came, None without an
    answer. Within two bounds of `LATENCIES` it is interpolated; beyond the last one it is that."""
    wanted, seen = share * sum(took), 0.0
    if not wanted:
        return None
    for number, low, high in zip(took, (0, *LATENCIES), LATENCIES, strict=False):
        if number and seen + number >= wanted:
            return low + (high - low) * (wanted - seen) / number
        seen += number
    return float(LATENCIES[-1])
