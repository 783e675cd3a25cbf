"""Pages of results that fit into what clients accept as the answer of a tool."""

import json
from collections.abc import Iterable
from typing import Final

ANSWER_BYTES: Final = 60_000
"""Bytes of the results of one answer as JSON: about 25,000 tokens, which clients of MCP accept by
default."""
NO_PAGE: Final = "cursor: it leads to no page, or no longer. Search again without it."


def size_of(result: object) -> int:
    """Return the bytes of a result as JSON, with the comma."""
    return len(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode()) + 1


def fitting(sizes: Iterable[int]) -> int:
    """Return how many results of these sizes fit into an answer; the first always does."""
    count = total = 0
    for size in sizes:
        total += size
        if count and total > ANSWER_BYTES:
            break
        count += 1
    return count
