"""A guard whose crashes a test decides, and which records marked and quarantined work."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from gateway.inbound.crash_loop_guard import MAX_WEIGHT
from gateway.ports.work_guard import NOBODY, WorkItem, WorkKind, WorkOwner


@dataclass
class KnownCrashes:
    """Implements `WorkGuard`."""

    weights: dict[WorkItem, int] = field(default_factory=dict)
    marked: list[tuple[WorkItem, ...]] = field(default_factory=list)
    quarantined: dict[WorkItem, WorkOwner] = field(default_factory=dict)
    in_work: list[WorkItem] = field(default_factory=list)

    @contextmanager
    def working(self, *items: WorkItem) -> Iterator[None]:
        self.marked.append(items)
        self.in_work += items
        try:
            yield
        finally:
            for item in items:
                self.in_work.remove(item)

    def crash_weight(self, item: WorkItem) -> int:
        return self.weights.get(item, 0)

    def exhausted(self, item: WorkItem) -> bool:
        return item in self.quarantined or self.crash_weight(item) >= MAX_WEIGHT

    def suspects(self, kind: WorkKind) -> int:
        return sum(item.kind == kind for item in {*self.weights, *self.quarantined})

    def release(self, item: WorkItem) -> None:
        self.weights.pop(item, None)

    async def quarantine(self, item: WorkItem, owner: WorkOwner = NOBODY) -> None:
        self.quarantined.setdefault(item, owner)


def deadly(kind: WorkKind, *ids: str) -> KnownCrashes:
    """A guard for which these items are exhausted."""
    return KnownCrashes({WorkItem(kind, id_): MAX_WEIGHT for id_ in ids})


def suspected(kind: WorkKind, weights: Mapping[str, int]) -> KnownCrashes:
    """A guard for which these items were there at crashes."""
    return KnownCrashes({WorkItem(kind, id_): weight for id_, weight in weights.items()})
