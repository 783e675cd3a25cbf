"""Collections in a real store, as a person's memories, and the public retriever over it."""

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, cast

from benchmarks.recollection.corpora import Corpus, Document
from gateway.message import Place
from gateway.people import Audience, PersonId, Principal, Role
from gateway.ports.clock import SystemClock
from memory.model.record import Evidence, Kind, Provenance, Record, Scope, SourceType, Tier, Trust
from memory.model.scope import AccessScope, RequestScope, access_scope_of
from memory.ports.memories import TextVector
from memory.ports.recall import Embedder
from parley.wiring.storage import MemoryStores
from tests.support.databases import sqlite_database

PROJECT: Final = "project"
AT_ONCE: Final = 64
Speaker = Literal["", "user", "assistant", "tool"]


class Still(SystemClock):
    """A clock whose date stands still, because memories of long ago must not have expired."""

    def __init__(self, date: datetime) -> None:
        self._date = date

    def now(self) -> datetime:
        """The same time always."""
        return self._date


@dataclass(frozen=True, slots=True)
class Library:
    """Collections for questions, each with its own person. `same` are documents with exactly the
    same text as another one: a memory is stored once."""

    stores: MemoryStores
    corpora: tuple[Corpus, ...]
    same: Mapping[str, str]

    def access(self, corpus: Corpus) -> AccessScope:
        """Return the access scope of this collection's person."""
        return reach_to(corpus)

    def kept(self, corpus: Corpus, document_id: str) -> str:
        """The id under which a document is kept."""
        id_ = id_in(corpus, document_id)
        return self.same.get(id_, id_)


def reach_to(corpus: Corpus) -> AccessScope:
    """A collection's person in private, who may also write what is everybody's."""
    place = Place("bench", "main", corpus.name, Audience.DIRECT)
    person = PersonId("bench", "main", corpus.name)
    principal = Principal(corpus.name, person, Role.OPERATOR)
    return access_scope_of(
        RequestScope(principal, (str(person),), place, corpus.now, project=PROJECT)
    )


def id_in(corpus: Corpus, document_id: str) -> str:
    """A document's id in the store."""
    return f"{corpus.name}/{document_id}"


@asynccontextmanager
async def library(corpora: Sequence[Corpus], embedder: Embedder | None) -> AsyncIterator[Library]:
    """The collections in a new SQLite file, with vectors where there is a model."""
    with tempfile.TemporaryDirectory() as folder:
        database = sqlite_database(str(Path(folder) / "recall.db"))
        await database.start()
        try:
            now = max(corpus.now for corpus in corpora)
            stores = MemoryStores(database, Still(now))
            same: dict[str, str] = {}
            for corpus in corpora:
                same |= await _fill(stores, corpus, embedder)
            yield Library(stores, tuple(corpora), same)
        finally:
            await database.stop()


async def _fill(stores: MemoryStores, corpus: Corpus, embedder: Embedder | None) -> dict[str, str]:
    access = reach_to(corpus)
    records = [_record(one, corpus, access) for one in corpus.documents]
    turns = [record for record in records if record.role]
    for begin in range(0, len(turns), AT_ONCE):
        await stores.memories.keep_turns(access, turns[begin : begin + AT_ONCE])
    same: dict[str, str] = {}
    for record in records:
        if not record.role:
            kept = await stores.memories.insert(access, record, threshold=1.0, quota=None)
            if kept.duplicate is not None:
                same[record.id] = kept.duplicate.id
    if embedder is None:
        return same
    for begin in range(0, len(records), AT_ONCE):
        some = records[begin : begin + AT_ONCE]
        vectors = await embedder.embed([record.content for record in some])
        pairs = [
            TextVector(record.id, record.content, vector)
            for record, vector in zip(some, vectors, strict=True)
        ]
        await stores.memories.embed(pairs)
    return same


def _record(document: Document, corpus: Corpus, access: AccessScope) -> Record:
    turn = bool(document.role)
    scope = Scope(document.scope)
    return Record(
        id=id_in(corpus, document.id),
        tenant=corpus.name,
        scope=scope,
        tier=Tier.EPISODIC if turn else Tier.SEMANTIC,
        kind=Kind.CONTEXT if turn else Kind(document.kind),
        content=document.text,
        provenance=Provenance(
            SourceType.USER_MESSAGE,
            Trust.HIGH,
            access.person,
            document.at,
            conversation=corpus.name,
        ),
        evidence=Evidence(document.text, document.at, 0.9),
        project=PROJECT if scope is Scope.PROJECT else "",
        role=cast("Speaker", document.role),
        supersedes=id_in(corpus, document.replaces) if document.replaces else "",
    )
