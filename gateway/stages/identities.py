"""Further ids of people who do not write just now, and the identities that they are linked with."""

from gateway.people import KnownIds, PersonId, Principal
from gateway.policy.access import STAGE, listed
from gateway.policy.decision import Decision
from gateway.ports import kept_ids
from gateway.services import Services


async def known_ids(person: PersonId, services: Services) -> KnownIds | None:
    """The further ids of a person, as the adapter keeps them. None where the platform gives people
    several ids and none are kept: nobody knows which lists name this person."""
    state = services.stores.states.of(person.platform, person.account)
    known = await kept_ids(state, person.id)
    if known is not None:
        return known
    account = services.connected.get((person.platform, person.account))
    unsure = account is not None and bool(account.manifest.identify)
    return None if unsure else KnownIds()


async def blocked_by_link(who: Principal, services: Services) -> Decision | None:
    """The refusal of a person one of whose linked identities is blocked, None for anybody else."""
    blocked = services.policies.access.blocked_users
    for other in await services.memory.linked(who):
        known = await known_ids(other, services) or KnownIds()
        if listed(blocked, other.platform, (other.id, *known.every)):
            return Decision(STAGE, False, "linked_user_blocked", str(other))
    return None
