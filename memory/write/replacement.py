"""Decides if a statement replaces an older memory of the same person, or has the same meaning as
one.

"I prefer spaces now, not tabs" announces a change. It replaces the memory with which it shares at
least two words; with one shared word ("I live in Bern now", "I live in Basel"), the person is
asked. A statement without an announced change replaces no memory: people prefer tea and coffee. If
the model names the replaced memory, one shared word less is enough.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from gateway.immutable import replace
from memory.model.record import Embedding, Record, Scope
from memory.model.scope import AccessScope, alone
from memory.ports.memories import Duplicate, Filter, MemoryStore
from memory.ports.recall import Embedder
from memory.stores.search import RecallStore
from memory.text import terms
from memory.text.sentences import telling_words
from memory.text.similarity import VECTOR_THRESHOLD, Meaning, in_order, same_meaning, words
from memory.text.stop_words import words_of

CERTAIN: Final = 2
"""Shared words from which a statement replaces a memory without a question."""

_CHANGES: Final = frozenset(
    """
    now instead anymore nowadays changed switched moved became
    jetzt stattdessen mittlerweile inzwischen umgezogen gewechselt neuerdings
    maintenant désormais dorénavant
    ahora actualmente
    ora adesso ormai
    agora atualmente
    nu tegenwoordig voortaan
    teraz obecnie
    artık şimdi
    теперь сейчас отныне
    тепер зараз
    الآن
    अब
    sekarang
    이제 지금
    """.split()  # noqa: SIM905 - reads better
)
_CHANGES_IN_WORDS: Final = (
    "no longer", "not any more", "any more", "from now on", "as of today", "rather than before",
    "nicht mehr", "ab jetzt", "ab sofort", "kein mehr", "ne plus", "non più", "ya no", "en vez de",
    "au lieu de", "invece di", "em vez de", "já não", "niet meer", "już nie", "больше не",
    "більше не", "bây giờ", "không còn",
)  # fmt: skip
_CHANGES_UNSPACED: Final = (
    "今は",
    "今では",
    "これから",
    "もう",
    "现在",
    "現在",
    "改用",
    "不再",
    "ตอนนี้",
)


class Replaced(Struct, frozen=True):
    """The memory that a statement replaces; `certain` is False if the person must be asked."""

    record: Record
    certain: bool


def replaced_by(text: str, current: Sequence[Record]) -> Replaced | None:
    """Return the memory of `current`, best first, that `text` replaces; None if it replaces none.

    `current` are the person's own memories that share words with the text; the text announces a
    change.
    """
    subject = _subject(text)
    shared = [
        (_shared(subject, record), record)
        for record in current
        if record.scope is Scope.USER and not record.role and record.current
    ]
    best = max((number for number, _ in shared), default=0)
    closest = [record for number, record in shared if number == best]
    if best == 0:
        return None
    return Replaced(closest[0], certain=best >= CERTAIN and len(closest) == 1)


def named_rightly(text: str, old: Record) -> bool:
    """Return True if the memory that a model names as replaced is surely about the same: it shares
    a word with a statement that announces a change, or two with any other."""
    needed = 1 if announces_change(text) else CERTAIN
    return _shared(_subject(text), old) >= needed


def announces_change(text: str) -> bool:
    """Return True for "now", "instead", "no longer" and similar words in twenty languages."""
    words = words_of(text)
    joined = f" {' '.join(words)} "
    return (
        not _CHANGES.isdisjoint(words)
        or any(f" {several} " in joined for several in _CHANGES_IN_WORDS)
        or any(marker in text for marker in _CHANGES_UNSPACED)
    )


def _subject(text: str) -> list[terms.Term]:
    left_out = _left_out(text)
    return [term for term in terms.query_terms(text) if term.text not in left_out]


def _shared(subject: Sequence[terms.Term], record: Record) -> int:
    """Return the number of these terms in the memory."""
    content = f" {terms.index_terms(record.content)} "
    return sum(term.stands_in(content) for term in subject)


def _left_out(text: str) -> frozenset[str]:
    """Return the words of a text, as terms, that do not describe its subject."""
    telling = {term.text for word in telling_words(text) for term in terms.query_terms(word)}
    every = {term.text for word in words_of(text) for term in terms.query_terms(word)}
    changes = {term.text for word in _CHANGES for term in terms.query_terms(word)}
    return frozenset((every - telling) | changes)


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
            (one.id, Meaning(one.embedding, words(one.content), in_order(one.content)))
            for one in records
            if one is not None and one.embedding is not None and _comparable(record, one)
        ]
        new = Meaning(made, words(record.content), in_order(record.content))
        return same_meaning(new, others, self.threshold), made


def _comparable(record: Record, other: Record) -> bool:
    """Turns are compared with nothing, and a memory not with the one it replaces, nor with one that
    is shown in fewer places because it may contain text of a restricted repository."""
    fits = other.project == record.project and not other.role
    hidden = other.provenance.from_repository and not record.provenance.from_repository
    return fits and not hidden and other.id not in (record.id, record.supersedes)
