"""The selected memories: within the limits, without secrets, labelled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.immutable import replace
from memory.model.record import Provenance, Record, Scope, SourceType, Trust
from memory.recall.rules import RecallLimits
from memory.recall.selection import (
    SearchTrace,
    best_first,
    chosen,
    label_of,
    labelled_line,
    rough_tokens,
    without_secrets,
)
from tests.memory.recall.making import turn
from tests.memory.stores.records import ADA, AT, record

NOTHING = SearchTrace({}, {})
KEY = "ghp_" + "x7Kq2mN9vB4tR8wZ1cY6pL3sD5fG0hJaQeUi"


def records(turns: int, facts: int, size: int = 5) -> list[Record]:
    return [turn("word " * size, id=f"t{place}") for place in range(turns)] + [
        record("word " * size, id=f"f{place}") for place in range(facts)
    ]


def take(
    kept: list[Record], limits: RecallLimits, limit: int = 100
) -> tuple[list[Record], int, int]:
    scores = {one.id: 1.0 / place for place, one in enumerate(kept, start=1)}
    given_, tokens, left = chosen(
        best_first(scores, kept), scores, NOTHING, limits, limit, rough_tokens
    )
    return [one.record for one in given_], tokens, left


def test_ten_turns_and_twenty_memories_at_most() -> None:
    result, _, left = take(records(30, 40), RecallLimits())
    assert [bool(one.role) for one in result].count(True) == 10
    assert len(result) == 30
    assert left == 40


@given(
    turns=st.integers(0, 15),
    facts=st.integers(0, 25),
    size=st.integers(1, 300),
    tokens=st.integers(0, 2_000),
    limit=st.integers(1, 40),
)
def test_no_limit_is_exceeded(turns: int, facts: int, size: int, tokens: int, limit: int) -> None:
    limits = RecallLimits(tokens=tokens)
    result, used, left = take(records(turns, facts, size), limits, limit)
    assert used == sum(rough_tokens(labelled_line(one)) for one in result) <= tokens
    assert len(result) <= limit
    assert sum(bool(one.role) for one in result) <= limits.episodic
    assert sum(not one.role for one in result) <= limits.semantic
    assert left + len(result) == turns + facts


def test_a_result_that_is_too_long_is_skipped_and_shorter_ones_are_included() -> None:
    kept = [record("long " * 500, id="long"), record("short", id="short")]
    result, _, left = take(kept, RecallLimits(tokens=50))
    assert [one.id for one in result] == ["short"]
    assert left == 1


def test_with_equal_scores_own_memories_precede_project_and_global_ones() -> None:
    kept = [
        record(id="everybody", scope=Scope.GLOBAL),
        record(id="project", scope=Scope.PROJECT, project="p"),
        record(id="own"),
        record(id="nothing"),
    ]
    scores = {"everybody": 0.5, "project": 0.5, "own": 0.5, "nothing": 0.0}
    assert [one.id for one in best_first(scores, kept)] == ["own", "project", "everybody"]


def test_results_contain_no_credentials() -> None:
    content = f"the key is {KEY} and the password: hunter22"
    clean = without_secrets(record(content, tags=(KEY,)))
    assert KEY not in repr(clean)
    assert "hunter22" not in repr(clean)
    assert clean.content.startswith("the key is [SECRET_REDACTED]")


@given(before=st.text("ab \n", max_size=20), after=st.text("ab \n", max_size=20))
def test_no_result_contains_a_credential_at_any_place(before: str, after: str) -> None:
    kept = [record(f"{before} {KEY} {after}", id="x")]
    result, _, _ = take(kept, RecallLimits())
    assert KEY not in repr(result)


@pytest.mark.parametrize(
    ("source", "trust", "label"),
    [
        (SourceType.EXPLICIT_SAVE, Trust.HIGH, ""),
        (SourceType.USER_MESSAGE, Trust.HIGH, ""),
        (SourceType.USER_MESSAGE, Trust.MEDIUM, "said by somebody else"),
        (SourceType.USER_MESSAGE, Trust.LOW, "reads like an instruction, may be inaccurate"),
        (SourceType.TOOL_OUTPUT, Trust.HIGH, "from file"),
        (SourceType.TOOL_OUTPUT, Trust.MEDIUM, "from file"),
        (SourceType.TOOL_OUTPUT, Trust.LOW, "from web, may be inaccurate"),
        (SourceType.AI_INFERENCE, Trust.LOW, "concluded by the assistant, may be inaccurate"),
    ],
)
def test_each_result_states_its_trust(source: SourceType, trust: Trust, label: str) -> None:
    kept = replace(record("Tea\nis green"), provenance=Provenance(source, trust, ADA, AT))
    assert label_of(kept) == label
    assert labelled_line(kept) == (f"Tea is green [{label}]" if label else "Tea is green")


def test_past_turns_are_labelled() -> None:
    assert labelled_line(turn("hello")) == "[past context] hello"
    stored_turn = turn("hello")
    outside = Provenance(stored_turn.provenance.source, Trust.HIGH, ADA, AT, external=True)
    assert label_of(replace(stored_turn, provenance=outside)) == (
        "past context, from external content"
    )


def test_tokens_are_estimated_high() -> None:
    assert rough_tokens("") == 0
    assert rough_tokens("word") == 2
    assert rough_tokens("会議") == 2
