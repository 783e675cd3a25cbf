"""Tells strangers how to ask for access, notifies approvers of people who wait, and people of their
approval.

The notices are read from the store, so that it does not matter which process made the request or
the approval. The keys of the sends make a repetition harmless.
"""

import hashlib
from typing import Final

from gateway.message import Choice, MessageAuthor, Notice, Place
from gateway.pairing.requests import (
    APPROVED,
    ROOM_HINT,
    STILL_WAITING,
    Pairing,
    code_text,
    no_owner_text,
    request_text,
)
from gateway.people import Audience, KnownIds, Role, identity_of
from gateway.policy.access import may_decide
from gateway.policy.decision import Decision
from gateway.policy.pairing_codes import CODE_SENT, STAGE
from gateway.ports.admissions import Admission, AdmissionStore, Applicant, PairingRequest
from gateway.text import NO_TEXT, Text, label
from gateway.turn.admission import known_ids, role_in
from gateway.turn.proactive import ProactiveNotices
from gateway.turn.services import Services

PREFIX: Final = "pairing:"
MAX_APPROVERS: Final = 20
"""Approvers who get a notice of a request: those who wrote last."""
AT_ONCE: Final = 10
NO_REPLY = Decision(STAGE, False, "silent")
NO_OWNER = Decision(STAGE, False, "no_owner")
HINTED = Decision(STAGE, False, "hinted")


def decision_buttons(request_id: str) -> tuple[Choice, Choice]:
    """Return the buttons that decide about a request."""
    return (
        Choice(label("Approve"), f"{PREFIX}approve:{request_id}", typed=label("approve")),
        Choice(label("Reject"), f"{PREFIX}reject:{request_id}", typed=label("reject")),
    )


class AccessNotices:
    """Sends the notices that are due. Needs the accounts of all platforms."""

    def __init__(self, services: Services, store: AdmissionStore) -> None:
        self._services = services
        self._store = store
        self._sender = ProactiveNotices(services)

    async def send_due(self) -> None:
        """Send what is due, a bounded number. Raises `StoreUnavailable`."""
        for admission in await self._store.unnotified_admissions(AT_ONCE):
            await self._welcome(admission)
        requests = await self._store.unnotified_requests(self._services.clock.now(), AT_ONCE)
        if requests:
            await self._tell(requests)

    async def _welcome(self, admission: Admission) -> None:
        applicant = admission.applicant
        named = f"{applicant.tenant}:{applicant.person}:{admission.at.isoformat()}"
        group = f"admitted-{hashlib.sha256(named.encode('utf-8', 'replace')).hexdigest()[:16]}"
        self._services.admissions.changed()  # a look before this approval says the opposite
        await self._sender.send(group, [Notice(applicant.person, applicant.place, APPROVED)])
        await self._store.admissions_notified([admission])

    async def _tell(self, requests: list[PairingRequest]) -> None:
        approvers = await self.approvers()
        for request in requests:
            tenant, text = request.applicant.tenant, request_text(request)
            notices = [
                Notice(person, place, text, decision_buttons(request.id), request.until)
                for known_in, person, place in approvers
                if known_in == tenant
            ]
            if notices:
                await self._sender.send(f"pairing-{request.id}", notices)
                await self._store.requests_notified([request], self._services.clock.now())

    async def approvers(self) -> list[tuple[str, str, Place]]:
        """Return tenant, person and direct conversation of those who have the role now; a list may
        have changed since they wrote."""
        approvers = []
        for tenant, person, place in await self._store.approvers(MAX_APPROVERS):
            identity = identity_of(person)
            known = await known_ids(identity, self._services) or KnownIds()
            role = role_in(tenant, identity, self._services, aliases=known.current)
            if role.at_least(Role.OPERATOR):
                approvers.append((tenant, person, place))
        return approvers


async def reply_to_stranger(
    tenant: str, author: MessageAuthor, place: Place, services: Services
) -> tuple[Decision, Text]:
    """Return the decision about an answer, and its text, which is for this person alone; empty for
    silence. Raises `StoreUnavailable`."""
    if services.pairing is None or author.is_bot or author.is_chat:
        return NO_REPLY, NO_TEXT
    pairing, person = services.pairing, str(place.identity(author))
    if place.audience is Audience.DIRECT:
        waits = await _code_waits(pairing, services)
        if waits is not None:
            tells = await pairing.tells_no_owner(tenant, person, place, code_waits=waits)
            return NO_OWNER, no_owner_text(code_waits=waits) if tells else NO_TEXT
    if services.policies.access.admission != "approved":
        return NO_REPLY, NO_TEXT
    if place.audience is Audience.DIRECT:
        applicant = Applicant(tenant, person, author.name, place)
        decision, code = await pairing.request(applicant)
        if code:
            return decision, code_text(code)
        waiting = decision.reason == CODE_SENT
        reminds = waiting and await pairing.reminds(tenant, person, place)
        return decision, STILL_WAITING if reminds else NO_TEXT
    can = services.connected[place.platform, place.account].manifest.capabilities
    if can.ephemeral and await pairing.hints(tenant, person, place):
        return HINTED, ROOM_HINT
    return NO_REPLY, NO_TEXT


async def _code_waits(pairing: Pairing, services: Services) -> bool | None:
    """Return what `Pairing.code_waits` returns, None where the configuration names an approver."""
    return None if may_decide(services.policies.roles) else await pairing.code_waits()
