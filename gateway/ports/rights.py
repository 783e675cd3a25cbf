"""The rights of callers: what proves who they are, and what a route, an operation, a tool or a
command lets them do.

Each of these declares an `Allowed`; none has a default. The face that serves it (console, API, MCP,
local pages, chat) calls `check` in one place, before anything of the request acts.
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from gateway.errors import UsageError
from gateway.people import Role

IN_PERSON: Final = (
    "Programs cannot do this: it needs a person who is signed in to the console. Write /console to "
    "the assistant in a direct message, and do it on the page."
)
READS_ONLY: Final = (
    "This token only reads. Nothing was changed. Use one that also writes: `parley token` without "
    "--read-only prints one."
)
WRITES_ONLY: Final = "This token does not read. `parley token` prints one that does."
PERSONS_ONLY: Final = (
    "This is for the person, not for an agent of theirs. The person does it in their chat, in the "
    "console, or with a token of their own."
)
NO_CAPABILITY: Final = (
    "This agent lacks the capability {name}. Use an agent that has it, or the token of one: the "
    "person registers it and makes the token."
)
NOT_ALLOWED: Final = "Only {}s may use this."


class Credential(StrEnum):
    """The proof of a caller's identity."""

    SESSION = "session"
    """A browser in which a person signed in to the console, with the token of its forms for
    everything that is no GET."""
    TOKEN = "token"  # noqa: S105 - the name of a kind
    """A token of a person (`parley token`)."""
    AGENT = "agent"
    """A token of one agent of a person (`parley token --agent`)."""
    CHAT = "chat"
    """A message of a person, which their platform vouches for."""
    LOCAL = "local"
    """`server.token` or its cookie; without a configured token, a request from this machine."""
    PLATFORM = "platform"
    """The signature or the secret of a platform."""
    NONE = "none"
    """No proof: everybody who reaches the port."""


class TokenScope(StrEnum):
    """The purpose of a token."""

    READ = "read"
    WRITE = "write"


EVERY_SCOPE: Final = frozenset(TokenScope)
TOKENS: Final = frozenset({Credential.TOKEN, Credential.AGENT})
"""The credentials that have scopes."""


class Allowed(Struct, frozen=True):
    """The callers who may use something.

    `by` are the credentials, one of which is enough: a declaration that does not name `AGENT`
    refuses the tokens of agents. `role` is the least role of the person. `scope` is what a token
    needs, of a person or an agent; None where no token may call. `capability` is what an agent
    needs, a `memory.agents.model.Capability`; empty: none.
    """

    by: frozenset[Credential]
    role: Role
    scope: TokenScope | None
    capability: str

    def __post_init__(self) -> None:
        if not self.by:
            raise TypeError("nobody could call this: name a credential")
        if bool(self.by & TOKENS) != (self.scope is not None):
            raise TypeError("a scope belongs to a token, and a token needs one")


class Proof(Struct, frozen=True):
    """The credential of a caller, the present role, the scopes of a token, and the present
    capabilities of an agent."""

    credential: Credential
    role: Role
    scopes: frozenset[TokenScope] = frozenset()
    capabilities: frozenset[str] = frozenset()


NOBODY: Final = Proof(Credential.NONE, Role.GUEST)


def in_person(role: Role) -> Allowed:
    """Only a person who is signed in to the console."""
    return Allowed(frozenset({Credential.SESSION}), role, None, "")


def to_read(role: Role) -> Allowed:
    """A person who is signed in, or a token that reads."""
    by = frozenset({Credential.SESSION, Credential.TOKEN})
    return Allowed(by, role, TokenScope.READ, "")


def by_token(scope: TokenScope, capability: str = "") -> Allowed:
    """A token of any person with this scope."""
    return Allowed(frozenset({Credential.TOKEN}), Role.GUEST, scope, capability)


def by_agent_too(scope: TokenScope, capability: str = "") -> Allowed:
    """A token of any person with this scope, or one of an agent that also has the capability."""
    return Allowed(TOKENS, Role.GUEST, scope, capability)


def in_chat(role: Role) -> Allowed:
    """A person in a chat."""
    return Allowed(frozenset({Credential.CHAT}), role, None, "")


TOKEN_READS: Final = by_token(TokenScope.READ)
TOKEN_WRITES: Final = by_token(TokenScope.WRITE)
AGENT_READS: Final = by_agent_too(TokenScope.READ)
AGENT_WRITES: Final = by_agent_too(TokenScope.WRITE)
IN_CHAT: Final = in_chat(Role.GUEST)
"""Everybody who may write to the assistant."""
LOCAL_PAGES: Final = Allowed(frozenset({Credential.LOCAL}), Role.GUEST, None, "")
"""Everybody with access to the local pages."""
OPEN: Final = Allowed(frozenset({Credential.NONE}), Role.GUEST, None, "")
"""Everybody who reaches the port."""
BY_PLATFORM: Final = Allowed(frozenset({Credential.PLATFORM}), Role.GUEST, None, "")
"""A platform that proves itself."""


def missing(allowed: Allowed, proof: Proof) -> str:
    """Return what a caller lacks, empty for one who may: the credentials of which one is needed
    (`session`), the scope of the token (`write`), the capability of the agent (`memory_read`), or
    the role (`operator`)."""
    if Credential.NONE in allowed.by:
        return ""
    if proof.credential not in allowed.by:
        return "_or_".join(sorted(allowed.by))
    if proof.credential in TOKENS and allowed.scope not in proof.scopes:
        return str(allowed.scope)
    by_agent = proof.credential is Credential.AGENT
    if by_agent and allowed.capability and allowed.capability not in proof.capabilities:
        return allowed.capability
    return "" if proof.role.at_least(allowed.role) else allowed.role.value


class Denied(UsageError):
    """The caller may not do this; the text says who may, `code` what is missing."""


def check(allowed: Allowed, proof: Proof) -> None:
    """Raise `Denied` for a caller who may not do this."""
    lacks, by_agent = missing(allowed, proof), proof.credential is Credential.AGENT
    if not lacks:
        return
    if by_agent and Credential.AGENT not in allowed.by:
        raise Denied(PERSONS_ONLY, code="needs_person")
    if by_agent and lacks == allowed.capability:
        raise Denied(NO_CAPABILITY.format(name=lacks), code="needs_capability")
    match lacks:
        case Credential.SESSION:
            raise Denied(IN_PERSON, code="needs_session")
        case TokenScope.WRITE:
            raise Denied(READS_ONLY, code="needs_scope")
        case TokenScope.READ:
            raise Denied(WRITES_ONLY, code="needs_scope")
        case _:
            raise Denied(NOT_ALLOWED.format(allowed.role.value), code="not_allowed")
