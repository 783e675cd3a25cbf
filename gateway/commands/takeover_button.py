"""The button with which a person shows an operator the earlier text of a direct conversation."""

from typing import Final

from gateway.conversation import ConversationKey
from gateway.message import Choice, Reply
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.policy.takeover_return import STAGE, decide_takeover
from gateway.text import (
    label,
    text,
    verbatim,
)
from gateway.turn.audit import audit
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

PREFIX: Final = "takeover:share:"
SHOW: Final = label("Show what was before")
ENDED: Final = text(
    "This button no longer works. It works only while somebody from the team answers here."
)
NOT_YOURS: Final = text("Only the person whose conversation this is can show it.")
SHARED: Final = text(
    "{name} can now read the earlier messages of this conversation, until I answer again."
)


def share_button(takeover_id: str) -> Choice:
    """Return the button under the message that tells the person of a takeover."""
    return Choice(SHOW, f"{PREFIX}{takeover_id}", typed=label("show"))


def owns(value: str) -> bool:
    """Return True for the value of this button."""
    return value.startswith(PREFIX)


async def press_share(turn: TurnContext, value: str, services: Services) -> Reply:
    """Show the earlier text to the operator, if the person of the conversation pressed. Raises
    `StoreUnavailable`."""
    takeovers = services.stores.takeovers
    takeover = None if takeovers is None else await takeovers.find(value.removeprefix(PREFIX))
    if takeovers is None or takeover is None:
        return Reply(ENDED)
    here = ConversationKey.of(takeover.conversation).room == turn.key.room
    direct = turn.place.audience is Audience.DIRECT
    if not (takeover.person and takeover.person == str(turn.asker.who.person) and here and direct):
        decision = Decision(STAGE, False, "not_the_person")
        turn.note(decision)
        await audit("takeover_share_denied", turn, services, decision)
        return Reply(NOT_YOURS, leaves_buttons=True)
    idle = services.policies.takeover_idle
    if decide_takeover(takeover.active, services.clock.now(), idle).allowed:
        return Reply(ENDED)
    if not await takeovers.share(takeover.id):
        return Reply(ENDED)
    decision = Decision(STAGE, True, "shared")
    turn.note(decision)
    await audit("takeover_shared", turn, services, decision)
    return Reply(SHARED.of(name=verbatim(takeover.name)))
