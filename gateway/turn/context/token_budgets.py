"""The budgets of the five blocks, and how full a prompt made them."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct, ValidationError, convert
from msgspec.structs import astuple

from gateway.ports.prompt_blocks import Assembled, Block, BlockKind, LeftOut

MAX_LOSSES: Final = 20
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.:-]+")


class TokenBudget(Struct, frozen=True):
    """Tokens per part. `user_query` and `response` are reserved, `safety_buffer` covers the error
    of the count."""

    system: int
    project: int
    task: int
    history: int
    knowledge: int
    user_query: int
    response: int
    safety_buffer: int

    @property
    def blocks_total(self) -> int:
        """The sum of the five blocks."""
        return self.system + self.project + self.task + self.history + self.knowledge

    @property
    def grand_total(self) -> int:
        """The sum of everything, never more than the window."""
        return self.blocks_total + self.user_query + self.response + self.safety_buffer

    def of(self, kind: BlockKind) -> int:
        """Return the budget of a block before the allocation."""
        share: int = getattr(self, kind)
        return share


MAX_WINDOWS: Final = 100
"""Windows whose budgets are cached: a program has a few."""
SMALL: Final = 4_096
MIDDLE: Final = 8_192
LARGE: Final = 128_000
TABLES: Final = {
    SMALL: TokenBudget(300, 400, 300, 400, 800, 500, 1200, 100),
    MIDDLE: TokenBudget(500, 1000, 500, 1000, 2000, 1000, 2000, 192),
    LARGE: TokenBudget(1000, 2000, 1000, 4000, 8000, 4000, 8000, 1000),
}


@lru_cache(MAX_WINDOWS)
def budget_for(window: int) -> TokenBudget:
    """Return the budget for a window of so many tokens; all zero for an empty one."""
    if window in TABLES:
        return TABLES[window]
    if window < SMALL:
        return _scaled(TABLES[SMALL], max(0, window), SMALL)
    if window > LARGE:
        return _scaled(TABLES[LARGE], window, LARGE)
    below, above = (SMALL, MIDDLE) if window < MIDDLE else (MIDDLE, LARGE)
    pairs = zip(astuple(TABLES[below]), astuple(TABLES[above]), strict=True)
    return TokenBudget(
        *(low + (high - low) * (window - below) // (above - below) for low, high in pairs)
    )


def _scaled(table: TokenBudget, window: int, of: int) -> TokenBudget:
    return TokenBudget(*(tokens * window // of for tokens in astuple(table)))


def allot(needs: Sequence[int], shares: Sequence[int], total: int) -> list[int]:
    """Return the allocation; all three lists begin with the most important entry.

    First each entry gets what it needs up to its share, in order. The rest goes to entries that
    need more, in reverse order. No entry gets more than it needs, the sum never exceeds `total`,
    and nothing is left while an entry needs more.
    """
    left = max(0, total)
    if sum(needs) <= left:
        return list(needs)
    given = []
    for need, share in zip(needs, shares, strict=True):
        first = max(0, min(need, share, left))
        given.append(first)
        left -= first
    for index in range(len(given) - 1, -1, -1):
        more = max(0, min(needs[index] - given[index], left))
        given[index] += more
        left -= more
    return given


class BlockFigures(Struct, frozen=True):
    """One block: its used tokens, the table's budget, the tokens of all its content, its allotment,
    and the losses. `more` losses are not named."""

    kind: BlockKind
    tokens: int
    budget: int
    needed: int
    allotted: int
    losses: tuple[LeftOut, ...] = ()
    more: int = 0

    @property
    def percent(self) -> int:
        """The used part of the budget in percent; 0 without a budget."""
        return round(100 * self.tokens / self.budget) if self.budget else 0


class BudgetFigures(Struct, frozen=True):
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


def figures_in(data: Mapping[str, object] | None) -> BudgetFigures | None:
    """Return the figures from their stored form; None for other data."""
    try:
        return convert(data, BudgetFigures)
    except ValidationError:
        return None


def warnings(figures: BudgetFigures) -> list[str]:
    """Return problems with their solutions."""
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
