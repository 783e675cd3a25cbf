"""An extractive summary of the older part of a conversation, without a model.

It quotes sentences with a decision, and otherwise the questions. It grows at the end and drops
lines at the beginning, and the same turns give the same text.
"""

import re
from collections.abc import Sequence
from typing import Final

from gateway.ports.prompt_blocks import Count, DialogueTurn
from gateway.turn.context.sentence_cut import first_sentence, sentences, shortened

MAX_LINE: Final = 160
"""Characters of one point."""
MAX_POINTS: Final = 24

_DECIDED: Final = tuple(
    """
    decided|agreed|chose|we will|we'll|i will|i'll|let's go with|settled on
    |beschlossen|entschieden|einig|wir nehmen|wir werden|décidé|convenu|nous allons
    |decidido|acordado|vamos a|决定|決定|同意|решили|договорились
    """.replace("\n", "")
    .replace("    ", "")
    .split("|")
)
"""Phrases that mark a decision; plain search, which is faster than a pattern."""
_LATIN: Final = re.compile(rf"\b(?:{'|'.join(w for w in _DECIDED if w[0] < 'Ā')})\b")


def _decides(text: str) -> bool:
    low = text.lower()
    phrases = [words for words in _DECIDED if words in low]
    return any(words[0] >= "Ā" for words in phrases) or bool(phrases and _LATIN.search(low))


def extracted(lines: Sequence[str], limit: int, count: Count) -> str:
    """Return the latest of these points, one per line, within `limit` tokens; if not even the
    newest fits, a part of it."""
    kept: list[str] = []
    left = limit
    for line in reversed(lines[-MAX_POINTS:]):
        size = count(f"{line}\n")
        if size > left:
            break
        left -= size
        kept.append(line)
    if not kept and lines:
        return shortened(lines[-1], limit, count)
    return "\n".join(reversed(kept))


def lines_of(summary: str) -> list[str]:
    """Return the points of a summary."""
    return [line for line in summary.splitlines() if line.strip()]


def points(group: Sequence[DialogueTurn]) -> list[str]:
    """Return the points of an exchange: each sentence with a decision, or the first sentence of the
    question."""
    decided = [
        _point(turn, sentence)
        for turn in group
        if _decides(turn.words)
        for sentence in sentences(turn.words)
        if _decides(sentence)
    ]
    if decided:
        return decided
    question = next((turn for turn in group if turn.role == "user" and turn.words.strip()), None)
    return (
        [_point(question, first_sentence(question.words.strip()))] if question is not None else []
    )


def exchanges(turns: Sequence[DialogueTurn]) -> list[list[DialogueTurn]]:
    """Group questions with their answers; a conversation is only cut between groups."""
    groups: list[list[DialogueTurn]] = []
    for turn in turns:
        begins = turn.role == "user" and (not groups or groups[-1][-1].role == "assistant")
        if begins or not groups:
            groups.append([turn])
        else:
            groups[-1].append(turn)
    return groups


def _point(turn: DialogueTurn, sentence: str) -> str:
    line = " ".join(sentence[: MAX_LINE * 2].split())
    line = line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 1]}…"
    if turn.writer:  # a room, where the name stands before what is said
        return f"- [{turn.writer}] {line}"
    return f"- {'You' if turn.role == 'assistant' else 'They'}: {line}"
