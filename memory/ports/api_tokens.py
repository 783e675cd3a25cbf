"""Which tokens of the HTTP interface were given out, so that each can be taken back by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

MAX_NAME = 60
MAX_LISTED = 1_000


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token without its signature: nobody can come in with it. `name` is what it is taken back
    by, `person` is `str(PersonId)`."""

    id: str
    name: str
    tenant: str
    person: str
    issued_at: datetime
    until: datetime


class TokenStore(Protocol):
    """The tokens that are good. Everything raises `StoreUnavailable`."""

    async def add(self, token: ApiToken) -> bool:
        """False when another one has the name."""
        ...

    async def good(self, token_id: str) -> bool:
        """True until it was taken back, or its person was erased."""
        ...

    async def listed(self, now: datetime) -> Sequence[ApiToken]:
        """Those that have not expired, the latest first; at most `MAX_LISTED`."""
        ...

    async def revoke(self, name: str) -> ApiToken | None:
        """Take back the one of this name; None when there is none."""
        ...

    async def clear(self) -> int:
        """Forget all of them; how many there were."""
        ...

    async def prune(self, now: datetime) -> int:
        """Forget those that have expired; how many."""
        ...
