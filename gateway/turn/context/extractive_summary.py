"""What stands for the older part of a conversation, where no model sums it up.

It quotes: sentences in which something was decided, and otherwise what was asked. It grows at the
end and forgets at the beginning, and the same turns give the same text.
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
"""What says that something was settled; looked for as it is, which is faster than a pattern."""
_LATIN: Final = re.compile(rf"\b(?:{'|'.join(w for w in _DECIDED if w[0] < 'Ā')})\b")


def _decides(text: str) -> bool:
    low = text.lower()
    found = [words for words in _DECIDED if words in low]
    return any(words[0] >= "Ā" for words in found) or bool(found and _LATIN.search(low))


def extracted(lines: Sequence[str], limit: int, count: Count) -> str:
    """The latest of these points, one a line, within `limit` tokens; where not even the newest
    fits, as much of it as does."""
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
    """The points of a summary that there is."""
    return [line for line in summary.splitlines() if line.strip()]


def points(group: Sequence[DialogueTurn]) -> list[str]:
    """What an exchange comes to: each sentence in which something was decided; the first sentence
    of the question where there is none."""
    decided = [
        _point(said, sentence)
        for said in group
        if _decides(said.words)
        for sentence in sentences(said.words)
        if _decides(sentence)
    ]
    if decided:
        return decided
    asked = next((said for said in group if said.role == "user" and said.words.strip()), None)
    return [_point(asked, first_sentence(asked.words.strip()))] if asked is not None else []


def exchanges(turns: Sequence[DialogueTurn]) -> list[list[DialogueTurn]]:
    """What was asked with its answers, one after the other; only here a conversation is cut."""
    groups: list[list[DialogueTurn]] = []
    for said in turns:
        begins = said.role == "user" and (not groups or groups[-1][-1].role == "assistant")
        if begins or not groups:
            groups.append([said])
        else:
            groups[-1].append(said)
    return groups


def _point(said: DialogueTurn, sentence: str) -> str:
    line = " ".join(sentence[: MAX_LINE * 2].split())
    line = line if len(line) <= MAX_LINE else f"{line[: MAX_LINE - 1]}…"
    if said.writer:  # a room, where the name stands before what is said
        return f"- [{said.writer}] {line}"
    return f"- {'You' if said.role == 'assistant' else 'They'}: {line}"
