"""Usage by day: the sums of calls, messages and answer times of each day by person, channel and
model; and those of each quarter of an hour by model alone, for the figures of everybody. Figures
are read from these sums, and from the calls and traces that are not in them yet.

In every time zone, a day begins with such a quarter.

A call and a trace are added to their day once, and marked `summed` in the same transaction. So at
any time, all figures are the days and what is not marked, and the single rows can be deleted later
without a change of the figures.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, get_args

from msgspec import Struct

from db import Database, Params, Row, Statement, Work, among, execute, lock
from db.database import Reader, delete_some, deleting_some
from db.statements import BY_KEY, Engine, either, json_item
from db.transaction import fetch
from db.values import micros
from gateway.people import Audience
from gateway.ports.model import Usage
from gateway.ports.traces import FAILED
from gateway.ports.usage import LATENCIES, UsageFilter, UsageKey, UsageSum

LOCK: Final = "usage_days"
"""Held by what moves figures between rows of days."""
AT_ONCE: Final[Mapping[Engine, int]] = {"sqlite": 100, "postgres": 5_000}
"""Calls or messages that one step adds. SQLite works on the event loop: 100 take 5 ms."""
DAY: Final = 86_400_000_000
"""Microseconds."""
KEY: Final = ("day", "tenant", "person", "workspace", "channel", "model")
KEY_OF_QUARTER: Final = ("quarter", "tenant", "model")
QUARTER: Final = DAY // 96
"""Microseconds."""
HOUR: Final = DAY // 24
"""Microseconds."""
COUNTS: Final = (
    *("calls", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
    *("micros", "messages", "errors"),
)
TIMES: Final = tuple(f"took_{number}" for number in range(len(LATENCIES) + 1))
"""The number of answers by their duration: up to the bound of the same position, then the rest."""
SUMS: Final = (*COUNTS, *TIMES)
SCHEMA: Final = (
    f"""CREATE TABLE usage_days (
        day bigint NOT NULL, tenant text NOT NULL, person text NOT NULL, workspace text NOT NULL,
        channel text NOT NULL, model text NOT NULL,
        {", ".join(f"{name} bigint NOT NULL DEFAULT 0" for name in SUMS)},
        PRIMARY KEY ({", ".join(KEY)})
    ) {BY_KEY}""",
    "CREATE INDEX usage_days_person ON usage_days (tenant, person, day)",
    "ALTER TABLE usage ADD COLUMN summed integer NOT NULL DEFAULT 0",
    "ALTER TABLE traces ADD COLUMN summed integer NOT NULL DEFAULT 0",
    # Each row of `usage` is in one of these two.
    "DROP INDEX usage_at",
    "CREATE INDEX usage_open ON usage (at) WHERE summed = 0",
    "CREATE INDEX usage_summed ON usage (at) WHERE summed = 1",
    "CREATE INDEX traces_open ON traces (at) WHERE summed = 0 AND slot IS NULL",
)
QUARTERS: Final = (
    f"""CREATE TABLE usage_quarters (
        quarter bigint NOT NULL, tenant text NOT NULL, model text NOT NULL,
        {", ".join(f"{name} bigint NOT NULL DEFAULT 0" for name in SUMS)},
        PRIMARY KEY ({", ".join(KEY_OF_QUARTER)})
    ) {BY_KEY}""",
    f"""INSERT INTO usage_quarters ({", ".join((*KEY_OF_QUARTER, *SUMS))})
        SELECT day, tenant, model, {", ".join(f"sum({name})" for name in SUMS)} FROM usage_days
        GROUP BY day, tenant, model""",
)
ROOMS: Final = (str(Audience.PRIVATE_ROOM), str(Audience.PUBLIC_ROOM))
CHANNEL: Final = f"""CASE WHEN {{0}}.audience IN {ROOMS}
    THEN {json_item("{0}.conversation", 4)} ELSE '' END"""
"""The channel of a trace; empty for a direct conversation, whose id can be a person's."""
WORKSPACE: Final = f"""
    {{0}}.platform || ':' || {{0}}.account || ':' || {json_item("{0}.conversation", 3)}
"""


def day_of(column: str) -> str:
    """Return the begin of the UTC day of a time."""
    return f"({column} - {column} % {DAY})"


def quarter_of(column: str) -> str:
    """Return the begin of the quarter of an hour of a time."""
    return f"({column} - {column} % {QUARTER})"


def hour_of(column: str) -> str:
    """Return the begin of the hour of a time."""
    return f"({column} - {column} % {HOUR})"


def took(alias: str) -> tuple[str, ...]:
    """Return for each of `TIMES` 1 if the answer of a trace took so long, otherwise 0."""
    lows, highs = (None, *LATENCIES), (*LATENCIES, None)
    time = f"{alias}.milliseconds"
    return tuple(
        f"(CASE WHEN {alias}.outcome = 'answered'"
        + (f" AND {time} > {low}" if low is not None else "")
        + (f" AND {time} <= {high}" if high is not None else "")
        + " THEN 1 ELSE 0 END)"
        for low, high in zip(lows, highs, strict=True)
    )


def failed(alias: str) -> str:
    """Return 1 for a trace of a message that failed, otherwise 0."""
    return f"(CASE WHEN {alias}.outcome IN {FAILED} THEN 1 ELSE 0 END)"


CALL: Final = {
    "hour": hour_of("u.at"),
    "day": day_of("u.at"),
    "quarter": quarter_of("u.at"),
    "tenant": "u.tenant",
    "person": "u.person",
    "workspace": "u.workspace",
    "channel": f"COALESCE({CHANNEL.format('t')}, '')",
    "model": "u.model",
    "calls": "1",
    **{name: f"u.{name}" for name in COUNTS[1:6]},
}
"""The columns of a call `u` with its trace `t`, if that is stored."""
MESSAGE: Final = {
    "hour": hour_of("t.at"),
    "day": day_of("t.at"),
    "quarter": quarter_of("t.at"),
    "tenant": f"COALESCE(u.tenant, {json_item('t.conversation', 0)})",
    "person": "COALESCE(u.person, '')",
    "workspace": f"COALESCE(u.workspace, {WORKSPACE.format('t')})",
    "channel": CHANNEL.format("t"),
    "model": "COALESCE(u.model, '')",
    "messages": "1",
    "errors": failed("t"),
    **dict(zip(TIMES, took("t"), strict=True)),
}
"""The columns of a trace `t` with the call `u` that answered it, if a model was asked."""
OF_CALLS: Final = "usage u LEFT JOIN traces t ON t.id = u.turn"
OF_MESSAGES: Final = "traces t LEFT JOIN usage u ON u.turn = t.id AND u.position = 0"
OPEN_CALLS: Final = Statement("""
    SELECT id FROM usage WHERE summed = 0 AND at < :before ORDER BY at LIMIT :most
""")
OPEN_MESSAGES: Final = Statement("""
    SELECT id FROM traces WHERE summed = 0 AND slot IS NULL AND at < :before
    ORDER BY at LIMIT :most
""")
MARK_CALLS: Final = Statement(f"UPDATE usage SET summed = 1 WHERE {among('id', 'ids')}")
MARK_MESSAGES: Final = Statement(f"UPDATE traces SET summed = 1 WHERE {among('id', 'ids')}")


TABLES: Final = {"usage_days": KEY, "usage_quarters": KEY_OF_QUARTER}


def _adding(
    table: str, columns: dict[str, str], of: str, where: str, sums: tuple[str, ...]
) -> Statement:
    """Return a statement that adds rows to their days; `sums` are the columns to sum."""
    key = TABLES[table]
    names = (*key, *sums)
    chosen = (*(columns[name] for name in key), *(f"sum({columns[name]})" for name in sums))
    more = ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in sums)
    groups = ", ".join(str(number) for number in range(1, len(key) + 1))
    return Statement(f"""
        INSERT INTO {table} ({", ".join(names)}) SELECT {", ".join(chosen)} FROM {of}
        WHERE {where} GROUP BY {groups}
        ON CONFLICT ({", ".join(key)}) DO UPDATE SET {more}
    """)


ADD_CALLS: Final = tuple(
    _adding(table, CALL, OF_CALLS, among("u.id", "ids"), COUNTS[:6]) for table in TABLES
)
OF_MESSAGE: Final = tuple(name for name in MESSAGE if name in SUMS)
ADD_MESSAGES: Final = tuple(
    _adding(table, MESSAGE, OF_MESSAGES, among("t.id", "ids"), OF_MESSAGE) for table in TABLES
)
OWN: Final = f"tenant = :tenant AND {among('person', 'persons')}"
NAMELESS: Final = (
    _adding(
        "usage_days",
        {**{name: name for name in (*KEY, *SUMS)}, "person": "''"},
        "usage_days",
        OWN,
        SUMS,
    ),
    Statement(f"DELETE FROM usage_days WHERE {OWN} AND person <> ''"),
)
"""Removes the name from the days of a person, in two statements under `LOCK`."""
PRUNE: Final = tuple(
    deleting_some(table, ", ".join(key), f"{key[0]} < :before", key[0])
    for table, key in TABLES.items()
)


class UsageDays:
    """Sums calls and messages by day."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def sum_up(self, before: datetime) -> int:
        """Add some calls and messages from before then to their days; returns how many, 0 at the
        end."""
        params = {"before": micros(before), "most": AT_ONCE[self._database.engine]}
        calls = await self._database.run(lambda: _sum_up(OPEN_CALLS, ADD_CALLS, MARK_CALLS, params))
        messages = await self._database.run(
            lambda: _sum_up(OPEN_MESSAGES, ADD_MESSAGES, MARK_MESSAGES, params)
        )
        return calls + messages

    async def prune(self, before: datetime) -> int:
        """Delete some days before then; returns how many rows, 0 at the end."""
        params = {"before": micros(before)}
        return sum([await delete_some(self._database, one, params) for one in PRUNE])


def _sum_up(
    find: Statement, add: Sequence[Statement], mark: Statement, params: dict[str, int]
) -> Work[int]:
    yield from lock(LOCK)
    ids = [row[0] for row in (yield from fetch(find, params))]
    if ids:
        for one in (*add, mark):
            yield from execute(one, {"ids": ids})
    return len(ids)


NAMES: Final[Mapping[UsageKey, str]] = {
    "hour": "{hour}",
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
IN_TIME: Final[frozenset[UsageKey]] = frozenset({"hour", "day"})
"""The keys whose sums are in the order of time."""
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
        order = "name" if self.key in IN_TIME else "sum(micros) DESC, sum(messages) DESC, name"
        parts = (
            self.part(CALL, OF_CALLS, "u.at", "AND u.summed = 1")
            if self.key == "hour"
            else self.part(OF_QUARTERS, "usage_quarters d", "d.quarter")
            if quarters
            else self.part(COLUMNS, "usage_days d", "d.day"),
            self.part(CALL, OF_CALLS, "u.at", "AND u.summed = 0"),
            self.part(MESSAGE, OF_MESSAGES, "t.at", f"{_open(self.key)} AND t.slot IS NULL"),
        )
        return Statement(f"""
            SELECT name, {sums} FROM ({" UNION ALL ".join(parts)}) AS every
            GROUP BY name ORDER BY {order} LIMIT :limit
        """)


def _open(key: UsageKey) -> str:
    """Return the condition on messages that are in no sum: no sum has hours."""
    return "" if key == "hour" else "AND t.summed = 0"


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
        """Return the sums of each value of a key: hours and days in order, others with the dearest
        first. Hours are read from single calls and traces, so ask for a few days of them. Raises
        `StoreUnavailable`."""
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
