"""Turns and memories for recall, a model that is made of words, and a retriever over SQLite."""

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from gateway.immutable import replace
from memory.model.record import Embedding, Kind, Record, Tier
from memory.model.scope import AccessScope
from memory.ports.memories import TextVector
from memory.ports.recall import Query, Recollection
from memory.recall.retriever import Retriever
from parley.wiring.storage import MemoryStores
from tests.memory.stores.records import AT, access, record
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database

NOW: Final = AT + timedelta(days=1)
ALIKE: Final = {"car": "vehicle", "automobile": "vehicle", "physician": "doctor"}


def turn(content: str, role: str = "user", **rest: Any) -> Record:
    """Something that was said in a conversation."""
    group = rest.pop("group", "a conversation")
    memory = record(content, tier=Tier.EPISODIC, kind=Kind.CONTEXT, role=role, **rest)
    return replace(memory, provenance=replace(memory.provenance, conversation=group))


def talk(*lines: str, start: datetime = AT, **rest: Any) -> list[Record]:
    """Turns of one conversation, a minute apart."""
    return [
        turn(line, at=start + timedelta(minutes=place), id=f"t{place}", **rest)
        for place, line in enumerate(lines)
    ]


@dataclass
class WordModel:
    """Vectors of words, where some words mean the same. Counts how often it was asked."""

    asked: int = 0
    model: str = "words"
    fails_with: Exception | None = None

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        self.asked += 1
        if self.fails_with is not None:
            raise self.fails_with
        return [Embedding(self.model, _vector(text)) for text in texts]


@dataclass
class Asking:
    """A retriever over a SQLite store, and what is in it."""

    stores: MemoryStores
    clock: FakeClock
    model: WordModel = field(default_factory=WordModel)

    async def keep(self, *records: Record, by: AccessScope | None = None) -> None:
        """Store records, with their vectors."""
        for one in records:
            who = by or access(one.provenance.person)
            if one.role:
                await self.stores.memories.keep_turns(who, [one])
            else:
                await self.stores.memories.insert(who, one, threshold=1.0, quota=None)
            vectors = await self.model.embed([one.content])
            await self.stores.memories.embed([TextVector(one.id, one.content, vectors[0])])
        self.model.asked = 0

    def retriever(self, *, model: bool = True, **parts: Any) -> Retriever:
        embedder = self.model if model else None
        return Retriever(self.stores.recall, self.stores.memories, embedder, **parts)

    async def recall(
        self, text: str, by: AccessScope | None = None, *, model: bool = True, **asked: Any
    ) -> Recollection:
        """Return the matches."""
        rules = asked.pop("rules", None)
        query = Query(text, asked.pop("at", NOW), **asked)
        return await self.retriever(model=model, rules=rules).recall(by or access(), query)

    async def texts(self, text: str, by: AccessScope | None = None, **asked: Any) -> list[str]:
        """The texts of what is found."""
        matches = await self.recall(text, by, **asked)
        return [one.record.content for one in matches.results]


@asynccontextmanager
async def asking() -> AsyncIterator[Asking]:
    """An empty store."""
    clock, database = FakeClock(), sqlite_database(":memory:")
    await database.start()
    yield Asking(MemoryStores(database, clock), clock)
    await database.stop()


def _vector(text: str) -> tuple[float, ...]:
    values = [0.0] * 64
    for word in text.lower().replace("?", " ").replace(".", " ").split():
        meant = ALIKE.get(word, word)
        values[sum(map(ord, meant)) % 64] += 1.0
    size = math.sqrt(sum(value * value for value in values)) or 1.0
    return tuple(value / size for value in values)
