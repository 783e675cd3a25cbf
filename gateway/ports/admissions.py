"""The people who may write: admissions, requests for admission, and the owner code."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Literal, Protocol

from msgspec import Struct

from gateway.message import Place
from gateway.people import Role
from gateway.policy.decision import Decision

AccessChange = Literal[
    "requested", "approved", "rejected", "revoked", "owner_code_made", "owner_claimed",
    "owner_code_refused", "owner_code_exposed",
]  # fmt: skip
"""The events of access in the audit log."""
ClaimOutcome = Literal["claimed", "again", "none", "wrong", "used", "expired", "void"]


class Applicant(Struct, frozen=True):
    """A person who asks. `person` is a `str(PersonId)`, `name` their display name, which nobody
    has verified, `place` their direct conversation."""

    tenant: str
    """The person's tenant."""
    person: str
    name: str
    place: Place


class PairingRequest(Struct, frozen=True):
    """A person who waits for a decision. `code_hash` is the salted hash of the code."""

    id: str
    """The request's id, by which approvers name it."""
    applicant: Applicant
    """The person who asks."""
    code_hash: str
    made_at: datetime
    """The time of the request, in UTC."""
    until: datetime
    """The expiry of code and request, in UTC."""


class Admission(Struct, frozen=True):
    """A person who may write. `by` is the `str(PersonId)` of the approver, or names the part of
    the program: "command line", "owner code"."""

    applicant: Applicant
    """The person who is admitted."""
    role: Role
    """The role that the approval gives."""
    by: str
    at: datetime
    """The time of the approval, in UTC."""


class OwnerCode(Struct, frozen=True):
    """A new owner code; `code` is shown once and not stored."""

    id: str
    """The code's id, which the audit log has."""
    code: str
    until: datetime
    """The expiry, in UTC."""


class OwnershipClaim(Struct, frozen=True):
    """The result of an owner code that a person sent; `code_id` is empty without a code."""

    outcome: ClaimOutcome
    """"claimed" makes the person an owner; "none" is a text that is no owner code."""
    code_id: str = ""


class AdmissionStore(Protocol):
    """Stores who may write. Every method raises `StoreUnavailable`."""

    async def admitted(self, tenant: str, persons: Sequence[str]) -> bool:
        """Return True if one of these people has an admission."""
        ...

    async def owners(self) -> frozenset[tuple[str, str]]:
        """Return tenant and person of everybody with the role owner."""
        ...

    async def admissions(self, limit: int, tenant: str | None = None) -> list[Admission]:
        """Return the admissions of a tenant, newest first; `tenant` None stands for all."""
        ...

    async def admissions_of(self, tenant: str, persons: Sequence[str]) -> list[Admission]:
        """Return the admissions of these people."""
        ...

    async def request(
        self, applicant: Applicant, request_id: str, code_hash: str, now: datetime
    ) -> Decision:
        """Store a code for an applicant, if the limits allow it (`decide_request`)."""
        ...

    async def waiting(self, tenant: str | None, now: datetime) -> list[PairingRequest]:
        """Return those who wait, oldest first; `tenant` None stands for all."""
        ...

    async def approve(self, request_id: str, by: str, now: datetime) -> Admission | None:
        """Admit the person of a request; None if it does not wait any more. The first of several
        approvals counts."""
        ...

    async def reject(self, request_id: str, now: datetime) -> PairingRequest | None:
        """End a request; its person gets no code for a day. None if it does not wait any more."""
        ...

    async def revoke(
        self, tenant: str, persons: Collection[str], now: datetime, *, owners: bool = True
    ) -> list[Admission]:
        """Delete admissions; these people get no code for a day. Return the deleted ones. Without
        `owners`, those of owners stay."""
        ...

    async def unnotified_admissions(self, limit: int) -> list[Admission]:
        """Return admissions whose person was not notified, oldest first."""
        ...

    async def admissions_notified(self, admissions: Sequence[Admission]) -> None:
        """Record that these people were notified."""
        ...

    async def unnotified_requests(self, now: datetime, limit: int) -> list[PairingRequest]:
        """Return requests of which the approvers were not notified within a day, oldest first,
        within the daily limit of notices."""
        ...

    async def requests_notified(self, requests: Sequence[PairingRequest], now: datetime) -> None:
        """Record that the approvers were notified of these."""
        ...

    async def remember_approver(
        self, tenant: str, person: str, place: Place, now: datetime
    ) -> None:
        """Store the direct conversation of an owner or operator, for notes."""
        ...

    async def approvers(self, limit: int) -> list[tuple[str, str, Place]]:
        """Return tenant, person and direct conversation of owners and operators, the latest
        first."""
        ...

    async def put_owner_code(self, code: OwnerCode, code_hash: str) -> None:
        """Store an owner code; it replaces any other one."""
        ...

    async def owner_code_waits(self, now: datetime) -> bool:
        """Return True while there is an owner code that can be used."""
        ...

    async def claim(self, applicant: Applicant, code: str, now: datetime) -> OwnershipClaim:
        """Make the applicant an owner, if this is the current owner code; a wrong one is
        counted."""
        ...

    async def void_owner_code(self, code: str) -> bool:
        """Delete the owner code if it is this one and unused; False otherwise."""
        ...

    async def claimed_by(self, code_id: str) -> str | None:
        """Return the `str(PersonId)` of the person who used the owner code, empty while nobody
        has, None if it was replaced or is void."""
        ...

    async def prune(self, now: datetime) -> int:
        """Delete ended requests and codes; return their number."""
        ...


class AccessAudit(Protocol):
    """Records changes of access in the audit log."""

    async def changed(
        self, what: AccessChange, tenant: str, person: str, by: str, **details: str
    ) -> None:
        """Record a change of the access of `person`, made by `by`. Raises `StoreUnavailable`."""
        ...
