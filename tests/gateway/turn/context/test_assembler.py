"""The five blocks together: included, cut and protected parts."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.immutable import replace
from gateway.llm.tokens import estimate
from gateway.ports.prompt_blocks import (
    ANSWER_RANKS,
    CHAT_RANKS,
    BlockKind,
    BlockSection,
    ContextParts,
    Task,
)
from gateway.turn.context import knowledge
from gateway.turn.context.assembler import OwnTextTooLong, assemble
from gateway.turn.context.token_budgets import TokenBudget, budget_for
from gateway.turn.prompt import tagged
from tests.gateway.turn.context.making import OWN, dialogue, item, parts
from tests.support.property_cases import cases

BUDGET = budget_for(8_192)
SYSTEM, PROJECT, TASK, HISTORY, KNOWLEDGE = BlockKind
budgets = st.builds(
    TokenBudget,
    st.integers(12, 120),
    *[st.integers(0, 120) for _ in range(4)],
    st.just(0),
    st.just(0),
    st.just(0),
)


def long(text: str, tokens: int) -> str:
    """`text` again and again, as sentences, of about so many tokens."""
    return f"{text}. " * max(1, tokens // max(1, estimate(f"{text}. ")))


def test_everything_that_fits_is_included_in_the_specified_order() -> None:
    made = assemble(
        ContextParts(
            own=OWN,
            personal=(
                BlockSection("soul", "Likes tea.", 0.4),
                BlockSection("brief", "- [fact] Luna", 0.6),
            ),
            project=(
                BlockSection("bible", "A bakery.", 0.5),
                BlockSection("heartbeat", "142 members.", 0.2),
            ),
            task=Task("Bake bread", "Ada"),
            summary="They chose rye.",
            turns=dialogue("How long?", "An hour."),
            knowledge=(item(7, "Rye needs <b>time</b>"),),
        ),
        BUDGET,
        estimate,
    )
    assert made.text == (
        f"<system>\n{OWN}\n\n<soul>\nLikes tea.\n</soul>\n\n<brief>\n- [fact] Luna\n</brief>"
        "\n</system>\n\n"
        "<project>\n<bible>\nA bakery.\n</bible>\n\n"
        "<heartbeat>\n142 members.\n</heartbeat>\n</project>\n\n"
        '<task set_by="Ada">\nBake bread\n</task>\n\n'
        "<history>\n<summary>\nThey chose rye.\n</summary>\n</history>\n\n"
        '<knowledge>\n<memory source="ADR-007" confidence="0.90" date="2026-11-21">\n'
        "Rye needs &lt;b>time&lt;/b>\n</memory>\n</knowledge>"
    )
    assert [reply.text for reply in made.turns] == ["How long?", "An hour."]
    assert made.taken == ("k7",)
    assert not any(block.losses for block in made.blocks)


def test_an_empty_part_is_omitted_with_its_tag() -> None:
    assert assemble(ContextParts(OWN), BUDGET, estimate).text == f"<system>\n{OWN}\n</system>"


def test_only_operator_text_can_be_too_long_and_the_error_states_the_excess() -> None:
    own = long("This is what I am", 620)
    with pytest.raises(OwnTextTooLong, match=r"exceeds its budget \(500\) by \d+") as caught:
        assemble(ContextParts(own), BUDGET, estimate)
    assert caught.value.excess == estimate(own) - 500


def test_knowledge_is_cut_first_then_history_then_task_and_never_system_or_project() -> None:
    full = ContextParts(
        own=OWN,
        personal=(BlockSection("soul", long("Likes tea", 350), 1.0),),
        project=(BlockSection("bible", long("A bakery", 700), 1.0),),
        task=Task(long("Bake bread", 350)),
        turns=dialogue(*[long("We spoke of rye", 80) for _ in range(8)]),
        knowledge=tuple(item(n, long("Rye", 140)) for n in range(10)),
    )
    lost_at: dict[BlockKind, int] = {}
    for total in range(5_000, 1_100, -50):
        made = assemble(full, BUDGET, estimate, total=total)
        for block in made.blocks:
            if block.losses:
                lost_at.setdefault(block.kind, total)
    assert lost_at[KNOWLEDGE] > lost_at[HISTORY] > lost_at[TASK]
    assert SYSTEM not in lost_at
    assert PROJECT not in lost_at


def test_the_last_two_ranks_can_be_swapped() -> None:
    full = ContextParts(
        own=OWN,
        turns=dialogue(*[long("We spoke of rye", 200) for _ in range(20)]),
        knowledge=tuple(item(n, long("Rye", 180)) for n in range(20)),
    )
    chat = assemble(full, BUDGET, estimate, total=2_000)
    answer = assemble(full, BUDGET, estimate, ranks=ANSWER_RANKS, total=2_000)
    assert chat[HISTORY].tokens > answer[HISTORY].tokens
    assert chat[KNOWLEDGE].tokens < answer[KNOWLEDGE].tokens
    assert [block.kind for block in answer.blocks] == list(CHAT_RANKS)


def test_an_item_that_is_too_long_does_not_exclude_shorter_ones() -> None:
    made = assemble(
        ContextParts(
            OWN, knowledge=(item(1, "Short."), item(2, long("Long", 6_000)), item(3, "Short too."))
        ),
        BUDGET,
        estimate,
    )
    assert made.taken == ("k1", "k3")
    assert [loss.what for loss in made[KNOWLEDGE].losses] == ["k2"]


def test_a_single_item_is_omitted_if_its_tag_does_not_fit() -> None:
    entry = tagged("knowledge", knowledge.item_text(item(0, "")))
    some = ContextParts(OWN, knowledge=(item(0, ""),))
    for limit, taken in ((estimate(entry) - 1, ()), (estimate(entry), ("k0",))):
        budget = TokenBudget(estimate(OWN), 0, 0, 0, limit, 0, 0, 0)
        made = assemble(some, budget, estimate)
        assert made.taken == taken
        missing = [loss.tokens for loss in made[KNOWLEDGE].losses]
        assert missing == ([] if taken else [estimate(entry)])


def test_documents_are_cut_at_a_sentence_to_their_share_of_the_block() -> None:
    made = assemble(
        ContextParts(
            OWN,
            personal=(
                BlockSection("soul", long("Likes tea with milk", 2_000), 0.4),
                BlockSection("brief", long("Has a dog called Luna", 2_000), 0.6),
            ),
            project=(BlockSection("bible", long("Sells bread", 9_000), 1.0),),
            turns=dialogue(*[long("We spoke", 200) for _ in range(20)]),
            knowledge=tuple(item(n, long("Rye", 180)) for n in range(20)),
        ),
        BUDGET,
        estimate,
    )
    system = made[SYSTEM]
    assert {loss.what: loss.why for loss in system.losses} == {"soul": "cut", "brief": "cut"}
    assert "milk. ...\n</soul>" in system.text
    assert "Luna. ...\n</brief>" in system.text
    assert 480 < system.tokens <= 500
    soul = estimate(system.text.partition("<soul>")[2].partition("</soul>")[0])
    assert 0.3 < soul / (500 - estimate(OWN)) < 0.5


def test_skills_are_omitted_completely_if_they_do_not_fit() -> None:
    small = replace(budget_for(4_096), project=0, task=0, history=0, knowledge=0)
    made = assemble(ContextParts(OWN, skills=long("Remember", 900)), small, estimate)
    assert made[SYSTEM].text == OWN
    assert made[SYSTEM].losses[0].what == "skills"


def test_a_single_turn_that_is_too_long_is_shortened() -> None:
    made = assemble(
        ContextParts(OWN, turns=dialogue("What is rye?", long("Rye is a grain", 9_000))),
        BUDGET,
        estimate,
    )
    assert [reply.role for reply in made.turns] == ["user", "assistant"]
    assert made.turns[1].text.endswith("grain. ...")
    assert made.tokens <= 5_000


def test_a_task_that_fits_in_the_free_space_is_not_reported_as_cut() -> None:
    budget = replace(BUDGET, system=12, project=0, task=0, history=0, knowledge=0)
    made = assemble(ContextParts(OWN, task=Task("0")), budget, estimate, total=12)
    assert made[TASK].losses
    made = assemble(ContextParts("", task=Task("0")), budget, estimate, total=12)
    assert not made[TASK].losses


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=cases(150))
@given(parts(), budgets, st.integers(12, 500))
def test_no_prompt_and_no_block_exceeds_its_budget(
    some: ContextParts, budget: TokenBudget, total: int
) -> None:
    made = assemble(some, budget, estimate, total=total)
    assert made.tokens <= made.total <= min(total, budget.blocks_total)
    assert all(block.tokens <= block.allotted for block in made.blocks)
    assert sum(block.allotted for block in made.blocks) <= made.total
    sent = [block.text for block in made.blocks] + [reply.text for reply in made.turns]
    assert sum(map(estimate, sent)) <= made.total


@settings(max_examples=cases(150))
@given(parts(), budgets)
def test_no_tag_is_ever_broken(some: ContextParts, budget: TokenBudget) -> None:
    assert_balanced(assemble(some, budget, estimate).text)


@settings(max_examples=cases(150))
@given(parts(), budgets, st.integers(12, 500))
def test_nothing_that_would_have_fitted_is_omitted(
    some: ContextParts, budget: TokenBudget, total: int
) -> None:
    made = assemble(some, budget, estimate, total=total)
    if sum(block.needed for block in made.blocks) <= made.total:
        assert not any(block.losses for block in made.blocks)
    left_out = {loss.what: loss.tokens for loss in made[KNOWLEDGE].losses}
    assert all(tokens > made.free for tokens in left_out.values())
    for block in made.blocks:
        assert block.losses or block.tokens == block.needed


@settings(max_examples=cases(150))
@given(parts(), budgets, st.integers(12, 500))
def test_every_block_gets_its_share_whatever_lower_ranks_need(
    some: ContextParts, budget: TokenBudget, total: int
) -> None:
    made = assemble(some, budget, estimate, total=total)
    taken = 0
    for block in sorted(made.blocks, key=lambda block: block.rank):
        taken += min(block.needed, block.budget)
        if block.needed <= block.budget and taken <= made.total:
            assert not block.losses


@settings(max_examples=cases(60))
@given(parts(), budgets)
def test_the_same_input_gives_the_same_bytes(some: ContextParts, budget: TokenBudget) -> None:
    assert assemble(some, budget, estimate) == assemble(some, budget, estimate)


@given(st.text(max_size=40), st.text(max_size=40))
def test_text_in_a_tag_cannot_close_it(inside: str, value: str) -> None:
    made = tagged("memory", "", {"source": value + inside})
    assert len(re.findall("[<>]", made)) == 4
    assert made.count('"') == 2


def assert_balanced(text: str) -> None:
    open_tags: list[str] = []
    for closing, name in _tags(text):
        if closing:
            assert open_tags.pop() == name
        else:
            open_tags.append(name)
    assert not open_tags


def _tags(text: str) -> Iterator[tuple[bool, str]]:
    for begin in re.finditer("<", text):
        match = re.compile(r"<(/?)([a-z]+)(?: [a-z_]+=\"[^\"<>]*\")*>").match(text, begin.start())
        assert match is not None, text[begin.start() :][:40]
        yield bool(match[1]), match[2]


def test_the_check_of_tags_detects_a_broken_one() -> None:
    for broken in ("<a>", "<a></b>", "<a>\n<", '<a b="<">\n</a>'):
        with pytest.raises((AssertionError, IndexError)):
            assert_balanced(broken)
