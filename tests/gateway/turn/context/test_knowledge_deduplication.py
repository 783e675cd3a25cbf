"""A recalled memory appears exactly once in the prompt."""

from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.immutable import replace
from gateway.llm.tokens import estimate
from gateway.ports.prompt_blocks import (
    Assembled,
    BlockKind,
    BlockSection,
    ContextParts,
    KnowledgeItem,
)
from gateway.turn.context.assembler import assemble
from gateway.turn.context.knowledge import assemble_deduplicated
from gateway.turn.context.token_budgets import TokenBudget
from gateway.turn.prompt import escaped
from tests.gateway.turn.context.making import OWN, dialogue, item, parts
from tests.support.property_cases import cases

WIDE = TokenBudget(1000, 1000, 1000, 1000, 1000, 0, 0, 0)


def told_anyway(one: KnowledgeItem, made: Assembled) -> bool:
    texts = [made[kind].text for kind in (BlockKind.SYSTEM, BlockKind.PROJECT)]
    in_text = bool(one.line) and any(escaped(one.line) in text for text in texts)
    return in_text or one.message_id in {reply.id for reply in made.turns}


def test_text_in_the_brief_or_the_history_is_not_repeated_as_knowledge() -> None:
    some = ContextParts(
        OWN,
        personal=(BlockSection("brief", "- a <b>\n- b", 1.0),),
        turns=dialogue("hello", "good day"),
    )
    results = [
        replace(item(1, "a <b>"), line="- a <b>"),
        replace(item(2, "c"), line="- c"),
        replace(item(3, "hello"), message_id="m0"),
        replace(item(4, "what now?"), message_id="m9"),
    ]
    make = partial(assemble, budget=WIDE, count=estimate)
    assert assemble_deduplicated(some, results, {"m9"}, make).taken == ("k2",)


def test_recalled_text_that_left_the_history_is_included() -> None:
    long = "We talked about the pier and its lamps. " * 20
    some = ContextParts(OWN, turns=dialogue("the code is 4711", "noted", long, long, "and?", "so."))
    results = [replace(item(1, "user: the code is 4711"), message_id="m0")]
    narrow = TokenBudget(100, 0, 0, 120, 100, 0, 0, 0)
    made = assemble_deduplicated(
        some, results, {"m9"}, partial(assemble, budget=narrow, count=estimate)
    )
    assert "m0" not in {reply.id for reply in made.turns}
    assert made.taken == ("k1",)


@settings(max_examples=cases(150))
@given(parts(), st.integers(20, 400), st.data())
def test_every_recalled_item_is_included_or_reported_as_missing(
    some: ContextParts, size: int, data: st.DataObject
) -> None:
    lines = [line for piece in some.personal for line in piece.text.splitlines() if line]
    results = [
        replace(
            one,
            line=data.draw(st.sampled_from(["", *lines])),
            message_id=data.draw(st.sampled_from(["", *(reply.id for reply in some.turns)])),
        )
        for one in some.knowledge
    ]
    budget = TokenBudget(size, size, size, size, size, 0, 0, 0)
    made = assemble_deduplicated(
        some, results, {"m99"}, partial(assemble, budget=budget, count=estimate)
    )
    missing = {loss.what for loss in made[BlockKind.KNOWLEDGE].losses}
    assert all(
        one.id in made.taken or one.id in missing or told_anyway(one, made) for one in results
    )
    assert made.tokens <= made.total
