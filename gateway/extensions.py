"""The open-core seam: four protocols, an open default for each, one registry that is passed along.

Packages of others implement them; `parley/extensions.py` loads these by entry point or by setting,
and the rest of the program neither knows nor imports them. `docs/extensions.md` is for their
authors.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, runtime_checkable

import structlog

from gateway.errors import TenantUnknown
from gateway.message import Place
from gateway.people import DEFAULT_TENANT, Audience, PersonId
from gateway.policy.decision import Decision
from gateway.ports.stores import UsageRow

EXTENSION_SECONDS = 10.0
"""How long an extension may take; one that takes longer has failed."""
SLOW_SECONDS: Final = 0.1
"""A tenant provider that takes longer holds everybody up; the log says so."""
TENANT_COLUMN: Final = "tenant_id"
_TENANT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

log = structlog.get_logger(__name__)


@runtime_checkable
class TenantProvider(Protocol):
    """Which tenant somebody belongs to. Called for every event, on the event loop: no I/O."""

    def get_tenant_id(self, place: Place, person: PersonId | None) -> str:
        """The tenant of this person in this place. `person` is None where the platform names nobody
        (a deletion), and for what belongs to a project. On the terminal and over HTTP the place is
        the person's direct conversation, without a channel or a workspace. An exception means that
        there is no tenant: the event is refused."""
        ...

    def get_tenant_filter(self, tenant_id: str) -> Mapping[str, str]:
        """`{"tenant_id": VALUE}`: the value that every stored row of this tenant carries and every
        query for it is bound to; letters, digits, `_`, `.` and `-`, at most 64. Two tenants with
        one value share everything."""
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
    """Who else keeps a record of security-relevant events, besides the program's own audit."""

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

    def get_tenant_id(self, place: Place, person: PersonId | None) -> str:
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
    """Open default: the program's own audit is enough."""

    async def audit(self, event: str, person: PersonId, place: Place, decision: Decision) -> None:
        """Nothing further: `gateway.turn.audit` has recorded it."""


class AllowAll:
    """Open default: what the configured lists allow is allowed."""

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        """Always yes."""
        return Decision("access", True, "no_controller")


@dataclass(frozen=True, slots=True)
class Extension:
    """What one package adds: any of the four, None for what it leaves as it is."""

    tenant_provider: TenantProvider | None = None
    usage_tracker: UsageTracker | None = None
    audit_logger: AuditLogger | None = None
    access_controller: AccessController | None = None


@dataclass(frozen=True, slots=True)
class ExtensionRegistry:
    """The four extension points, each with its open default. `names` are the extensions that were
    loaded, for people."""

    tenant_provider: TenantProvider = field(default_factory=SingleTenant)
    usage_tracker: UsageTracker = field(default_factory=NoTracking)
    audit_logger: AuditLogger = field(default_factory=LocalAudit)
    access_controller: AccessController = field(default_factory=AllowAll)
    names: tuple[str, ...] = ()

    @property
    def tracks(self) -> bool:
        """Whether anybody else wants to know what was used."""
        return type(self.usage_tracker) is not NoTracking

    @property
    def audits(self) -> bool:
        """Whether anybody else keeps a record of security-relevant events."""
        return type(self.audit_logger) is not LocalAudit

    @property
    def controls_access(self) -> bool:
        """Whether there is a gate behind the configured lists."""
        return type(self.access_controller) is not AllowAll

    @property
    def has_tenants(self) -> bool:
        """Whether there is more than one tenant."""
        return type(self.tenant_provider) is not SingleTenant

    def tenant_of(self, place: Place, person: PersonId | None) -> str:
        """The value that rows of this person in this place carry. Raises `TenantUnknown` where the
        provider fails, or names what cannot be one."""
        if not self.has_tenants:
            return DEFAULT_TENANT
        began = time.perf_counter()
        try:
            named = self.tenant_provider.get_tenant_id(place, person)
            bound = dict(self.tenant_provider.get_tenant_filter(named))
        except Exception as error:
            # Its words stay out: they may quote what somebody wrote.
            raise TenantUnknown(f"the tenant provider failed: {type(error).__name__}") from error
        took = time.perf_counter() - began
        if took > SLOW_SECONDS:
            log.warning("tenant_provider_slow", seconds=round(took, 3))
        tenant = bound.get(TENANT_COLUMN)
        if set(bound) != {TENANT_COLUMN} or not isinstance(tenant, str):
            raise TenantUnknown('get_tenant_filter should give {"tenant_id": VALUE} and no more')
        if not _TENANT.fullmatch(tenant):
            raise TenantUnknown(
                "a tenant's value has letters, digits, `_`, `.` and `-`, at most 64 of them"
            )
        return tenant

    def tenant_of_person(self, person: PersonId) -> str:
        """The same on the terminal and over HTTP, where nobody writes in a place: in the person's
        direct conversation. Raises `TenantUnknown`."""
        place = Place(person.platform, person.account, "", Audience.DIRECT)
        try:
            return self.tenant_of(place, person)
        except TenantUnknown as error:
            loaded = ", ".join(self.names) or "the tenant provider"
            raise TenantUnknown(
                f"Nobody can say to which tenant {person} belongs: {error}. Tell it to {loaded}."
            ) from error
