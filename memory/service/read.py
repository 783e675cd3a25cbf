"""Reading memories for one request, and working memory: the open conversations as records, which
the gateway stores for `context.ttl_hours`."""

import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Literal

from msgspec import Struct

from gateway.immutable import replace
from gateway.people import Audience
from memory.model.plans import PlanUse
from memory.model.record import (
    CONFIDENCE,
    Derived,
    Evidence,
    InputKind,
    Kind,
    Provenance,
    Record,
    Scope,
    Tier,
    derive_trust,
)
from memory.model.scope import AccessScope
from memory.ports.memories import Filter, Match, MemoryStore
from memory.ports.recall import Query, Recollection
from memory.recall.repeat_filter import without_repeats
from memory.recall.selection import displayable, label_of, nameless_for, shown_to
from memory.service.dependencies import RequestMemory

WORKING_PREFIX: Final = "wrk-"
NAMES: Final = uuid.UUID("7c1e2c39-7f39-4c55-93d4-0c6f4a7f0f0b")
MAX_WORKING: Final = 1_000
Role = Literal["", "user", "assistant"]

PAGE: Final = 10
"""Entries of one page."""
MAX_DEPTH: Final = 1_000
"""Entries of one kind that paging reaches; older ones are found by search."""
MAX_LISTED: Final = 1_000
"""Memories that one query of the store returns."""
MAX_EXPORTED: Final = 100
"""Memories of one step of an export to read."""
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


class MemoryPage(Struct, frozen=True):
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


def working_records(rows: Sequence[Mapping[str, object]], access: AccessScope) -> list[Record]:
    """Return exported rows as records, newest first: tasks, summaries and sides of turns."""
    records: list[Record] = []
    for row in rows:
        if row.get("table") == "turns":
            if row["role"] == "assistant":
                records.append(
                    _record(access, row, "text", "assistant", derive_trust(InputKind.ASSISTANT))
                )
            else:
                records.append(
                    _record(access, row, "text", "user", derive_trust(InputKind.OWN_WORDS))
                )
        elif row.get("table") == "conversation_notes":
            records.append(_record(access, row, "task", "", derive_trust(InputKind.OWN_WORDS)))
            records.append(_record(access, row, "summary", "", derive_trust(InputKind.ASSISTANT)))
    nonempty = [record for record in records if record.content]
    nonempty.sort(key=lambda record: (record.provenance.at, record.id), reverse=True)
    return nonempty[:MAX_WORKING]


def _record(
    access: AccessScope, row: Mapping[str, object], name: str, role: Role, derived: Derived
) -> Record:
    conversation, text = str(row["conversation"]), str(row[name])
    message = str(row.get("message_id", ""))
    at = datetime.fromtimestamp(float(str(row["at"])), UTC)
    made = uuid.uuid5(NAMES, "\x1f".join((conversation, name, role, message)))
    provenance = Provenance(
        derived.source,
        derived.trust,
        access.person,
        at,
        message_id=message,
        conversation=conversation,
        audience=Audience.DIRECT,
        external=bool(row.get("material")),
    )
    tags = () if role else (name,)
    evidence = Evidence(text, at, CONFIDENCE[derived.trust])
    return Record(
        *(f"{WORKING_PREFIX}{made}", access.tenant, Scope.USER, Tier.WORKING, Kind.CONTEXT, text),
        *(provenance, evidence),
        tags=tags,
        role=role,
    )


class MemoryReader(RequestMemory, frozen=True):
    """Searches and lists memories that this request may see."""

    async def search(self, filters: Filter) -> list[Match]:
        """Return the matches of a filter, best first."""
        await self.store_waiting_turns()
        matches = await self.dependencies.memories.find(self.access, filters)
        kind = "text" if filters.text else "recent"
        await self._note(kind, [match.record for match in matches])
        return [replace(match, record=shown_to(self.access, match.record)) for match in matches]

    async def recall(self, query: Query) -> Recollection:
        """Return what answers a question, best first, without turns that only repeat it."""
        await self.store_waiting_turns()
        recalled = await self.dependencies.retriever.recall(self.access, query)
        results = tuple(without_repeats(query.text, recalled.results))
        await self._note("recall", [one.record for one in results])
        shown = [(one, nameless_for(self.access, one.record)) for one in results]
        results = tuple(
            one if record is one.record else replace(one, record=record, label=label_of(record))
            for one, record in shown
        )
        repeats = len(recalled.results) - len(results)
        return replace(recalled, results=results, repeats=repeats)

    async def get(self, memory_id: str) -> Record | None:
        """Return one memory, or None if this request may not see it."""
        await self.store_waiting_turns()
        record = await self.dependencies.memories.get(self.access, memory_id)
        if record is None:
            return None
        await self._note_others([record])
        return shown_to(self.access, record)

    async def named(self, beginning: str) -> Record | None:
        """Return the person's own memory whose id begins so; None without exactly one."""
        await self.store_waiting_turns()
        filters = Filter(own_only=True, superseded=True, limit=MAX_LISTED)
        pages = all_pages(self.dependencies.memories, self.access, filters)
        found = [one async for page in pages for one in page if one.id.startswith(beginning)]
        return displayable(found[0]) if len(found) == 1 else None

    async def everything(self) -> AsyncIterator[Record]:
        """Iterate over all of the person's own memories with their vectors, oldest first: a
        replaced memory comes before its replacement."""
        await self.store_waiting_turns()
        ids: list[str] = []
        outside: dict[str, Record] = {}  # of backends, which have no vectors
        filters = Filter(own_only=True, superseded=True, limit=MAX_LISTED)
        async for records in all_pages(self.dependencies.memories, self.access, filters):
            ids += [record.id for record in records]
            outside |= {one.id: displayable(one) for one in records if one.provenance.backend}
        for memory_id in reversed(ids):
            record = outside.get(memory_id) or await self.get(memory_id)
            if record is not None:
                yield record

    async def own(self) -> AsyncIterator[Record]:
        """Iterate over all of the person's own memories, newest first, without their vectors."""
        await self.store_waiting_turns()
        filters = Filter(own_only=True, superseded=True, limit=MAX_EXPORTED)
        async for records in all_pages(self.dependencies.memories, self.access, filters):
            for record in records:
                yield displayable(record)

    async def page(self, name: ListName, text: str, number: int) -> MemoryPage:
        """Return page `number`, from 0, of a list; with a `text`, of the entries that match it."""
        await self.store_waiting_turns()
        page = await page_of(self.dependencies.memories, self.access, name, text, number)
        query = "text" if text else "list"
        await self.audit("memory_read", query=query, results=len(page.records))
        return replace(page, records=tuple(map(displayable, page.records)))

    async def _note(self, query: str, records: Sequence[Record]) -> None:
        """Record a read, and of an agent also that it read memories of others."""
        await self.audit("memory_read", query=query, results=len(records))
        await self._note_others(records)

    async def _note_others(self, records: Sequence[Record]) -> None:
        if not self.access.agent:
            return
        persons = self.access.persons
        others = sum(
            record.scope is Scope.USER and record.provenance.person not in persons
            for record in records
        )
        if others:
            await self.audit("cross_agent_read", agent=self.access.agent, results=others)

    async def working(self) -> list[Record]:
        """Return working memory, newest first: tasks, summaries and turns of open conversations."""
        if self.dependencies.working is None:
            return []
        rows = await self.dependencies.working.working(self.access.tenant, self.access.persons)
        records = working_records(rows, self.access)
        await self.audit("memory_read", query=Tier.WORKING.value, results=len(records))
        return [displayable(record) for record in records]

    async def count(self) -> int:
        """Return the number of the person's own memories."""
        return await self.dependencies.memories.count(self.access)

    @property
    def limit(self) -> int | None:
        """The number of memories that the plan allows, which linked identities share; None for no
        limit."""
        return self.dependencies.path.plans.plan_of(self.access.persons).memories

    async def plan_use(self) -> PlanUse:
        """Return the used part of the plan."""
        return PlanUse(await self.count(), self.limit)

    async def note_export(self, count: int) -> None:
        """Record an export in the audit log."""
        await self.audit("memory_export", count=count)

    def signature(self, text: str) -> str:
        """Return the proof that this program exported a text; empty without a key."""
        return self.dependencies.audit.signature(text)
