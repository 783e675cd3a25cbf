"""Requests for admission: a person who may not write gets a code, and an approver decides. The
sentences about admission and ownership; names of other people are cleaned in them."""

import hmac
import secrets
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Final

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.latest import Latest
from gateway.message import Place
from gateway.pairing.admissions import Admissions
from gateway.people import PersonId, Role, identity_of
from gateway.policy.decision import Decision
from gateway.policy.pairing_codes import (
    CODE_SENT,
    CODE_VALID,
    STAGE,
    decide_revocation,
    hash_code,
    matches_hash,
    new_pairing_code,
    pairing_code_in,
)
from gateway.policy.rate_limits import Bucket, BucketRule, take
from gateway.ports.admissions import (
    AccessAudit,
    Admission,
    AdmissionStore,
    Applicant,
    PairingRequest,
)
from gateway.ports.clock import Clock
from gateway.ports.usage import Buckets
from gateway.text import Listed, Moment, Span, Text, joined, text, verbatim
from safety.unicode import shown_name

BREAK: Final = "\n\n"
MAX_ID: Final = 100
"""Characters of an id that are shown."""

CODE: Final = text("I answer only people who are approved. Your code is {code}.")
CODE_USE: Final = text(
    "Give this code to the owner of this assistant, who can approve you with it. The code is valid "
    "for {time}. I have not stored your message: please send it again after I tell you that you "
    "are approved."
)
STILL_WAITING: Final = text(
    "You are not approved yet. Give the code that I sent you to the owner of this assistant. I "
    "will tell you when you are approved; until then I do not answer you."
)
NO_OWNER: Final = text("I have no owner yet.")
SEND_CODE: Final = text("If you set me up, send me the code that the program shows.")
MAKE_CODE: Final = text(
    "If you set me up, run `parley access owner-code` on the machine of this assistant: it prints "
    "a code, which you send me here."
)
ROOM_HINT: Final = text(
    "I answer only people who are approved. To ask for approval, send me a direct message."
)
APPROVED: Final = text("You are approved: you can write to me now. `/help` shows what I can do.")
REQUEST_NOTICE: Final = text("**A person asks for permission to write to me.**")
REQUEST_USE: Final = text(
    "Approve only a person whom you know. Ask them for their code and write `/approve CODE`: the "
    "code shows that this request is theirs. The buttons decide without the code. `/approve` lists "
    "everybody who waits. The request ends at {until}."
)
OWNER: Final = text("Hello! You are now the owner of **{assistant}**.")
OWNER_NEXT: Final = text(
    "A new person who writes to me gets a code. I notify you, and `/approve` lists everybody who "
    "waits."
)
OWNER_HELP: Final = text("`/help` shows what I can do.")
# Translators: a person as an approver sees them; {name} is what the person calls themselves.
PERSON: Final = text("{name} (name not verified), {platform}, id {id}")
UNNAMED: Final = text("no name, {platform}, id {id}")
WRONG_OWNER_CODE: Final = text(
    "This owner code is not valid. It may be mistyped, used already, or older than 15 minutes. "
    "`parley access owner-code`, on the machine of this assistant, prints a new one."
)


def code_text(code: str) -> Text:
    """Return the only message that a stranger gets."""
    valid = Span(CODE_VALID.total_seconds())
    return joined((CODE.of(code=verbatim(f"`{code}`")), CODE_USE.of(time=valid)), BREAK)


def no_owner_text(*, code_waits: bool) -> Text:
    """Return the answer while there is no owner; `code_waits`: the program shows a code."""
    return joined((NO_OWNER, SEND_CODE if code_waits else MAKE_CODE), " ")


def request_text(request: PairingRequest) -> Text:
    """Return the notice to an approver about a person who waits."""
    who = described(request.applicant.person, request.applicant.name)
    use = REQUEST_USE.of(until=Moment(request.until, "clock"))
    return joined((REQUEST_NOTICE, who, use), BREAK)


def owner_text(assistant: str, *, approves: bool) -> Text:
    """Return the greeting of a new owner; `approves`: others need an approval."""
    hello = OWNER.of(assistant=verbatim(assistant))
    return joined((hello, OWNER_NEXT, OWNER_HELP) if approves else (hello, OWNER_HELP), BREAK)


def described(person: str, name: str) -> Text:
    """Return a person in one line for approvers: the name is what the person chose, the id is
    what the platform assures."""
    who = identity_of(person)
    account = "" if who.account == "main" else f" ({code_span(who.account)})"
    platform, id_ = verbatim(f"{who.platform}{account}"), verbatim(code_span(who.id))
    if not shown_name(name):
        return UNNAMED.of(platform=platform, id=id_)
    named = verbatim(code_span(shown_name(name)))
    return PERSON.of(name=named, platform=platform, id=id_)


def code_span(text: str) -> str:
    """Return a text as inline code, in which no formatting, link or mention works."""
    return f"`{shown_name(text.replace('`', chr(39)), MAX_ID) or '?'}`"


QUIET_SECONDS: Final = 60.0
"""The time for which further messages of a person are not looked up."""
MAX_QUIET: Final = 10_000
REQUESTS_PER_MINUTE: Final = 30
"""Requests from one platform account that are looked up, in one process."""
HINTS_PER_MINUTE: Final = 10
"""Hints to people in rooms, and answers to people who wait or write before there is an owner, by
platform account."""
HINT_AGAIN: Final = timedelta(days=1)
NO_OWNER_AGAIN: Final = timedelta(hours=1)
NO_OWNER_ANSWERS: Final = 2
"""Answers to one person within that time while there is no owner."""
TRIES_PER_MINUTE: Final = 5
"""Codes that one approver may enter."""

WRONG_CODE: Final = text(
    "No request has this code. It may be mistyped, used already, or older than an hour. A newer "
    "code replaces an older one. `/approve` lists everybody who waits."
)
NOT_APPROVED: Final = text("Nobody with this ID is approved. `/approve list` shows who is.")
SEVERAL: Final = text("Several people have this ID. Write the one that you mean: {names}.")
TOO_MANY_TRIES: Final = text("You entered too many codes. Please try again in a minute.")


Linked = Callable[[str, str], Awaitable[Sequence[str]]]


async def nobody_linked(tenant: str, person: str) -> Sequence[str]:
    """Return no identity: identities cannot be linked without memory."""
    return ()


class Pairing:
    """Runs the steps of a request, and records each decision in the audit log. Every method raises
    `StoreUnavailable`."""

    def __init__(
        self,
        store: AdmissionStore,
        buckets: Buckets,
        clock: Clock,
        audit: AccessAudit,
        admissions: Admissions,
        linked: Linked = nobody_linked,
    ) -> None:
        """`linked` returns the identities that are linked with one."""
        self._linked = linked
        self.store = store
        self._buckets = buckets
        self._clock = clock
        self._audit = audit
        self._admissions = admissions
        self._quiet: Latest[tuple[str, str], tuple[float, str]] = Latest(MAX_QUIET)
        self._reminded: Latest[tuple[str, str], float] = Latest(MAX_QUIET)
        self._answered: Latest[str, float] = Latest(MAX_QUIET)
        self._rates: dict[tuple[str, str], Bucket] = {}

    async def request(self, applicant: Applicant) -> tuple[Decision, str]:
        """Return the decision, and the code to send to the applicant: empty if none is sent."""
        who, now = (applicant.tenant, applicant.person), self._clock.monotonic()
        until, reason = self._quiet.get(who, (now, ""))
        if until > now:
            return Decision(STAGE, False, reason), ""
        if not self._looked_up(applicant.place, now):
            return Decision(STAGE, False, "too_many_requests"), ""
        code = new_pairing_code()
        decision = await self.store.request(
            _cleaned(applicant), secrets.token_hex(6), hash_code(code), self._clock.now()
        )
        reason = CODE_SENT if decision.allowed else decision.reason
        self._quiet[who] = (now + QUIET_SECONDS, reason)
        if not decision.allowed:
            return decision, ""
        await self._audit.changed("requested", *who, applicant.person)
        return decision, code

    async def hints(self, tenant: str, person: str, place: Place) -> bool:
        """Return True if the hint for a person in a room is due. Only this person sees it."""
        return await self._due(f"pairing-hint:{tenant}:{person}", HINT_AGAIN, tenant, place)

    async def reminds(self, tenant: str, person: str, place: Place) -> bool:
        """Return True for the first message of a person after their code: the only one that is
        answered."""
        now, who = self._clock.monotonic(), (tenant, person)
        if self._reminded.get(who, now) > now:
            return False
        self._reminded[who] = now + CODE_VALID.total_seconds()
        return await self._due(f"pairing-reminder:{tenant}:{person}", CODE_VALID, tenant, place)

    async def code_waits(self) -> bool | None:
        """Return True while somebody can become the owner with a code, False if the code has to be
        made first; None once there is an owner."""
        if self._admissions.has_owners or await self.store.owners():
            return None
        return await self.store.owner_code_waits(self._clock.now())

    async def tells_no_owner(
        self, tenant: str, person: str, place: Place, *, code_waits: bool
    ) -> bool:
        """Return True if a person is told that there is no owner: twice within `NO_OWNER_AGAIN`,
        and again after a code was made."""
        for number in range(NO_OWNER_ANSWERS):
            key = f"no-owner:{int(code_waits)}:{number}:{tenant}:{person}"
            if await self._due(key, NO_OWNER_AGAIN, tenant, place):
                return True
        return False

    async def _due(self, key: str, again: timedelta, tenant: str, place: Place) -> bool:
        """Return True the first time within `again`, within the limit of the account.

        The limit comes before the stored key, so that strangers store no more keys than they get
        answers. Who was answered is also kept in this process, so that they use up nothing of it.
        """
        now = self._clock.monotonic()
        if self._answered.get(key, now) > now:
            return False
        account = f"{tenant}:{place.platform}:{place.account}"
        rule = BucketRule("workspace", f"pairing-hint:{account}", HINTS_PER_MINUTE)
        if not (await self._buckets.take((rule,), self._clock.now().timestamp())).allowed:
            return False
        self._answered[key] = now + again.total_seconds()
        return await self._buckets.claim(key, again)

    async def waiting(self, tenant: str | None) -> list[PairingRequest]:
        """Return those who wait, oldest first; `tenant` None stands for all."""
        return await self.store.waiting(tenant, self._clock.now())

    async def find(self, tenant: str | None, typed: str, approver: str) -> PairingRequest:
        """Return the request with a code or an id as `/approve` lists it. Raises `BadInput` for an
        unknown one, and after too many tries."""
        rule = BucketRule("user", f"approve:{tenant}:{approver}", TRIES_PER_MINUTE)
        if not (await self._buckets.take((rule,), self._clock.now().timestamp())).allowed:
            raise BadInput(TOO_MANY_TRIES)
        request = match(await self.waiting(tenant), typed)
        if request is None:
            raise BadInput(WRONG_CODE)
        return request

    async def approve(self, request: PairingRequest, by: str) -> Admission | None:
        """Admit the person of a request; None if somebody else decided first."""
        admission = await self.store.approve(request.id, by, self._clock.now())
        if admission is not None:
            self._forget(admission.applicant)
            await self._audit.changed("approved", *_who(admission.applicant), by)
        return admission

    async def reject(self, request: PairingRequest, by: str) -> bool:
        """End a request, without a message to its person; False if somebody else decided first."""
        rejected = await self.store.reject(request.id, self._clock.now())
        if rejected is not None:
            await self._audit.changed("rejected", *_who(rejected.applicant), by)
        return rejected is not None

    async def approved(self, tenant: str, persons: Sequence[str]) -> Admission:
        """Return the admission of the one of these people who has one. Raises `BadInput` if nobody
        has, or several have."""
        admissions = await self.store.admissions_of(tenant, persons)
        if not admissions:
            raise BadInput(NOT_APPROVED)
        if len(admissions) > 1:
            names = tuple(verbatim(code_span(one.applicant.person)) for one in admissions)
            raise BadInput(SEVERAL.of(names=Listed(names, "or")))
        return admissions[0]

    async def revocation(self, admission: Admission, approver: PersonId, role: Role) -> Decision:
        """Decide if an approver may take this admission back in the chat."""
        tenant, person = _who(admission.applicant)
        persons = [person, *await self._linked(tenant, person)]
        all_of_them = await self.store.admissions_of(tenant, persons)
        ownership = any(one.role is Role.OWNER for one in all_of_them)
        return decide_revocation(role, own=str(approver) in persons, ownership=ownership)

    async def revoke(
        self, tenant: str, person: str, by: str, *, owners: bool = True
    ) -> list[Admission]:
        """Delete the admissions of a person and of their linked identities, each of which would
        admit all of them; return the deleted ones. Without `owners`, those of owners stay."""
        persons = [person, *await self._linked(tenant, person)]
        gone = await self.store.revoke(tenant, persons, self._clock.now(), owners=owners)
        self._admissions.changed()
        await self._admissions.refresh()
        for admission in gone:
            await self._audit.changed("revoked", *_who(admission.applicant), by)
        return gone

    def _looked_up(self, place: Place, now: float) -> bool:
        """Return True if one more request from this account is looked up; there are as many
        buckets as configured accounts."""
        account = (place.platform, place.account)
        rule = BucketRule("workspace", ":".join(account), REQUESTS_PER_MINUTE)
        taken = take((rule,), (self._rates.get(account),), now)
        self._rates[account] = taken.buckets[0]
        return taken.allowed

    def _forget(self, applicant: Applicant) -> None:
        self._admissions.changed()
        self._quiet.pop(_who(applicant), None)
        self._reminded.pop(_who(applicant), None)


def match(waiting: Sequence[PairingRequest], typed: str) -> PairingRequest | None:
    """Return the request that a typed code or id names. Every stored code is compared, so that the
    time does not depend on the code."""
    code, typed_id = pairing_code_in(typed), typed.strip().lower()
    result = None
    for request in waiting:
        by_code = matches_hash(code, request.code_hash) and code != ""
        if by_code or hmac.compare_digest(
            request.id.encode(), typed_id[:64].encode("utf-8", "replace")
        ):
            result = request
    return result


def _cleaned(applicant: Applicant) -> Applicant:
    return replace(applicant, name=shown_name(applicant.name))


def _who(applicant: Applicant) -> tuple[str, str]:
    return applicant.tenant, applicant.person
