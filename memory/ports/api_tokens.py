"""Storage of the tokens of the HTTP interface, so that each can be revoked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

MAX_NAME = 60
MAX_LISTED = 1_000


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token without its signature, so it grants no access. It is revoked by its `name`; `person`
    is a `str(PersonId)`."""

    id: str
    name: str
    tenant: str
    person: str
    issued_at: datetime
    until: datetime


class TokenStore(Protocol):
    """The valid tokens. Every method raises `StoreUnavailable`."""

    async def add(self, token: ApiToken) -> bool:
        """Add a token; False if the name is taken."""
        ...

    async def good(self, token_id: str) -> bool:
        """True until the token is revoked, or its person erased."""
        ...

    async def listed(self, now: datetime) -> Sequence[ApiToken]:
        """Return up to `MAX_LISTED` tokens that have not expired, latest first."""
        ...

    async def revoke(self, name: str) -> ApiToken | None:
        """Revoke the token with this name; None if there is none."""
        ...

    async def clear(self) -> int:
        """Delete all tokens; return their number."""
        ...

    async def prune(self, now: datetime) -> int:
        """Delete expired tokens; return their number."""
        ...
