"""Owner codes: a person with access to the machine makes one, and the person who sends it in a
direct message becomes owner."""

import secrets
from typing import Final

from gateway.pairing.admissions import Admissions
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

    async def _may_try(self, applicant: Applicant) -> bool:
        key = f"owner-code:{applicant.tenant}:{applicant.person}"
        rule = BucketRule("user", key, TRIES_PER_MINUTE)
        taken = await self._buckets.take((rule,), self._clock.now().timestamp())
        return taken.allowed
