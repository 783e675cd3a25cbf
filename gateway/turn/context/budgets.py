"""Token budgets of the parts of a prompt, by the size of the model's window.

The three tables are those of sources 004, "Memory Blocks". A window between two of them is
interpolated, a smaller or larger one scales the nearest table.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import Final

from gateway.ports.prompt_blocks import BlockKind


@dataclass(frozen=True, slots=True)
class TokenBudget:
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
