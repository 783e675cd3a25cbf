"""The stored conversation before the question: the turns that no summary replaces."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from gateway.conversation import ContextLimits
from gateway.ports.conversations import ConversationSummary, ConversationTask, StoredTurn
from gateway.turn.context.history import MESSAGE


@dataclass(frozen=True, slots=True)
class LoadedHistory:
    """The stored conversation: its task, its summary, the turns since, and the tokens of each
    turn."""

    task: ConversationTask | None = None
    summary: ConversationSummary | None = None
    turns: tuple[StoredTurn, ...] = ()
    sizes: tuple[int, ...] = ()


NO_HISTORY: Final = LoadedHistory()


def since(
    turns: Sequence[StoredTurn],
    summary: ConversationSummary | None,
    limits: ContextLimits,
    now: datetime,
) -> list[StoredTurn]:
    """Return the turns after the summary, none older than `limits.ttl`; the first is a person's."""
    start = 0
    if summary is not None:
        start = _after(turns, summary)
    oldest = now - limits.ttl
    while start < len(turns) and (turns[start].at < oldest or turns[start].role != "user"):
        start += 1
    return list(islice(turns, start, None))


def sizes_of(turns: Sequence[StoredTurn], count: Callable[[str], int]) -> list[int]:
    """Return the tokens of each turn in the history."""
    return [count(turn.whole) + MESSAGE for turn in turns]


def _after(turns: Sequence[StoredTurn], summary: ConversationSummary) -> int:
    """Return the index of the first turn after the summary."""
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        if turn.message_id == summary.message_id and turn.role == summary.role:
            return index + 1
    return next((i for i, turn in enumerate(turns) if turn.at > summary.at), len(turns))
