"""Notices that an answer may have been sent before the stores returned to an earlier state."""

from typing import Final

from gateway.policy.decision import Decision
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

MAY_REPEAT: Final = "may_repeat"


async def doubt_first(turn: TurnContext, services: Services) -> None:
    """Set `may_repeat` of a turn whose answer may have been sent before. Its answer then stands
    below a repeat note, and is not shown while it grows. Raises `StoreUnavailable`."""
    if turn.asked.received_at is None or turn.attempt.may_repeat:
        return
    asked = services.stores.unit_of_work.may_repeat
    for one in (turn, *turn.collected):
        if one.asked.received_at is not None and await asked(one.id, one.asked.received_at):
            turn.attempt.may_repeat = True
            detail = "it may have been sent before data was lost or restored"
            turn.note(Decision("repetition", True, MAY_REPEAT, detail))
            return
