"""Nothing is told twice: what the brief or the history tells is no knowledge, as long as it is
told there. Where it had to be cut out of its block, it may come back as knowledge."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from gateway.ports.prompt_blocks import Assembled, BlockKind, ContextParts, KnowledgeItem
from gateway.turn.context.delimiters import escaped

TRIES: Final = 3
"""Assemblies at most: what comes in as knowledge may push something else out. The last one rather
tells something twice than not at all."""


def assemble_deduplicated(
    parts: ContextParts,
    found: Sequence[KnowledgeItem],
    asked: Collection[str],
    make: Callable[[ContextParts], Assembled],
) -> Assembled:
    """The prompt that `make` makes of the parts with what of `found` is not told in it anyway.
    `asked` are the ids of the messages that ask."""
    texts = [escaped(piece.text) for piece in (*parts.personal, *parts.project)]
    hidden = _told(found, texts, {said.id for said in parts.turns}.union(asked))
    for _ in range(TRIES - 1):
        made = _made(parts, found, hidden, make)
        texts = [made[BlockKind.SYSTEM].text, made[BlockKind.PROJECT].text]
        still = hidden & _told(found, texts, {said.id for said in made.turns}.union(asked))
        if still == hidden:
            return made
        hidden = still
    return _made(parts, found, _told(found, (), asked), make)


def _made(
    parts: ContextParts,
    found: Sequence[KnowledgeItem],
    hidden: Collection[str],
    make: Callable[[ContextParts], Assembled],
) -> Assembled:
    shown = tuple(item for item in found if item.id not in hidden)
    return make(replace(parts, knowledge=shown) if shown or parts.knowledge else parts)


def _told(
    found: Sequence[KnowledgeItem], texts: Sequence[str], messages: Collection[str]
) -> frozenset[str]:
    """The ids of what these texts or messages tell."""
    return frozenset(
        item.id
        for item in found
        if item.message_id in messages
        or (item.line and any(escaped(item.line) in text for text in texts))
    )
