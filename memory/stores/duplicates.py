"""Index keys by which duplicates of a record are found. Turns are not compared."""

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
    """The words of a record and their index keys; `ordered` are the words in order.

    `stored` are its own keys, `lookup` those of possible duplicates, `sizes` the range of a
    duplicate's number of words.
    """

    words: frozenset[str] = frozenset()
    ordered: tuple[str, ...] = ()
    stored: tuple[int, ...] = ()
    lookup: tuple[int, ...] = ()
    sizes: tuple[int, int] = (0, 0)

    @property
    def size(self) -> int:
        """The number of distinct words."""
        return len(self.words)


def duplicate_keys_of(
    access: AccessScope, record: Record, threshold: float | None
) -> DuplicateKeys:
    """Return the keys of a record; without a threshold no `lookup` keys."""
    if record.role:
        return DuplicateKeys()
    ordered, own = in_order(record.content), owner_of(record)
    of = frozenset(ordered)
    within = f"{record.project}\x1f{_firm(of)}"
    stored = tuple(word_key(own, within, word) for word in stored_keys(of))
    if threshold is None:
        return DuplicateKeys(of, ordered, stored)
    lookup = tuple(
        word_key(partition, within, word)
        for partition in duplicate_partitions(access, record)
        for word in lookup_keys(of, threshold)
    )
    return DuplicateKeys(of, ordered, stored, lookup, size_bounds(len(of), threshold))


def duplicate_in(
    filed: DuplicateKeys, candidates: Iterable[tuple[str, str]], threshold: float
) -> Duplicate | None:
    """Return the candidate (id, text) that is a duplicate. The same words in another order may say
    the contrary, and are none."""
    ordered = ((id_, in_order(text)) for id_, text in candidates)
    kept = (
        (id_, frozenset(words)) for id_, words in ordered if not turned_round(filed.ordered, words)
    )
    return duplicate_of(filed.words, kept, threshold)


def _firm(of: frozenset[str]) -> str:
    """Return the numbers and negations, which are equal in a duplicate. As part of the key they
    exclude most candidates."""
    return " ".join(sorted(word for word in of if says_otherwise(frozenset((word,)), frozenset())))
