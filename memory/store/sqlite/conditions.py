"""A filter as SQL over a row `m` of `memories`, with the rule of who sees what in front."""

import json
from typing import Final

from db.values import storable
from memory.scope import Reach
from memory.store.ports import Filter
from memory.store.sqlite.reach import OWN, SEES, parameters

VISIBLE: Final = f"{SEES} AND (m.expires_at IS NULL OR m.expires_at > :now)"
"""What is there for a reach at the time `:now`."""
HOLDS: Final = f"""
    {VISIBLE} AND m.superseded_by = ''
    AND (m.true_until IS NULL OR m.true_until > :now)
    AND (m.valid_until IS NULL OR m.valid_until > :now)
"""
"""What is there and still true."""


def conditions_of(reach: Reach, wanted: Filter, now: float) -> tuple[list[str], dict[str, object]]:
    """Conditions that all have to hold, and what they take; neither text nor `after_id` are in
    them."""
    conditions, values = [VISIBLE], parameters(reach) | {"now": now}
    if not wanted.superseded:
        conditions.append("m.superseded_by = ''")
    if wanted.own_only:
        conditions.append(OWN)
    if wanted.kinds:
        conditions.append("m.kind IN (SELECT value FROM json_each(:kinds))")
        values["kinds"] = json.dumps(wanted.kinds)
    if wanted.tiers:
        conditions.append("m.tier IN (SELECT value FROM json_each(:tiers))")
        values["tiers"] = json.dumps(wanted.tiers)
    if wanted.scopes:
        conditions.append("m.scope IN (SELECT value FROM json_each(:scopes))")
        values["scopes"] = json.dumps(wanted.scopes)
    if wanted.since is not None:
        conditions.append("m.at >= :since")
        values["since"] = wanted.since.timestamp()
    if wanted.until is not None:
        conditions.append("m.at < :until")
        values["until"] = wanted.until.timestamp()
    if wanted.said is not None:
        conditions.append("m.role <> ''" if wanted.said else "m.role = ''")
    if wanted.tags:
        conditions.append(
            "NOT EXISTS (SELECT 1 FROM json_each(:tags) tag WHERE tag.value NOT IN"
            " (SELECT value FROM json_each(m.tags)))"
        )
        values["tags"] = json.dumps([storable(tag) for tag in wanted.tags])
    if wanted.at is not None:
        conditions += [
            "(m.true_from IS NULL OR m.true_from <= :then)",
            "(m.true_until IS NULL OR m.true_until > :then)",
            "(m.valid_until IS NULL OR m.valid_until > :then)",
        ]
        values["then"] = wanted.at.timestamp()
    return conditions, values
