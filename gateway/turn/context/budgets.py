"""How many tokens each part of a prompt may take, by the size of the model's window.

The three tables are those of sources 004, "Memory Blocks". A window between two of them gets what
lies between, a smaller or larger one gets the nearest table in proportion.
"""

from dataclasses import astuple, dataclass
from functools import lru_cache
from typing import Final

from gateway.ports.prompt_blocks import BlockKind


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Tokens by what they are for. `user_query` and `response` are reserved, `safety_buffer` is
    for what the count may be off."""

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
        """The five blocks together."""
        return self.system + self.project + self.task + self.history + self.knowledge

    @property
    def grand_total(self) -> int:
        """All there is, never more than the window it was made for."""
        return self.blocks_total + self.user_query + self.response + self.safety_buffer

    def of(self, kind: BlockKind) -> int:
        """What one block may take before the waterfall."""
        share: int = getattr(self, kind)
        return share


MAX_WINDOWS: Final = 100
"""Windows whose budgets are remembered: a program has a few."""
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
    """The budget for a window of so many tokens; all zero for one of none."""
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
