"""Who gets which part of what there is, when all together need more."""

from collections.abc import Sequence


def allot(needs: Sequence[int], shares: Sequence[int], total: int) -> list[int]:
    """What each gets, the most important first in all three lists.

    First each gets what it needs up to its share, by rank, as long as there is any. Then what is
    left goes to those that need more, the least important first and back up. Nobody gets more than
    they need, all together never more than `total`, and nothing is left while anybody needs more.
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
