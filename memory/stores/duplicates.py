"""Under which words a record is filed, and under which a duplicate of it would be.

Turns of a conversation are not compared: people say the same thing twice.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from memory.model.record import Record
from memory.model.scope import AccessScope
from memory.ports.memories import Duplicate
from memory.stores.partitions import duplicate_partitions, owner_of, word_key
from memory.text.similarity import (
    duplicate_of,
    in_order,
    lookup_keys,
    says_otherwise,
    size_bounds,
    stored_keys,
    turned_round,
)


@dataclass(frozen=True, slots=True)
class DuplicateKeys:
    """A record's words and the numbers that stand for them in the index. `said` are the words as
    they follow each other.

    `stored` is what it is filed under, `lookup` where a duplicate is looked for, `sizes` how many
    words a duplicate has, at least and at most.
    """

    words: frozenset[str] = frozenset()
    said: tuple[str, ...] = ()
    stored: tuple[int, ...] = ()
    lookup: tuple[int, ...] = ()
    sizes: tuple[int, int] = (0, 0)

    @property
    def size(self) -> int:
        """How many different words there are."""
        return len(self.words)


def duplicate_keys_of(
    access: AccessScope, record: Record, threshold: float | None
) -> DuplicateKeys:
    """The numbers of a record; without a threshold it is filed but nothing is looked for."""
    if record.role:
        return DuplicateKeys()
    said, own = in_order(record.content), owner_of(record)
    of = frozenset(said)
    within = f"{record.project}\x1f{_firm(of)}"
    stored = tuple(word_key(own, within, word) for word in stored_keys(of))
    if threshold is None:
        return DuplicateKeys(of, said, stored)
    lookup = tuple(
        word_key(shelf, within, word)
        for shelf in duplicate_partitions(access, record)
        for word in lookup_keys(of, threshold)
    )
    return DuplicateKeys(of, said, stored, lookup, size_bounds(len(of), threshold))


def duplicate_in(
    filed: DuplicateKeys, candidates: Iterable[tuple[str, str]], threshold: float
) -> Duplicate | None:
    """The candidate (id, text) that is the same memory, None when there is none. The same words in
    another order may say the contrary, and are another memory."""
    told = ((id_, in_order(text)) for id_, text in candidates)
    kept = ((id_, frozenset(said)) for id_, said in told if not turned_round(filed.said, said))
    return duplicate_of(filed.words, kept, threshold)


def _firm(of: frozenset[str]) -> str:
    """The words that a duplicate has exactly alike, numbers and negations: what differs in them is
    not even looked at, as in ten thousand "order 4711 was delivered"."""
    return " ".join(sorted(word for word in of if says_otherwise(frozenset((word,)), frozenset())))
