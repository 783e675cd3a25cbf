"""A filter as SQL over a row `m` of `memories`, with the rule of who sees what in front.

A statement is put together from constant parts, so that there are few different ones to prepare.
"""

from functools import lru_cache
from typing import Final

from db import Statement, among
from db.fragments import json_values, listed
from db.times import micros, micros_or_none
from db.values import storable
from gateway.ports import Clock
from memory.model.scope import AccessScope
from memory.model.scope_sql import OWN, SEES, parameters
from memory.ports.memories import Filter

MAX_STATEMENTS: Final = 500
"""Statements that are kept, put together; a filter of every kind makes as many."""
VISIBLE: Final = f"{SEES} AND (m.expires_at IS NULL OR m.expires_at > :now)"
"""What is there for a reach at the time `:now`."""
HOLDS: Final = f"""
    {VISIBLE} AND m.superseded_by = ''
    AND (m.true_until IS NULL OR m.true_until > :now)
    AND (m.valid_until IS NULL OR m.valid_until > :now)
"""
"""What is there and still true."""
THEN: Final = """
    (m.true_from IS NULL OR m.true_from <= :then)
    AND (m.true_until IS NULL OR m.true_until > :then)
    AND (m.valid_until IS NULL OR m.valid_until > :then)
"""
TAGGED: Final = f"""
    NOT EXISTS (SELECT 1 FROM {listed("tags", "wanted")}
        WHERE wanted.value NOT IN (SELECT own.value FROM {json_values("m.tags", "own")}))
"""  # noqa: S608 - constants


@lru_cache(MAX_STATEMENTS)
def statement(source: str) -> Statement:
    """The statement of a source."""
    return Statement(source)


def conditions_of(wanted: Filter) -> str:
    """What has to hold; neither text nor `after_id` are in it. It takes `values_of`."""
    conditions = [VISIBLE]
    if not wanted.superseded:
        conditions.append("m.superseded_by = ''")
    if wanted.own_only:
        conditions.append(OWN)
    if wanted.kinds:
        conditions.append(among("m.kind", "kinds"))
    if wanted.tiers:
        conditions.append(among("m.tier", "tiers"))
    if wanted.scopes:
        conditions.append(among("m.scope", "scopes"))
    if wanted.said is not None:
        conditions.append("m.role <> ''" if wanted.said else "m.role = ''")
    if wanted.tags:
        conditions.append(TAGGED)
    if wanted.since is not None:
        conditions.append("m.at >= :since")
    if wanted.until is not None:
        conditions.append("m.at < :until")
    if wanted.at is not None:
        conditions.append(THEN)
    return " AND ".join(conditions)


def values_of(access: AccessScope, wanted: Filter, now: int) -> dict[str, object]:
    """What the conditions of a filter take, and the bounds of a search."""
    return parameters(access) | {
        "now": now,
        "limit": wanted.limit,
        "after": storable(wanted.after_id),
        "kinds": [kind.value for kind in wanted.kinds],
        "tiers": [tier.value for tier in wanted.tiers],
        "scopes": [scope.value for scope in wanted.scopes],
        "tags": [storable(tag) for tag in wanted.tags],
        "since": micros_or_none(wanted.since),
        "until": micros_or_none(wanted.until),
        "then": micros_or_none(wanted.at),
    }


def visible_at(access: AccessScope, clock: Clock) -> dict[str, object]:
    """What `VISIBLE` and `HOLDS` take."""
    return parameters(access) | {"now": micros(clock.now())}
