"""Callers of every kind, and what the declarations say about them."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from gateway.people import Role
from gateway.ports.rights import TOKENS, Allowed, Credential, Proof, TokenScope, missing

Kind = Literal[
    "nobody", "wrong token", "server.token", "token", "agent", "session", "no form", "both"
]
"""`no form`: a session without the token of its forms. `both`: that, and a token."""
Face = Literal["pages", "console", "console api", "api"]
REFUSED = (401, 403)


class CallerOf(Struct, frozen=True):
    """A caller: what they send, and what that proves."""

    name: str
    kind: Kind
    headers: Mapping[str, str]
    role: Role = Role.GUEST
    scopes: frozenset[TokenScope] = frozenset()
    capabilities: frozenset[str] = frozenset()
    form: str = ""
    """The token of the forms of their session."""

    def proof(self, face: Face) -> Proof | None:
        """What they prove to a face; None for nothing."""
        if self.kind in ("token", "both") and face in ("api", "console api"):
            return Proof(Credential.TOKEN, self.role, self.scopes)
        if self.kind == "agent" and face in ("api", "console api"):
            return Proof(Credential.AGENT, Role.GUEST, self.scopes, self.capabilities)
        if self.kind in ("session", "no form") and face in ("console", "console api"):
            return Proof(Credential.SESSION, self.role)
        if self.kind == "both" and face == "console":  # which knows no tokens
            return Proof(Credential.SESSION, self.role)
        if self.kind == "server.token" and face == "pages":
            return Proof(Credential.LOCAL, Role.GUEST)
        return None

    def expected(self, face: Face, method: str, allowed: Allowed) -> int:
        """The status of the refusal that the declaration means, 0 for a caller who is let in."""
        if Credential.NONE in allowed.by:
            return 0
        if self.kind == "server.token" and Credential.LOCAL in allowed.by:
            return 0
        proof = self.proof(face)
        if proof is None:
            return 401
        if missing(allowed, proof):
            return 403
        by_token = proof.credential in TOKENS
        return 403 if self.kind in ("no form", "both") and method == "POST" and not by_token else 0


def face_of(path: str) -> Face:
    """The face that serves a path."""
    if path.startswith("/api/v1/console"):
        return "console api"
    if path.startswith("/console"):
        return "console"
    return "api" if path.startswith("/api/") else "pages"
