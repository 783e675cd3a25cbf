"""The fill level of each block, as data in the message's trace: numbers and names, no content."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter, ValidationError

from gateway.ports.prompt_blocks import Assembled, Block, BlockKind, Loss

MAX_LOSSES: Final = 20
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.:-]+")


@dataclass(frozen=True, slots=True)
class BlockFigures:
    """One block: its used tokens, the table's budget, the tokens of all its content, its allotment,
    and the losses. `more` losses are not named."""

    kind: BlockKind
    tokens: int
    budget: int
    needed: int
    allotted: int
    losses: tuple[Loss, ...] = ()
    more: int = 0

    @property
    def percent(self) -> int:
        """The used part of the budget in percent; 0 without a budget."""
        return round(100 * self.tokens / self.budget) if self.budget else 0


@dataclass(frozen=True, slots=True)
class Figures:
    """All blocks, and the window that the budgets are for. `reserved` are the tokens for question,
    answer and buffer."""

    window: int
    reserved: int
    blocks: tuple[BlockFigures, ...]

    @property
    def tokens(self) -> int:
        """The tokens of all blocks."""
        return sum(block.tokens for block in self.blocks)

    def of(self, kind: BlockKind) -> BlockFigures | None:
        """One block."""
        return next((block for block in self.blocks if block.kind == kind), None)


def usage_data(made: Assembled, window: int, reserved: int) -> dict[str, object]:
    """Return the figures of a prompt as JSON-like values."""
    blocks = [_block_data(block) for block in made.blocks]
    return {"window": window, "reserved": reserved, "blocks": blocks}


def figures_in(data: Mapping[str, object] | None) -> Figures | None:
    """Return the figures from their stored form; None for other data."""
    try:
        return TypeAdapter(Figures).validate_python(data)
    except ValidationError:
        return None


def warnings(figures: Figures) -> list[str]:
    """Return problems with their solutions (sources 004, "Common issues")."""
    problems: list[str] = []
    knowledge, history = figures.of(BlockKind.KNOWLEDGE), figures.of(BlockKind.HISTORY)
    if knowledge is not None and not knowledge.tokens:
        problems.append(
            "Knowledge block is empty - retrieval may have failed: check `parley recall`, and that "
            "there are matching memories"
        )
    if history is not None and history.tokens < 100:
        problems.append("History block is very short - context may be lost")
    if history is not None and any(loss.why == "left_out" for loss in history.losses):
        problems.append(
            "Older turns were dropped without a summary: raise context.max_tokens, or use a model "
            "with a larger window"
        )
    for kind in (BlockKind.SYSTEM, BlockKind.PROJECT):
        block = figures.of(kind)
        if block is not None and block.losses:
            problems.append(
                f"{kind.value.capitalize()} block was shortened: make its documents shorter, or "
                "use a model with a larger window"
            )
    return problems


def _block_data(block: Block) -> dict[str, object]:
    data: dict[str, object] = {
        "kind": block.kind,
        "tokens": block.tokens,
        "budget": block.budget,
        "needed": block.needed,
        "allotted": block.allotted,
    }
    if block.losses:
        data["losses"] = [
            {"what": _UNSAFE.sub("_", loss.what), "why": loss.why, "tokens": loss.tokens}
            for loss in block.losses[:MAX_LOSSES]
        ]
        data["more"] = max(0, len(block.losses) - MAX_LOSSES)
    return data
