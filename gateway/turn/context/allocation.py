"""Allocation of a limited total by need and share."""

from collections.abc import Sequence


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
