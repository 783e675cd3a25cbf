"""Reading memories for one request."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from memory.model.plans import PlanUse
from memory.model.recollection import Recollection
from memory.model.record import Record, Tier
from memory.ports.memories import Filter, Match
from memory.ports.recall import Query
from memory.recall.repeat_filter import without_repeats
from memory.recall.selection import displayable
from memory.service.dependencies import RequestMemory
from memory.service.listing import ListName, Page, page_of
from memory.service.working_memory import working_records

MAX_LISTED = 1_000


@dataclass(frozen=True, slots=True)
class MemoryReader(RequestMemory):
    """Searches and lists memories that this request may see."""

    async def search(self, filters: Filter) -> list[Match]:
        """Return the matches of a filter, best first."""
        await self.store_waiting_turns()
        matches = await self.dependencies.memories.find(self.access, filters)
        kind = "text" if filters.text else "recent"
        await self.audit("memory_read", query=kind, results=len(matches))
        return [replace(match, record=displayable(match.record)) for match in matches]

    async def recall(self, query: Query) -> Recollection:
        """Return what answers a question, best first, without turns that only repeat it."""
        await self.store_waiting_turns()
        recalled = await self.dependencies.retriever.recall(self.access, query)
        results = tuple(without_repeats(query.text, recalled.results))
        await self.audit("memory_read", query="recall", results=len(results))
        repeats = len(recalled.results) - len(results)
        return replace(recalled, results=results, repeats=repeats)

    async def get(self, memory_id: str) -> Record | None:
        """Return one memory, or None if this request may not see it."""
        await self.store_waiting_turns()
        record = await self.dependencies.memories.get(self.access, memory_id)
        return None if record is None else displayable(record)

    async def everything(self) -> AsyncIterator[Record]:
        """Iterate over all of the person's own memories with their vectors, oldest first: a
        replaced memory comes before its replacement."""
        await self.store_waiting_turns()
        ids: list[str] = []
        page = Filter(own_only=True, superseded=True, limit=MAX_LISTED)
        while matches := await self.dependencies.memories.find(self.access, page):
            ids += [match.record.id for match in matches]
            page = replace(page, after_id=ids[-1])
        for memory_id in reversed(ids):
            record = await self.get(memory_id)
            if record is not None:
                yield record

    async def page(self, name: ListName, text: str, number: int) -> Page:
        """Return page `number`, from 0, of a list; with a `text`, of the entries that match it."""
        await self.store_waiting_turns()
        page = await page_of(self.dependencies.memories, self.access, name, text, number)
        query = "text" if text else "list"
        await self.audit("memory_read", query=query, results=len(page.records))
        return replace(page, records=tuple(map(displayable, page.records)))

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

    async def plan_use(self) -> PlanUse:
        """Return the used part of the plan, which linked identities share."""
        plan = self.dependencies.path.plans.plan_of(self.access.persons)
        return PlanUse(await self.count(), plan.memories)

    async def note_export(self, count: int) -> None:
        """Record an export in the audit log."""
        await self.audit("memory_export", count=count)

    def signature(self, text: str) -> str:
        """Return the proof that this program exported a text; empty without a key."""
        return self.dependencies.audit.signature(text)
