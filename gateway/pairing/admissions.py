"""Looks up admissions and stored owners, with few reads; owner codes, by which a person with access
to the machine makes somebody an owner.

Owners are held in memory and read again every few seconds, because every message needs its author's
role. A single admission is read when a decision depends on it, and kept for seconds.
"""

import secrets
from collections.abc import Sequence
from typing import Final

from gateway.latest import Latest
from gateway.message import Place
from gateway.people import PersonId, Role
from gateway.policy.access import RolePolicy, role_of
from gateway.policy.pairing_codes import OWNER_CODE_VALID, hash_code, new_owner_code
from gateway.policy.rate_limits import BucketRule
from gateway.ports.admissions import (
    AccessAudit,
    AccessChange,
    AdmissionStore,
    Applicant,
    OwnerCode,
    OwnershipClaim,
)
from gateway.ports.clock import Clock
from gateway.ports.usage import Buckets

KEPT_SECONDS: Final = 5.0
"""The longest time until an approval or a revocation by another process counts."""
MAX_KEPT: Final = 10_000
MAX_APPROVERS: Final = 1_000
ANSWERS_PER_MINUTE: Final = 10
"""Answers to wrong owner codes, by platform account."""


class Admissions:
    """Answers who has an admission. Without a store nobody has one."""

    def __init__(self, store: AdmissionStore | None = None, clock: Clock | None = None) -> None:
        self._store = store
        self._clock = clock
        self._owners: frozenset[tuple[str, str]] = frozenset()
        self._kept: Latest[tuple[str, str], tuple[bool, float]] = Latest(MAX_KEPT)
        self._approvers: Latest[tuple[str, str], Place] = Latest(MAX_APPROVERS)

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


TRIES_PER_MINUTE: Final = 3
"""Owner codes that one person may send."""
COMMAND_LINE: Final = "command line"


class OwnerCodes:
    """Makes owner codes. Needs only the database, so that any process on the machine can do it,
    beside a running program or before its start."""

    def __init__(self, store: AdmissionStore, clock: Clock, audit: AccessAudit) -> None:
        self._store = store
        self._clock = clock
        self._audit = audit

    async def create(self) -> OwnerCode:
        """Return a new code, valid for `OWNER_CODE_VALID`; it replaces any earlier one. The code
        itself is not stored. Raises `StoreUnavailable`."""
        until = self._clock.now() + OWNER_CODE_VALID
        code = OwnerCode(secrets.token_hex(8), new_owner_code(), until)
        await self._store.put_owner_code(code, hash_code(code.code))
        await self._audit.changed("owner_code_made", "", "", COMMAND_LINE)
        return code

    async def claimed_by(self, code: OwnerCode) -> str | None:
        """Return the `str(PersonId)` of the person who used the code, empty while nobody has, None
        if it can no longer be used. Raises `StoreUnavailable`."""
        person = await self._store.claimed_by(code.id)
        if person == "" and self._clock.now() >= code.until:
            return None
        return person


class OwnerClaims:
    """Takes owner codes that people send. All processes share the limits."""

    def __init__(
        self,
        store: AdmissionStore,
        buckets: Buckets,
        clock: Clock,
        audit: AccessAudit,
        admissions: Admissions,
    ) -> None:
        self._store = store
        self._buckets = buckets
        self._clock = clock
        self._audit = audit
        self._admissions = admissions

    async def claim(self, applicant: Applicant, code: str) -> OwnershipClaim | None:
        """Make the applicant an owner, if this is the current code; None if they tried too often.
        Raises `StoreUnavailable`."""
        if not await self._may_try(applicant):
            return None
        claim = await self._store.claim(applicant, code, self._clock.now())
        if claim.outcome in ("claimed", "again"):
            await self._admissions.refresh()
            self._admissions.changed()
        what: AccessChange = "owner_claimed" if claim.outcome == "claimed" else "owner_code_refused"
        if claim.outcome not in ("again", "none"):
            await self._audit.changed(
                what, applicant.tenant, applicant.person, applicant.person, reason=claim.outcome
            )
        return claim

    async def void(self, applicant: Applicant, code: str) -> bool:
        """Delete the code, which others could read; False if it is not the current one, or if the
        person tried too often. Raises `StoreUnavailable`."""
        voided = await self._may_try(applicant) and await self._store.void_owner_code(code)
        if voided:
            await self._audit.changed(
                "owner_code_exposed", applicant.tenant, applicant.person, applicant.person
            )
        return voided

    async def may_answer(self, place: Place, tenant: str) -> bool:
        """Return True if one more person hears that their code is wrong: a crowd of strangers gets
        few answers, each of which is stored. Raises `StoreUnavailable`."""
        account = f"{tenant}:{place.platform}:{place.account}"
        rule = BucketRule("workspace", f"owner-code-answers:{account}", ANSWERS_PER_MINUTE)
        taken = await self._buckets.take((rule,), self._clock.now().timestamp())
        return taken.allowed

    async def _may_try(self, applicant: Applicant) -> bool:
        key = f"owner-code:{applicant.tenant}:{applicant.person}"
        rule = BucketRule("user", key, TRIES_PER_MINUTE)
        taken = await self._buckets.take((rule,), self._clock.now().timestamp())
        return taken.allowed
