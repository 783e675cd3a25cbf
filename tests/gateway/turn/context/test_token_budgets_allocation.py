"""The division of a budget by rank."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.turn.context.token_budgets import allot

NEEDS = st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 3_000)), min_size=1, max_size=6)


def test_every_block_gets_what_it_needs_if_there_is_enough() -> None:
    assert allot([200, 300], [500, 1000], 1500) == [200, 300]


def test_unused_budget_of_high_ranks_goes_to_lower_ranks() -> None:
    assert allot([200, 5_000], [500, 2_000], 2_500) == [200, 2_300]


def test_the_rest_is_given_from_the_lowest_rank_upwards() -> None:
    assert allot([900, 700, 300], [500, 500, 500], 1_500) == [500, 700, 300]
    assert allot([900, 500, 300], [500, 500, 500], 1_500) == [700, 500, 300]


def test_the_lowest_ranks_get_less_if_there_is_less_than_all_shares() -> None:
    assert allot([500, 500, 500], [500, 500, 500], 1_200) == [500, 500, 200]


@given(NEEDS, st.integers(-10, 10_000))
def test_no_block_gets_more_than_it_needs_and_nothing_is_left_while_one_needs_more(
    rows: list[tuple[int, int]], total: int
) -> None:
    needs, shares = [need for need, _ in rows], [share for _, share in rows]
    given_ = allot(needs, shares, total)
    assert all(0 <= part <= need for part, need in zip(given_, needs, strict=True))
    assert sum(given_) <= max(0, total)
    assert sum(given_) == min(sum(needs), max(0, total))


@given(NEEDS, st.integers(0, 10_000))
def test_shares_are_given_by_rank(rows: list[tuple[int, int]], total: int) -> None:
    needs, shares = [need for need, _ in rows], [share for _, share in rows]
    given_ = allot(needs, shares, total)
    for index, part in enumerate(given_):
        if part < min(needs[index], shares[index]):
            assert not any(given_[index + 1 :])
