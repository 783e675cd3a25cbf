"""Deletes what is stored about one person: single items, a topic, or everything."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.ports.conversations import Spoken, SpokenRef, Whose
from gateway.text import text
from memory.model.record import Record, Tier
from memory.ports.memories import Filter
from memory.ports.people import Linked
from memory.recall.selection import displayable
from memory.service.deletion_topics import (
    ALL_WORDS,
    ItemRefs,
    StoredRef,
    TextTest,
    TopicMatch,
    TopicMatches,
    containing_any,
    distinct_matches,
    is_memory_id,
    items_about,
    memory_ref,
    messages_about,
    origins_of,
    own_items,
    review_ref,
    with_all_words,
)
from memory.service.dependencies import RequestMemory
from memory.service.read import MAX_LISTED, all_pages
from memory.stores.reviews import ReviewItem

MAX_MATCHES: Final = 200
"""Maximum items that one `/forget` deletes; the same command again finds the rest."""
MAX_MESSAGES: Final = 2_000
"""Messages of conversations that one search reads, the latest ones."""
AN_INSTANT: Final = timedelta(microseconds=1)
SAME_TURN: Final = timedelta(seconds=1)


class DeletionResult(Struct, frozen=True):
    """`items` were deleted; `changed` were changed or deleted since they were shown."""

    items: int
    changed: int


class MemoryErasure(RequestMemory, frozen=True):
    """Deletes what is stored about this person."""

    async def delete(self, memory_ids: Sequence[str], reason: str = "asked") -> list[str]:
        """Delete memories for the person, without a limit; return the deleted ids."""
        deleted = await self.dependencies.memories.delete(self.access, memory_ids)
        if deleted:
            ids = " ".join(deleted)
            await self.audit("memory_delete", reason=reason, ids=ids, deleted=len(deleted))
            await self.clean_indexes()
        return deleted

    async def delete_for_model(self, memory_id: str) -> bool:
        """Delete a memory for the model. Raises `BadInput` after five deletions in a session."""
        if not await self.dependencies.people.use(self.start.session, "deletes"):
            raise BadInput(text("A session deletes at most 5 memories."), code="session_limit")
        return bool(await self.delete([memory_id], "model"))

    async def clear(self, tiers: Sequence[Tier]) -> int:
        """Delete this identity's own memories and open reviews of these tiers; return their number.

        Working memory also clears its conversations, which are not counted. What linked identities
        wrote stays.
        """
        access = replace(self.access, persons=(self.access.person,))
        await self.store_waiting_turns()
        items = own_items(await self.dependencies.reviews.waiting(access, MAX_LISTED))
        dropped = [await self._drop(item.id) for item in items if item.record.tier in tiers]
        count = await self.dependencies.memories.clear(access, tiers) + sum(dropped)
        if Tier.WORKING in tiers and self.dependencies.working is not None:
            await self.dependencies.working.clear(access.tenant, access.persons)
        await self.audit("memory_bulk_delete", category=" ".join(tiers), deleted=count)
        await self.clean_indexes()
        return count

    async def matches(self, topic: str) -> TopicMatches:
        """Return everything of the person's own about a topic, or with this id: memories (replaced
        ones too), open reviews and messages of conversations."""
        await self.store_waiting_turns()
        records = await self._memories_about(topic)
        items = items_about(await self._own_reviews(), topic)
        learned = [record for record in records if not record.role]
        texts = [record.content for record in learned] + [item.record.content for item in items]
        about = containing_any(texts) if is_memory_id(topic) else with_all_words(topic)
        if is_memory_id(topic):
            near = [await self._with_words(text) for text in texts[:MAX_MATCHES]]
            records += await asyncio.to_thread(_passing, about, near)
        for record in learned[:MAX_MATCHES]:
            records += await self._of_same_turn(record)
        distinct = list({record.id: record for record in records}.values())
        messages = await self._messages()
        origins = origins_of((*learned, *(item.record for item in items)))
        matching, complete = await asyncio.to_thread(messages_about, messages, about, origins)
        matches = distinct_matches(distinct, items, matching, messages)
        unread = not complete or len(messages) >= MAX_MESSAGES
        beyond = max(0, len(matches) - MAX_MATCHES)
        return TopicMatches(tuple(matches[:MAX_MATCHES]), beyond, unread)

    async def learned_in(self, conversation: str, until: datetime) -> list[ItemRefs]:
        """Return the person's own memories and open reviews that came from a conversation (a
        `str(ConversationKey)`) until then, its turns included."""
        await self.store_waiting_turns()
        refs: list[ItemRefs] = []
        until += AN_INSTANT
        filters = Filter(own_only=True, superseded=True, until=until, limit=MAX_LISTED)
        async for records in all_pages(self.dependencies.memories, self.access, filters):
            here = [record for record in records if record.provenance.conversation == conversation]
            refs += [(memory_ref(displayable(record)),) for record in here]
        items = [item for item in await self._own_reviews() if item.submitted_at < until]
        here_items = [item for item in items if item.record.provenance.conversation == conversation]
        return refs + [(review_ref(item),) for item in here_items]

    async def current(self, shown: Sequence[ItemRefs]) -> list[TopicMatch | None]:
        """Return shown matches as they are now; None for those that changed or are gone."""
        items = {review_ref(item): item for item in await self._own_reviews()}
        has_messages = any(isinstance(refs[0], SpokenRef) for refs in shown)
        messages = {one.ref: one for one in await self._messages()} if has_messages else {}
        matches: list[TopicMatch | None] = []
        for refs in shown:
            first = refs[0]
            if isinstance(first, SpokenRef):
                message = messages.get(first)
                matches.append(None if message is None else TopicMatch(refs, spoken=message))
            elif first.kind == "review":
                item = items.get(first)
                matches.append(None if item is None else TopicMatch(refs, item.record, waits=True))
            else:
                record = await self._unchanged(first)
                matches.append(None if record is None else TopicMatch(refs, record))
        return matches

    async def forget(self, shown: Sequence[ItemRefs], topic: str) -> DeletionResult:
        """Delete the shown items that have not changed since. The audit log keeps `topic`, which
        comes from `hashed`."""
        await self.store_waiting_turns()
        refs = [ref for item in shown for ref in item]
        memories = [ref for ref in refs if isinstance(ref, StoredRef) and ref.kind == "memory"]
        unchanged = [ref.id for ref in memories if await self._unchanged(ref) is not None]
        deleted = set(await self.dependencies.memories.delete(self.access, unchanged))
        open_items = {review_ref(item): item for item in await self._own_reviews()}
        items = [
            open_items[ref] for ref in refs if isinstance(ref, StoredRef) and ref in open_items
        ]
        dropped = [item for item in items if await self._drop(item.id)]
        messages = await self._forget_messages([one for one in refs if isinstance(one, SpokenRef)])
        gone = {ref for ref in memories if ref.id in deleted} | {review_ref(one) for one in dropped}
        count = sum(any(ref in gone or ref in messages for ref in item) for item in shown)
        ids = [*sorted(deleted), *(item.record.id for item in dropped)]
        details: dict[str, str | int] = {"ids": " ".join(ids), "deleted": len(ids) + len(messages)}
        if messages:
            details["said"] = len(messages)
        await self.audit("memory_bulk_delete", query=topic, **details)
        await self.clean_indexes()
        return DeletionResult(count, len(shown) - count)

    def hashed(self, topic: str) -> str:
        """Return the HMAC of a topic, which replaces its words in the audit log."""
        return self.dependencies.audit.hashed(topic)

    # --- everything of a person -----------------------------------------------------------------

    async def erase_all(self, turn_id: str = "") -> tuple[int, list[Linked]]:
        """Delete everything that any store holds about this identity, and end its links.

        Returns the number of deleted entries and the identities it was linked with; their data
        stays. `turn_id` is the work that asks for the erasure and is still to be answered.
        """
        links = self.dependencies.links
        others, deleted = await links.linked(self.access.tenant, self.access.person), 0
        for holder in self.dependencies.holders:
            deleted += await holder.erase(self.access.tenant, (self.access.person,), turn_id)
        self.dependencies.people.erased(self.access.tenant, self.access.person)
        await self.audit("memory_erase", deleted=deleted)
        await links.note_unlinked(self.access.tenant, self.access.person, others)
        await self.clean_indexes()
        return deleted, others

    # --- helpers --------------------------------------------------------------------------------

    async def _memories_about(self, topic: str) -> list[Record]:
        if not is_memory_id(topic):
            return await self._with_words(topic)
        every = Filter(own_only=True, superseded=True, limit=MAX_LISTED)
        matches = await self.dependencies.memories.find(self.access, every)
        return [displayable(one.record) for one in matches if one.record.id.startswith(topic)]

    async def _with_words(self, text: str) -> list[Record]:
        if not text.strip():
            return []
        filters = Filter(text=text, own_only=True, superseded=True, limit=MAX_LISTED)
        matches = await self.dependencies.memories.find(self.access, filters)
        return [displayable(match.record) for match in matches if match.score >= ALL_WORDS]

    async def _of_same_turn(self, record: Record) -> list[Record]:
        """Return the person's side of the turn in which a memory was learned."""
        at, origins = record.provenance.at, origins_of([record])
        if not origins:
            return []
        span = Filter(own_only=True, since=at - SAME_TURN, until=at + SAME_TURN, limit=MAX_LISTED)
        near = [one.record for one in await self.dependencies.memories.find(self.access, span)]
        own = [one for one in near if one.role == "user" and origins_of([one]) & origins]
        return [displayable(one) for one in own]

    async def _own_reviews(self) -> list[ReviewItem]:
        items = own_items(await self.dependencies.reviews.waiting(self.access, MAX_LISTED))
        return [replace(item, record=displayable(item.record)) for item in items]

    async def _messages(self) -> list[Spoken]:
        """Return messages of the person's conversations; in a room where private memories are not
        shown, of this conversation only."""
        here = "" if self.access.private else self.request.conversation
        whose = Whose(self.access.tenant, self.access.persons, here)
        return await self.dependencies.history.spoken(whose, MAX_MESSAGES)

    async def _unchanged(self, ref: StoredRef) -> Record | None:
        record = await self.dependencies.memories.get(self.access, ref.id)
        shown = None if record is None else displayable(record)
        return shown if shown is not None and memory_ref(shown) == ref else None

    async def _drop(self, review_id: str) -> bool:
        """Reject an open review; False if it is no longer open."""
        now = self.dependencies.clock.now()
        taken = await self.dependencies.reviews.take(self.access, review_id, "rejected", "", now)
        return taken is not None

    async def _forget_messages(self, refs: Sequence[SpokenRef]) -> set[SpokenRef]:
        whose = Whose(self.access.tenant, self.access.persons)
        gone = set(await self.dependencies.history.forget(whose, refs))
        channels: dict[str, list[str]] = {}
        for ref in gone:
            if ref.kind == "message":
                channels.setdefault(ref.channel, []).append(ref.id)
        for channel, ids in channels.items():
            await self.dependencies.consolidation.discard(self.access.tenant, channel, ids)
        return gone


def _passing(about: TextTest, groups: Sequence[Sequence[Record]]) -> list[Record]:
    distinct = {record.id: record for records in groups for record in records}
    return [record for record in distinct.values() if about(record.content)]
