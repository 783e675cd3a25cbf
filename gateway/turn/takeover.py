"""A message in a conversation that an operator has taken over: it is stored, and not answered."""

from typing import Final

from gateway.message import Reply
from gateway.policy.decision import Decision
from gateway.policy.takeover import HANDED_OVER, RETURNED, STAGE, decide_takeover
from gateway.render import address, render_off_loop
from gateway.turn.audit import audit
from gateway.turn.memory import redact_aside
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext


async def is_taken_over(turn: TurnContext, services: Services) -> bool:
    """Return True if an operator answers this conversation. One whose operator was idle for too
    long is given back to the assistant. Raises `StoreUnavailable`."""
    takeovers, idle = services.stores.takeovers, services.policies.takeover_idle
    if takeovers is None:
        return False
    takeover = await takeovers.of(str(turn.key))
    if takeover is None:
        return False
    decision = decide_takeover(takeover.active, services.clock.now(), idle)
    if not decision.allowed:
        return True
    turn.note(decision)
    if await takeovers.end(takeover.id):
        await audit(f"takeover_{RETURNED}", turn, services, decision)
    return False


NOT_KEPT: Final = "not_kept"
UNREAD: Final = (
    "Somebody of the team answers here, and cannot read this message: your memory is off, so I do "
    "not store it. Turn it on with `/privacy memory on`, or ask again when I answer here again."
)


async def hand_over(turn: TurnContext, services: Services) -> Decision:
    """Leave the messages to the operator: they are stored as said, and the model is not asked."""
    turn.outcome = HANDED_OVER
    if turn.unkept:
        await _say_unread(turn)
        return Decision(STAGE, True, NOT_KEPT, "nobody reads a message that is not stored")
    await redact_aside(turn, services)
    return Decision(STAGE, True, HANDED_OVER, "an operator answers this conversation")


async def _say_unread(turn: TurnContext) -> None:
    """Tell the person that neither the operator nor the assistant reads the message."""
    parts = await render_off_loop(UNREAD, turn.connected.renderer)
    reply_to = turn.last.id if turn.kind == "message" else ""
    turn.outbound = address(turn.id, turn.place, parts, Reply(UNREAD), reply_to_id=reply_to)
