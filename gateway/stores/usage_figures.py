"""Reads usage as sums by day, person, workspace, channel or model: from the sums of finished days,
and from the calls and traces that are not in them yet."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, get_args

from db import Database, Row, Statement, among
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
)

NAMES: Final[Mapping[UsageKey, str]] = {
    "day": "{day}",
    "person": "{person}",
    "workspace": "{workspace}",
    "channel": "{workspace} || '\n' || {channel}",
    "model": "{model}",
}
COLUMNS: Final = {name: f"d.{name}" for name in (*KEY, *SUMS)}


Whose = Callable[[Mapping[str, str]], str]
"""Returns the condition on the tenant and the people, for the columns of a source."""


def _of_everybody(columns: Mapping[str, str]) -> str:
    # A plus keeps SQLite from the index of people, which finds every day of the tenant.
    tenant = either(sqlite=f"+{columns['tenant']}", postgres=columns["tenant"])
    return f"{tenant} IN (:tenant, '')"


def _of_persons(columns: Mapping[str, str]) -> str:
    return f"{columns['tenant']} = :tenant AND {among(columns['person'], 'persons')}"


def _part(
    columns: Mapping[str, str], of: str, at: str, key: UsageKey, whose: Whose, more: str = ""
) -> str:
    """Return a query of one source; `at` is its time, to which the filter of the period applies."""
    sums = ", ".join(f"sum({columns.get(name, '0')}) AS {name}" for name in SUMS)
    return f"""
        SELECT {NAMES[key].format(**columns)} AS name, {sums} FROM {of}
        WHERE {at} >= :since AND {at} < :until {more} AND {whose(columns)}
            AND (:person = '' OR {columns["person"]} = :person)
            AND (:workspace = '' OR {columns["workspace"]} = :workspace)
            AND (:channels OR {columns["channel"]} = :channel)
            AND (:model = '' OR {columns["model"]} = :model)
        GROUP BY 1
    """  # noqa: S608 - constants of this module


def _statement(key: UsageKey, whose: Whose) -> Statement:
    sums = ", ".join(f"sum({name})" for name in SUMS)
    order = "name" if key == "day" else "sum(micros) DESC, sum(messages) DESC, name"
    parts = (
        _part(COLUMNS, "usage_days d", "d.day", key, whose),
        _part(CALL, OF_CALLS, "u.at", key, whose, "AND u.summed = 0"),
        _part(MESSAGE, OF_MESSAGES, "t.at", key, whose, "AND t.summed = 0 AND t.slot IS NULL"),
    )
    return Statement(f"""
        SELECT name, {sums} FROM ({" UNION ALL ".join(parts)}) AS every
        GROUP BY name ORDER BY {order} LIMIT :limit
    """)  # noqa: S608 - constants of this module


EVERYBODYS: Final[Mapping[UsageKey, Statement]] = {
    key: _statement(key, _of_everybody) for key in get_args(UsageKey)
}
PERSONS: Final[Mapping[UsageKey, Statement]] = {
    key: _statement(key, _of_persons) for key in get_args(UsageKey)
}


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
        statements = EVERYBODYS if wanted.persons is None else PERSONS
        async with self._database.reader() as reader:
            rows = await reader.fetch(statements[key], params)
        return [_sum(row) for row in rows]


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
