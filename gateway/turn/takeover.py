"""A message in a conversation that an operator has taken over: it is stored, and not answered."""

from gateway.policy.decision import Decision
from gateway.policy.takeover import HANDED_OVER, RETURNED, STAGE, decide_takeover
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


async def hand_over(turn: TurnContext, services: Services) -> Decision:
    """Leave the messages to the operator: they are stored as said, and the model is not asked."""
    turn.outcome = HANDED_OVER
    await redact_aside(turn, services)
    return Decision(STAGE, True, HANDED_OVER, "an operator answers this conversation")
