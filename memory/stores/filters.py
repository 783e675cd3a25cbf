"""A filter as SQL over a row `m` of `memories`, with the rule of who sees what in front.

A statement is put together from constant parts, so that there are few different ones to prepare.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from db import Statement, among
from db.statements import json_values, listed
from db.values import micros, micros_or_none, storable
from gateway.ports import Clock
from memory.model.record import Embedding
from memory.model.scope import OWN, SEES, SEES_SHARED, AccessScope
from memory.ports.memories import Filter

MAX_STATEMENTS: Final = 500
"""Cached statements; each kind of filter makes as many."""
ALIVE: Final = "(m.expires_at IS NULL OR m.expires_at > :now)"
TRUE_NOW: Final = f"""
    {ALIVE} AND m.superseded_by = ''
    AND (m.true_until IS NULL OR m.true_until > :now)
    AND (m.valid_until IS NULL OR m.valid_until > :now)
"""
"""Still true at the time `:now`."""
THEN: Final = """
    (m.true_from IS NULL OR m.true_from <= :then)
    AND (m.true_until IS NULL OR m.true_until > :then)
    AND (m.valid_until IS NULL OR m.valid_until > :then)
"""
DURING: Final = """
    ((m.at >= :begin AND m.at < :end)
        OR (m.role = '' AND (m.true_from IS NOT NULL OR m.true_until IS NOT NULL)
            AND (m.true_from IS NULL OR m.true_from < :end)
            AND (m.true_until IS NULL OR m.true_until > :begin)))
"""
"""Written from `:begin` to before `:end`, or true at a time between them."""
KEPT_BY_READER: Final = "(NOT m.agent_private OR m.agent = :for_agent)"
TAGGED: Final = f"""
    NOT EXISTS (SELECT 1 FROM {listed("tags", "wanted")}
        WHERE wanted.value NOT IN (SELECT own.value FROM {json_values("m.tags", "own")}))
"""


class ByReader(Struct, frozen=True):
    """A statement with the rule of visibility, for people and for agents: the one for people does
    not read the tables of pools."""

    for_person: Statement
    for_agent: Statement

    def of(self, access: AccessScope) -> Statement:
        """Return the statement for this access."""
        return self.for_agent if access.agent else self.for_person


def by_reader(source: Callable[[str], str]) -> ByReader:
    """Return the statements of a source, a function of the condition that `m` is visible at the
    time `:now`."""
    return ByReader(Statement(source(_visible(SEES))), Statement(source(_visible(SEES_SHARED))))


def visible_to(access: AccessScope) -> str:
    """Return the condition that `m` is visible at the time `:now`."""
    return _visible(SEES_SHARED if access.agent else SEES)


def _visible(sees: str) -> str:
    return f"{sees} AND {ALIVE}"


@lru_cache(MAX_STATEMENTS)
def statement(source: str) -> Statement:
    """The statement of a source."""
    return Statement(source)


class VectorQuery(Struct, frozen=True):
    """A search for the memories whose vectors are nearest to that of a question."""

    vector: Embedding
    """The vector of the question; vectors of another model are not compared."""
    access: AccessScope
    """The memories that may be found."""
    filters: Filter
    """A selection of them, whose text is ignored."""
    limit: int
    """The largest number of results."""
    now: int
    """The time of the search in microseconds since 1970."""
    shares: Sequence[str] = ()
    """The audiences whose shares are searched instead of the memories of the people."""


def conditions_of(access: AccessScope, filters: Filter) -> str:
    """Return the conditions of a filter, without text and `after_id`; their parameters are
    `values_of`. What an agent keeps for itself is in lists of own memories and in the agent's own
    searches only."""
    conditions = [visible_to(access)]
    if not filters.superseded:
        conditions.append("m.superseded_by = ''")
    conditions.append(OWN if filters.own_only else KEPT_BY_READER)
    if filters.kinds:
        conditions.append(among("m.kind", "kinds"))
    if filters.tiers:
        conditions.append(among("m.tier", "tiers"))
    if filters.scopes:
        conditions.append(among("m.scope", "scopes"))
    if filters.sources:
        conditions.append(among("m.source", "sources"))
    if filters.trusts:
        conditions.append(among("m.trust", "trusts"))
    if filters.turns is not None:
        conditions.append("m.role <> ''" if filters.turns else "m.role = ''")
    if filters.tags:
        conditions.append(TAGGED)
    times = (
        (filters.since, "m.at >= :since"),
        (filters.until, "m.at < :until"),
        (filters.during, DURING),
        (filters.at, THEN),
    )
    conditions += [condition for value, condition in times if value is not None]
    return " AND ".join(conditions)


def values_of(access: AccessScope, filters: Filter, now: int) -> dict[str, object]:
    """Return the parameters of a filter's conditions and of a search."""
    begin, end = filters.during or (None, None)
    return access.parameters() | {
        "now": now,
        "begin": micros_or_none(begin),
        "end": micros_or_none(end),
        "limit": filters.limit,
        "after": storable(filters.after_id),
        "kinds": [kind.value for kind in filters.kinds],
        "tiers": [tier.value for tier in filters.tiers],
        "scopes": [scope.value for scope in filters.scopes],
        "sources": [source.value for source in filters.sources],
        "trusts": [trust.value for trust in filters.trusts],
        "tags": [storable(tag) for tag in filters.tags],
        "since": micros_or_none(filters.since),
        "until": micros_or_none(filters.until),
        "then": micros_or_none(filters.at),
    }


def visible_at(access: AccessScope, clock: Clock) -> dict[str, object]:
    """Return the parameters of `visible_to` and `TRUE_NOW`."""
    return access.parameters() | {"now": micros(clock.now())}
