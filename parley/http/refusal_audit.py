"""Audits refused requests: the person if known, and the address; never the path."""

from typing import Final

from gateway.observe.security_log import SecurityLog
from gateway.ports.observer import SecurityEvent
from parley.security.tokens import TokenClaims

AUDITED: Final = frozenset({401, 403, 404, 429})
"""The audited statuses: not authenticated, not allowed, not found, too often."""


def audit_refusal(
    security: SecurityLog,
    event: str,
    reason: str,
    address: str,
    holder: TokenClaims | None = None,
) -> None:
    """Record a refusal as the security event `event`. `holder` is the person of a token with a
    valid signature."""
    tenant, person = ("", "") if holder is None else (holder.tenant, str(holder.person))
    security.note(SecurityEvent(event, reason, tenant, person, address=address))
