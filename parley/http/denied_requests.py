"""Refused requests in the audit: whose, as far as that is known, and from where; never the path."""

from dataclasses import dataclass
from typing import Final

from aiohttp import web

from gateway.observe.security_log import SecurityLog
from gateway.ports.security import SecurityEvent
from parley.security.tokens import TokenClaims

AUDITED: Final = frozenset({401, 403, 404, 429})
"""Not let in, not allowed, not theirs or not there, too often."""


@dataclass(frozen=True, slots=True)
class Denied:
    """Why a request was refused, as a code."""

    reason: str


DENIED: Final = web.ResponseKey("parley.denied", Denied)
HOLDER: Final = web.RequestKey("parley.holder", TokenClaims)
"""The person of the token that was shown, once its signature is known to be ours."""


def note_denial(
    security: SecurityLog,
    event: str,
    request: web.BaseRequest,
    response: web.StreamResponse,
    address: str,
) -> None:
    """Record a refusal of a part of the program that is called `event`."""
    denied = response.get(DENIED)
    reason = denied.reason if denied is not None else f"http_{response.status}"
    holder = request.get(HOLDER)
    tenant, person = ("", "") if holder is None else (holder.tenant, str(holder.person))
    security.note(SecurityEvent(event, reason, tenant, person, address=address))
