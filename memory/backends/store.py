"""The memories of one backend, with the checks that the database does in its own stores, the
messages from which they derive, and a person's data in it."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.errors import BadInput, MemoryUnavailable
from gateway.immutable import replace
from gateway.ports import Clock
from gateway.ports.adapter import AdapterState
from gateway.ports.memory_backend import MAX_PAGE, MAX_STATEMENTS, Statement
from gateway.text import text, verbatim
from memory.backends.conversion import backend_access_of, checked, record_of, statement_of
from memory.backends.guard import GuardedBackend
from memory.backends.matching import by_words, fits, holds, is_own
from memory.model.record import Kind, Record, Scope, Tier
from memory.model.scope import AccessScope, alone, may_change
from memory.ports.memories import ChangedMemory, Duplicate, Filter, Insertion, Match
from memory.stores.insert import duplicate_in, duplicate_keys_of
from memory.stores.limits import check_limit, check_writable

KEPT: Final = timedelta(days=3_650)
THERE: Final = "1"


class MessageIndex:
    """Stores a hash of each message. Every method raises `StoreUnavailable`."""

    def __init__(self, state: AdapterState) -> None:
        self._state = state

    async def add(self, tenant: str, channel: str, message_ids: Sequence[str]) -> None:
        """Add messages, before a statement is stored."""
        for message_id in message_ids:
            await self._state.put(_key(tenant, channel, message_id), THERE, KEPT)

    async def has(self, tenant: str, channel: str, message_ids: Sequence[str]) -> bool:
        """Return True if a statement was stored of one of these messages."""
        for message_id in message_ids:
            if await self._state.get(_key(tenant, channel, message_id)) is not None:
                return True
        return False


def _key(tenant: str, channel: str, message_id: str) -> str:
    text = "\x1f".join((tenant, channel, message_id))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


LOCKS: Final = 64
"""Locks of writers; the people of two tenants may share one."""
AT_ONCE: Final = 10_000
"""Characters that are searched or checked on the event loop, beyond in a thread."""
FULL: Final = text(
    "The memory backend {name} is full: it holds {number} memories that you can read. Delete "
    "some first: `/forget …`."
)

log = structlog.get_logger(__name__)


class BackendMemories:
    """The part of a `MemoryStore` for learned memories, over one backend. Methods raise
    `MemoryUnavailable`; a writer of this process waits for another of the same people."""

    def __init__(
        self,
        backend: GuardedBackend,
        messages: MessageIndex,
        clock: Clock,
        purge_after: timedelta,
    ) -> None:
        """`messages` gets those from which statements derive. Replaced memories are deleted after
        `purge_after`, expired ones at once, when they are next listed."""
        self.backend = backend
        self._messages = messages
        self._clock = clock
        self._purge_after = purge_after
        self._locks = [asyncio.Lock() for _ in range(LOCKS)]

    # --- reading --------------------------------------------------------------------------------

    async def find(self, access: AccessScope, filters: Filter) -> list[Match]:
        """Return visible matches, best or newest first, their texts checked."""
        check_limit(filters)
        now, records = self._clock.now(), list[Record]()
        fitting = 0
        async with aclosing(self._pages(access)) as pages:
            async for page in pages:
                records += page
                fitting += sum(fits(record, access, filters, now) for record in page)
                if fitting >= filters.limit and not (filters.text or filters.after_id):
                    break
        select = partial(_selected, records, access, filters, now)
        matches = await asyncio.to_thread(select) if _is_long(records) else select()
        return await usable(matches)

    async def get(self, access: AccessScope, memory_id: str) -> Record | None:
        """Return one visible memory, its text checked."""
        now, every = self._clock.now(), Filter(superseded=True)
        async with aclosing(self._pages(access)) as pages:
            async for page in pages:
                for record in page:
                    if record.id == memory_id and fits(record, access, every, now):
                        return checked(record)
        return None

    async def visible(self, access: AccessScope, memory_ids: Sequence[str]) -> set[str]:
        """Return the ids of those that exist, are still true and are visible."""
        ids, now = set(memory_ids), self._clock.now()
        records = await self._all(access)
        return {one.id for one in records if one.id in ids and holds(one, access, now)}

    async def count(self, access: AccessScope) -> int:
        """Return the number of the person's own current memories."""
        return len(_owned(await self._all(alone(access)), access))

    async def tally(self, access: AccessScope, filters: Filter) -> dict[Kind, int]:
        """Count the person's own matches by kind."""
        now, counts = self._clock.now(), dict[Kind, int]()
        for record in await self._all(access):
            if is_own(record, access) and fits(record, access, filters, now):
                counts[record.kind] = counts.get(record.kind, 0) + 1
        return counts

    async def like(
        self, access: AccessScope, record: Record, *, threshold: float
    ) -> Duplicate | None:
        """Return the duplicate of a record. Raises `StoreUnavailable`, after which the caller
        writes without this check."""
        try:
            records = await self._all(alone(access))
        except MemoryUnavailable as error:
            raise StoreUnavailable(str(error)) from error
        return await _duplicate(access, record, records, threshold)

    # --- writing --------------------------------------------------------------------------------

    async def insert(
        self, access: AccessScope, record: Record, *, threshold: float | None, quota: int | None
    ) -> Insertion:
        """Store a record after the checks of `MemoryStore.insert`."""
        check_writable(access, record)
        async with self._lock(access, record):
            records = await self._all(alone(access))
            by_id = {one.id: one for one in records}
            if record.id in by_id:
                return Insertion(True)
            old = by_id.get(record.supersedes)
            problem = await self._problem(access, record, old, records, threshold, quota)
            if problem is not None:
                return problem
            writes, statement = backend_access_of(alone(access)), statement_of(record)
            await self._messages.add(statement.tenant, statement.channel, statement.messages)
            await self.backend.remember(writes, statement)
            if old is not None:
                replaced = _replaced(old, record.id, self._clock.now())
                await self.backend.remember(writes, statement_of(replaced))
        return Insertion(True)

    async def _problem(
        self,
        access: AccessScope,
        record: Record,
        old: Record | None,
        records: Sequence[Record],
        threshold: float | None,
        quota: int | None,
    ) -> Insertion | None:
        """Return the failed check, None for none. Raises `BadInput` for a full backend."""
        if record.supersedes and (old is None or not old.current or not may_change(access, old)):
            return Insertion(False, missing=record.supersedes)
        same = await _duplicate(access, record, records, threshold)
        if same is not None:
            return Insertion(False, duplicate=same)
        used = len(_owned(records, access)) - (old is not None and is_own(old, access))
        if quota is not None and record.scope is Scope.USER and used >= quota:
            return Insertion(False, quota=(used, quota))
        if len(records) >= MAX_STATEMENTS:
            raise BadInput(FULL.of(name=verbatim(self.backend.name), number=len(records)))
        return None

    async def delete(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]:
        """Delete changeable memories; return their ids."""
        gone: list[str] = []
        backend_access = backend_access_of(alone(access))
        if access.agent:  # a backend does not know agents, and what one keeps for itself
            own = [one for one in await self._all(alone(access)) if may_change(access, one)]
            memory_ids = [one.id for one in own if one.id in memory_ids]
        for ids in _portions(memory_ids):
            gone += await self.backend.forget(backend_access, ids)
        return gone

    async def take_back(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]:
        """Delete memories as if they had never been stored: what one of them replaced is current
        again."""
        by_id = {one.id: one for one in await self._all(alone(access))}
        gone: list[str] = []
        for id_ in memory_ids:
            taken = by_id.get(id_)
            if taken is None or not may_change(access, taken):
                continue
            older = by_id.get(taken.supersedes)
            if older is not None and older.superseded_by == id_ and may_change(access, older):
                again = replace(older, superseded_by=taken.superseded_by)
                backend_access = backend_access_of(alone(access))
                await self.backend.remember(backend_access, statement_of(again))
            gone += await self.delete(access, (id_,))
        return gone

    async def restore(self, access: AccessScope, memory_id: str) -> str | None:
        """Make a replaced memory current again, beside what replaced it."""
        by_id = {one.id: one for one in await self._all(alone(access))}
        old = by_id.get(memory_id)
        if old is None or old.current or not may_change(access, old):
            return None
        newer, beside, seen = by_id.get(old.superseded_by), "", {memory_id}
        changed = [replace(old, superseded_by="", superseded_at=None)]
        if newer is not None and newer.supersedes == memory_id and may_change(access, newer):
            changed.append(replace(newer, supersedes=""))
        for record in changed:
            await self.backend.remember(backend_access_of(alone(access)), statement_of(record))
        while newer is not None and newer.id not in seen:
            beside = newer.id if newer.current and may_change(access, newer) else ""
            seen.add(newer.id)
            newer = by_id.get(newer.superseded_by)
        return beside

    async def clear(self, access: AccessScope, tiers: Sequence[Tier]) -> int:
        """Delete the person's own memories of these tiers; return their number."""
        records = await self._all(alone(access))
        own = [one.id for one in records if is_own(one, access) and one.tier in tiers]
        return len(await self.delete(access, own))

    async def forget_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> list[ChangedMemory]:
        """Delete what derives from messages and was never confirmed. Raises `StoreUnavailable`,
        after which the caller tries again."""
        try:
            gone = await self.backend.forget_messages(tenant, ":".join(channel), message_ids)
        except MemoryUnavailable as error:
            raise StoreUnavailable(str(error)) from error
        return [ChangedMemory(one.person, one.id) for one in gone]

    # --- helpers --------------------------------------------------------------------------------

    async def _all(self, access: AccessScope) -> list[Record]:
        """Return all visible memories, newest first, their texts unchecked."""
        return [record async for page in self._pages(access) for record in page]

    async def _pages(self, access: AccessScope) -> AsyncGenerator[list[Record], None]:
        """Iterate over the visible memories, newest first, their texts unchecked; those that are to
        be deleted by now are deleted."""
        backend_access, name = backend_access_of(access), self.backend.name
        after: Statement | None = None
        for _ in range(MAX_STATEMENTS // MAX_PAGE):
            page = await self.backend.list_statements(backend_access, after)
            records, now = [record_of(one, name) for one in page.statements], self._clock.now()
            over = {
                one.id for one in records if self._is_over(one, now) and may_change(access, one)
            }
            if over:
                await self.backend.forget(backend_access_of(alone(access)), sorted(over))
            yield [one for one in records if one.id not in over]
            after = page.next_after
            if after is None:
                return

    def _is_over(self, record: Record, now: datetime) -> bool:
        replaced = record.superseded_at if record.superseded_by else None
        expired = record.expires_at is not None and record.expires_at <= now
        return expired or (replaced is not None and replaced + self._purge_after <= now)

    def _lock(self, access: AccessScope, record: Record) -> asyncio.Lock:
        owner = access.persons[0] if record.scope is Scope.USER else record.project
        return self._locks[hash((record.tenant, record.scope, owner)) % LOCKS]


async def usable(matches: Sequence[Match]) -> list[Match]:
    """Return matches with checked texts, without those of which nothing is left."""

    def check() -> list[Match]:
        done = ((checked(match.record), match.score) for match in matches)
        return [Match(record, score) for record, score in done if record is not None]

    return await asyncio.to_thread(check) if _is_long(m.record for m in matches) else check()


def _selected(
    records: Sequence[Record], access: AccessScope, filters: Filter, now: datetime
) -> list[Match]:
    """Return the matches of a filter, best or newest first, after `after_id`."""
    fitting = [record for record in records if fits(record, access, filters, now)]
    if filters.text:
        matches = by_words(fitting, filters.text, unfinished=filters.unfinished)
    else:
        matches = [Match(record, 0.0) for record in fitting]
    first = 0
    if filters.after_id:
        ids = [match.record.id for match in matches]
        if filters.after_id not in ids:
            return []
        first = ids.index(filters.after_id) + 1
    return matches[first : first + filters.limit]


def _is_long(records: Iterator[Record] | Sequence[Record]) -> bool:
    return sum(len(record.content) for record in records) > AT_ONCE


async def _duplicate(
    access: AccessScope, record: Record, records: Sequence[Record], threshold: float | None
) -> Duplicate | None:
    """Return the current memory of the same owner and scope with nearly the same words; None
    without a threshold."""
    if threshold is None or not record.current:
        return None
    same_owner = [
        one
        for one in records
        if one.current
        and one.id != record.supersedes
        and (one.scope, one.project) == (record.scope, record.project)
        and (one.scope is not Scope.USER or is_own(one, access))
    ]
    texts = [(one.id, one.content) for one in same_owner]
    keys = duplicate_keys_of(access, record, threshold)
    compare = partial(duplicate_in, keys, texts, threshold)
    return await asyncio.to_thread(compare) if _is_long(same_owner) else compare()


def _owned(records: Sequence[Record], access: AccessScope) -> list[Record]:
    return [one for one in records if one.current and is_own(one, access)]


def _replaced(record: Record, by: str, at: datetime) -> Record:
    return replace(record, superseded_by=by, superseded_at=at)


def _portions(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for begin in range(0, len(ids), MAX_PAGE):
        yield ids[begin : begin + MAX_PAGE]


class BackendPersonalData:
    """Implements `memory.ports.people.PersonalDataStore`. Methods raise `MemoryUnavailable`:
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
