"""Takes back what the assistant stored on its own in one turn.

A memory is named by its id or its beginning, a version of a document as "soul-3".
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from gateway.errors import NotFound
from gateway.immutable import replace
from memory.model.record import ID_PREFIX, UNDO_FOR, Record, Scope, SourceType, Tier
from memory.model.scope import AccessScope
from memory.ports.memories import Filter, MemoryStore
from memory.recall.selection import displayable
from memory.service.dependencies import RequestMemory

MAX_LOOKED: Final = 100
"""The latest memories, of each kind, that are searched."""
NOTHING_TO_UNDO: Final = (
    "I stored nothing on my own within the last day. To delete older memories, or ones that you "
    "asked me to keep, use `/forget` with a topic or an id."
)
UNDO_EXPIRED: Final = (
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
