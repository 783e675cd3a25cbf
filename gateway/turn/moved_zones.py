"""Moves the appointments of a person to another time zone: their local times stay."""

from gateway.turn.services import Services


async def follow_zone(tenant: str, person: str, services: Services) -> None:
    """Move what follows the zone of a `str(PersonId)`, after that changed. Raises
    `StoreUnavailable`."""
    store = services.stores.appointments
    if store is None:
        return
    times = services.policies.times
    for one in await store.of_person(tenant, person):
        zone = str(await services.readers.zone(times, tenant, person, one.place))
        if one.follows and zone != one.zone:
            await store.move(one, zone)
