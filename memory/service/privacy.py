"""Choices and notices of one person, and the export of what is stored about them.

`erasure.py` deletes it.
"""

from collections.abc import Sequence

from memory.ports.links import Linked
from memory.service.dependencies import RequestMemory


class MemoryPrivacy(RequestMemory, frozen=True):
    """Shows what is stored about this person, and changes their choices."""

    async def choose(
        self, *, memory: bool | None = None, notes: bool | None = None, rooms: bool | None = None
    ) -> None:
        """Change the given choices, which apply from the next request."""
        people, principal = self.dependencies.people, self.request.principal
        if memory is not None:
            await people.turn_memory(principal, memory)
        if notes is not None:
            await people.show_notes(principal, notes)
        if rooms is not None:
            await people.show_private(principal, rooms)

    async def off_in(self) -> tuple[str, ...]:
        """Return the conversations in which this person turned memory off."""
        return await self.dependencies.people.off_in(self.request.principal)

    async def turn_on_in(self, name: str) -> None:
        """Turn memory on again in one of these conversations."""
        await self.dependencies.people.turn_memory_on_in(self.request.principal, name)

    async def defer_notices(self, entries: Sequence[str]) -> None:
        """Keep these notices for the person's next direct message."""
        await self.dependencies.people.add_notices(self.request, entries)

    async def drop_notices(self, entries: Sequence[str]) -> None:
        """Remove these notices from those that wait."""
        await self.dependencies.people.remove_notices(self.request, entries)

    async def counts(self) -> list[tuple[str, int]]:
        """Return the number of stored rows of each table."""
        await self.store_waiting_turns()
        counts: dict[str, int] = {}
        for holder in self.dependencies.holders:
            for name, count in await holder.count(self.access.tenant, self.access.persons):
                counts[name] = counts.get(name, 0) + count
        return list(counts.items())

    async def export_all(self, *, audited: bool = True) -> list[dict[str, object]]:
        """Return everything that any store holds about this person, as JSON-like values."""
        await self.store_waiting_turns()
        rows: list[dict[str, object]] = []
        for holder in self.dependencies.holders:
            rows += await holder.export(self.access.tenant, self.access.persons)
        if audited:
            await self.audit("memory_export", count=len(rows))
        return rows

    async def linked(self) -> list[Linked]:
        """Return the other identities that are linked with this one."""
        return await self.dependencies.links.linked(self.access.tenant, self.access.person)
