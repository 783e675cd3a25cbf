"""`/approve list` and `/approve revoke`: owners and operators see and take back approvals."""

from typing import Final

from gateway.errors import BadInput
from gateway.message import Reply
from gateway.pairing.requests import NOT_APPROVED, Pairing
from gateway.pairing.texts import code_span, described
from gateway.people import PersonId, Role
from gateway.policy.pairing_codes import MAX_TYPED
from gateway.ports.admissions import Admission
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

MAX_LISTED: Final = 20
"""People that one list shows."""
MAX_ACCOUNTS: Final = 100
"""Accounts in which an id without its account is looked up."""

NOBODY_APPROVED: Final = "Nobody is approved."
WHOM: Final = "Write `/approve revoke ID`. `/approve list` shows the IDs."
OWN: Final = (
    "You cannot take back your own approval here. Run `parley access revoke` on the machine of "
    "this assistant."
)
OWNERSHIP: Final = "Only an owner can take back the approval of an owner."
REVOKED: Final = (
    "{who} is no longer approved. I do not notify them, and they get no new code for a day."
)
HEAD: Final = "**These people are approved**, the latest first."
FOOT: Final = (
    "`/approve revoke ID` takes an approval back, also from linked accounts. People whom the "
    "configuration names are not in this list."
)
REFUSALS: Final = {"own_approval": OWN, "ownership": OWNERSHIP}


async def list_approved(turn: TurnContext, pairing: Pairing) -> Reply:
    """Return the list of the people who are approved. Raises `StoreUnavailable`."""
    admissions = await pairing.store.admissions(MAX_LISTED + 1, turn.asker.who.tenant)
    if not admissions:
        return Reply(NOBODY_APPROVED)
    lines = [f"{number}. {_line(one)}" for number, one in enumerate(admissions[:MAX_LISTED], 1)]
    if len(admissions) > MAX_LISTED:
        lines.append(
            "\nand more: `parley access list`, on the machine of this assistant, shows all"
        )
    return Reply("\n\n".join((HEAD, "\n".join(lines), FOOT)))


async def revoke(turn: TurnContext, typed: str, pairing: Pairing, services: Services) -> Reply:
    """Take back the approval of the person with this id. Raises `BadInput` with words for the
    person, `StoreUnavailable`."""
    admission = await pairing.approved(turn.asker.who.tenant, _people(typed, services))
    decision = await pairing.revocation(admission, turn.asker.who.person, turn.asker.who.role)
    turn.note(decision)
    if not decision.allowed:
        raise BadInput(REFUSALS.get(decision.reason, OWNERSHIP))
    person, by = admission.applicant.person, str(turn.asker.who.person)
    owners = turn.asker.who.role.at_least(Role.OWNER)
    gone = await pairing.revoke(turn.asker.who.tenant, person, by, owners=owners)
    if not gone:
        raise BadInput(NOT_APPROVED)
    return Reply("\n".join(REVOKED.format(who=_person(one)) for one in gone))


def _people(typed: str, services: Services) -> list[str]:
    """The people that a typed id can mean: a whole `str(PersonId)`, or the id in any account.
    Raises `BadInput` for an empty one."""
    text = typed.strip(" `")
    if not text or len(text) > 3 * MAX_TYPED:
        raise BadInput(WHOM)
    accounts = sorted(services.connected)[:MAX_ACCOUNTS]
    return [text, *(str(PersonId(platform, account, text)) for platform, account in accounts)]


def _line(one: Admission) -> str:
    role = ", owner" if one.role is Role.OWNER else ""
    return f"{_person(one)}{role}, since {one.at:%Y-%m-%d}, by {code_span(one.by)}"


def _person(one: Admission) -> str:
    return described(one.applicant.person, one.applicant.name)
