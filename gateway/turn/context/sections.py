"""The System and the Project block: sections under tags of their own.

Their order: own text, skills, SOUL, brief; BIBLE, HEARTBEAT, shared memories.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gateway.ports.prompt_blocks import BlockKind, ContextParts, Count, Loss, Section
from gateway.turn.context.budgets import allot
from gateway.turn.context.delimiters import escaped, tagged
from gateway.turn.context.sentence_cut import shortened

GAP: Final = "\n\n"


def system_text(parts: ContextParts) -> str:
    """Return the System block. Its tag is the request's own field for it."""
    return _joined([parts.own, parts.skills, *map(_section_text, parts.personal)])


def project_text(pieces: Sequence[Section]) -> str:
    """Return the Project block, empty without a project."""
    inside = _joined(map(_section_text, pieces))
    return tagged(BlockKind.PROJECT, inside) if inside else ""


def fit_system(parts: ContextParts, limit: int, count: Count) -> tuple[str, tuple[Loss, ...]]:
    """Return the System block within `limit` tokens, which hold at least the own text."""
    fixed, losses = parts.own, []
    if parts.skills:
        with_skills = _joined([parts.own, parts.skills])
        if count(with_skills) <= limit:
            fixed = with_skills
        else:
            losses.append(Loss("skills", "left_out", count(parts.skills)))

    def block(written: Sequence[str]) -> str:
        return _joined([fixed, *written])

    text, cut = _fit(parts.personal, block, limit, count)
    return text, (*losses, *cut)


def fit_project(
    pieces: Sequence[Section], limit: int, count: Count
) -> tuple[str, tuple[Loss, ...]]:
    """Return the Project block within `limit` tokens, empty if not even a sentence fits."""

    def block(written: Sequence[str]) -> str:
        inside = _joined(written)
        return tagged(BlockKind.PROJECT, inside) if inside else ""

    return _fit(pieces, block, limit, count)


def _fit(
    pieces: Sequence[Section], block: Callable[[Sequence[str]], str], limit: int, count: Count
) -> tuple[str, tuple[Loss, ...]]:
    """Cut every section to its share; unused tokens go to the others."""
    room = limit - count(block([tagged("x", "")])) if pieces else 0
    needs = [_size(piece.text, piece.name, count) for piece in pieces]
    limits = allot(needs, [int(room * piece.share) for piece in pieces], room)
    written, over = [], 0
    for piece, need, most in zip(pieces, needs, limits, strict=True):
        text = _section_text(piece) if need <= most + over else _cut(piece, most + over, count)
        over += most - (count(GAP + text) if text else 0)  # whole sentences leave a rest
        written.append(text)
    while any(written) and count(block(written)) > limit:  # counts are not exactly additive
        last = max(index for index, text in enumerate(written) if text)
        written[last] = _cut(pieces[last], count(written[last]) - 1, count)
    losses = tuple(
        Loss(piece.name, "cut" if text else "left_out", lost)
        for piece, text, need in zip(pieces, written, needs, strict=True)
        if (lost := need - (count(GAP + text) if text else 0)) > 0
    )
    text = block(written)
    return (text, losses) if count(text) <= limit else (block([]), losses)


def _cut(piece: Section, limit: int, count: Count) -> str:
    if limit <= 0:
        return ""
    text = shortened(piece.text, limit, lambda shorter: _size(shorter, piece.name, count))
    return _section_text(Section(piece.name, text, piece.share))


def _size(text: str, name: str, count: Count) -> int:
    return count(GAP + tagged(name, escaped(text))) if text else 0


def _section_text(piece: Section) -> str:
    return tagged(piece.name, escaped(piece.text)) if piece.text else ""


def _joined(texts: Iterable[str]) -> str:
    return GAP.join(text for text in texts if text)
