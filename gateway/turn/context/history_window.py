"""How a conversation's older part leaves the prompt: half of the window at once, into a summary.

Were it to leave message by message, every prompt would begin differently, and nothing of the
history would ever be read from the service's cache.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from gateway.conversation import ContextLimits
from gateway.ports.conversation_notes import MAX_SUMMARY, ConversationSummary, ConversationTask
from gateway.ports.prompt_blocks import DialogueTurn
from gateway.ports.stores import StoredTurn
from gateway.turn.context.extractive_summary import exchanges, extracted, lines_of, points
from gateway.turn.context.history import MESSAGE
from gateway.turn.tokens import estimate
from safety.secret_detection.detect import redact_secrets

MAX_PERSONS: Final = 500
"""People whose words one summary may go back to."""
SHOWN: Final = "*"
"""Stands among the persons of a summary for the writers of what was shown."""
EXTRACT_TOKENS: Final = 300
"""Of a summary that quotes."""


@dataclass(frozen=True, slots=True)
class LoadedHistory:
    """What there is of a conversation before the question: its task, a summary, the turns since,
    and the tokens of each of those."""

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
    """The turns after those that the summary stands for, none older than `limits.ttl`; the first
    is a person's."""
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
    """The summary, unless even the last of what it stands for is older than `limits.ttl`."""
    return summary if summary is not None and now - summary.at <= limits.ttl else None


def sizes_of(turns: Sequence[StoredTurn], count: Callable[[str], int]) -> list[int]:
    """The tokens that each of the turns takes in the history."""
    return [count(turn.whole) + MESSAGE for turn in turns]


def leaving(
    turns: Sequence[StoredTurn],
    sizes: Sequence[int],
    limits: ContextLimits,
    *,
    coming: int = 0,
    coming_tokens: int = 0,
) -> int:
    """How many of the turns, of these sizes, leave, oldest first: none while all of them and
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
    said: Sequence[DialogueTurn],
    text: str | None = None,
) -> ConversationSummary:
    """The summary that takes the place of these turns, which are some, and of the one before.
    Without a `text` it is made of what was said. Its persons include `SHOWN` where somebody else's
    text was shown."""
    persons = {turn.person for turn in turns if turn.person}
    persons |= {SHOWN for turn in turns if turn.material}
    if before is not None and len(before.persons) < MAX_PERSONS:
        persons.update(before.persons)
    else:
        before = None  # begun anew, so that whoever is to be forgotten can be found in it
    if text is None:
        lines = lines_of(before.text) if before is not None else []
        lines += [line for group in exchanges(said) for line in points(group)]
        text = redact_secrets(extracted(lines, EXTRACT_TOKENS, estimate)).text
    last = turns[-1]
    return ConversationSummary(
        text[:MAX_SUMMARY], last.message_id, last.role, last.at, tuple(sorted(persons))
    )


def _after(turns: Sequence[StoredTurn], summary: ConversationSummary) -> int:
    """Where the turns begin that are not in the summary."""
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        if turn.message_id == summary.message_id and turn.role == summary.role:
            return index + 1
    return next((i for i, turn in enumerate(turns) if turn.at > summary.at), len(turns))
