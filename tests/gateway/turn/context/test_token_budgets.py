"""The division of a window among the blocks, and their use, as the trace stores it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from gateway.llm.tokens import estimate
from gateway.ports.prompt_blocks import BlockKind, BlockSection, ContextParts
from gateway.turn.context.assembler import assemble
from gateway.turn.context.token_budgets import (
    TokenBudget,
    budget_for,
    figures_in,
    usage_data,
    warnings,
)
from tests.gateway.turn.context.making import OWN, dialogue, item, parts

BUDGET = budget_for(8_192)


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


@given(parts())
def test_the_data_contains_the_size_of_each_block(some: ContextParts) -> None:
    made = assemble(some, BUDGET, estimate, total=300)
    figures = figures_in(usage_data(made, 8_192, 3_192))

    assert figures is not None
    assert (figures.window, figures.reserved, figures.tokens) == (8_192, 3_192, made.tokens)
    for block, figure in zip(made.blocks, figures.blocks, strict=True):
        assert (figure.kind, figure.tokens, figure.needed, figure.budget) == (
            block.kind,
            block.tokens,
            block.needed,
            block.budget,
        )
        assert len(figure.losses) == len(block.losses)


def test_the_data_contains_no_content() -> None:
    made = assemble(
        ContextParts(
            OWN,
            personal=(BlockSection("soul", "secretly likes tea. " * 400, 1.0),),
            turns=dialogue("whisper", "hush"),
            knowledge=(item(1, "classified " * 2_000, "a talk with Bob"),),
        ),
        BUDGET,
        estimate,
        total=600,
    )
    line = json.dumps(usage_data(made, 8_192, 3_192))

    assert not any(word in line for word in ("tea", "whisper", "hush", "classified", "Bob"))
    figures = figures_in(json.loads(line))
    assert figures is not None
    losses = [loss for block in figures.blocks for loss in block.losses]
    assert {("soul", "cut"), ("k1", "left_out")} <= {(loss.what, loss.why) for loss in losses}


def test_other_data_contains_no_figures() -> None:
    assert figures_in(None) is None
    assert figures_in({"window": 8_192}) is None


def test_the_usual_problems_cause_warnings() -> None:
    made = assemble(ContextParts(OWN), BUDGET, estimate)
    figures = figures_in(usage_data(made, 8_192, 3_192))
    assert figures is not None

    first, second = warnings(figures)
    assert first.startswith("Knowledge block is empty - retrieval may have failed")
    assert second == "History block is very short - context may be lost"


def test_a_well_filled_prompt_causes_no_warning() -> None:
    made = assemble(
        ContextParts(
            OWN,
            turns=dialogue("What was it? " * 20, "It was rye. " * 30),
            knowledge=(item(1, "Rye"),),
        ),
        BUDGET,
        estimate,
    )
    figures = figures_in(usage_data(made, 8_192, 3_192))
    assert figures is not None

    assert warnings(figures) == []
    assert figures.blocks[0].percent == round(100 * made[BlockKind.SYSTEM].tokens / 500)
