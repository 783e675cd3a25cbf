"""The four extension points: their protocols, each with an open default, a registry that is passed
along, and the tenants of each place.

Other packages implement them; `parley` loads these by entry point or by setting, and the rest of
the program neither knows nor imports them. docs/how-to/write-an-extension.md is for their authors.
"""

import asyncio
import hashlib
import json
import re
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Final, Protocol, runtime_checkable

import structlog
from msgspec import Struct, field

from gateway.errors import TenantUnknown
from gateway.latest import Latest
from gateway.message import Place
from gateway.people import DEFAULT_TENANT, Audience, PersonId
from gateway.policy.decision import Decision
from gateway.ports import AdapterState
from gateway.ports.usage import UsageRow


@runtime_checkable
class TenantProvider(Protocol):
    """Assigns tenants. Called for every event, on the event loop: no I/O."""

    def get_tenant_id(self, place: Place, person: PersonId | None) -> str:
        """Return the tenant of this person in this place. `person` is None where the platform names
        nobody (a deletion), and for data of a project. On the terminal and over HTTP the place is
        the person's direct conversation, without a channel or a workspace. An exception, or a
        result that is no text, means that there is no tenant: the event is refused."""

    def get_tenant_filter(self, tenant_id: str) -> Mapping[str, str]:
        """Return `{"tenant_id": VALUE}`: the value in every stored row of this tenant and in every
        query for it; letters, digits, `_`, `.` and `-`, at most 64. Two tenants with one value
        share everything. Anything else means that there is no tenant."""


@runtime_checkable
class UsageTracker(Protocol):
    """Receives the usage of every turn."""

    async def track(self, row: UsageRow) -> None:
        """Called once for every turn with a cost, after it was settled. A result is ignored. An
        exception is logged and has no other effect."""


@runtime_checkable
class AuditLogger(Protocol):
    """Receives security-relevant events, in addition to the program's own audit log."""

    async def audit(self, event: str, person: PersonId, place: Place, decision: Decision) -> None:
        """Called for every refusal, for every withheld answer, and before every call of a tool with
        side effects. No content. A result is ignored. An exception is logged and has no other
        effect."""


@runtime_checkable
class AccessController(Protocol):
    """A further access check behind the configured lists; all of them must allow."""

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        """Return a `Decision` with the stage "access": if this person is served here, and the
        reason, a code such as `not_paid`. An exception denies, and so does any other result: a
        bool has no reason."""


EXTENSION_SECONDS = 10.0
"""The time limit of an extension call."""

SLOW_SECONDS: Final = 0.1
"""A slower tenant provider delays all messages; it is logged."""

TENANT_COLUMN: Final = "tenant_id"

_CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
"""A stage or a reason: metrics have it as a label."""
_TENANT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

log = structlog.get_logger(__name__)


class SingleTenant:
    """Open default: one tenant."""

    def get_tenant_id(self, place: Place, person: PersonId | None) -> str:
        return DEFAULT_TENANT

    def get_tenant_filter(self, tenant_id: str) -> Mapping[str, str]:
        return {"tenant_id": tenant_id}


class NoTracking:
    """Open default: only the usage ledger."""

    async def track(self, row: UsageRow) -> None: ...


class LocalAudit:
    """Open default: only the program's own audit log."""

    async def audit(
        self, event: str, person: PersonId, place: Place, decision: Decision
    ) -> None: ...


class AllowAll:
    """Open default: only the configured lists."""

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        return Decision("access", True, "no_controller")


class InvalidResult(Exception):
    """A method of an extension returned what its protocol does not allow. The text names the
    method, the types and the repair, and quotes no value."""


async def controlled_access(
    controller: AccessController, person: PersonId, place: Place
) -> Decision:
    """Ask one controller. Raises `InvalidResult` for a result that decides nothing, and anything
    that the controller raises."""
    decision: object = await controller.check_access(person, place)
    wrong = _wrong_in(decision)
    if isinstance(decision, Decision) and not wrong:
        return decision
    kind = type(controller)
    raise InvalidResult(
        f"{kind.__module__}.{kind.__qualname__}.check_access() returned {wrong}. It should return"
        ' a gateway.policy.decision.Decision, such as Decision("access", False, "not_paid").'
    )


def _wrong_in(decision: object) -> str:
    """The types that a `Decision` does not allow; empty for a valid one."""
    if not isinstance(decision, Decision):
        return type(decision).__name__
    fields: dict[str, object] = decision._asdict()
    for name in ("stage", "reason"):
        if not _CODE.fullmatch(str(fields[name])) or not isinstance(fields[name], str):
            return f"a Decision whose {name} is no code of lower-case letters, digits and `_`"
    for name, kind in (("allowed", bool), ("detail", str)):
        if not isinstance(fields[name], kind):
            return f"a Decision whose {name} is {type(fields[name]).__name__}"
    return ""


class Extension(Struct, frozen=True):
    """The extension points that one package implements; None for the others."""

    tenant_provider: TenantProvider | None = None
    """Assigns tenants."""
    usage_tracker: UsageTracker | None = None
    """Receives the usage of every turn."""
    audit_logger: AuditLogger | None = None
    """Receives security-relevant events."""
    access_controller: AccessController | None = None
    """Decides about access, beside the lists."""


class ExtensionRegistry(Struct, frozen=True):
    """The four extension points, each with its open default."""

    tenant_provider: TenantProvider = field(default_factory=SingleTenant)
    """Assigns tenants."""
    usage_tracker: UsageTracker = field(default_factory=NoTracking)
    """Receives the usage of every turn."""
    audit_logger: AuditLogger = field(default_factory=LocalAudit)
    """Receives security-relevant events."""
    access_controller: AccessController = field(default_factory=AllowAll)
    """Decides about access, beside the lists."""
    names: tuple[str, ...] = ()
    """The names of the loaded extensions, for display."""

    @property
    def tracks(self) -> bool:
        """True if an extension tracks usage."""
        return type(self.usage_tracker) is not NoTracking

    @property
    def audits(self) -> bool:
        """True if an extension logs security-relevant events."""
        return type(self.audit_logger) is not LocalAudit

    @property
    def controls_access(self) -> bool:
        """True if an extension checks access."""
        return type(self.access_controller) is not AllowAll

    @property
    def has_tenants(self) -> bool:
        """True if an extension provides tenants."""
        return type(self.tenant_provider) is not SingleTenant

    def tenant_of(self, place: Place, person: PersonId | None) -> str:
        """Return the tenant value for rows of this person in this place. Raises `TenantUnknown` if
        the provider fails or returns an invalid value."""
        if not self.has_tenants:
            return DEFAULT_TENANT
        began = time.perf_counter()
        try:
            named: object = self.tenant_provider.get_tenant_id(place, person)
            returned: object = None
            if isinstance(named, str):
                returned = self.tenant_provider.get_tenant_filter(named)
        except Exception as error:
            # The error's text may quote people, so it is left out.
            raise TenantUnknown(f"the tenant provider failed: {type(error).__name__}") from error
        took = time.perf_counter() - began
        if took > SLOW_SECONDS:
            log.warning("tenant_provider_slow", seconds=round(took, 3))
        if not isinstance(named, str):
            raise TenantUnknown(f"get_tenant_id should return a text, not {_kind(named)}")
        bound = dict(returned) if isinstance(returned, Mapping) else {}
        tenant = bound.get(TENANT_COLUMN)
        if set(bound) != {TENANT_COLUMN} or not isinstance(tenant, str):
            raise TenantUnknown(
                'get_tenant_filter should return {"tenant_id": VALUE} and nothing else, '
                f"not {_kind(returned)}"
            )
        if not _TENANT.fullmatch(tenant):
            raise TenantUnknown(
                "a tenant's value has letters, digits, `_`, `.` and `-`, at most 64 of them"
            )
        return tenant

    def tenant_of_person(self, person: PersonId) -> str:
        """Return the tenant on the terminal and over HTTP, where there is no place: that of the
        person's direct conversation. Raises `TenantUnknown`."""
        place = Place(person.platform, person.account, "", Audience.DIRECT)
        try:
            return self.tenant_of(place, person)
        except TenantUnknown as error:
            loaded = ", ".join(self.names) or "the tenant provider"
            raise TenantUnknown(
                f"The tenant of {person} cannot be determined: {error}. Report this to the authors "
                f"of {loaded}."
            ) from error


REMEMBERED: Final = timedelta(days=3650)
MAX_TENANTS: Final = 64
"""Stored tenants of one place, the latest."""
MAX_KNOWN: Final = 10_000
"""Places whose tenants this process has stored already."""


class PlaceTenants:
    """Stores the tenants of each place under its hash, so that it holds no id of a person."""

    def __init__(self, extensions: ExtensionRegistry, state: AdapterState) -> None:
        self._extensions = extensions
        self._state = state
        self._known: Latest[tuple[str, str], None] = Latest(MAX_KNOWN)
        self._writing = asyncio.Lock()

    async def note(self, place: Place, tenant: str) -> None:
        """Record that a person of this tenant wrote there. Raises `StoreUnavailable`."""
        if not self._extensions.has_tenants:
            return
        name = _hash_of(place)
        if (name, tenant) not in self._known:
            async with self._writing:  # two concurrent writers would overwrite each other
                kept = [one for one in await self._kept(name) if one != tenant]
                await self._state.put(name, json.dumps([*kept, tenant][-MAX_TENANTS:]), REMEMBERED)
        self._known[name, tenant] = None

    async def of(self, place: Place) -> tuple[str, ...]:
        """Return the place's own tenant, if it has one, and those of all people who wrote there.
        Raises `TenantUnknown` if there is none, and `StoreUnavailable`."""
        unknown: TenantUnknown | None = None
        tenants: list[str] = []
        try:
            tenants.append(self._extensions.tenant_of(place, None))
        except TenantUnknown as error:
            unknown = error
        if self._extensions.has_tenants:
            tenants += await self._kept(_hash_of(place))
        if not tenants and unknown is not None:
            raise unknown
        return tuple(dict.fromkeys(tenants))

    async def _kept(self, name: str) -> list[str]:
        kept = await self._state.get(name)
        return [str(one) for one in json.loads(kept)] if kept else []


def _kind(value: object) -> str:
    """The type of a result, and of the values in a mapping; never a value itself."""
    if isinstance(value, Mapping):
        kinds = sorted({type(one).__name__ for one in value.values()})
        return f"a mapping of {len(value)} keys ({', '.join(kinds)})"
    return type(value).__name__


def _hash_of(place: Place) -> str:
    identity = json.dumps([place.platform, place.account, place.channel_id]).encode()
    return hashlib.blake2b(identity, digest_size=16).hexdigest()
