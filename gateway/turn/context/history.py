"""The conversation so far: a summary of the older part, and the later messages unchanged."""

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import islice
from typing import Final

from msgspec import Struct

from gateway.conversation import ContextLimits
from gateway.immutable import replace
from gateway.ports.conversations import ConversationSummary, ConversationTask, StoredTurn
from gateway.ports.prompt_blocks import BlockKind, Count, DialogueTurn, LeftOut
from gateway.turn.context.shortening import shortened
from gateway.turn.context.summary import extracted, lines_of, points, question_groups
from gateway.turn.context.token_budgets import allot
from gateway.turn.prompt import escaped, tagged

MESSAGE: Final = 6
"""Tokens of the frame around a message."""
SUMMARY_SHARE: Final = 0.3
"""The part of the block that a summary may take if not everything fits."""


class HistoryFit(Struct, frozen=True):
    """The part of the conversation that is sent. `text` is the summary in its tags, empty for
    none."""

    text: str
    summary: str
    turns: tuple[DialogueTurn, ...]
    tokens: int
    losses: tuple[LeftOut, ...] = ()


def summary_block(summary: str) -> str:
    """Return a summary in its tags."""
    if not summary:
        return ""
    return tagged(BlockKind.HISTORY, tagged("summary", escaped(summary)))


class HistoryFitter:
    """Shortens a conversation to a limit; token counts are cached."""

    def __init__(self, summary: str, turns: tuple[DialogueTurn, ...], count: Count) -> None:
        self._count = count
        self._turns = turns
        self._summary = summary
        sizes = [count(turn.text) + MESSAGE for turn in turns]
        text = summary_block(summary)
        self.whole = HistoryFit(text, summary, turns, count(text) + sum(sizes))
        self._groups: list[list[DialogueTurn]] = []
        self._costs: list[int] = []
        self._points: list[list[str]] = []

    def within(self, limit: int) -> HistoryFit:
        """Return what fits into `limit` tokens: the latest turns complete, earlier ones
        in a summary."""
        if self.whole.tokens <= limit:
            return self.whole
        self._look_closer()
        start = self._first_kept(int(limit * (1 - SUMMARY_SHARE)))
        if start == len(self._groups) and self._groups:
            return self._last_cut(limit)
        while True:
            used = sum(self._costs[start:])
            summary = self._summed(start, limit - used)
            free = limit - used - self._count(summary_block(summary))
            if not start or self._costs[start - 1] > free:
                kept = tuple(turn for group in self._groups[start:] for turn in group)
                return self._fit(summary, kept, used, start)
            start -= 1

    def _look_closer(self) -> None:
        if self._groups or not self._turns:
            return
        self._groups = question_groups(self._turns)
        self._costs = [sum(map(self._size, group)) for group in self._groups]
        self._points = [points(group) for group in self._groups]

    def _size(self, turn: DialogueTurn) -> int:
        return self._count(turn.text) + MESSAGE

    def _first_kept(self, limit: int) -> int:
        """Return the first group from which on everything fits."""
        start, left = len(self._groups), limit
        while start and self._costs[start - 1] <= left:
            start -= 1
            left -= self._costs[start]
        return start

    def _last_cut(self, limit: int) -> HistoryFit:
        """Return the latest group only, complete if it fits without a summary, otherwise with its
        longest texts cut; empty if there is hardly any room."""
        last, before = self._groups[-1], len(self._groups) - 1
        needs = [self._size(turn) for turn in last]
        room = limit if sum(needs) <= limit else limit - int(limit * SUMMARY_SHARE)
        parts = allot(needs, [room // len(last)] * len(last), room)
        cut = tuple(
            self._shorter(turn, part - MESSAGE) for turn, part in zip(last, parts, strict=True)
        )
        if cut[0].role != "user" or not all(turn.text for turn in cut):
            return self._fit(self._summed(len(self._groups), limit), (), 0, len(self._groups))
        used = sum(map(self._size, cut))
        fit = self._fit(self._summed(before, limit - used), cut, used, before)
        lost = sum(needs) - used
        return (
            replace(fit, losses=(*fit.losses, LeftOut("latest_turns", "cut", lost)))
            if lost
            else fit
        )

    def _shorter(self, turn: DialogueTurn, limit: int) -> DialogueTurn:
        """Shorten a turn. Material is left out completely, because half a frame would stay open."""
        if not turn.shown or self._count(turn.text) <= limit:
            return turn._replace(text=shortened(turn.text, limit, self._count))
        return turn._replace(text=shortened(turn.spoken, limit, self._count), shown="")

    def _summed(self, start: int, limit: int) -> str:
        """Return a summary of the groups before `start`, with its tags within `limit` tokens."""
        lines = lines_of(self._summary)
        lines += [line for group in self._points[:start] for line in group]
        room = limit - self._count(summary_block("-"))
        while room > 0:
            summary = extracted(lines, room, self._count)
            over = self._count(summary_block(summary)) - limit
            if over <= 0:
                return summary
            room -= over  # escaping made it longer
        return ""

    def _fit(
        self, summary: str, turns: Sequence[DialogueTurn], used: int, start: int
    ) -> HistoryFit:
        text = summary_block(summary)
        tokens = used + self._count(text)
        lost = sum(self._costs[:start])
        if lost:
            loss = LeftOut("turns", "summarised" if summary else "left_out", lost)
        else:
            loss = LeftOut("summary", "cut" if summary else "left_out", self.whole.tokens - tokens)
        losses = (loss,) if loss.tokens > 0 else ()
        return HistoryFit(text, summary, tuple(turns), tokens, losses)


class LoadedHistory(Struct, frozen=True):
    """The stored conversation: its task, its summary, the turns since, and the tokens of each
    turn."""

    task: ConversationTask | None = None
    summary: ConversationSummary | None = None
    turns: tuple[StoredTurn, ...] = ()
    sizes: tuple[int, ...] = ()
    documents: bool = False
    """True if the conversation has a document that can be searched."""


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
