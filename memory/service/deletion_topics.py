"""What a topic or an id stands for when a person wants it forgotten. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from gateway.ports.history import Spoken, SpokenRef, digest_of
from memory.model.record import ID_PREFIX, Record, Scope
from memory.ports.reviews import ReviewItem
from memory.text import terms

ALL_WORDS: Final = 1 - 1e-9
"""Share of a topic's words that has to be in a memory for `/forget`: all of them."""
MAX_READ: Final = 2_000_000
"""Characters of conversations that one search looks through, the latest first."""

Saved = Literal["memory", "review"]


@dataclass(frozen=True, slots=True)
class StoredRef:
    """Names a memory, or an entry of the review queue, as it was when it was shown."""

    kind: Saved
    id: str
    digest: str


Ref = StoredRef | SpokenRef
ItemRefs = tuple[Ref, ...]
"""Everything that is stored of one thing that was shown; the first is the one that was shown."""


@dataclass(frozen=True, slots=True)
class TopicMatch:
    """One thing that a topic brings up. `record` is None for what only a conversation keeps;
    `spoken` is the text of a conversation in that case. `waits`: for the person's word."""

    refs: ItemRefs
    record: Record | None = None
    spoken: Spoken | None = None
    waits: bool = False

    @property
    def at(self) -> datetime:
        """When it was learned or said."""
        if self.record is not None:
            return self.record.provenance.at
        if self.spoken is None:
            raise ValueError("an item is a memory, or the text of a conversation")
        return self.spoken.at


@dataclass(frozen=True, slots=True)
class TopicMatches:
    """`items`: memories, then what waits, then what was said, each newest first. `beyond` counts
    further ones, which are not bound to anything. `unread`: there are older conversations that were
    not looked through."""

    items: tuple[TopicMatch, ...]
    beyond: int = 0
    unread: bool = False


TextTest = Callable[[str], bool]


def is_memory_id(topic: str) -> bool:
    """Whether a topic is the id of a memory, or the beginning of one."""
    return topic.startswith(ID_PREFIX) and " " not in topic


def with_all_words(topic: str) -> TextTest:
    """True for a text that has every word of a topic, never for a topic without words."""
    words = terms.asked(topic)

    def test(text: str) -> bool:
        filed = f" {terms.filed(text)} "
        return bool(words) and all(word.stands_in(filed) for word in words)

    return test


def containing_any(texts: Iterable[str]) -> TextTest:
    """True for a text in which one of these stands, word for word."""
    wanted = [f" {filed} " for text in texts if (filed := terms.filed(text))]

    def test(text: str) -> bool:
        filed = f" {terms.filed(text)} "
        return any(one in filed for one in wanted)

    return test


def items_about(waiting: Iterable[ReviewItem], topic: str) -> list[ReviewItem]:
    """Of what waits, the person's own that is about a topic, or has this id."""
    if is_memory_id(topic):
        return [one for one in own_items(waiting) if one.record.id.startswith(topic)]
    about = with_all_words(topic)
    return [one for one in own_items(waiting) if about(_text_of(one.record))]


def own_items(waiting: Iterable[ReviewItem]) -> list[ReviewItem]:
    """Of what waits, the person's own: proposals for a document, and what waits for a project's
    operators, are left to them."""
    return [one for one in waiting if not one.target and one.record.scope is Scope.USER]


def memory_ref(record: Record) -> StoredRef:
    """The name of a memory as it is now."""
    return StoredRef("memory", record.id, digest_of(record.content))


def review_ref(pending: ReviewItem) -> StoredRef:
    """The name of what waits, as it is now."""
    return StoredRef("review", pending.id, digest_of(pending.record.content))


def origins_of(records: Iterable[Record]) -> set[tuple[str, str]]:
    """Channels and ids of the messages that these go back to."""
    return {(r.provenance.channel, said) for r in records for said in r.derived_from}


def messages_about(
    spoken: Sequence[Spoken], about: TextTest, origins: set[tuple[str, str]]
) -> tuple[list[Spoken], bool]:
    """Texts of conversations that a topic brings up, or that something goes back to, and the
    answers to these messages. Looks through `MAX_READ` characters; False where there are more."""
    found: dict[SpokenRef, Spoken] = {}
    groups: set[tuple[str, str]] = set()
    left = MAX_READ
    for one in spoken:
        left -= len(one.text)
        if left < 0:
            break
        origin = one.kind == "message" and (one.channel, one.id) in origins
        if origin or about(one.text):
            found[one.ref] = one
            if one.kind == "message":
                groups.add((one.channel, one.group))
    answers = [s for s in spoken if s.kind == "answer" and (s.channel, s.group) in groups]
    found.update((one.ref, one) for one in answers)
    return list(found.values()), left >= 0


def distinct_matches(
    records: Sequence[Record],
    waiting: Sequence[ReviewItem],
    about: Sequence[Spoken],
    spoken: Sequence[Spoken],
) -> list[TopicMatch]:
    """Everything once: the side of a turn that memory keeps, and the same message in the history of
    its conversation, are one thing. `about` are those of `spoken` that belong to it."""
    by_place: dict[tuple[str, str, str], list[Spoken]] = {}
    for one in spoken:
        by_place.setdefault((one.kind, one.channel, one.id), []).append(one)
    items, taken = [], set[SpokenRef]()
    for record in sorted(records, key=lambda r: (not r.role, r.provenance.at, r.id), reverse=True):
        same = [said.ref for place in _places(record) for said in by_place.get(place, ())]
        taken.update(same)
        items.append(TopicMatch((memory_ref(record), *same), record))
    kept = [item for item in items if item.record is not None and not item.record.role]
    said = [item for item in items if item.record is not None and item.record.role]
    waits = [TopicMatch((review_ref(one),), one.record, waits=True) for one in reversed(waiting)]
    said += [TopicMatch((one.ref,), spoken=one) for one in about if one.ref not in taken]
    return [*kept, *waits, *sorted(said, key=lambda item: item.at, reverse=True)]


def _places(record: Record) -> list[tuple[str, str, str]]:
    """Where the history of a conversation has the side of a turn."""
    if not record.role:
        return []
    kind = "message" if record.role in ("user", "other") else "answer"
    return [(kind, record.provenance.channel, one) for one in record.derived_from]


def _text_of(record: Record) -> str:
    return " ".join((record.content, *record.tags))
