"""The audit log of memory: actions without content.

Each entry has a keyed hash over itself and the entry before it, so `parley audit verify` finds
entries that were changed, removed or inserted later.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable
from typing import Final

from gateway.ports import Clock
from memory.model.scope import RequestScope
from memory.ports.audit import AppendEntry, AuditAction, AuditEntry, Link

FIRST: Final = "0" * 64
"""The hash before the first entry."""
SIGNING: Final = b"parley-memory export 1"
"""The purpose of the derived signing key."""
MAX_DETAILS: Final = 20
MAX_DETAIL: Final = 10_000
"""Characters of one detail: room for the ids of a large deletion."""


class Audit:
    """Writes entries for the person who acts."""

    def __init__(self, append: AppendEntry, key: bytes, clock: Clock) -> None:
        self._append = append
        self._key = key
        self._clock = clock

    async def note(self, action: AuditAction, request: RequestScope, **details: str | int) -> None:
        """Record an action of this person, with the agent that acts. Raises `StoreUnavailable`: an
        action that cannot be recorded fails."""
        principal = request.principal
        if request.agent:
            details.setdefault("agent", request.agent)
        await self.append(action, principal.tenant, str(principal.person), **details)

    async def append(
        self, action: AuditAction, tenant: str, person: str, **details: str | int
    ) -> None:
        """Record an action of a person, or of the program with an empty `person`."""
        kept = tuple(
            (name, value[:MAX_DETAIL] if isinstance(value, str) else value)
            for name, value in sorted(details.items())[:MAX_DETAILS]
        )
        await self._append(AuditEntry(action, tenant, person, self._clock.now(), kept))

    def hashed(self, text: str) -> str:
        """Return the HMAC of a text: the same for the same text, without its content."""
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()[:32]

    def signature(self, text: str) -> str:
        """Return the signature of a text that this program wrote. Empty without a key."""
        if not self._key:
            return ""
        key = hmac.new(self._key, SIGNING, hashlib.sha256).digest()
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def chained(key: bytes, number: int, entry: AuditEntry, previous: str) -> Link:
    """Return the link of an entry after the one with the hash `previous`."""
    payload = json.dumps(
        [
            number,
            entry.action,
            entry.tenant,
            entry.person,
            entry.at.timestamp(),
            entry.details,
            previous,
        ],
        ensure_ascii=True,
        separators=(",", ":"),
    )
    made = hmac.new(key, payload.encode(), hashlib.sha256).hexdigest()
    return Link(number, entry, previous, made)


def first_broken(key: bytes, links: Iterable[Link], previous: str = FIRST, after: int = 0) -> int:
    """Return the number of the first link that was changed, 0 if there is none."""
    for link in links:
        expected = chained(key, after + 1, link.entry, previous)
        if link.number != after + 1 or not hmac.compare_digest(link.hash, expected.hash):
            return after + 1
        previous, after = link.hash, link.number
    return 0
