"""Stores memories for one request, and takes back what the assistant stored on its own in one turn.

A memory that is taken back is named by its id or its beginning, a version of a document as
"soul-3".
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final, Literal

from msgspec import Struct

from gateway.errors import NotFound
from gateway.immutable import replace
from gateway.text import Text, text
from memory.model.outcome import Outcome, ValidationResult, WriteResult
from memory.model.record import (
    ID_PREFIX,
    UNDO_FOR,
    Draft,
    InputKind,
    Record,
    Scope,
    SourceType,
    Tier,
)
from memory.model.scope import AccessScope
from memory.ports.memories import Filter, MemoryStore
from memory.recall.selection import displayable
from memory.service.dependencies import RequestMemory
from memory.text.references import names_more, refers_back
from memory.write.imports import ImportedHistory, imported_kind
from memory.write.statement import ExternalText, find_statement
from memory.write.turns import Speaker

MAX_LOOKED: Final = 100
"""The latest memories, of each kind, that are searched."""
NOTHING_TO_UNDO: Final = text(
    "I stored nothing on my own within the last day. To delete older memories, or ones that you "
    "asked me to keep, use `/forget` with a topic or an id."
)
UNDO_EXPIRED: Final = text(
    "I stored no such memory on my own within the last day, or it is already deleted. `/memories` "
    "shows what I remember; `/forget ID` deletes one."
)
SHARED: Final = (Scope.PROJECT, Scope.GLOBAL)


class UndoResult(Struct, frozen=True):
    """The deleted memories, newest first, and those that are valid again."""

    gone: tuple[Record, ...]
    restored: tuple[Record, ...] = ()


async def undo_turn(memory: RequestMemory, name: str) -> UndoResult:
    """Delete what the assistant stored on its own in one turn of the last day: the turn of the
    memory `name` (an id or its beginning), or the latest. Raises `NotFound` if this person has no
    such memory."""
    memories, access = memory.dependencies.memories, memory.access
    candidates = await recent_inferences(memories, access, memory.request.at, name)
    turn = same_turn(candidates, name, access.persons)
    taken = set(await memories.take_back(access, [record.id for record in turn]))
    if not taken:
        raise NotFound(UNDO_EXPIRED if name else NOTHING_TO_UNDO)
    await memory.audit("memory_delete", reason="undo", ids=" ".join(taken), deleted=len(taken))
    gone = tuple(displayable(record) for record in turn if record.id in taken)
    older = [await memories.get(access, one.supersedes) for one in gone if one.supersedes]
    restored = (displayable(record) for record in older if record is not None)
    return UndoResult(gone, tuple(record for record in restored if record.current))


async def latest_undoable(memory: RequestMemory) -> str:
    """Return the id of a memory of the turn that an undo without a name takes back; empty if there
    is none."""
    memories, access = memory.dependencies.memories, memory.access
    candidates = await recent_inferences(memories, access, memory.request.at, "")
    return next((one.id for one in same_turn(candidates, "", access.persons)), "")


def document_named(name: str) -> tuple[Literal["soul", "bible"], int] | None:
    """Return the document version with a name such as "soul-3"; None for other names."""
    document, dash, number = name.casefold().partition("-")
    if not dash or not (number.isascii() and number.isdigit() and len(number) < 10):
        return None
    if document == "soul":
        return "soul", int(number)
    return ("bible", int(number)) if document == "bible" else None


def same_turn(records: Sequence[Record], name: str, persons: Sequence[str]) -> list[Record]:
    """Return the assistant's own writes for `persons` in the turn of the named memory, or in the
    latest such turn; `records` are newest first."""
    own = [one for one in records if _of_own_accord(one) and one.provenance.person in persons]
    meant = next((one for one in own if _is_named(one, name)), None)
    if meant is None:
        return []
    return [one for one in own if one is meant or _in_turn(one, meant)]


async def recent_inferences(
    memories: MemoryStore, access: AccessScope, at: datetime, name: str
) -> list[Record]:
    """Return the memories of the day before `at`, newest first, with the named one. Raises
    `StoreUnavailable`."""
    lately = Filter(superseded=True, since=at - UNDO_FOR, limit=MAX_LOOKED)
    selections = (
        replace(lately, own_only=True, tiers=(Tier.SEMANTIC,)),
        replace(lately, own_only=True, tiers=(Tier.EPISODIC,)),
        replace(lately, scopes=SHARED),
    )
    candidates = [
        match.record for each in selections for match in await memories.find(access, each)
    ]
    named = await memories.get(access, name) if name else None
    if named is not None and named.provenance.at >= at - UNDO_FOR:
        candidates.append(named)
    records = {record.id: record for record in candidates}
    return sorted(records.values(), key=lambda one: one.provenance.at, reverse=True)


def _of_own_accord(record: Record) -> bool:
    explicit = record.provenance.source is SourceType.EXPLICIT_SAVE
    return not (record.role or record.confirmed or explicit)


def _is_named(record: Record, name: str) -> bool:
    return not name or (name.startswith(ID_PREFIX) and record.id.startswith(name))


def _in_turn(one: Record, other: Record) -> bool:
    provenance, also = one.provenance, other.provenance
    same = (provenance.message_id, provenance.channel) == (also.message_id, also.channel)
    return bool(provenance.message_id) and same


MEMORY_OFF: Final = text(
    "Memory is off for you, so nothing is kept. `/privacy memory on` turns it on again."
)
SESSION_FULL: Final = text("A session stores at most 20 memories.")
NOT_REPLACED: Final = text(
    "This memory replaces no other one that is still stored, or is not yours to change. `/forget` "
    "deletes memories."
)
FROM_REPOSITORY: Final = text(
    "Nothing was stored: this conversation contains text of a private repository, and a memory is "
    "recalled in other places. Only the person's own sentence can be stored: give it as `quote`."
)
FROM_THREAD: Final = text(
    "Nothing was stored: this question comes with earlier messages of a thread, of which nothing "
    "is kept. Only the person's own sentence can be stored: give it as `quote`."
)


UNCLEAR: Final = text(
    "Nothing was stored: the sentence does not say who or what it is about. Give the whole "
    "statement as `content`, with the name from this conversation; the person is then asked."
)


class MemoryWriter(RequestMemory, frozen=True):
    """Stores memories. Refuses everything while the person's memory is off."""

    async def remember(self, draft: Draft) -> WriteResult:
        """Store what the person explicitly asks to keep, or as an inference what an agent does: it
        is unknown what the agent has read."""
        if self.request.agent:
            external = ExternalText()
            external.any = True
            return await self.infer(draft, external)
        return await self._write(draft, InputKind.EXPLICIT)

    async def infer(self, draft: Draft, external: ExternalText | None = None) -> WriteResult:
        """Store what the model asks to keep.

        If the quote is part of what the person wrote, their own sentence is stored in place of the
        model's wording; otherwise the memory is an inference. In a turn with `external` text an
        inference is never approved automatically and replaces no other memory; after text of a
        repository that not everybody may read, and after messages of a thread, there is none, and
        the sentence has no tags.
        """
        if not self.choices.remembered:
            return _refused("memory_off", MEMORY_OFF)
        people, session = self.dependencies.people, self.start.session
        if not await people.use(session, "stores"):
            return _refused("session_limit", SESSION_FULL)
        has_external = external is not None and external.any
        confined = external is not None and (external.from_repository or external.from_thread)
        statement = find_statement(draft.quote or draft.content, self.request.words)
        if statement is not None and refers_back(statement):
            return await self._resolved(draft, statement, external)
        if statement is not None:
            replaced = "" if has_external else draft.supersedes
            tags = () if confined else draft.tags
            own = replace(draft, content=statement, quote="", supersedes=replaced, tags=tags)
            return await self._write(own, InputKind.OWN_WORDS, by_model=True)
        if external is not None and external.from_repository:
            return _refused("from_repository", FROM_REPOSITORY)
        if external is not None and external.from_thread:
            return _refused("from_thread", FROM_THREAD)
        if external is None or not external.any:
            return await self._write(draft, InputKind.ASSISTANT, by_model=True)
        kind = external.kind_of_input(draft.content, draft.quote)
        return await self._write(draft, kind, external=True, by_model=True)

    async def _resolved(
        self, draft: Draft, statement: str, external: ExternalText | None
    ) -> WriteResult:
        """Ask about the model's wording of a sentence whose subject another message names; refuse
        it where the wording names the subject no more than the sentence does, and after text of
        which nothing is kept."""
        confined = external is not None and (external.from_repository or external.from_thread)
        if confined or not names_more(draft.content, statement):
            return _refused("unclear", UNCLEAR)
        has_external = external is not None and external.any
        asked = replace(draft, quote="", supersedes="" if has_external else draft.supersedes)
        # As external text it is never approved without the person.
        return await self._write(asked, InputKind.ASSISTANT, external=True, by_model=True)

    async def import_memory(
        self, draft: Draft, history: ImportedHistory, *, others: bool = False
    ) -> WriteResult:
        """Store an exported memory. What `history` proves is kept; the rest is an import, or the
        words of `others` if that is proven."""
        kind = imported_kind(history, others=others)
        return await self._write(draft, kind, external=history.proven is None, history=history)

    async def import_turn(
        self, role: Speaker, text: str, history: ImportedHistory, *, others: bool = False
    ) -> WriteResult:
        """Store one side of an exported turn, as `import_memory` does."""
        if not self.choices.remembered:
            return _refused("memory_off", MEMORY_OFF)
        kind = imported_kind(history, others=others)
        turns = self.dependencies.path.turns
        return await turns.keep_past_turn(self.request, self.access, role, text, history, kind)

    def count_import(self) -> None:
        """Count a file that this person imports. Raises `BadInput` after too many."""
        person = f"{self.access.tenant}:{self.access.person}"
        self.dependencies.imports.take(person, self.request.at)

    async def note_import(self, lines: int, stored: int) -> None:
        """Record an import in the audit log."""
        await self.audit("memory_import", lines=lines, count=stored)

    async def try_out(self, content: str, memory_type: str, source: str) -> ValidationResult:
        """Return the tier of a text and the reason, without storing it. `source` is a key of
        `memory.write.validate.INPUT_KINDS`. Raises `BadInput` for an unknown type or a text that
        cannot be stored."""
        path = self.dependencies.path
        return await path.try_out(self.request, self.access, content, memory_type, source)

    async def undo(self, name: str = "") -> UndoResult:
        """Take back what the assistant stored on its own in one turn of the last day: the turn of
        the memory `name` (an id or its beginning), or the latest. Raises `NotFound` if there is no
        such memory of this person."""
        return await undo_turn(self, name)

    async def undo_replacement(self, memory_id: str) -> Record:
        """Delete a memory that replaced another one, which is valid again; return that one. Raises
        `NotFound` if it replaced none, or may not be changed here."""
        memories = self.dependencies.memories
        record = await memories.get(self.access, memory_id)
        old = None if record is None else await memories.get(self.access, record.supersedes)
        if record is None or not record.current or old is None:
            raise NotFound(NOT_REPLACED)
        taken = await memories.take_back(self.access, [memory_id])
        restored = await memories.get(self.access, old.id) if taken else None
        if restored is None:
            raise NotFound(NOT_REPLACED)
        await self.audit("memory_delete", reason="undo", ids=memory_id, deleted=1)
        return displayable(restored)

    async def latest_undoable(self) -> str:
        """Return the id of a memory that `undo` without a name takes back; empty for none."""
        return await latest_undoable(self)

    async def _write(
        self,
        draft: Draft,
        kind: InputKind,
        *,
        external: bool = False,
        history: ImportedHistory | None = None,
        by_model: bool = False,
    ) -> WriteResult:
        if not self.choices.remembered:
            return _refused("memory_off", MEMORY_OFF)
        use = partial(self.dependencies.people.use, self.start.session, "supersedes")
        return await self.dependencies.path.write(
            *(self.request, self.access, draft, kind),
            external=external,
            past=history,
            may_replace=use if by_model else None,
        )


def _refused(code: str, reason: Text) -> WriteResult:
    return WriteResult(Outcome.REFUSED, code, reason)
