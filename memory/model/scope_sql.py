"""The rule of `memory/model/scope.py` as SQL, over a row `m` with the columns of `memories`."""

from typing import Final

from db import among, either
from db.values import storable
from memory.model.scope import AccessScope

OWN: Final = f"(m.scope = 'user' AND {among('m.person', 'for_persons')})"
"""What is this person's own, wherever it was learned."""

TENANT: Final = either(sqlite="+m.tenant", postgres="m.tenant") + " = :for_tenant"
"""The plus keeps SQLite from reading a whole tenant by an index, where what is looked for is known
already."""

SEES: Final = f"""({TENANT} AND (
    m.scope = 'global'
    OR (m.scope = 'project' AND :for_project <> '' AND m.project = :for_project)
    OR (m.scope = 'user' AND :for_room <> '' AND m.room = :for_room AND m.role <> '')
    OR ({OWN} AND (:for_private OR (:for_room <> '' AND m.room = :for_room)))
))"""
"""`sees(access, record)`."""

MAY_CHANGE: Final = f"""({TENANT} AND (
    {OWN}
    OR (m.scope = 'global' AND :for_operates)
    OR (m.scope = 'project' AND :for_operates AND :for_project <> '' AND m.project = :for_project)
))"""
"""`may_change(access, record)`."""


def parameters(access: AccessScope) -> dict[str, object]:
    """Return the parameters of the fragments."""
    return {
        "for_tenant": storable(access.tenant),
        "for_persons": [storable(person) for person in access.persons],
        "for_room": storable(access.room),
        "for_project": storable(access.project),
        "for_private": access.private,
        "for_operates": access.operates,
    }
