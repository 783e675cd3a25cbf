"""Security events and their permanent store."""

from dataclasses import dataclass
from typing import Protocol

from gateway.people import DEFAULT_TENANT


@dataclass(frozen=True, slots=True)
class SecurityEvent:
    """A refused or recorded action: codes and ids only.

    `person` is a `str(PersonId)`, empty if unknown; `channel` is "platform:account:channel" or the
    part of the program that refused; `address` is the network address of an HTTP client.
    """

    event: str
    reason: str
    tenant: str = DEFAULT_TENANT
    person: str = ""
    channel: str = ""
    address: str = ""


class SecuritySink(Protocol):
    """Stores security events permanently."""

    async def keep(self, event: SecurityEvent, times: int) -> None:
        """Append an entry. Raises `StoreUnavailable`."""
