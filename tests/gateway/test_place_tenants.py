"""The tenants that wrote in a place are stored completely, also if several begin at once."""

import asyncio
from datetime import timedelta

from gateway.extensions import ExtensionRegistry, PlaceTenants
from gateway.message import Place
from gateway.people import PersonId
from tests.support.messages import place


class OneEach:
    """Every person is a tenant of their own; a place is none."""

    def get_tenant_id(self, place: Place, person: PersonId | None) -> str:
        if person is None:
            raise LookupError("nobody")
        return person.id

    def get_tenant_filter(self, tenant_id: str) -> dict[str, str]:
        return {"tenant_id": tenant_id}


class SlowState:
    """Keeps values as a store does: everybody else goes on meanwhile."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    async def get(self, key: str) -> str | None:
        await asyncio.sleep(0)
        return self.values.get(key)

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        await asyncio.sleep(0)
        self.values[key] = value


async def test_tenants_that_write_first_at_the_same_time_are_all_stored() -> None:
    tenants = PlaceTenants(ExtensionRegistry(tenant_provider=OneEach()), SlowState())
    names = [f"t{number}" for number in range(5)]
    await asyncio.gather(*(tenants.note(place(), name) for name in names))
    assert set(await tenants.of(place())) == set(names)
