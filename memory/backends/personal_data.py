"""A person's data in a memory backend."""

from collections.abc import Sequence

from memory.backends.guard import GuardedBackend


class BackendPersonalData:
    """Implements `memory.ports.personal_data.PersonalDataStore`. Methods raise `MemoryUnavailable`:
    an erasure that failed is reported, never skipped."""

    def __init__(self, backend: GuardedBackend) -> None:
        self._backend = backend

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Return everything, with the name of the backend."""
        rows = await self._backend.export(tenant, persons)
        return [{**row, "table": f"memory backend {self._backend.name}"} for row in rows]

    async def count(self, tenant: str, persons: Sequence[str]) -> list[tuple[str, int]]:
        rows = await self._backend.export(tenant, persons)
        return [(f"memory backend {self._backend.name}", len(rows))] if rows else []

    async def erase(self, tenant: str, persons: Sequence[str], turn_id: str = "") -> int:
        """Delete everything; return the number of statements."""
        return await self._backend.erase(tenant, persons)
