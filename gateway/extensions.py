"""The open-core seam: four protocols, an open default for each, one registry that is passed along.

Somebody who hosts Parley for others gives their own implementations to `parley.app.build`; the rest
of the program neither knows nor imports them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import structlog

from gateway.message import Place
from gateway.people import PersonId
from gateway.policy.decision import Decision
from gateway.stores import UsageRow

DEFAULT_TENANT = "default"
EXTENSION_SECONDS = 10.0
"""How long an extension may take; one that takes longer has failed."""

log = structlog.get_logger(__name__)


@runtime_checkable
class TenantProvider(Protocol):
    """Which tenant a place belongs to."""

    def get_tenant_id(self, place: Place) -> str:
        """The tenant's id; every stored row carries it."""
        ...

    def get_tenant_filter(self, tenant_id: str) -> Mapping[str, str]:
        """Column and value that every query for this tenant is bound to."""
        ...


@runtime_checkable
class UsageTracker(Protocol):
    """Who else wants to know what was used."""

    async def track(self, row: UsageRow) -> None:
        """Called once for every turn that cost something, after it was settled. An exception is
        logged, and stops nothing."""
        ...


@runtime_checkable
class AuditLogger(Protocol):
    """Who else keeps a record of security-relevant events."""

    async def audit(self, event: str, person: PersonId, place: Place, decision: Decision) -> None:
        """Called for every refusal, every answer that was withheld, and before every use of a tool
        that may change something. No content. An exception is logged, and stops nothing."""
        ...


@runtime_checkable
class AccessController(Protocol):
    """A further gate behind the configured lists; all of them have to allow."""

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        """Whether this person is served here. An exception denies."""
        ...


class SingleTenant:
    """Open default: one tenant, no filtering beyond it."""

    def get_tenant_id(self, place: Place) -> str:
        """Always the same tenant."""
        return DEFAULT_TENANT

    def get_tenant_filter(self, tenant_id: str) -> Mapping[str, str]:
        """The tenant's own rows."""
        return {"tenant_id": tenant_id}


class NoTracking:
    """Open default: the usage ledger is enough."""

    async def track(self, row: UsageRow) -> None:
        """Nothing further."""


class LocalAudit:
    """Open default: a structured log line."""

    async def audit(self, event: str, person: PersonId, place: Place, decision: Decision) -> None:
        """Write the event to the local log, by ids only."""
        log.info(
            "audit",
            event_name=event,
            person=str(person),
            channel=place.channel_id,
            stage=decision.stage,
            reason=decision.reason,
        )


class AllowAll:
    """Open default: what the configured lists allow is allowed."""

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        """Always yes."""
        return Decision("access", True, "no_controller")


@dataclass(frozen=True, slots=True)
class ExtensionRegistry:
    """The four extension points, each with its open default."""

    tenant_provider: TenantProvider = field(default_factory=SingleTenant)
    usage_tracker: UsageTracker = field(default_factory=NoTracking)
    audit_logger: AuditLogger = field(default_factory=LocalAudit)
    access_controller: AccessController = field(default_factory=AllowAll)

    @property
    def tracks(self) -> bool:
        """Whether anybody else wants to know what was used."""
        return type(self.usage_tracker) is not NoTracking

    @property
    def controls_access(self) -> bool:
        """Whether there is a gate behind the configured lists."""
        return type(self.access_controller) is not AllowAll
