"""How a window is divided among the blocks."""

from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.ports.prompt_blocks import BlockKind
from gateway.turn.context.budgets import TokenBudget, budget_for


def test_a_window_of_8k_is_divided_as_specified() -> None:
    budget = budget_for(8_192)
    assert budget == TokenBudget(
        system=500,
        project=1000,
        task=500,
        history=1000,
        knowledge=2000,
        user_query=1000,
        response=2000,
        safety_buffer=192,
    )
    assert budget.blocks_total == 5_000
    assert budget.grand_total == 8_192


@pytest.mark.parametrize(
    ("window", "tokens"),
    [
        (4_096, (300, 400, 300, 400, 800, 500, 1200, 100)),
        (128_000, (1000, 2000, 1000, 4000, 8000, 4000, 8000, 1000)),
    ],
)
def test_windows_of_4k_and_128k_have_their_own_tables(window: int, tokens: tuple[int, ...]) -> None:
    assert astuple(budget_for(window)) == tokens


def test_other_windows_are_divided_in_proportion() -> None:
    assert astuple(budget_for(256_000)) == (2000, 4000, 2000, 8000, 16000, 8000, 16000, 2000)
    assert astuple(budget_for(2_048)) == (150, 200, 150, 200, 400, 250, 600, 50)
    assert budget_for(6_144).system == 400
    assert not any(astuple(budget_for(0)))


@given(st.integers(0, 2_000_000))
def test_the_budgets_never_exceed_the_window(window: int) -> None:
    assert budget_for(window).grand_total <= window


@given(st.integers(0, 300_000), st.integers(0, 50_000))
def test_a_larger_window_reduces_no_block(window: int, more: int) -> None:
    small, large = budget_for(window), budget_for(window + more)
    assert all(large.of(kind) >= small.of(kind) for kind in BlockKind)
