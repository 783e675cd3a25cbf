"""The window of the history: its older half is replaced by a summary at once.

If messages left one by one, every prompt would begin differently, and the history would never be
read from the service's cache.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from gateway.conversation import ContextLimits
from gateway.llm.tokens import estimate
from gateway.ports.conversations import (
    MAX_SUMMARY,
    ConversationSummary,
    ConversationTask,
    StoredTurn,
)
from gateway.ports.prompt_blocks import DialogueTurn
from gateway.turn.context.history import MESSAGE
from gateway.turn.context.summary import extracted, lines_of, points, question_groups
from safety.secret_detection.detect import redact_secrets

MAX_PERSONS: Final = 500
"""People whose words one summary may contain."""
SHOWN: Final = "*"
"""Marks a summary that contains material, among its persons."""
EXTRACT_TOKENS: Final = 300
"""Tokens of an extractive summary."""


@dataclass(frozen=True, slots=True)
class LoadedHistory:
    """The stored conversation before the question: its task, its summary, the turns since, and the
    tokens of each turn."""

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


def summary_in_time(
    summary: ConversationSummary | None, limits: ContextLimits, now: datetime
) -> ConversationSummary | None:
    """Return the summary, unless everything in it is older than `limits.ttl`."""
    return summary if summary is not None and now - summary.at <= limits.ttl else None


def sizes_of(turns: Sequence[StoredTurn], count: Callable[[str], int]) -> list[int]:
    """Return the tokens of each turn in the history."""
    return [count(turn.whole) + MESSAGE for turn in turns]


def leaving(
    turns: Sequence[StoredTurn],
    sizes: Sequence[int],
    limits: ContextLimits,
    *,
    coming: int = 0,
    coming_tokens: int = 0,
) -> int:
    """Return how many of the turns, oldest first, the summary replaces: none while all of them and
    `coming` more are within the limits; otherwise as many as leave half of them free. The latest
    question stays."""
    number, tokens = len(turns) + coming, sum(sizes) + coming_tokens
    if number <= limits.max_messages and tokens <= limits.max_tokens:
        return 0
    gone = 0
    for index, turn in enumerate(turns):
        begins = turn.role == "user" and (not index or turns[index - 1].role == "assistant")
        if begins:
            gone = index
            if number <= limits.max_messages // 2 and tokens <= limits.max_tokens // 2:
                break
        number -= 1
        tokens -= sizes[index]
    return gone


def merged_summary(
    before: ConversationSummary | None,
    turns: Sequence[StoredTurn],
    dialogue: Sequence[DialogueTurn],
    text: str | None = None,
) -> ConversationSummary:
    """Return the summary that replaces these turns and the summary before. Without a `text` it is
    extracted from the turns. Its persons include `SHOWN` if there was material."""
    persons = {turn.person for turn in turns if turn.person}
    persons |= {SHOWN for turn in turns if turn.material}
    if before is not None and len(before.persons) < MAX_PERSONS:
        persons.update(before.persons)
    else:
        before = None  # starts again, so that each person in it can be found for an erasure
    if text is None:
        lines = lines_of(before.text) if before is not None else []
        lines += [line for group in question_groups(dialogue) for line in points(group)]
        text = redact_secrets(extracted(lines, EXTRACT_TOKENS, estimate)).text
    last = turns[-1]
    return ConversationSummary(
        text[:MAX_SUMMARY], last.message_id, last.role, last.at, tuple(sorted(persons))
    )


def _after(turns: Sequence[StoredTurn], summary: ConversationSummary) -> int:
    """Return the index of the first turn after the summary."""
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        if turn.message_id == summary.message_id and turn.role == summary.role:
            return index + 1
    return next((i for i, turn in enumerate(turns) if turn.at > summary.at), len(turns))
