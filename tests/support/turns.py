"""Turns that were answered, and wait for memory."""

from gateway.conversation import ConversationKey
from gateway.ports.memory import WaitingTurn
from gateway.ports.traces import Trace
from gateway.ports.unit_of_work import CompletedTurn, UnitOfWork
from memory.service.handle import MemoryHandle
from memory.write.consolidation import TurnText, waiting_turn


async def answered(
    unit: UnitOfWork,
    handle: MemoryHandle,
    turn_id: str,
    said: str,
    answer: str,
    *,
    external: bool = False,
) -> None:
    """A turn with this person is over."""
    turn = waiting_turn(turn_id, TurnText(handle.request, said, answer, external), handle.access)
    await unit.complete(over(turn))


def over(turn: WaitingTurn) -> CompletedTurn:
    """A turn of which nothing but the waiting turn is kept."""
    key = ConversationKey(turn.tenant, "telegram", "main", "", "c")
    answer = (
        turn.id,
        turn.id,
        "telegram",
        "main",
        str(key),
        "message",
        turn.at,
        (),
        "answered",
        1.0,
    )
    trace = Trace(*answer)
    return CompletedTurn(key, (), (), (), trace, (), (), turn)
