"""Matches a topic or an id with what a person wants to delete. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from gateway.ports.conversations import Spoken, SpokenRef, digest_of
from memory.model.record import ID_PREFIX, Record, Scope
from memory.stores.reviews import ReviewItem
from memory.text import terms

ALL_WORDS: Final = 1 - 1e-9
"""The share of a topic's words that a memory has to contain for `/forget`."""
MAX_READ: Final = 2_000_000
"""Characters of conversations that one search reads, latest first."""

Saved = Literal["memory", "review"]


@dataclass(frozen=True, slots=True)
class StoredRef:
    """A reference to a memory or review as it was when shown."""

    kind: Saved
    id: str
    digest: str


Ref = StoredRef | SpokenRef
ItemRefs = tuple[Ref, ...]
"""References to everything that is stored of one shown item; the first is the shown one."""


class TopicMatch(Struct, frozen=True):
    """A match of a topic. `record` is None for a message that only its conversation stores
    (`spoken`). `waits`: it waits for a decision."""

    refs: ItemRefs
    record: Record | None = None
    spoken: Spoken | None = None
    waits: bool = False

    @property
    def at(self) -> datetime:
        """The time at which it was learned or said."""
        if self.record is not None:
            return self.record.provenance.at
        if self.spoken is None:
            raise ValueError("an item is a memory or a text of a conversation")
        return self.spoken.at


class TopicMatches(Struct, frozen=True):
    """`items` are memories, then open reviews, then messages, each newest first. `beyond` counts
    further matches. `unread`: older conversations were not searched."""

    items: tuple[TopicMatch, ...]
    beyond: int = 0
    unread: bool = False


TextTest = Callable[[str], bool]


def is_memory_id(topic: str) -> bool:
    """True if a topic is a memory id or the beginning of one."""
    return topic.startswith(ID_PREFIX) and " " not in topic


def with_all_words(topic: str) -> TextTest:
    """Match texts with every word of a topic; a topic without words matches none."""
    words = terms.query_terms(topic)

    def test(text: str) -> bool:
        indexed = f" {terms.index_terms(text)} "
        return bool(words) and all(word.stands_in(indexed) for word in words)

    return test


def containing_any(texts: Iterable[str]) -> TextTest:
    """Match texts that contain one of these, word for word."""
    phrases = [f" {indexed} " for text in texts if (indexed := terms.index_terms(text))]

    def test(text: str) -> bool:
        indexed = f" {terms.index_terms(text)} "
        return any(one in indexed for one in phrases)

    return test


def items_about(waiting: Iterable[ReviewItem], topic: str) -> list[ReviewItem]:
    """Return the person's own open reviews about a topic, or with this id."""
    if is_memory_id(topic):
        return [one for one in own_items(waiting) if one.record.id.startswith(topic)]
    about = with_all_words(topic)
    return [one for one in own_items(waiting) if about(_text_of(one.record))]


def own_items(waiting: Iterable[ReviewItem]) -> list[ReviewItem]:
    """Return the open reviews of own memories; proposals for documents and projects are left
    out."""
    return [one for one in waiting if not one.target and one.record.scope is Scope.USER]


def memory_ref(record: Record) -> StoredRef:
    """Return the reference to a memory in its present state."""
    return StoredRef("memory", record.id, digest_of(record.content))


def review_ref(pending: ReviewItem) -> StoredRef:
    """Return the reference to an open review in its present state."""
    return StoredRef("review", pending.id, digest_of(pending.record.content))


def origins_of(records: Iterable[Record]) -> set[tuple[str, str]]:
    """Return the channels and ids of the messages from which records are derived."""
    return {(r.provenance.channel, message) for r in records for message in r.derived_from}


def messages_about(
    spoken: Sequence[Spoken], about: TextTest, origins: set[tuple[str, str]]
) -> tuple[list[Spoken], bool]:
    """Return the messages that match a topic or are an origin, and the answers to them. Reads
    `MAX_READ` characters; False if there are more."""
    matching: dict[SpokenRef, Spoken] = {}
    groups: set[tuple[str, str]] = set()
    left = MAX_READ
    for one in spoken:
        left -= len(one.text)
        if left < 0:
            break
        origin = one.kind == "message" and (one.channel, one.id) in origins
        if origin or about(one.text):
            matching[one.ref] = one
            if one.kind == "message":
                groups.add((one.channel, one.group))
    answers = [s for s in spoken if s.kind == "answer" and (s.channel, s.group) in groups]
    matching.update((one.ref, one) for one in answers)
    return list(matching.values()), left >= 0


def distinct_matches(
    records: Sequence[Record],
    waiting: Sequence[ReviewItem],
    about: Sequence[Spoken],
    spoken: Sequence[Spoken],
) -> list[TopicMatch]:
    """Return every match once: a stored turn and the same message in its conversation are one
    match. `about` are the matching ones of `spoken`."""
    by_place: dict[tuple[str, str, str], list[Spoken]] = {}
    for one in spoken:
        by_place.setdefault((one.kind, one.channel, one.id), []).append(one)
    items, taken = [], set[SpokenRef]()
    for record in sorted(records, key=lambda r: (not r.role, r.provenance.at, r.id), reverse=True):
        same = [turns.ref for place in _places(record) for turns in by_place.get(place, ())]
        taken.update(same)
        items.append(TopicMatch((memory_ref(record), *same), record))
    kept = [item for item in items if item.record is not None and not item.record.role]
    turns = [item for item in items if item.record is not None and item.record.role]
    waits = [TopicMatch((review_ref(one),), one.record, waits=True) for one in reversed(waiting)]
    turns += [TopicMatch((one.ref,), spoken=one) for one in about if one.ref not in taken]
    return [*kept, *waits, *sorted(turns, key=lambda item: item.at, reverse=True)]


def _places(record: Record) -> list[tuple[str, str, str]]:
    """Return the places of a turn's side in the history of its conversation."""
    if not record.role:
        return []
    kind = "message" if record.role in ("user", "other") else "answer"
    return [(kind, record.provenance.channel, one) for one in record.derived_from]


def _text_of(record: Record) -> str:
    return " ".join((record.content, *record.tags))
