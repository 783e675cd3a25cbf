"""`/approve`: owners and operators decide who may write."""

from typing import Final

from gateway.commands.revocation import list_approved, revoke
from gateway.errors import BadInput
from gateway.message import Button, Reply
from gateway.pairing.requests import Pairing
from gateway.pairing.texts import code_span, described
from gateway.people import Audience, Role
from gateway.ports.admissions import PairingRequest
from gateway.turn.access_notices import PREFIX, AccessNotices, decision_buttons
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

MAX_LISTED: Final = 10
"""People that one list shows."""
MAX_CHOICES: Final = 5
"""People with a button below the list."""

NOT_YOURS: Final = "Only owners and operators decide who may write to me."
NOT_HERE: Final = "Write `/approve` to me in a direct message: others can read this conversation."
NOBODY: Final = "Nobody waits for an approval."
DECIDED: Final = "Somebody else decided first, or the request has ended. Nothing was changed."
APPROVED: Final = "{who} may write to me now."
REJECTED: Final = (
    "{who} was rejected. I do not notify them, and they get no new code for a day. To block a "
    "person permanently, add them to `access.blocked_users` in the configuration."
)
HEAD: Final = (
    "**These people ask for permission to write to me.** Approve only people whom you know."
)
FOOT: Final = (
    "Write `/approve CODE` with the code that the person gives you, or `/approve ID`. `/approve "
    "reject ID` rejects a request. `/approve list` shows the approved people."
)


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
    request = await pairing.find(turn.asker.who.tenant, typed, str(turn.asker.who.person))
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
        return Reply(REJECTED.format(who=who) if done else DECIDED)
    if await pairing.approve(request, by) is None:
        return Reply(DECIDED)
    await AccessNotices(services, pairing.store).send_due()
    return Reply(APPROVED.format(who=who))


def _listed(waiting: list[PairingRequest]) -> Reply:
    if not waiting:
        return Reply(NOBODY)
    lines = [
        f"{number}. {described(one.applicant.person, one.applicant.name)}, until "
        f"{one.until:%H:%M} UTC, ID {code_span(one.id)}"
        for number, one in enumerate(waiting[:MAX_LISTED], 1)
    ]
    if len(waiting) > MAX_LISTED:
        lines.append(f"\nand {len(waiting) - MAX_LISTED} more")
    text = "\n\n".join((HEAD, "\n".join(lines), FOOT))
    until = min(one.until for one in waiting[:MAX_LISTED])
    return Reply(text, _buttons(waiting), buttons_until=until)


def _buttons(waiting: list[PairingRequest]) -> tuple[Button, ...]:
    if len(waiting) == 1:
        return decision_buttons(waiting[0].id)
    return tuple(
        Button(f"Approve {number}", f"{PREFIX}approve:{one.id}", typed=f"approve {number}")
        for number, one in enumerate(waiting[:MAX_CHOICES], 1)
    )
