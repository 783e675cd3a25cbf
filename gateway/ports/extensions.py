"""The four extension points, which other packages implement. `docs/extensions.md` is for their
authors."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from gateway.message import Place
from gateway.people import PersonId
from gateway.policy.decision import Decision
from gateway.ports.usage import UsageRow


@runtime_checkable
class TenantProvider(Protocol):
    """Assigns tenants. Called for every event, on the event loop: no I/O."""

    def get_tenant_id(self, place: Place, person: PersonId | None) -> str:
        """Return the tenant of this person in this place. `person` is None where the platform names
        nobody (a deletion), and for data of a project. On the terminal and over HTTP the place is
        the person's direct conversation, without a channel or a workspace. An exception means that
        there is no tenant: the event is refused."""

    def get_tenant_filter(self, tenant_id: str) -> Mapping[str, str]:
        """Return `{"tenant_id": VALUE}`: the value in every stored row of this tenant and in every
        query for it; letters, digits, `_`, `.` and `-`, at most 64. Two tenants with one value
        share everything."""


@runtime_checkable
class UsageTracker(Protocol):
    """Receives the usage of every turn."""

    async def track(self, row: UsageRow) -> None:
        """Called once for every turn with a cost, after it was settled. An exception is logged and
        has no other effect."""


@runtime_checkable
class AuditLogger(Protocol):
    """Receives security-relevant events, in addition to the program's own audit log."""

    async def audit(self, event: str, person: PersonId, place: Place, decision: Decision) -> None:
        """Called for every refusal, for every withheld answer, and before every call of a tool with
        side effects. No content. An exception is logged and has no other effect."""


@runtime_checkable
class AccessController(Protocol):
    """A further access check behind the configured lists; all of them must allow."""

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        """Decide if this person is served here. An exception denies."""
