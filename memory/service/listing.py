"""Pages of a person's own memories, with counts.

Learned memories are grouped by kind, newest first; turns are newest first; search results are in
order of rank.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from memory.model.record import Kind, Record
from memory.model.scope import AccessScope
from memory.ports.memories import Filter, MemoryStore

PAGE: Final = 10
"""Entries of one page."""
MAX_DEPTH: Final = 1_000
"""Entries of one kind that paging reaches; older ones are found by search."""
MAX_LISTED: Final = 1_000
"""Memories that one query of the store returns."""
MAX_FOUND: Final = 200
"""Results of a search, best first."""
ORDER: Final = (
    Kind.PREFERENCE,
    Kind.INSTRUCTION,
    Kind.CORRECTION,
    Kind.DECISION,
    Kind.FACT,
    Kind.CONTEXT,
)

ListName = Literal["learned", "said"]


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Entries of a list from position `first`, of `total`. `other` is the length of the other
    list."""

    name: ListName
    text: str
    records: tuple[Record, ...]
    first: int
    total: int
    other: int

    @property
    def more(self) -> bool:
        """True when another page follows."""
        return bool(self.records) and self.first + len(self.records) < self.total

    @property
    def next(self) -> int:
        """The number of the following page, from 0."""
        return self.first // PAGE + 1


async def all_pages(
    memories: MemoryStore, access: AccessScope, filters: Filter
) -> AsyncIterator[list[Record]]:
    """Iterate over all matches, newest first, in pages of `filters.limit`. If the memory that ends
    a page is deleted meanwhile, the next page begins after an earlier one."""
    ends, seen = [""], set[str]()
    while True:
        matches = await memories.find(access, replace(filters, after_id=ends[-1]))
        records = [match.record for match in matches]
        if records:
            yield [record for record in records if record.id not in seen]
            seen.update(record.id for record in records)
            ends.append(records[-1].id)
        elif len(ends) > 1 and await memories.get(access, ends[-1]) is None:
            ends.pop()
        else:
            return


async def page_of(
    memories: MemoryStore, access: AccessScope, name: ListName, text: str, number: int
) -> MemoryPage:
    """Return page `number`, from 0, of a list or of its search results."""
    filters = Filter(text=text, own_only=True, turns=name == "said")
    opposite = replace(filters, turns=not filters.turns)
    first = max(0, number) * PAGE
    if text:
        matches = await memories.find(access, replace(filters, limit=MAX_FOUND))
        others = len(await memories.find(access, replace(opposite, limit=MAX_FOUND)))
        records = [match.record for match in matches[first : first + PAGE]]
        return MemoryPage(name, text, tuple(records), first, len(matches), others)
    counts = await memories.tally(access, filters)
    others = sum((await memories.tally(access, opposite)).values())
    records = await _by_kind(memories, access, filters, counts, first)
    return MemoryPage(name, text, tuple(records), first, sum(counts.values()), others)


async def _by_kind(
    memories: MemoryStore,
    access: AccessScope,
    filters: Filter,
    counts: Mapping[Kind, int],
    first: int,
) -> list[Record]:
    """Return entries `first` to `first + PAGE`, grouped by kind."""
    records: list[Record] = []
    before = first
    for kind in ORDER:
        count, needed = counts.get(kind, 0), PAGE - len(records)
        if before < count and needed > 0:
            limit = min(before + needed, MAX_DEPTH)
            matches = await memories.find(access, replace(filters, kinds=(kind,), limit=limit))
            records += [match.record for match in matches[before:]]
        before = max(0, before - count)
    return records
