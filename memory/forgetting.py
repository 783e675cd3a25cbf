"""What goes with the memories that are forgotten, of what waits for its owner's word."""

from collections.abc import Iterable
from typing import Final

from memory.record import ID_PREFIX, Scope
from memory.store import terms
from memory.store.ports import Pending

CERTAIN: Final = 0.35
"""Share of a topic's words from which a memory is about it, for `/forget`."""


def names_one(topic: str) -> bool:
    """Whether a topic is the id of a memory, or the beginning of one."""
    return topic.startswith(ID_PREFIX) and " " not in topic


def waiting_about(waiting: Iterable[Pending], topic: str) -> list[Pending]:
    """Of what waits, the person's own that is about a topic, or has this id."""
    if names_one(topic):
        return [one for one in own(waiting) if one.record.id.startswith(topic)]
    words = terms.asked(topic)
    return [one for one in own(waiting) if _share(one, words) >= CERTAIN]


def own(waiting: Iterable[Pending]) -> list[Pending]:
    """Of what waits, the person's own: proposals for a document, and what waits for a project's
    operators, are left to them."""
    return [one for one in waiting if not one.target and one.record.scope is Scope.USER]


def _share(pending: Pending, words: tuple[terms.Term, ...]) -> float:
    filed = f" {terms.filed(pending.record.content, *pending.record.tags)} "
    return sum(word.stands_in(filed) for word in words) / (len(words) or 1)
