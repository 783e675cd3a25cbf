"""The check of rights on the local listener: one layer for all its faces."""

from typing import Final

from starlette.types import Scope

from gateway.ports.rights import Allowed, Credential, Proof, TokenScope, missing
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
PERSONS_ONLY: Final = (
    "This is for the person, not for an agent of theirs. The person uses the console or a token of "
    "their own."
)
NO_CAPABILITY: Final = (
    "This agent lacks the capability {name}. The person registers an agent that has it, and makes "
    "a token for that one."
)
NOT_ALLOWED: Final = "Only {}s may use this."


async def proven(scope: Scope, allowed: Allowed) -> None:
    """The gate of a face whose outer layer authenticates every request. Raises `Refused` (403)."""
    check(allowed, exchange_of(scope).proof)


def check(allowed: Allowed, proof: Proof) -> None:
    """Raise `Refused` (403) for a caller who may not do this."""
    lacks, by_agent = missing(allowed, proof), proof.credential is Credential.AGENT
    if lacks and by_agent and Credential.AGENT not in allowed.by:
        raise Refused(403, "needs_person", PERSONS_ONLY)
    if lacks and by_agent and lacks == allowed.capability:
        raise Refused(403, "needs_capability", NO_CAPABILITY.format(name=lacks))
    match lacks:
        case "":
            return
        case Credential.SESSION:
            raise Refused(403, "needs_session", IN_PERSON)
        case TokenScope.WRITE:
            raise Refused(403, "needs_scope", READS_ONLY)
        case TokenScope.READ:
            raise Refused(403, "needs_scope", WRITES_ONLY)
        case _:
            raise Refused(403, "not_allowed", NOT_ALLOWED.format(allowed.role.value))
