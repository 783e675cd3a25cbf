"""The port of a memory backend: a package that stores learned statements outside Parley's database.

`docs/how-to/write-a-memory-backend.md` is for their authors. The gateway decides who asks and who
reads, checks a text before it is stored and after it is returned, and limits every call. A backend
stores, finds and deletes. It has all methods of `MemoryBackend`; what else it can do follows
from the methods that it has.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, Protocol, runtime_checkable

from msgspec import Struct, field

MAX_STATEMENT: Final = 1_000
"""Characters of a statement; a longer text of a backend is cut."""
MAX_STATEMENT_ID: Final = 64
MAX_TAGS: Final = 10
MAX_TAG: Final = 50
MAX_MESSAGES: Final = 100
MAX_NAME: Final = 1_000
"""Characters of a person, project, room, channel or message id."""
MAX_DETAILS: Final = 4_000
"""Characters of the keys and values of `Statement.details` together."""
MAX_PAGE: Final = 200
"""Statements that one call asks for."""
MAX_STATEMENTS: Final = 2_000
"""Statements of a backend that one person can read: further ones are neither stored nor read."""

StatementScope = Literal["user", "project", "global"]


class Statement(Struct, frozen=True):
    """One learned statement. Times have a time zone. One with a `replaced_by`, or after
    `expires_at`, is no longer recalled."""

    tenant: str
    """The tenant to which it belongs."""
    id: str
    """"mem-" and letters, digits, `-` and `_`, at most `MAX_STATEMENT_ID`; unique in its tenant."""
    text: str
    """The statement itself, in plain text."""
    kind: str
    """preference, fact, instruction, context, correction or decision."""
    at: datetime
    """The time at which it was learned."""
    person: str
    """The `str(PersonId)` who said it; empty after their erasure."""
    source: str = ""
    """Its origin, such as "user_message"."""
    scope: StatementScope = "user"
    """The readers: the person, a project, or everybody."""
    project: str = ""
    """The owner if the scope is "project"; empty otherwise."""
    room: str = ""
    """The room where it was learned; empty in private."""
    tags: tuple[str, ...] = ()
    """At most `MAX_TAGS` words of `MAX_TAG` characters."""
    channel: str = ""
    """The channel of `messages`; empty without any."""
    messages: tuple[str, ...] = ()
    """The ids of the messages that it derives from: when one is deleted, the statement is deleted
    too, unless it is `confirmed`."""
    confirmed: bool = False
    """True if a person confirmed it."""
    replaced_by: str = ""
    """The id of the statement that replaces it; empty if none does."""
    expires_at: datetime | None = None
    """The time after which it is no longer recalled; None for never."""
    details: Mapping[str, str] = field(default_factory=dict)
    """Values that a backend stores and returns unchanged."""

    @property
    def order(self) -> tuple[datetime, str]:
        """The place in a list, whose newest statement is first."""
        return self.at, self.id


class BackendAccess(Struct, frozen=True):
    """The caller and the audience of one call, as the gateway decided them."""

    tenant: str
    """The tenant of the person."""
    person: str
    """The `str(PersonId)` who asks."""
    persons: tuple[str, ...]
    """The linked identities, the caller's included."""
    room: str = ""
    """The room of the question; empty in a direct message."""
    project: str = ""
    """The project in use; empty for none."""
    private: bool = False
    """True if the person's own statements may be shown here."""
    operates: bool = False
    """True if the person may change statements of the project and of everybody."""

    def sees(self, statement: Statement) -> bool:
        """Return True if the statement may be returned."""
        if statement.tenant != self.tenant:
            return False
        if statement.scope == "global":
            return True
        if statement.scope == "project":
            return bool(self.project) and statement.project == self.project
        own = statement.person in self.persons
        return own and (self.private or (bool(self.room) and statement.room == self.room))

    def may_change(self, statement: Statement) -> bool:
        """Return True if the statement may be replaced or deleted."""
        if statement.tenant != self.tenant:
            return False
        if statement.scope == "user":
            return statement.person in self.persons
        return self.operates and self.sees(statement)


class FoundStatement(Struct, frozen=True):
    """A statement that answers a question."""

    statement: Statement
    """The statement."""
    score: float
    """How well it answers, 0 to 1."""


class MemoryBackend(Protocol):
    """A memory of another package. Every method is limited in time, and may raise any exception:
    the call then failed. Calls run concurrently."""

    async def remember(self, access: BackendAccess, statement: Statement) -> None:
        """Store a statement, durably when this returns. A statement with the same id in the tenant
        is replaced, if `access.may_change` it."""
        ...

    async def list_statements(
        self, access: BackendAccess, after: Statement | None, limit: int
    ) -> Sequence[Statement]:
        """Return the statements that `access.sees`, by `order`, newest first, replaced and expired
        ones too: at most `limit` of those that follow `after`."""
        ...

    async def forget(self, access: BackendAccess, ids: Sequence[str]) -> Sequence[str]:
        """Delete the statements with these ids for which `access.may_change` is true; return their
        ids. They are gone from every later answer."""
        ...

    async def forget_messages(
        self, tenant: str, channel: str, message_ids: Sequence[str]
    ) -> Sequence[Statement]:
        """Delete the statements that derive from one of these messages and are not confirmed;
        return them."""
        ...

    async def export(self, tenant: str, persons: Sequence[str]) -> Sequence[Mapping[str, object]]:
        """Return everything that is stored about these people, as JSON-like values."""
        ...

    async def erase(self, tenant: str, persons: Sequence[str]) -> int:
        """Delete everything that is stored about these people, derived data included; return the
        number of statements. Statements for a project or for everybody stay, with an empty
        `person`, `room`, `channel`, `messages` and `details`."""
        ...

    async def health(self) -> str:
        """Return one line for operators, such as the place and the number of statements. Raises if
        the backend cannot work; the text of the exception is shown to operators."""
        ...


@runtime_checkable
class CanRecall(Protocol):
    """A backend that searches by itself. The gateway searches the others by words."""

    async def recall(
        self, access: BackendAccess, question: str, limit: int
    ) -> Sequence[FoundStatement]:
        """Return the statements that `access.sees` and that may answer the question, best first.
        The question contains no secrets."""
        ...


@runtime_checkable
class CanBrief(Protocol):
    """A backend that writes the brief of a person by itself. The gateway writes it of the
    statements of the others. At most one backend in use may have it."""

    async def brief(self, access: BackendAccess, characters: int) -> str:
        """Return a short summary of what `access.sees`, in Markdown, for every prompt; empty for
        none."""
        ...


@runtime_checkable
class CanClose(Protocol):
    """A backend that has something to close."""

    async def close(self) -> None:
        """Close it. Called once, after all other methods have returned."""
        ...
