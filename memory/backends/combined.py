"""The memories of Parley's database and of the backends in use, as one store.

The database always keeps the turns of conversations. Learned memories are in the places in use:
the database (`builtin`), backends, or both. New ones are stored in the first place.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

from gateway.immutable import replace
from memory.backends.store import MessageIndex
from memory.model.record import Kind, Record, Tier
from memory.model.scope import AccessScope
from memory.ports.memories import (
    ChangedMemory,
    Duplicate,
    Filter,
    Insertion,
    Match,
    MemoryStore,
    TextVector,
    Unembedded,
)

AN_INSTANT: Final = timedelta(microseconds=1)


class MemoryPlace(Protocol):
    """A place of learned memories; its methods are those of `MemoryStore`."""

    async def insert(
        self, access: AccessScope, record: Record, *, threshold: float | None, quota: int | None
    ) -> Insertion: ...

    async def like(
        self, access: AccessScope, record: Record, *, threshold: float
    ) -> Duplicate | None: ...

    async def find(self, access: AccessScope, filters: Filter) -> list[Match]: ...

    async def get(self, access: AccessScope, memory_id: str) -> Record | None: ...

    async def visible(self, access: AccessScope, memory_ids: Sequence[str]) -> set[str]: ...

    async def count(self, access: AccessScope) -> int: ...

    async def tally(self, access: AccessScope, filters: Filter) -> dict[Kind, int]: ...

    async def delete(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]: ...

    async def take_back(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]: ...

    async def restore(self, access: AccessScope, memory_id: str) -> str | None: ...

    async def clear(self, access: AccessScope, tiers: Sequence[Tier]) -> int: ...

    async def forget_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> list[ChangedMemory]: ...


class TurnsOnly:
    """Implements `MemoryPlace` over a database whose learned memories are not in use: they are not
    found, but still deleted with the rest."""

    def __init__(self, database: MemoryStore) -> None:
        self._database = database

    async def insert(
        self, access: AccessScope, record: Record, *, threshold: float | None, quota: int | None
    ) -> Insertion:
        """Refuse: new memories are stored in a place in use."""
        return Insertion(False, missing=record.supersedes)

    async def like(
        self, access: AccessScope, record: Record, *, threshold: float
    ) -> Duplicate | None:
        """Return None: turns have no duplicates."""
        return None

    async def find(self, access: AccessScope, filters: Filter) -> list[Match]:
        """Return matching turns."""
        if filters.turns is False:
            return []
        return await self._database.find(access, replace(filters, turns=True))

    async def get(self, access: AccessScope, memory_id: str) -> Record | None:
        """Return a turn."""
        record = await self._database.get(access, memory_id)
        return record if record is not None and record.role else None

    async def visible(self, access: AccessScope, memory_ids: Sequence[str]) -> set[str]:
        """Return the ids of those that are visible."""
        return await self._database.visible(access, memory_ids)

    async def count(self, access: AccessScope) -> int:
        """Return 0: turns do not count."""
        return 0

    async def tally(self, access: AccessScope, filters: Filter) -> dict[Kind, int]:
        """Count matching turns."""
        if filters.turns is False:
            return {}
        return await self._database.tally(access, replace(filters, turns=True))

    async def delete(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]:
        """Delete memories."""
        return await self._database.delete(access, memory_ids)

    async def take_back(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]:
        """Delete memories as if they had never been stored."""
        return await self._database.take_back(access, memory_ids)

    async def restore(self, access: AccessScope, memory_id: str) -> str | None:
        """Restore nothing: turns are not replaced."""
        return None

    async def clear(self, access: AccessScope, tiers: Sequence[Tier]) -> int:
        """Delete all of the person's own memories of these tiers."""
        return await self._database.clear(access, tiers)

    async def forget_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> list[ChangedMemory]:
        """Delete what derives from messages."""
        return await self._database.forget_message(tenant, channel, message_ids)


class CombinedMemories:
    """Implements `memory.ports.memories.MemoryStore`. Methods also raise `MemoryUnavailable`."""

    def __init__(
        self, database: MemoryStore, places: Sequence[MemoryPlace], messages: MessageIndex
    ) -> None:
        """`places` are in the configured order, the database or its `TurnsOnly` among them;
        `messages` are those of the backends."""
        self._database = database
        self._messages = messages
        self._places = tuple(places)

    # --- storing --------------------------------------------------------------------------------

    async def insert(
        self, access: AccessScope, record: Record, *, threshold: float | None, quota: int | None
    ) -> Insertion:
        place = await self._place_of(access, record.supersedes) or self._places[0]
        if quota is None:
            return await place.insert(access, record, threshold=threshold, quota=None)
        others = sum([await one.count(access) for one in self._places if one is not place])
        left = max(0, quota - others)
        done = await place.insert(access, record, threshold=threshold, quota=left)
        used = None if done.quota is None else (done.quota[0] + others, quota)
        return replace(done, quota=used)

    async def like(
        self, access: AccessScope, record: Record, *, threshold: float
    ) -> Duplicate | None:
        for place in self._places:
            duplicate = await place.like(access, record, threshold=threshold)
            if duplicate is not None:
                return duplicate
        return None

    async def keep_turns(self, access: AccessScope, records: Sequence[Record]) -> None:
        await self._database.keep_turns(access, records)

    # --- finding --------------------------------------------------------------------------------

    async def find(self, access: AccessScope, filters: Filter) -> list[Match]:
        """As in the port; of equal matches those of the first place come first."""
        after = await self._after(access, filters.after_id) if filters.after_id else None
        if filters.after_id and after is None:
            return []
        matches: list[Match] = []
        for number, place in enumerate(self._places):
            matches += await place.find(access, _beginning(number, filters, after))
        if filters.text:
            matches.sort(key=lambda match: -match.score)
        else:
            matches.sort(key=lambda match: match.record.provenance.at, reverse=True)
        return matches[: filters.limit]

    async def get(self, access: AccessScope, memory_id: str) -> Record | None:
        after = await self._after(access, memory_id)
        return None if after is None else after[1]

    async def visible(self, access: AccessScope, memory_ids: Sequence[str]) -> set[str]:
        calls = (place.visible(access, memory_ids) for place in self._places)
        return set().union(*await asyncio.gather(*calls))

    async def count(self, access: AccessScope) -> int:
        return sum([await place.count(access) for place in self._places])

    async def tally(self, access: AccessScope, filters: Filter) -> dict[Kind, int]:
        counts: dict[Kind, int] = {}
        for place in self._places:
            for kind, count in (await place.tally(access, filters)).items():
                counts[kind] = counts.get(kind, 0) + count
        return counts

    # --- deleting -------------------------------------------------------------------------------

    async def delete(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]:
        gone: list[str] = []
        for place in self._places if memory_ids else ():
            gone += await place.delete(access, memory_ids)
        return gone

    async def take_back(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]:
        gone: list[str] = []
        for place in self._places:
            gone += await place.take_back(access, memory_ids)
        return gone

    async def restore(self, access: AccessScope, memory_id: str) -> str | None:
        for place in self._places:
            beside = await place.restore(access, memory_id)
            if beside is not None:
                return beside
        return None

    async def clear(self, access: AccessScope, tiers: Sequence[Tier]) -> int:
        return sum([await place.clear(access, tiers) for place in self._places])

    async def knows_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> bool:
        known = await self._database.knows_message(tenant, channel, message_ids)
        return known or await self._messages.has(tenant, ":".join(channel), message_ids)

    async def forget_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> list[ChangedMemory]:
        gone: list[ChangedMemory] = []
        for place in self._places:
            gone += await place.forget_message(tenant, channel, message_ids)
        return gone

    async def revise_message(
        self,
        tenant: str,
        channel: tuple[str, str, str],
        message_id: str,
        content: str,
        *,
        suspicious: bool = False,
    ) -> list[ChangedMemory]:
        """As in the port: of the edited message only its turn stays, with the new text."""
        changed = await self._database.revise_message(
            tenant, channel, message_id, content, suspicious=suspicious
        )
        for place in self._places:
            if not isinstance(place, TurnsOnly) and place is not self._database:
                changed += await place.forget_message(tenant, channel, (message_id,))
        return changed

    # --- the database's own ---------------------------------------------------------------------

    async def embed(self, vectors: Sequence[TextVector]) -> int:
        return await self._database.embed(vectors)

    async def unembedded(
        self,
        model: str,
        limit: int,
        before: int | None = None,
        after: int = 0,
        dimension: int = 0,
    ) -> list[Unembedded]:
        return await self._database.unembedded(model, limit, before, after, dimension)

    async def embedded(self, model: str) -> tuple[int, int]:
        return await self._database.embedded(model)

    async def dimensions(self, model: str) -> dict[int, int]:
        return await self._database.dimensions(model)

    async def prune(self, now: datetime, superseded_before: datetime) -> list[str]:
        return await self._database.prune(now, superseded_before)

    # --- helpers --------------------------------------------------------------------------------

    async def _after(self, access: AccessScope, memory_id: str) -> tuple[int, Record] | None:
        """Return a memory and the number of its place."""
        for number, place in enumerate(self._places):
            record = await place.get(access, memory_id)
            if record is not None:
                return number, record
        return None

    async def _place_of(self, access: AccessScope, memory_id: str) -> MemoryPlace | None:
        entry = await self._after(access, memory_id) if memory_id else None
        return None if entry is None else self._places[entry[0]]


def _beginning(number: int, filters: Filter, after: tuple[int, Record] | None) -> Filter:
    """Return the filter for a place; a page after a memory of another place begins by its time."""
    if after is None or after[0] == number:
        return filters
    at = after[1].provenance.at
    end = at if number < after[0] else at + AN_INSTANT
    return replace(
        filters, after_id="", until=end if filters.until is None else min(end, filters.until)
    )
