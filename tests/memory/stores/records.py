"""Short ways to records and reaches."""

from datetime import UTC, datetime
from typing import Any

from gateway.immutable import replace
from memory.model.record import (
    Evidence,
    Kind,
    Provenance,
    Record,
    Scope,
    SourceType,
    Tier,
    Trust,
    new_id,
)
from memory.model.scope import AccessScope
from memory.ports.memories import Filter, Insertion, MemoryStore

AT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
ADA, BOB = "test:main:ada", "test:second:bob"
CHANNEL = ("test", "main", "C1")


def record(content: str = "likes tea", person: str = ADA, **rest: Any) -> Record:
    """A semantic fact of Ada's, said in private."""
    provenance = Provenance(
        SourceType.USER_MESSAGE,
        Trust.HIGH,
        person,
        rest.pop("at", AT),
        room=rest.pop("room", ""),
        message_id=rest.pop("message_id", ""),
        conversation=rest.pop("conversation", ""),
        channel=":".join(CHANNEL),
        from_repository=rest.pop("from_repository", False),
    )
    values: dict[str, Any] = {
        "id": new_id(),
        "tenant": "t",
        "scope": Scope.USER,
        "tier": Tier.SEMANTIC,
        "kind": Kind.FACT,
        "content": content,
        "provenance": provenance,
        "evidence": Evidence(content, AT, 0.9),
    }
    return Record(**(values | rest))


def access(person: str = ADA, *linked: str, **rest: Any) -> AccessScope:
    """Private, no project, no operator."""
    values: dict[str, Any] = {"room": "", "project": "", "private": True, "operates": False}
    persons = tuple(sorted({person, *linked}))
    return AccessScope(rest.pop("tenant", "t"), person, persons, **(values | rest))


async def store(
    memories: MemoryStore, kept: Record, by: AccessScope | None = None, quota: int | None = None
) -> Insertion:
    """Store a record for its owner."""
    by = by or access(kept.provenance.person)
    return await memories.insert(by, kept, threshold=0.92, quota=quota)


async def texts(memories: MemoryStore, by: AccessScope | None = None, **wanted: Any) -> list[str]:
    """Return the matches."""
    matches = await memories.find(by or access(), Filter(**wanted))
    return [match.record.content for match in matches]


def operator(**rest: Any) -> AccessScope:
    """Somebody who may write for everybody."""
    return replace(access("test:main:root"), operates=True, **rest)
