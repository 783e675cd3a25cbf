"""The only way to memory: a handle that is bound to a person and to whoever reads along."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from gateway.errors import BadInput, NotFound
from gateway.message import Place
from gateway.people import PersonId, Principal
from gateway.ports import Clock
from gateway.remembering import Caller
from gateway.spoken import History
from memory.audit import Audit
from memory.brain.documents import Brain, BrainParts
from memory.model.outcome import Outcome, WriteResult
from memory.model.plans import PlanUse
from memory.model.recollection import Recollection
from memory.model.record import Draft, Record, Tier
from memory.model.scope import AccessScope, RequestScope, access_scope_of
from memory.model.validation import ValidationResult
from memory.ports import (
    AuditAction,
    ChangedMemory,
    Filter,
    Linked,
    Match,
    MemoryStore,
    PersonalDataStore,
    PersonChoices,
    ReviewItem,
    ReviewStore,
    TurnStart,
    WorkingMemory,
)
from memory.ports.recall import Recall
from memory.recall.query import Query
from memory.recall.repeat_filter import without_repeats
from memory.service.deletion import MAX_LISTED, Deletion, DeletionParts, DeletionResult, outward
from memory.service.deletion_topics import ItemRefs, TopicMatches, own
from memory.service.import_limit import ImportRateLimit
from memory.service.links import Links, identity_of
from memory.service.listing import ListName, Page, page_of
from memory.service.own_documents import OwnDocuments
from memory.service.people import People
from memory.service.proposals import Proposals, proposals_for
from memory.service.undo import UndoResult, noted_lately, of_one_turn
from memory.service.working_memory import working_records
from memory.write.consolidation import Consolidation
from memory.write.external_text import ExternalText
from memory.write.imported import ImportedHistory, imported_kind
from memory.write.path import Speaker, WritePath
from memory.write.prepare import Prepared
from memory.write.statement import find_statement
from memory.write.trust import InputKind
from safety.secret_detection.detect import redact_secrets

MAX_REASON = 500
DECIDED = "Nothing waits under this id. It may have been decided already."
MEMORY_OFF = "Memory is off for you, so nothing is kept. `/privacy memory on` turns it on again."
NOT_NOTED = (
    "There is nothing that I noted by myself within the last day. `/forget` and a topic, or an id, "
    "deletes what is older or what you asked me to keep."
)
NOT_NOTED_NOW = (
    "That is gone already, or I noted it more than a day ago. `/memories` shows what I remember, "
    "`/forget` and an id deletes it."
)


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """What a memory is put together from."""

    memories: MemoryStore
    reviews: ReviewStore
    people: People
    path: WritePath
    audit: Audit
    clock: Clock
    brain: Brain
    consolidation: Consolidation
    retriever: Recall
    links: Links
    history: History
    holders: Sequence[PersonalDataStore] = ()
    working: WorkingMemory | None = None
    """Conversations that are going on; None where nobody keeps any."""
    imports: ImportRateLimit = field(default_factory=ImportRateLimit)


class Memory:
    """All memory. Nobody gets further than `for_principal`."""

    def __init__(self, parts: MemoryParts) -> None:
        self._parts = parts

    async def for_principal(self, caller: Caller) -> "MemoryHandle":
        """Memory for this person, before these people. Raises `StoreUnavailable`."""
        request, arrival = await self._parts.people.start_turn(caller)
        return MemoryHandle(self._parts, request, arrival)

    async def linked(self, who: Principal) -> list[PersonId]:
        """The identities that are linked with this person, without their own."""
        others = await self._parts.links.linked(who.tenant, str(who.person))
        return [identity_of(other.side.person) for other in others]

    async def knows_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> bool:
        """True when a memory, or a turn that waits, goes back to one of these messages."""
        await self._parts.consolidation.of_messages(tenant, channel, message_ids)
        return await self._parts.memories.knows_message(tenant, channel, message_ids)

    async def left(self, tenant: str, place: Place, person: str) -> None:
        """A person, or without one everybody, is in the project of a place no longer."""
        await self._parts.people.left(tenant, place, person)

    async def message_deleted(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> None:
        """Chat messages are gone, and with them what was derived and never confirmed."""
        await self._parts.consolidation.of_messages(tenant, channel, message_ids, changed=True)
        gone = await self._parts.memories.forget_message(tenant, channel, message_ids)
        if gone:
            await self._note_message("memory_delete", tenant, "message_deleted", gone, message_ids)

    async def message_edited(
        self, tenant: str, channel: tuple[str, str, str], message_id: str, said: Prepared
    ) -> None:
        """A chat message says something else now, and so does its turn."""
        await self._parts.consolidation.of_messages(tenant, channel, (message_id,), changed=True)
        memories = self._parts.memories
        touched = await memories.revise_message(tenant, channel, message_id, said.content)
        if not touched:
            return
        await self._note_message("memory_write", tenant, "message_edited", touched, (message_id,))
        if said.secrets:
            for person in sorted({one.person for one in touched}):
                await self._parts.audit.append(
                    "secret_redacted", tenant, person, messages=message_id, **said.redacted
                )

    async def _note_message(
        self,
        action: AuditAction,
        tenant: str,
        reason: str,
        touched: Sequence[ChangedMemory],
        message_ids: Sequence[str],
    ) -> None:
        """One entry for each person whose memories an edit or a deletion reached."""
        messages = ",".join(message_ids)
        for person in sorted({one.person for one in touched}):
            ids = [one.id for one in touched if one.person == person]
            await self._parts.audit.append(
                action,
                tenant,
                person,
                reason=reason,
                count=len(ids),
                ids=",".join(ids),
                messages=messages,
            )


class MemoryHandle:
    """What one person can do with memory, here and now. Everything raises `StoreUnavailable`."""

    def __init__(self, parts: MemoryParts, request: RequestScope, arrival: TurnStart) -> None:
        self._parts = parts
        self._arrival = arrival
        self._session = arrival.session
        self.request = request
        self.access: AccessScope = access_scope_of(request)
        self.deleting = Deletion(_deleting(parts), request, self.access)

    async def in_project(self, project: str) -> "MemoryHandle":
        """The same for another project than the chosen one. Raises `NotFound` unless this person
        was seen in it."""
        if not await self._parts.people.reaches(self.request, project):
            raise NotFound("There is no such project of yours.")
        return MemoryHandle(
            self._parts,
            replace(self.request, project=project),
            replace(self._arrival, documents={}),
        )

    async def brain_parts(self) -> BrainParts:
        """The documents that the model reads, as they were when this handle was made."""
        return await self._parts.brain.parts(self.access, self._arrival.documents)

    @property
    def chosen(self) -> PersonChoices:
        """This person's choices about memory, and what waits to be told to them."""
        return self._arrival.who

    async def choose(
        self, *, memory: bool | None = None, notes: bool | None = None, rooms: bool | None = None
    ) -> None:
        """Make those of this person's choices that are given; they count from the next handle."""
        people, principal = self._parts.people, self.request.principal
        if memory is not None:
            await people.turn_memory(principal, memory)
        if notes is not None:
            await people.show_notes(principal, notes)
        if rooms is not None:
            await people.show_private(principal, rooms)

    async def tell_later(self, entries: Sequence[str]) -> None:
        """Let these wait for this person's next direct message, with what waits already."""
        await self._parts.people.tell_later(self.request, entries)

    async def told(self, entries: Sequence[str]) -> None:
        """These wait no longer."""
        await self._parts.people.told(self.request, entries)

    @property
    def remembers(self) -> bool:
        """False where there was surely nothing to recall when this handle was made."""
        return self._arrival.remembers

    @property
    def briefed(self) -> datetime | None:
        """The moment whose memories the session's brief tells, None until there is one."""
        return self._session.briefed

    async def refresh_brief(self) -> datetime:
        """From now on the session's brief is that of this turn, or of another one that was faster;
        of when it is."""
        return await self._parts.people.brief(self._session, self.request.at)

    @property
    def documents(self) -> OwnDocuments:
        """SOUL, BIBLE and HEARTBEAT within this person's reach."""
        return OwnDocuments(self._parts.brain, self.request, self.access)

    # --- writing --------------------------------------------------------------------------------

    async def remember(self, draft: Draft) -> WriteResult:
        """The person asks for it in so many words. Refused where their memory is off, as all of
        the following."""
        return await self._write(draft, InputKind.EXPLICIT)

    async def infer(self, draft: Draft, outside: ExternalText | None = None) -> WriteResult:
        """The model asks for it.

        Where its quote stands in what the person wrote, their own sentence is stored and the
        model's wording is not; otherwise it is the model's inference. Of what else the model stores
        in a turn with text from `outside`, nothing is approved by itself, and nothing is replaced
        because the model names it.
        """
        if not self.chosen.remembered:
            return _refused("memory_off", MEMORY_OFF)
        use = self._parts.people.use
        if not await use(self._session, "stores"):
            return _refused("session_limit", "20 memories are stored in one session at most")
        if draft.supersedes and not await use(self._session, "supersedes"):
            return _refused("session_limit", "5 memories are superseded in one session at most")
        stated = find_statement(draft.quote or draft.content, self.request.words)
        if stated is not None:
            told = outside is not None and outside.any
            own = replace(draft, supersedes="") if told else draft
            return await self._write(replace(own, content=stated, quote=""), InputKind.OWN_WORDS)
        if outside is None or not outside.any:
            return await self._write(draft, InputKind.ASSISTANT)
        way = outside.kind_of_input(draft.content, draft.quote)
        return await self._write(draft, way, external=True)

    async def _write(self, draft: Draft, way: InputKind, *, external: bool = False) -> WriteResult:
        if not self.chosen.remembered:
            return _refused("memory_off", MEMORY_OFF)
        return await self._parts.path.write(
            self.request, self.access, draft, way, external=external
        )

    async def try_out(self, content: str, memory_type: str, source: str) -> ValidationResult:
        """The tier in which a text would land, and why; nothing is stored. `source` is one of
        `memory.write.validate.WAYS`. Raises `BadInput` for a type that does not exist, and for what
        cannot be kept at all."""
        path = self._parts.path
        return await path.try_out(self.request, self.access, content, memory_type, source)

    async def bring_in(
        self, draft: Draft, past: ImportedHistory, *, others: bool = False
    ) -> WriteResult:
        """The person brings a memory in. What `past` proves is kept; else it is an import, or where
        it is proven to be of `others`, their words."""
        if not self.chosen.remembered:
            return _refused("memory_off", MEMORY_OFF)
        way = imported_kind(past, others=others)
        return await self._parts.path.write(
            self.request, self.access, draft, way, external=past.proven is None, past=past
        )

    async def bring_in_turn(
        self, role: Speaker, text: str, past: ImportedHistory, *, others: bool = False
    ) -> WriteResult:
        """The same for one side of a turn."""
        if not self.chosen.remembered:
            return _refused("memory_off", MEMORY_OFF)
        way = imported_kind(past, others=others)
        return await self._parts.path.keep_past_turn(
            self.request, self.access, role, text, past, way
        )

    def count_import(self) -> None:
        """Count a file that this person sends. Raises `BadInput` where there were too many."""
        tenant, person = self.access.tenant, self.access.person
        self._parts.imports.take(f"{tenant}:{person}", self.request.at)

    def signature(self, text: str) -> str:
        """Proves later that this program gave this text out; empty where there is no key."""
        return self._parts.audit.signature(text)

    # --- reading --------------------------------------------------------------------------------

    async def search(self, wanted: Filter) -> list[Match]:
        """What fits and may be seen here, best first."""
        await self._parts.consolidation.of_reach(self.access)
        found = await self._parts.memories.find(self.access, wanted)
        kind = "text" if wanted.text else "recent"
        await self._audit("memory_read", query=kind, results=len(found))
        return [replace(match, record=outward(match.record)) for match in found]

    async def look_up(self, query: Query) -> Recollection:
        """What is remembered about something, best first, without its echoes."""
        await self._parts.consolidation.of_reach(self.access)
        found = await self._parts.retriever.recall(self.access, query)
        results = tuple(without_repeats(query.text, found.results))
        await self._audit("memory_read", query="recall", results=len(results))
        return replace(found, results=results, repeats=len(found.results) - len(results))

    async def get(self, memory_id: str) -> Record | None:
        """One memory, None when there is none for this person here."""
        await self._parts.consolidation.of_reach(self.access)
        record = await self._parts.memories.get(self.access, memory_id)
        return None if record is None else outward(record)

    async def everything(self) -> AsyncIterator[Record]:
        """Everything of the person's own, with its vectors: the oldest first, so that what was
        replaced comes before what replaced it."""
        await self._parts.consolidation.of_reach(self.access)
        ids: list[str] = []
        page = Filter(own_only=True, superseded=True, limit=MAX_LISTED)
        while found := await self._parts.memories.find(self.access, page):
            ids += [match.record.id for match in found]
            page = replace(page, after_id=ids[-1])
        for memory_id in reversed(ids):
            record = await self.get(memory_id)
            if record is not None:
                yield record

    async def page(self, name: ListName, text: str, number: int) -> Page:
        """Page `number`, from 0, of what was learned or of the turns; with a text of what fits."""
        await self._parts.consolidation.of_reach(self.access)
        page = await page_of(self._parts.memories, self.access, name, text, number)
        query = "text" if text else "list"
        await self._audit("memory_read", query=query, results=len(page.records))
        return replace(page, records=tuple(map(outward, page.records)))

    def before_others(self) -> "MemoryHandle":
        """The same for an answer that everybody in the room reads: nothing from elsewhere, also
        where this person lets it be used."""
        request = replace(self.request, shows_private=False)
        return MemoryHandle(self._parts, request, self._arrival)

    async def working(self) -> list[Record]:
        """What the model sees of this person's conversations beside memory, newest first: tasks,
        summaries, what was said."""
        if self._parts.working is None:
            return []
        rows = await self._parts.working.working(self.access.tenant, self.access.persons)
        found = working_records(rows, self.access)
        await self._audit("memory_read", query=Tier.WORKING.value, results=len(found))
        return [outward(record) for record in found]

    async def count(self) -> int:
        """How many memories of their own this person has."""
        return await self._parts.memories.count(self.access)

    async def plan_use(self) -> PlanUse:
        """How much of the plan is used; linked identities share one."""
        plan = self._parts.path.plans.plan_of(self.access.persons)
        return PlanUse(await self.count(), plan.memories)

    # --- deleting -------------------------------------------------------------------------------

    async def undo(self, name: str = "") -> UndoResult:
        """Take back what the assistant stored of its own accord in the turn of the memory `name`,
        an id or the beginning of one, or without one in the latest turn; within a day. Raises
        `NotFound` where there is no such memory of this person."""
        memories, at = self._parts.memories, self.request.at
        lately = await noted_lately(memories, self.access, at, name)
        turn = of_one_turn(lately, name, self.access.persons)
        took = set(await memories.take_back(self.access, [one.id for one in turn]))
        if not took:
            raise NotFound(NOT_NOTED_NOW if name else NOT_NOTED)
        await self._audit("memory_delete", reason="undo", ids=" ".join(took), deleted=len(took))
        gone = tuple(outward(one) for one in turn if one.id in took)
        before = [await self.get(one.supersedes) for one in gone if one.supersedes]
        restored = tuple(one for one in before if one is not None and one.current)
        return UndoResult(gone, restored)

    async def delete(self, memory_ids: Sequence[str], reason: str = "asked") -> list[str]:
        """The person deletes; never limited. The ids that went."""
        gone = await self._parts.memories.delete(self.access, memory_ids)
        if gone:
            await self._audit("memory_delete", reason=reason, ids=" ".join(gone), deleted=len(gone))
        return gone

    async def delete_for_model(self, memory_id: str) -> bool:
        """The model deletes, five times a session. Raises `BadInput` after that."""
        if not await self._parts.people.use(self._session, "deletes"):
            raise BadInput("5 memories are deleted in one session at most")
        return bool(await self.delete([memory_id], "model"))

    async def clear(self, tiers: Sequence[Tier]) -> int:
        """Delete everything of this identity's own in these tiers, what waits for its word
        included; how many. With working memory its conversations go too, uncounted. What linked
        identities wrote stays."""
        access = replace(self.access, persons=(self.access.person,))
        await self._parts.consolidation.of_reach(self.access)
        waiting = own(await self._parts.reviews.waiting(access, MAX_LISTED))
        took = [one.id for one in waiting if one.record.tier in tiers]
        left = [await self.deleting.drop(one) for one in took]
        count = await self._parts.memories.clear(access, tiers) + sum(left)
        if Tier.WORKING in tiers and self._parts.working is not None:
            await self._parts.working.clear(access.tenant, access.persons)
        await self._audit("memory_bulk_delete", category=" ".join(tiers), deleted=count)
        return count

    async def about(self, topic: str) -> list[Record]:
        """Own memories with every word of a topic, or with this id; replaced ones included."""
        await self._parts.consolidation.of_reach(self.access)
        return await self.deleting.memories_about(topic)

    async def waiting_about(self, topic: str) -> list[ReviewItem]:
        """What waits for this person's word about a topic."""
        return await self.deleting.waiting_about(topic)

    async def forgettable(self, topic: str) -> TopicMatches:
        """Everything of the person's own that is about a topic, or has this id, wherever it is
        kept: what `forget_shown` can delete."""
        return await self.deleting.found(topic)

    async def forget_shown(self, bound: Sequence[ItemRefs], sealed: str) -> DeletionResult:
        """Delete exactly what was shown. `sealed` stands for the topic in the audit."""
        return await self.deleting.forget(bound, sealed)

    async def forget(self, topic: str) -> int:
        """Delete what is about a topic, 200 things at most; the audit keeps an HMAC of the
        topic."""
        found = await self.forgettable(topic)
        gone = await self.forget_shown([item.bound for item in found.items], self.sealed(topic))
        return gone.items

    def sealed(self, topic: str) -> str:
        """Stands for a topic where its words must not stand."""
        return self._parts.audit.sealed(topic)

    # --- everything of a person -----------------------------------------------------------------

    async def counts(self) -> list[tuple[str, int]]:
        """How many rows of each table are kept of this person."""
        rows = await self.export_all(audited=False)
        tables = [str(row.get("table", "")) for row in rows]
        return [(name, tables.count(name)) for name in dict.fromkeys(tables)]

    async def export_all(self, *, audited: bool = True) -> list[dict[str, object]]:
        """Everything that any store holds of this person, as JSON-like values."""
        await self._parts.consolidation.of_reach(self.access)
        rows: list[dict[str, object]] = []
        for holder in self._parts.holders:
            rows += await holder.export(self.access.tenant, self.access.persons)
        if audited:
            await self._audit("memory_export", count=len(rows))
        return rows

    async def linked(self) -> list[Linked]:
        """The identities that are linked with this one, without itself."""
        return await self._parts.links.linked(self.access.tenant, self.access.person)

    async def erase_all(self, exchange: str = "") -> tuple[int, list[Linked]]:
        """Delete everything that any store holds of this identity, and end its links; how many
        entries went, and the identities it was linked with. Their data stays: only they erase it.
        `exchange` is the work that asks for it, and is answered yet.
        """
        others, gone = await self.linked(), 0
        for holder in self._parts.holders:
            gone += await holder.erase(self.access.tenant, (self.access.person,), exchange)
        await self._audit("memory_erase", deleted=gone)
        await self._parts.links.note_unlinked(self.access.tenant, self.access.person, others)
        return gone, others

    async def note_export(self, count: int) -> None:
        """Record that memories were given out."""
        await self._audit("memory_export", count=count)

    async def note_import(self, lines: int, stored: int) -> None:
        """Record that memories were brought in."""
        await self._audit("memory_import", lines=lines, count=stored)

    # --- review ---------------------------------------------------------------------------------

    async def waiting(self, limit: int = 10) -> list[ReviewItem]:
        """What waits for this person's word, oldest first."""
        return await self._parts.reviews.waiting(self.access, limit)

    async def proposed(self) -> list[Proposals]:
        """Where proposals wait for this person as an operator; told in private alone."""
        parts = self._parts
        return await proposals_for(parts.reviews, parts.people, self.request, self.access)

    async def decided(self, limit: int = 10) -> list[ReviewItem]:
        """What was decided of what waited for this person's word, the latest first: when, how and
        why, without its text."""
        return await self._parts.reviews.history(self.access, limit)

    async def approve(self, review_id: str, *, beside: bool = False) -> WriteResult:
        """Keep what waits. `beside` keeps the memory that it would replace as well. Raises
        `NotFound` when nothing waits under this id for this person.

        It is kept before the decision is noted, and the text goes with the decision: whoever is
        killed in between finds it waiting still, and keeping it again changes nothing.
        """
        pending = await self._parts.reviews.get(self.access, review_id)
        if pending is None or pending.state != "pending":
            raise NotFound(DECIDED)
        if not self.chosen.remembered:
            return _refused("memory_off", MEMORY_OFF)
        if pending.target:
            return await self._approve_document(review_id)
        result = await self._parts.path.approve(self.request, self.access, pending, beside=beside)
        if result.outcome is Outcome.REFUSED:
            return result
        await self._take_or_undo(pending)
        await self._audit("memory_review", decision="approved", review=review_id)
        return result

    async def _take_or_undo(self, pending: ReviewItem) -> None:
        try:
            await self._take(pending.id, "approved", "")
        except NotFound:
            decided = await self._parts.reviews.get(self.access, pending.id)
            if decided is None or decided.state == "rejected":
                await self._parts.memories.delete(self.access, [pending.record.id])
            raise

    async def _approve_document(self, review_id: str) -> WriteResult:
        pending = await self._take(review_id, "approved", "")
        try:
            await self._parts.brain.accept(self.request, self.access, pending)
        except BaseException:
            await self._parts.reviews.put_back(self.access, pending)
            raise
        await self._audit("memory_review", decision="approved", review=review_id)
        return WriteResult(Outcome.STORED, "stored", "Stored.", pending.record.content)

    async def reject(self, review_id: str, reason: str = "") -> None:
        """Do not keep it. Raises `NotFound` when nothing waits under this id for this person."""
        pending = await self._take(review_id, "rejected", redact_secrets(reason[:MAX_REASON]).text)
        await self._parts.memories.delete(self.access, [pending.record.id])
        await self._audit("memory_review", decision="rejected", review=review_id)

    async def _take(
        self, review_id: str, state: Literal["approved", "rejected"], note: str
    ) -> ReviewItem:
        now = self._parts.clock.now()
        pending = await self._parts.reviews.take(self.access, review_id, state, note, now)
        if pending is None:
            raise NotFound(DECIDED)
        return pending

    async def _audit(self, action: AuditAction, **details: str | int) -> None:
        await self._parts.audit.note(action, self.request, **details)


def _deleting(parts: MemoryParts) -> DeletionParts:
    return DeletionParts(
        parts.memories,
        parts.reviews,
        parts.consolidation,
        parts.history,
        parts.audit,
        parts.clock,
    )


def _refused(code: str, reason: str) -> WriteResult:
    return WriteResult(Outcome.REFUSED, code, reason)
