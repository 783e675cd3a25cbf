"""Memory records and the trust in them: frozen values, no I/O.

Source, trust and place come from the service that writes the record, never from the text or its
caller. What the model stores is its own inference, unless the person wrote that sentence in this
turn (`memory/write/statement.py`).
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.people import Audience

ID_PREFIX: Final = "mem-"
SHORT_ID: Final = len(ID_PREFIX) + 8
MAX_MEMORY: Final = 1_000
"""Characters of one memory; a longer one is cut, and the result of the write reports it."""
MAX_DOCUMENT: Final = 10_000
"""Characters of a SOUL, BIBLE or HEARTBEAT, and of a turn."""
SOURCE_TYPE: Final = "source_type"
"""The field of evidence with the kind of the verified source: "documentation", "adr", "commit" or
"issue"."""
MAX_TAGS: Final = 10
MAX_TAG: Final = 50
MAX_ARGUMENT: Final = 2_000
"""Characters of `content` that a tool accepts; longer is refused."""
UNDO_FOR: Final = timedelta(days=1)
"""The time in which the assistant's own writes can be taken back."""
EPISODIC_TTL: Final = timedelta(days=90)
EPISODIC_MAX_TTL: Final = timedelta(days=365)


class Tier(StrEnum):
    """The lifetime of a memory. Working memory lasts as long as its session."""

    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"


class Kind(StrEnum):
    """The kind of a memory."""

    PREFERENCE = "preference"
    FACT = "fact"
    INSTRUCTION = "instruction"
    CONTEXT = "context"
    CORRECTION = "correction"
    DECISION = "decision"

    @property
    def behavioral(self) -> bool:
        """True if it changes the behaviour of the assistant, rather than its knowledge."""
        return self in _BEHAVIORAL

    @property
    def tier(self) -> Tier:
        """Context is episodic; everything else is semantic."""
        return Tier.EPISODIC if self is Kind.CONTEXT else Tier.SEMANTIC


_BEHAVIORAL: Final = frozenset({Kind.PREFERENCE, Kind.INSTRUCTION, Kind.CORRECTION})


class Scope(StrEnum):
    """The owner of a memory: one person, one project, or the whole tenant."""

    USER = "user"
    PROJECT = "project"
    GLOBAL = "global"


class SourceType(StrEnum):
    """The source of a memory."""

    USER_MESSAGE = "user_message"
    HEARD = "heard"
    TOOL_OUTPUT = "tool_output"
    AI_INFERENCE = "ai_inference"
    EXPLICIT_SAVE = "explicit_save"
    IMPORT = "import"


class Trust(StrEnum):
    """The trust in a source."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of something learned: its place and time.

    `person` is the `str(PersonId)` who wrote it; `room` is empty in private. Message ids are unique
    within `channel` (`channel_of` in `memory/model/scope.py`).
    """

    source: SourceType
    """The way in which the text reached the assistant."""
    trust: Trust
    """The trust that follows from the source; a backend or an edit may lower it."""
    person: str
    at: datetime
    """The time of writing, with a time zone."""
    session: str = ""
    """The id of the memory session; empty outside of one."""
    message_id: str = ""
    """The platform's id of the message; empty without one."""
    tool: str = ""
    """The name of the tool that stored it; empty for none."""
    conversation: str = ""
    """The `str(ConversationKey)` of the conversation; empty outside of one."""
    room: str = ""
    channel: str = ""
    audience: Audience = Audience.DIRECT
    """The audience of the place in which it was learned."""
    external: bool = False
    """True for external content, or the assistant's statement about it: a message of another
    person, a file, a page, a tool."""
    agent: str = ""
    """The id of the agent that wrote it for `person`; empty if none did."""
    backend: str = ""
    """The memory backend of another package that returned it; empty for Parley's own."""
    from_repository: bool = False
    """True if a client stored it that may have read a restricted repository."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a memory. `confidence` is 0 to 1; `source_id` such as "ADR-003" or a URL.

    `fields` are further ones, as JSON: those that its author gave, which nothing in the program
    reads, and `SOURCE_TYPE`, which only a verified citation sets.
    """

    claim: str
    """The statement that the evidence supports."""
    captured_at: datetime
    """The time at which the evidence was found."""
    confidence: float
    source_id: str = ""
    valid_until: datetime | None = None
    """The end of its validity; None for no end."""
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def confidence_name(self) -> Literal["high", "medium", "low"]:
        """The level of the confidence: high from .8, medium from .5."""
        if self.confidence >= 0.8:
            return "high"
        return "medium" if self.confidence >= 0.5 else "low"


@dataclass(frozen=True, slots=True)
class Embedding:
    """A vector and the model that made it; vectors of two models are never compared."""

    model: str
    vector: tuple[float, ...] = field(repr=False)

    @property
    def dimension(self) -> int:
        """Numbers in the vector."""
        return len(self.vector)


@dataclass(frozen=True, slots=True)
class Record:
    """A memory as it is stored.

    `true_from` and `true_until` are the time in which it is true, `provenance.at` when it was
    written, `expires_at` when it is deleted. `superseded_by` is set on the older of two.
    `derived_from` are the message ids it goes back to: when they are deleted, it is deleted too,
    unless `confirmed`. `role` is who spoke, for turns of a conversation; empty otherwise. "other"
    is somebody else, whose text the person showed. `agent_private`: no other agent reads it, and no
    recall without its agent.
    """

    id: str
    """"mem-" and a UUID, or for a turn an id that follows from its message."""
    tenant: str
    """The tenant of the person."""
    scope: Scope
    """The owner: the person, the project, or the tenant."""
    tier: Tier
    """The lifetime."""
    kind: Kind
    """The kind of statement, which derives the tier of a new memory."""
    content: str
    """The text: at most 1,000 characters, or 10,000 for a turn."""
    provenance: Provenance
    evidence: Evidence
    """The reason to believe it."""
    project: str = ""
    """The project of a memory in project scope; empty otherwise."""
    tags: tuple[str, ...] = ()
    """Words to find it by: at most 10, of at most 50 characters."""
    role: Literal["", "user", "assistant", "tool", "other"] = ""
    true_from: datetime | None = None
    true_until: datetime | None = None
    expires_at: datetime | None = None
    supersedes: str = ""
    """The id of the memory that it replaced; empty for none."""
    superseded_by: str = ""
    superseded_at: datetime | None = None
    """The time of its replacement; None while it is current."""
    confirmed: bool = False
    derived_from: tuple[str, ...] = ()
    agent_private: bool = False
    embedding: Embedding | None = None
    """The vector of its text; None before one was made."""

    @property
    def behavioral(self) -> bool:
        """The tier, which derives from the kind."""
        return self.kind.behavioral

    @property
    def current(self) -> bool:
        """True unless a newer memory took its place."""
        return not self.superseded_by

    def is_during(self, begin: datetime, end: datetime) -> bool:
        """Return True if it was written from `begin` to before `end`, or has a time in which it is
        true that reaches into it."""
        if begin <= self.provenance.at < end:
            return True
        first, last = self.true_from, self.true_until
        if self.role or (first is None and last is None):
            return False
        return (first is None or first < end) and (last is None or last > begin)


class Draft(Struct, frozen=True):
    """A text to store, as its author asks for it.

    `evidence` are further fields of the evidence, a JSON object. `quote` is what the model claims
    that the person wrote. `supersedes` is the id of the memory
    that it replaces. `agent_private` is for what an agent keeps for itself.
    """

    content: str
    """The text, which is bounded, cleaned and without secrets after `prepare`."""
    kind: Kind
    """The kind of memory, which decides its tier."""
    tags: Sequence[str] = ()
    """Words to find it by."""
    scope: Scope = Scope.USER
    """The owner that it is meant for; a wider one than the person's may need a review."""
    supersedes: str = ""
    quote: str = ""
    true_from: datetime | None = None
    """The beginning of the time in which it is true; None for no beginning."""
    true_until: datetime | None = None
    """The end of that time; None for no end."""
    agent_private: bool = False
    evidence: Mapping[str, Any] = {}


def draft_of(record: Record, text: str) -> Draft:
    """Return a draft that stores a memory with another text."""
    return Draft(
        text,
        record.kind,
        record.tags,
        record.scope,
        record.supersedes,
        true_from=record.true_from,
        true_until=record.true_until,
        evidence=record.evidence.fields,
    )


def new_id() -> str:
    """An id that cannot be guessed: "mem-" and a random UUID (122 random bits)."""
    return f"{ID_PREFIX}{uuid.uuid4()}"


def short_id(memory_id: str) -> str:
    """Return the beginning of an id, by which people and the model name a memory."""
    return memory_id[:SHORT_ID]


class InputKind(StrEnum):
    """The origin of a text, which only the service decides."""

    EXPLICIT = "explicit"
    OWN_WORDS = "own_words"
    OTHERS_WORDS = "others_words"
    HEARD = "heard"
    ASSISTANT = "assistant"
    DOCUMENT = "document"
    TOOL = "tool"
    WEB = "web"
    IMPORT = "import"


class Derived(Struct, frozen=True):
    """The derived source and trust."""

    source: SourceType
    trust: Trust


_DERIVED: Final = {
    InputKind.EXPLICIT: Derived(SourceType.EXPLICIT_SAVE, Trust.HIGH),
    InputKind.OWN_WORDS: Derived(SourceType.USER_MESSAGE, Trust.HIGH),
    InputKind.OTHERS_WORDS: Derived(SourceType.USER_MESSAGE, Trust.MEDIUM),
    InputKind.HEARD: Derived(SourceType.HEARD, Trust.MEDIUM),
    InputKind.ASSISTANT: Derived(SourceType.AI_INFERENCE, Trust.LOW),
    InputKind.DOCUMENT: Derived(SourceType.TOOL_OUTPUT, Trust.HIGH),
    InputKind.TOOL: Derived(SourceType.TOOL_OUTPUT, Trust.MEDIUM),
    InputKind.WEB: Derived(SourceType.TOOL_OUTPUT, Trust.LOW),
    InputKind.IMPORT: Derived(SourceType.IMPORT, Trust.LOW),
}
CONFIDENCE: Final = {Trust.HIGH: 0.9, Trust.MEDIUM: 0.6, Trust.LOW: 0.3}
"""The initial confidence of a memory; a verified citation raises it."""


def derive_trust(kind: InputKind, *, injection: bool = False, external: bool = False) -> Derived:
    """Return source and trust of a text; an injection finding removes the trust. External text
    never has high trust: an attached file could be hostile."""
    derived = _DERIVED[kind]
    if injection:
        return Derived(derived.source, Trust.LOW)
    if external and derived.trust is Trust.HIGH:
        return Derived(derived.source, Trust.MEDIUM)
    return derived
