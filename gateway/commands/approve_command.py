"""`/approve`: owners and operators decide who may write, see the approvals and take them back."""

from collections.abc import Iterable
from typing import Final

from gateway.errors import BadInput
from gateway.message import Choice, Reply
from gateway.pairing.requests import BREAK, NOT_APPROVED, Pairing, code_span, described
from gateway.people import Audience, PersonId, Role
from gateway.policy.pairing_codes import MAX_TYPED, pairing_code_in, pairing_code_within
from gateway.ports.admissions import Admission, PairingRequest
from gateway.text import Moment, Text, counted, joined, label, text, verbatim
from gateway.turn.access_notices import PREFIX, AccessNotices, decision_buttons
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

MAX_WAITING: Final = 10
"""Requests that one list shows."""
MAX_CHOICES: Final = 5
"""People with a button below the list."""

NOT_YOURS: Final = text("Only owners and operators decide who may write to me.")
NOT_HERE: Final = text(
    "Write `/approve` to me in a direct message: others can read this conversation."
)
NOBODY: Final = text("Nobody is waiting for approval.")
DECIDED: Final = text("Somebody else decided first, or the request has ended. Nothing was changed.")
APPROVED: Final = text("{who} may write to me now.")
REJECTED: Final = text(
    "{who} was rejected. I do not notify them, and they get no new code for a day. To block a "
    "person permanently, add them to `access.blocked_users` in the configuration."
)
WAITING_HEAD: Final = text(
    "**These people ask for permission to write to me.** Approve only people whom you know."
)
WAITING_FOOT: Final = text(
    "Write `/approve CODE` with the code that the person gives you: it shows that the request is "
    "theirs. Without the code, write the command beside the person. `/approve reject ID` rejects "
    "the request with this ID. `/approve list` shows the approved people."
)

MAX_APPROVED: Final = 20
"""Approved people that one list shows."""
MAX_ACCOUNTS: Final = 100
"""Accounts in which an id without its account is looked up."""

NOBODY_APPROVED: Final = text("Nobody is approved.")
WHOM: Final = text("Write `/approve revoke ID`. `/approve list` shows the IDs.")
OWN: Final = text(
    "You cannot take back your own approval here. Run `parley access revoke` on the machine of "
    "this assistant."
)
OWNERSHIP: Final = text("Only an owner can take back the approval of an owner.")
REVOKED: Final = text(
    "{who} is no longer approved. I do not notify them, and they get no new code for a day."
)
APPROVED_HEAD: Final = text("**These people are approved**, the latest first.")
APPROVED_FOOT: Final = text(
    "`/approve revoke ID` takes an approval back, also from linked accounts. People whom the "
    "configuration names are not in this list."
)
# Translators: {who} is a person as an approver sees them.
WHOSE_CODE: Final = text("This code belongs to {who}.")
WHICH: Final = text("Do you approve this person?")
WAITS: Final = text("{who}, until {until}: {command}")
MORE: Final = counted("and {count} more", "and {count} more")
AND_MORE: Final = text(
    "and more: `parley access list`, on the machine of this assistant, shows all"
)
APPROVED_MEMBER: Final = text("{who}, since {day}, by {by}")
APPROVED_OWNER: Final = text("{who}, owner, since {day}, by {by}")
APPROVE_NUMBER: Final = label("Approve {number}")
TYPED_NUMBER: Final = label("approve {number}")
REFUSALS: Final = {"own_approval": OWN, "ownership": OWNERSHIP}


def owns(value: str) -> bool:
    """Return True for the value of a button about a request."""
    return value.startswith(PREFIX)


async def run_approve(turn: TurnContext, arguments: str, services: Services) -> Reply:
    """Run the command. Raises `BadInput` with words for the person."""
    pairing = _pairing_for(turn, services)
    if not arguments.strip():
        newest_first = list(reversed(await pairing.waiting(turn.asker.who.tenant)))
        return _listed(newest_first)
    first, _, rest = arguments.strip().partition(" ")
    if first.lower() == "list":
        return await list_approved(turn, pairing)
    if first.lower() == "revoke":
        return await revoke(turn, rest, pairing, services)
    reject = first.lower() == "reject"
    typed = rest if reject else arguments
    tenant, person = turn.asker.who.tenant, str(turn.asker.who.person)
    if within := code_beside_words(typed):
        return _asked(await pairing.find(tenant, within, person))
    request = await pairing.find(tenant, typed, person)
    return await _decide(turn, request, not reject, pairing, services)


async def press_approval(turn: TurnContext, value: str, services: Services) -> Reply:
    """Carry out a button about a request. Raises `BadInput` with words for the person."""
    pairing = _pairing_for(turn, services)
    action, _, request_id = value.removeprefix(PREFIX).partition(":")
    for request in await pairing.waiting(turn.asker.who.tenant):
        if request.id == request_id:
            return await _decide(turn, request, action == "approve", pairing, services)
    return Reply(DECIDED)


def _pairing_for(turn: TurnContext, services: Services) -> Pairing:
    if not turn.asker.who.role.at_least(Role.OPERATOR) or services.pairing is None:
        raise BadInput(NOT_YOURS)
    if turn.place.audience is not Audience.DIRECT:
        raise BadInput(NOT_HERE)
    return services.pairing


async def _decide(
    turn: TurnContext, request: PairingRequest, approve: bool, pairing: Pairing, services: Services
) -> Reply:
    by = str(turn.asker.who.person)
    who = described(request.applicant.person, request.applicant.name)
    if not approve:
        done = await pairing.reject(request, by)
        return Reply(REJECTED.of(who=who) if done else DECIDED)
    if await pairing.approve(request, by) is None:
        return Reply(DECIDED)
    await AccessNotices(services, pairing.store).send_due()
    return Reply(APPROVED.of(who=who))


def _listed(waiting: list[PairingRequest]) -> Reply:
    if not waiting:
        return Reply(NOBODY)
    lines = numbered(_waiting_line(one) for one in waiting[:MAX_WAITING])
    if len(waiting) > MAX_WAITING:
        more = MORE.of(count=len(waiting) - MAX_WAITING)
        lines = joined((lines, more), BREAK)
    until = min(one.until for one in waiting[:MAX_WAITING])
    said = joined((WAITING_HEAD, lines, WAITING_FOOT), BREAK)
    return Reply(said, _buttons(waiting), buttons_until=until)


def code_beside_words(typed: str) -> str:
    """Return the code in a sentence, whose other words may say the opposite of an approval; empty
    for a code alone."""
    return "" if pairing_code_in(typed) else pairing_code_within(typed)


def _asked(request: PairingRequest) -> Reply:
    """Return the question about the person whose code stands in a sentence."""
    said = joined(
        (WHOSE_CODE.of(who=described(request.applicant.person, request.applicant.name)), WHICH),
        BREAK,
    )
    return Reply(said, decision_buttons(request.id), buttons_until=request.until)


def _waiting_line(one: PairingRequest) -> Text:
    who = described(one.applicant.person, one.applicant.name)
    until, command = Moment(one.until, "clock"), verbatim(code_span(f"/approve {one.id}"))
    return WAITS.of(who=who, until=until, command=command)


def numbered(lines: Iterable[Text]) -> Text:
    """Return a numbered list."""
    numbers = (joined((verbatim(f"{at}. "), line)) for at, line in enumerate(lines, 1))
    return joined(numbers, "\n")


def _buttons(waiting: list[PairingRequest]) -> tuple[Choice, ...]:
    if len(waiting) == 1:
        return decision_buttons(waiting[0].id)
    return tuple(
        Choice(
            APPROVE_NUMBER.of(number=number),
            f"{PREFIX}approve:{one.id}",
            typed=TYPED_NUMBER.of(number=number),
        )
        for number, one in enumerate(waiting[:MAX_CHOICES], 1)
    )


async def list_approved(turn: TurnContext, pairing: Pairing) -> Reply:
    """Return the list of the people who are approved. Raises `StoreUnavailable`."""
    admissions = await pairing.store.admissions(MAX_APPROVED + 1, turn.asker.who.tenant)
    if not admissions:
        return Reply(NOBODY_APPROVED)
    lines = numbered(map(_approved_line, admissions[:MAX_APPROVED]))
    if len(admissions) > MAX_APPROVED:
        lines = joined((lines, AND_MORE), BREAK)
    return Reply(joined((APPROVED_HEAD, lines, APPROVED_FOOT), BREAK))


async def revoke(turn: TurnContext, typed: str, pairing: Pairing, services: Services) -> Reply:
    """Take back the approval of the person with this id. Raises `BadInput` with words for the
    person, `StoreUnavailable`."""
    admission = await pairing.approved(turn.asker.who.tenant, _people_meant(typed, services))
    decision = await pairing.revocation(admission, turn.asker.who.person, turn.asker.who.role)
    turn.note(decision)
    if not decision.allowed:
        raise BadInput(REFUSALS.get(decision.reason, OWNERSHIP))
    person, by = admission.applicant.person, str(turn.asker.who.person)
    owners = turn.asker.who.role.at_least(Role.OWNER)
    gone = await pairing.revoke(turn.asker.who.tenant, person, by, owners=owners)
    if not gone:
        raise BadInput(NOT_APPROVED)
    return Reply(joined((REVOKED.of(who=_approved_person(one)) for one in gone), "\n"))


def _people_meant(typed: str, services: Services) -> list[str]:
    """The people that a typed id can mean: a whole `str(PersonId)`, or the id in any account.
    Raises `BadInput` for an empty one."""
    id_ = typed.strip(" `")
    if not id_ or len(id_) > 3 * MAX_TYPED:
        raise BadInput(WHOM)
    accounts = sorted(services.connected)[:MAX_ACCOUNTS]
    return [id_, *(str(PersonId(platform, account, id_)) for platform, account in accounts)]


def _approved_line(one: Admission) -> Text:
    line = APPROVED_OWNER if one.role is Role.OWNER else APPROVED_MEMBER
    day, by = Moment(one.at, "day"), verbatim(code_span(one.by))
    return line.of(who=_approved_person(one), day=day, by=by)


def _approved_person(one: Admission) -> Text:
    return described(one.applicant.person, one.applicant.name)
