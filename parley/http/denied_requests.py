"""Audits refused requests: the person if known, and the address; never the path."""

from dataclasses import dataclass
from typing import Final

from aiohttp import web

from gateway.observe.security_log import SecurityLog
from gateway.ports.observer import SecurityEvent
from parley.security.tokens import TokenClaims

AUDITED: Final = frozenset({401, 403, 404, 429})
"""The audited statuses: not authenticated, not allowed, not found, too often."""


@dataclass(frozen=True, slots=True)
class Denied:
    """The code of a refusal."""

    reason: str


DENIED: Final = web.ResponseKey("parley.denied", Denied)
HOLDER: Final = web.RequestKey("parley.holder", TokenClaims)
"""The person of the token, after its signature was verified."""


def note_denial(
    security: SecurityLog,
    event: str,
    request: web.BaseRequest,
    response: web.StreamResponse,
    address: str,
) -> None:
    """Record a refusal by the part of the program with the name `event`."""
    denied = response.get(DENIED)
    reason = denied.reason if denied is not None else f"http_{response.status}"
    holder = request.get(HOLDER)
    tenant, person = ("", "") if holder is None else (holder.tenant, str(holder.person))
    security.note(SecurityEvent(event, reason, tenant, person, address=address))
