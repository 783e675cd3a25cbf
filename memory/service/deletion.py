"""Finds what a person wants forgotten wherever it is kept, and deletes exactly what they saw."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from gateway.ports import Clock
from gateway.spoken import History, Spoken, SpokenRef, Whose
from memory.audit import Audit
from memory.model.record import Record
from memory.model.scope import AccessScope, RequestScope
from memory.ports import Filter, MemoryStore, ReviewItem, ReviewStore
from memory.recall.selection import without_secrets
from memory.service.deletion_topics import (
    WHOLE,
    ItemRefs,
    StoredRef,
    Test,
    TopicMatch,
    TopicMatches,
    gathered,
    is_memory_id,
    memory_ref,
    origins_of,
    own,
    review_ref,
    saying,
    spoken_about,
    waiting_about,
    with_all_words,
)
from memory.write.consolidation import Consolidation

MAX_FOUND: Final = 200
"""Things that one `/forget` deletes at most; the same command again finds the others."""
MAX_SPOKEN: Final = 2_000
"""Texts of conversations that are looked through, the latest."""
MAX_LISTED: Final = 1_000
MAX_PAGES: Final = 100
"""Pages of `MAX_LISTED` that are looked through for what was learned in a conversation."""
AN_INSTANT: Final = timedelta(microseconds=1)
SAME_TURN: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class DeletionParts:
    """Where something of a person may be kept."""

    memories: MemoryStore
    reviews: ReviewStore
    consolidation: Consolidation
    history: History
    audit: Audit
    clock: Clock


@dataclass(frozen=True, slots=True)
class DeletionResult:
    """`items` of what was shown are deleted; `changed` of it say something else now, and stay, or
    were deleted already."""

    items: int
    changed: int


class Deletion:
    """What one person can have forgotten, here and now. Everything raises `StoreUnavailable`."""

    def __init__(self, parts: DeletionParts, request: RequestScope, access: AccessScope) -> None:
        self._parts = parts
        self._occasion = request
        self._reach = access

    async def found(self, topic: str) -> TopicMatches:
        """What is the person's own and has every word of a topic, or has this id: memories, also
        replaced ones, what waits for their word, and what conversations keep of it."""
        await self._parts.consolidation.of_reach(self._reach)
        records = await self.memories_about(topic)
        waiting = await self.waiting_about(topic)
        kept = [record for record in records if not record.role]
        texts = [record.content for record in kept] + [one.record.content for one in waiting]
        about = saying(texts) if is_memory_id(topic) else with_all_words(topic)
        if is_memory_id(topic):
            near = [await self._with_words(text) for text in texts[:MAX_FOUND]]
            records += await asyncio.to_thread(_passing, about, near)
        for record in kept[:MAX_FOUND]:
            records += await self._of_same_turn(record)
        once = list({record.id: record for record in records}.values())
        spoken = await self._spoken()
        origins = origins_of((*kept, *(one.record for one in waiting)))
        said, whole = await asyncio.to_thread(spoken_about, spoken, about, origins)
        items = gathered(once, waiting, said, spoken)
        unread = not whole or len(spoken) >= MAX_SPOKEN
        return TopicMatches(tuple(items[:MAX_FOUND]), max(0, len(items) - MAX_FOUND), unread)

    async def learned_in(self, conversation: str, until: datetime) -> list[ItemRefs]:
        """The person's own memories, and what waits, that were learned in a conversation
        (`str(ConversationKey)`) by then; what was said there included."""
        await self._parts.consolidation.of_reach(self._reach)
        found: list[ItemRefs] = []
        page = Filter(own_only=True, superseded=True, until=until + AN_INSTANT, limit=MAX_LISTED)
        for _ in range(MAX_PAGES):
            records = [one.record for one in await self._parts.memories.find(self._reach, page)]
            here = [one for one in records if one.provenance.group == conversation]
            found += [(memory_ref(outward(one)),) for one in here]
            if len(records) < MAX_LISTED:
                break
            page = replace(page, after_id=records[-1].id)
        waiting = [one for one in await self._waiting() if one.submitted_at <= until]
        own_here = [one for one in waiting if one.record.provenance.group == conversation]
        return found + [(review_ref(one),) for one in own_here]

    async def shown(self, bound: Sequence[ItemRefs]) -> list[TopicMatch | None]:
        """What was found, as it is now; None where it changed since, or is gone."""
        waiting = {review_ref(one): one for one in await self._waiting()}
        heard = [ref for refs in bound for ref in refs[:1] if isinstance(ref, SpokenRef)]
        spoken = {one.ref: one for one in await self._spoken()} if heard else {}
        found: list[TopicMatch | None] = []
        for refs in bound:
            first = refs[0]
            if isinstance(first, SpokenRef):
                said = spoken.get(first)
                found.append(None if said is None else TopicMatch(refs, spoken=said))
            elif first.kind == "review":
                one = waiting.get(first)
                found.append(
                    None if one is None else TopicMatch(refs, outward(one.record), waits=True)
                )
            else:
                record = await self._unchanged(first)
                found.append(None if record is None else TopicMatch(refs, outward(record)))
        return found

    async def forget(self, bound: Sequence[ItemRefs], sealed: str) -> DeletionResult:
        """Delete what was shown, as far as it still says the same. `sealed` stands for the topic in
        the audit."""
        await self._parts.consolidation.of_reach(self._reach)
        every = [ref for refs in bound for ref in refs]
        memories = [ref for ref in every if isinstance(ref, StoredRef) and ref.kind == "memory"]
        same = [one.id for one in memories if await self._unchanged(one) is not None]
        went = set(await self._parts.memories.delete(self._reach, same))
        waiting = {review_ref(one): one for one in await self._waiting()}
        reviews = [waiting[ref] for ref in every if isinstance(ref, StoredRef) and ref in waiting]
        dropped = [one for one in reviews if await self.drop(one.id)]
        heard = [ref for ref in every if isinstance(ref, SpokenRef)]
        unsaid = await self._unsay(heard)
        gone = {ref for ref in memories if ref.id in went} | {review_ref(one) for one in dropped}
        items = sum(any(ref in gone or ref in unsaid for ref in refs) for refs in bound)
        ids = [*sorted(went), *(one.record.id for one in dropped)]
        await self._note(sealed, ids, len(unsaid))
        return DeletionResult(items, len(bound) - items)

    async def memories_about(self, topic: str) -> list[Record]:
        """Own memories with every word of a topic, or with this id; replaced ones included."""
        if is_memory_id(topic):
            wanted = Filter(own_only=True, superseded=True, limit=MAX_LISTED)
            every = await self._parts.memories.find(self._reach, wanted)
            return [outward(m.record) for m in every if m.record.id.startswith(topic)]
        return await self._with_words(topic)

    async def waiting_about(self, topic: str) -> list[ReviewItem]:
        """What waits for this person's word about a topic."""
        return waiting_about(await self._waiting(), topic)

    async def drop(self, review_id: str) -> bool:
        """Reject what waits; False where it did not wait any more."""
        now = self._parts.clock.now()
        took = await self._parts.reviews.take(self._reach, review_id, "rejected", "", now)
        return took is not None

    async def _with_words(self, text: str) -> list[Record]:
        if not text.strip():
            return []
        wanted = Filter(text=text, own_only=True, superseded=True, limit=MAX_LISTED)
        found = await self._parts.memories.find(self._reach, wanted)
        return [outward(match.record) for match in found if match.score >= WHOLE]

    async def _of_same_turn(self, record: Record) -> list[Record]:
        """The person's side of the turn in which something was learned."""
        at, origins = record.provenance.at, origins_of([record])
        if not origins:
            return []
        span = Filter(own_only=True, since=at - SAME_TURN, until=at + SAME_TURN, limit=MAX_LISTED)
        near = [one.record for one in await self._parts.memories.find(self._reach, span)]
        return [outward(one) for one in near if one.role == "user" and origins_of([one]) & origins]

    async def _waiting(self) -> list[ReviewItem]:
        found = own(await self._parts.reviews.waiting(self._reach, MAX_LISTED))
        return [replace(one, record=outward(one.record)) for one in found]

    async def _spoken(self) -> list[Spoken]:
        """In a room what was said in this conversation, unless the person's own is used there."""
        here = "" if self._reach.private else self._occasion.conversation
        whose = Whose(self._reach.tenant, self._reach.persons, here)
        return await self._parts.history.spoken(whose, MAX_SPOKEN)

    async def _unchanged(self, ref: StoredRef) -> Record | None:
        record = await self._parts.memories.get(self._reach, ref.id)
        return record if record is not None and memory_ref(outward(record)) == ref else None

    async def _unsay(self, refs: Sequence[SpokenRef]) -> set[SpokenRef]:
        whose = Whose(self._reach.tenant, self._reach.persons)
        gone = set(await self._parts.history.forget(whose, refs))
        channels: dict[str, list[str]] = {}
        for ref in gone:
            if ref.kind == "message":
                channels.setdefault(ref.channel, []).append(ref.id)
        for channel, ids in channels.items():
            await self._parts.consolidation.discard(self._reach.tenant, channel, ids)
        return gone

    async def _note(self, sealed: str, ids: Sequence[str], unsaid: int) -> None:
        details: dict[str, str | int] = {"ids": " ".join(ids), "deleted": len(ids) + unsaid}
        if unsaid:
            details["said"] = unsaid
        await self._parts.audit.note("memory_bulk_delete", self._occasion, query=sealed, **details)


def _passing(about: Test, found: Sequence[Sequence[Record]]) -> list[Record]:
    once = {record.id: record for records in found for record in records}
    return [record for record in once.values() if about(record.content)]


def outward(record: Record) -> Record:
    """A record as it may be shown: what is known as a credential today may not have been one when
    it was stored."""
    return replace(without_secrets(record), embedding=record.embedding)
