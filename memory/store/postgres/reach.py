"""The rule of `memory/scope.py` as SQL, over a row `m` with the columns of `memories`."""

from typing import Final

from db.values import storable
from memory.scope import Reach

OWN: Final = "(m.scope = 'user' AND m.person = ANY (%(for_persons)s::text[]))"
"""What is this person's own, wherever it was learned."""

SEES: Final = f"""(m.tenant = %(for_tenant)s AND (
    m.scope = 'global'
    OR (m.scope = 'project' AND %(for_project)s <> '' AND m.project = %(for_project)s)
    OR (m.scope = 'user' AND %(for_room)s <> '' AND m.room = %(for_room)s AND m.role <> '')
    OR ({OWN} AND (%(for_private)s OR (%(for_room)s <> '' AND m.room = %(for_room)s)))
))"""
"""`sees(reach, record)`."""

MAY_CHANGE: Final = f"""(m.tenant = %(for_tenant)s AND (
    {OWN}
    OR (m.scope = 'global' AND %(for_operates)s)
    OR (m.scope = 'project' AND %(for_operates)s
        AND %(for_project)s <> '' AND m.project = %(for_project)s)
))"""
"""`may_change(reach, record)`."""


def parameters(reach: Reach) -> dict[str, object]:
    """What the fragments take."""
    return {
        "for_tenant": storable(reach.tenant),
        "for_persons": [storable(person) for person in reach.persons],
        "for_room": storable(reach.room),
        "for_project": storable(reach.project),
        "for_private": reach.private,
        "for_operates": reach.operates,
    }
