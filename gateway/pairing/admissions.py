"""Looks up admissions and stored owners, with few reads.

Owners are held in memory and read again every few seconds, because every message needs its author's
role. A single admission is read when a decision depends on it, and kept for seconds.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from gateway.message import Place
from gateway.people import PersonId, Role
from gateway.policy.access import RolePolicy, role_of
from gateway.ports.admissions import AdmissionStore
from gateway.ports.clock import Clock

KEPT_SECONDS: Final = 5.0
"""The longest time until an approval or a revocation by another process counts."""
MAX_KEPT: Final = 10_000
MAX_APPROVERS: Final = 1_000


class Admissions:
    """Answers who has an admission. Without a store nobody has one."""

    def __init__(self, store: AdmissionStore | None = None, clock: Clock | None = None) -> None:
        self._store = store
        self._clock = clock
        self._owners: frozenset[tuple[str, str]] = frozenset()
        self._kept: OrderedDict[tuple[str, str], tuple[bool, float]] = OrderedDict()
        self._approvers: OrderedDict[tuple[str, str], Place] = OrderedDict()

    @property
    def has_owners(self) -> bool:
        """True if an owner is stored."""
        return bool(self._owners)

    def granted(self, tenant: str, person: str) -> Role | None:
        """Return the stored role of a person above member, None for none."""
        return Role.OWNER if (tenant, person) in self._owners else None

    async def refresh(self) -> None:
        """Read the owners again. Raises `StoreUnavailable`."""
        if self._store is not None:
            self._owners = await self._store.owners()

    def kept(self, tenant: str, person: str) -> bool | None:
        """Return the result of an earlier lookup, None if it is too old."""
        known = self._kept.get((tenant, person))
        if known is None or self._clock is None:
            return None
        admitted, at = known
        return admitted if self._clock.monotonic() - at < KEPT_SECONDS else None

    def keep(self, tenant: str, person: str, admitted: bool) -> None:
        """Keep the result of a lookup for `KEPT_SECONDS`."""
        if self._clock is None:
            return
        self._kept[tenant, person] = (admitted, self._clock.monotonic())
        self._kept.move_to_end((tenant, person))
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)

    def changed(self) -> None:
        """Forget all lookups, after an approval, a revocation or an erasure in this process."""
        self._kept.clear()

    async def any_of(self, tenant: str, persons: Sequence[str]) -> bool:
        """Return True if one of these people (`str(PersonId)`) has an admission. Raises
        `StoreUnavailable`."""
        if self._store is None or not persons:
            return False
        return await self._store.admitted(tenant, persons)

    async def remember_approver(self, tenant: str, person: str, place: Place) -> None:
        """Store the direct conversation of an owner or operator, if it is new to this process.
        Raises `StoreUnavailable`."""
        if self._store is None or self._clock is None:
            return
        if self._approvers.get((tenant, person)) == place:
            return
        await self._store.remember_approver(tenant, person, place, self._clock.now())
        self._approvers[tenant, person] = place
        while len(self._approvers) > MAX_APPROVERS:
            self._approvers.popitem(last=False)


def role_with(
    admissions: Admissions,
    lists: RolePolicy,
    tenant: str,
    person: PersonId,
    *,
    aliases: tuple[str, ...] = (),
    outside: bool = False,
) -> Role:
    """Return the role of a person in a tenant: of the lists, or stored by an owner code. Every
    part of the program decides with this function."""
    granted = admissions.granted(tenant, str(person))
    return role_of(person, lists, aliases=aliases, outside=outside, granted=granted)
