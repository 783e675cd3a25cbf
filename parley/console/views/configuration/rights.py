"""The rights to see and to change the configuration, which holds for all tenants."""

from typing import Final

from gateway.people import Role, identity_of
from gateway.policy.access import role_of
from gateway.turn.admission import known_ids
from parley.config import Settings
from parley.console.services import ConsoleServices
from parley.console.viewer import LOCAL_OPERATOR, Viewer
from parley.http.api.authentication import admitted_person
from parley.http.api.errors import Refused
from parley.wiring.policies import policies_of

OF_THE_PROGRAM: Final = (
    "The configuration holds for all tenants: only people whom it names as owner or operator may "
    "see it."
)
OWN_ACCESS: Final = (
    "Nothing was changed: you would not be an owner with access any more. Another owner can do "
    "this, or make another account of yours an owner first."
)


async def governs(viewer: Viewer, services: ConsoleServices, role: Role) -> bool:
    """Return True if a viewer with this role may see what holds for all tenants. With several
    tenants, this needs a role by the configuration's lists: an owner by code is that of one
    tenant."""
    if viewer.person == str(LOCAL_OPERATOR) or not services.gateway.extensions.has_tenants:
        return viewer.role.at_least(role)
    person, lists = viewer.principal.person, services.gateway.policies.roles
    known = await known_ids(person, services.gateway)
    aliases = () if known is None else known.current
    return role_of(person, lists, aliases=aliases).at_least(role)


async def check_governs(
    viewer: Viewer, services: ConsoleServices, role: Role = Role.OPERATOR
) -> None:
    """Raise `Refused` (403) for a viewer who may not see what holds for all tenants."""
    if not await governs(viewer, services, role):
        raise Refused(403, "not_allowed", OF_THE_PROGRAM)


async def check_own_access(viewer: Viewer, services: ConsoleServices, settings: Settings) -> None:
    """Raise `Refused` (409) if the viewer, who is an owner, would not be one with this
    configuration. The same functions decide as for a chat. Whoever runs commands on this machine
    cannot be locked out."""
    if viewer.person == str(LOCAL_OPERATOR):
        return
    under = services.gateway.under(policies_of(settings))
    for person in sorted(viewer.persons):
        try:
            who = await admitted_person(viewer.tenant, identity_of(person), under)
        except Refused:
            continue
        if who.role is Role.OWNER:
            return
    raise Refused(409, "own_access", OWN_ACCESS)
