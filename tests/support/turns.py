"""Turns that were answered, and wait for memory."""

from gateway.conversation import ConversationKey
from gateway.ports.memory import WaitingTurn
from gateway.stores import Completed, Journal, Trace
from memory.consolidation import Said, waiting_turn
from memory.handle import MemoryHandle


async def answered(
    journal: Journal,
    handle: MemoryHandle,
    turn_id: str,
    said: str,
    answer: str,
    *,
    external: bool = False,
) -> None:
    """A turn with this person is over."""
    turn = waiting_turn(turn_id, Said(handle.occasion, said, answer, external), handle.reach)
    await journal.complete(over(turn))


def over(turn: WaitingTurn) -> Completed:
    """An exchange of which nothing but the waiting turn is kept."""
    key = ConversationKey(turn.tenant, "telegram", "main", "", "c")
    told = (turn.id, turn.id, "telegram", "main", str(key), "message", turn.at, (), "answered", 1.0)
    trace = Trace(*told)
    return Completed(key, (), (), (), trace, (), (), turn)
