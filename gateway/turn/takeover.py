"""A message in a conversation that an operator has taken over: it is stored, and not answered.

An answer that is being written when the conversation is taken over is withheld.
"""

from datetime import datetime
from typing import Final

from gateway.immutable import replace
from gateway.message import NOTHING_SHOWN, Outbound
from gateway.policy.decision import Decision
from gateway.policy.takeover_return import HANDED_OVER, RETURNED, STAGE, WITHHELD, decide_takeover
from gateway.render import address, render_off_loop
from gateway.text import Text, text
from gateway.turn.audit import audit
from gateway.turn.memory import redact_aside
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext


async def is_taken_over(turn: TurnContext, services: Services) -> bool:
    """Return True if an operator answers this conversation. One whose operator was idle for too
    long is given back to the assistant. Raises `StoreUnavailable`."""
    takeovers = services.stores.takeovers
    takeover = await takeovers.of(str(turn.key)) if takeovers is not None else None
    if takeovers is None or takeover is None:
        return False
    idle, now = services.policies.takeover_idle, services.clock.now()
    decision = decide_takeover(takeover.active, now, idle)
    if not decision.allowed:
        return True
    turn.note(decision)
    if await takeovers.end(takeover.id, now):
        await audit(f"takeover_{RETURNED}", turn, services, decision)
    return False


async def is_silenced(turn: TurnContext, services: Services) -> bool:
    """Return True if an operator answers this conversation now. Raises `StoreUnavailable`."""
    takeovers, idle = services.stores.takeovers, services.policies.takeover_idle
    takeover = await takeovers.of(str(turn.key)) if takeovers is not None else None
    if takeover is None:
        return False
    return not decide_takeover(takeover.active, services.clock.now(), idle).allowed


NOT_KEPT: Final = "not_kept"
INSTEAD: Final = text("_(Somebody from the team answers here now.)_")
UNREAD: Final = text(
    "Somebody from the team answers here now, and cannot read this message: memory is off for "
    "you, so I do not store it. Turn memory on with `/privacy memory on`, or ask again when I "
    "answer here again."
)


async def hand_over(turn: TurnContext, services: Services) -> Decision:
    """Leave the messages to the operator: they are stored as said, and the model is not asked."""
    turn.outcome = HANDED_OVER
    if turn.inputs.unkept:
        turn.outbound = await _addressed(UNREAD, turn)
        return Decision(STAGE, True, NOT_KEPT, "nobody reads a message that is not stored")
    await redact_aside(turn, services)
    return Decision(STAGE, True, HANDED_OVER, "an operator answers this conversation")


def silent_since(turn: TurnContext, services: Services) -> datetime | None:
    """Return the moment after which no operator may have taken part for what the model wrote to be
    sent; None for a turn that is stored in any case."""
    asked = turn.generation.request is not None and turn.outcome != HANDED_OVER
    if not asked or services.stores.takeovers is None:
        return None
    return services.clock.now() - services.policies.takeover_idle


async def withhold(turn: TurnContext) -> None:
    """Send nothing of what the model wrote: an operator took the conversation over meanwhile. The
    messages are then stored for the operator, and a note replaces a live message."""
    turn.outcome, turn.refusal = HANDED_OVER, None
    details = "an operator took the conversation over while the answer was written"
    turn.decisions.append(Decision(STAGE, False, WITHHELD, details))
    live = next((one.replaces for one in turn.outbound if one.replaces), "")
    said = UNREAD if turn.inputs.unkept else INSTEAD if live else None
    turn.outbound = await _addressed(said, turn) if said is not None else ()
    if live:
        first, *others = turn.outbound
        turn.outbound = (replace(first, replaces=live), *others)


async def _addressed(said: Text, turn: TurnContext) -> tuple[Outbound, ...]:
    return address(
        turn.id,
        turn.place,
        await render_off_loop(turn.language_of().shown(said), turn.connected.renderer),
        NOTHING_SHOWN,
        reply_to_id=turn.asked.reply_to_id,
        reply_handle=turn.asked.reply_handle,
    )
