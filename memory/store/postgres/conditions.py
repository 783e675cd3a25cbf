"""A filter as SQL over a row `m` of `memories`, with the rule of who sees what in front."""

from typing import Final, LiteralString

from db.values import storable
from memory.store.ports import Filter
from memory.store.postgres.reach import OWN, SEES

VISIBLE: Final = f"{SEES} AND (m.expires_at IS NULL OR m.expires_at > %(now)s)"
"""What is there for a reach at the time `now`."""
HOLDS: Final = f"""
    {VISIBLE} AND m.superseded_by = ''
    AND (m.true_until IS NULL OR m.true_until > %(now)s)
    AND (m.valid_until IS NULL OR m.valid_until > %(now)s)
"""
"""What is there and still true."""
THEN: Final = """
    (m.true_from IS NULL OR m.true_from <= %(then)s)
    AND (m.true_until IS NULL OR m.true_until > %(then)s)
    AND (m.valid_until IS NULL OR m.valid_until > %(then)s)
"""


def conditions_of(wanted: Filter) -> LiteralString:
    """What has to hold; neither text nor `after_id` are in it. It takes the parameters of the
    reach, `now`, and `values_of(wanted)`."""
    conditions: list[LiteralString] = [VISIBLE]
    if not wanted.superseded:
        conditions.append("m.superseded_by = ''")
    if wanted.own_only:
        conditions.append(OWN)
    if wanted.kinds:
        conditions.append("m.kind = ANY (%(kinds)s::text[])")
    if wanted.tiers:
        conditions.append("m.tier = ANY (%(tiers)s::text[])")
    if wanted.scopes:
        conditions.append("m.scope = ANY (%(scopes)s::text[])")
    if wanted.said is not None:
        conditions.append("m.role <> ''" if wanted.said else "m.role = ''")
    if wanted.tags:
        conditions.append("m.tags @> %(tags)s::text[]")
    if wanted.since is not None:
        conditions.append("m.at >= %(since)s")
    if wanted.until is not None:
        conditions.append("m.at < %(until)s")
    if wanted.at is not None:
        conditions.append(THEN)
    return " AND ".join(conditions)


def values_of(wanted: Filter) -> dict[str, object]:
    """What the conditions of a filter take, and the bounds of a search."""
    return {
        "limit": wanted.limit,
        "after": storable(wanted.after_id),
        "kinds": [kind.value for kind in wanted.kinds],
        "tiers": [tier.value for tier in wanted.tiers],
        "scopes": [scope.value for scope in wanted.scopes],
        "tags": [storable(tag) for tag in wanted.tags],
        "since": wanted.since,
        "until": wanted.until,
        "then": wanted.at,
    }
