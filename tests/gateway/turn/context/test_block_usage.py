"""The use of the blocks, as the trace stores it."""

import json

from hypothesis import given

from gateway.llm.tokens import estimate
from gateway.ports.prompt_blocks import BlockKind, ContextParts, Section
from gateway.turn.context.assembler import assemble
from gateway.turn.context.block_usage import figures_in, usage_data, warnings
from gateway.turn.context.budgets import budget_for
from tests.gateway.turn.context.making import OWN, dialogue, item, parts

BUDGET = budget_for(8_192)


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
            personal=(Section("soul", "secretly likes tea. " * 400, 1.0),),
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
