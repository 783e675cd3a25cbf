"""Finds the memories that a statement replaces or may contradict, and those with the same
meaning."""

from collections.abc import Sequence
from typing import Final

import structlog
from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.errors import MemoryUnavailable
from gateway.immutable import replace
from memory.model.record import Draft, Embedding, InputKind, Record, Scope, Tier
from memory.model.scope import AccessScope, alone
from memory.ports.memories import Duplicate, Filter, MemoryStore
from memory.ports.recall import Embedder
from memory.stores.search import RecallStore
from memory.text.comparable import Statement
from memory.text.similarity import VECTOR_THRESHOLD, Meaning, same_meaning
from memory.write.contradiction import Relation, judged

log = structlog.get_logger(__name__)


class Compared(Struct, frozen=True):
    """The memories that a statement changes."""

    replaces: Record | None = None
    """The memory that it replaces."""
    certain: bool = True
    """False if the person has to be asked before it is replaced."""
    contradicts: tuple[Record, ...] = ()
    """The memories that stay beside it although they may contradict it, best first."""


def compared(text: str, current: Sequence[Record], named: Record | None = None) -> Compared:
    """Return what a person's statement does to their memories `current`, best first. `named` is
    the one that the model says is replaced."""
    replaces: Record | None = None
    contradicts: list[Record] = []
    new = Statement.of(text)
    others = [one for one in current if named is None or one.id != named.id]
    for record in ([] if named is None else [named]) + others:
        if record.scope is not Scope.USER or record.role or not record.current:
            continue
        relation = judged(new, record.content, named=record is named).relation
        if relation is Relation.REPLACES and replaces is None:
            replaces = record
        elif relation is not Relation.BESIDE:
            contradicts.append(record)
    return Compared(replaces, contradicts=tuple(contradicts))


CANDIDATES: Final = 6
"""Memories that are compared with a person's statement."""


async def with_candidates(
    memories: MemoryStore, access: AccessScope, text: str, named: Record | None = None
) -> Compared:
    """Compare a statement with the person's memories that share its words. With none if they
    cannot be read: nothing is replaced then."""
    statement = Statement.of(text)
    if statement is None or (statement.adds and named is None):  # it stands beside all others
        return Compared()
    filters = Filter(
        text=text, own_only=True, tiers=(Tier.SEMANTIC,), limit=CANDIDATES, similar=True
    )
    try:
        matches = await memories.find(access, filters)
    except (StoreUnavailable, MemoryUnavailable) as error:
        log.warning("memories_not_compared", error=str(error))
        return Compared()
    return compared(text, [match.record for match in matches], named)


def crosses(access: AccessScope, draft: Draft, named: Record, kind: InputKind) -> bool:
    """True if a draft has another scope, project or tier than the memory that it names, so that
    both stay. A person may change the tier of their own memory."""
    project = access.project if draft.scope is Scope.PROJECT else ""
    other_tier = kind is not InputKind.EXPLICIT and draft.kind.tier is not named.tier
    return (draft.scope, project) != (named.scope, named.project) or other_tier


LOOKED_AT: Final = 20
"""The closest memories that are compared; a number or a "not" may exclude several of them."""


class MeaningCheck(Struct, frozen=True):
    """Compares by vectors, within the same owner, scope, project and tier."""

    embedder: Embedder
    recall: RecallStore
    memories: MemoryStore
    threshold: float = VECTOR_THRESHOLD

    async def like(self, access: AccessScope, record: Record) -> tuple[Duplicate | None, Embedding]:
        """The memory with the same meaning, and the vector of the new one. Raises
        `StoreUnavailable`, and `gateway.errors.ModelError` where there is no vector."""
        made = (await self.embedder.embed([record.content]))[0]
        of_owner = alone(access)
        if record.scope is Scope.PROJECT:
            of_owner = replace(of_owner, project=record.project)
        filters = Filter(
            tiers=(record.tier,), scopes=(record.scope,), own_only=record.scope is Scope.USER
        )
        hits = await self.recall.nearest(of_owner, made, filters, LOOKED_AT)
        close = [hit for hit in hits if hit.score >= self.threshold - 1e-6]
        records = [await self.memories.get(of_owner, hit.id) for hit in close]
        others = [
            (one.id, Meaning.of(one.content, one.embedding))
            for one in records
            if one is not None and one.embedding is not None and _comparable(record, one)
        ]
        return same_meaning(Meaning.of(record.content, made), others, self.threshold), made


def _comparable(record: Record, other: Record) -> bool:
    """Turns are compared with nothing, and a memory not with the one it replaces, nor with one that
    is shown in fewer places because it may contain text of a restricted repository."""
    fits = other.project == record.project and not other.role
    hidden = other.provenance.from_repository and not record.provenance.from_repository
    return fits and not hidden and other.id not in (record.id, record.supersedes)
