"""The check of rights on the local listener: one layer for all its faces."""

from typing import Final

from starlette.types import Scope

from gateway.policy.decision import Decision
from gateway.ports.rights import Allowed, Proof, TokenScope, decide
from parley.http.api.errors import Refused
from parley.http.asgi import exchange_of

IN_PERSON: Final = (
    "Programs cannot do this: it needs a person who is signed in to the console. Write /console to "
    "the assistant in a direct message, and do it on the page."
)
READS_ONLY: Final = (
    "This token only reads. Use one that also writes: `parley token` without --read-only prints "
    "one."
)
WRITES_ONLY: Final = "This token does not read. `parley token` prints one that does."
NOT_ALLOWED: Final = "Only {}s may use this."


async def proven(scope: Scope, allowed: Allowed) -> None:
    """The gate of a face whose outer layer authenticates every request. Raises `Refused` (403)."""
    check(allowed, exchange_of(scope).proof)


def check(allowed: Allowed, proof: Proof) -> None:
    """Raise `Refused` (403) for a caller who may not do this."""
    decision = decide(allowed, proof)
    if not decision.allowed:
        raise Refused(403, *reason_of(decision, allowed))


def reason_of(decision: Decision, allowed: Allowed) -> tuple[str, str]:
    """Return the code and the sentence of a refusal."""
    match decision.reason:
        case "needs_session":
            return decision.reason, IN_PERSON
        case "needs_write" | "needs_read":
            reads = allowed.scope is TokenScope.READ
            return "needs_scope", WRITES_ONLY if reads else READS_ONLY
        case _:
            return "not_allowed", NOT_ALLOWED.format(allowed.role.value)
