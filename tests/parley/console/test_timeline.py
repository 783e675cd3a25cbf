"""The handling of a message, read from its trace."""

from datetime import UTC, datetime

import pytest

from gateway.policy.access import NOT_APPROVED
from gateway.policy.decision import Decision
from gateway.ports.prompt_blocks import BlockKind
from gateway.ports.traces import Duration, Trace
from gateway.turn.keep_appointments import keep_appointments
from gateway.turn.pipeline import COMMAND_LIMITS, ENTRY, LIMITS, TURN, UNREADABLE
from gateway.turn.save import save
from parley.console.timeline import BLOCKS, STAGES, TITLES, timeline_of

AT = datetime(2026, 11, 23, tzinfo=UTC)


def trace(*decisions: Decision, durations: tuple[Duration, ...] = ()) -> Trace:
    return Trace(
        *("x1", "m1", "web", "main", '["t", "web", "main", "", "c", ""]', "message", AT),
        *(decisions, "answered", 20.0),
        durations=durations,
    )


def test_every_stage_of_a_turn_is_known() -> None:
    stages = (*ENTRY, *LIMITS, *COMMAND_LIMITS, *UNREADABLE, *TURN, keep_appointments)
    assert {stage.__name__ for stage in stages} - {save.__name__} == STAGES.keys()
    assert {stage for stages in STAGES.values() for stage in stages} <= TITLES.keys()
    assert set(BLOCKS) == set(BlockKind)


def test_a_decision_has_the_time_of_its_stage() -> None:
    line = timeline_of(
        trace(
            Decision("invocation", True, "mention"),
            Decision("access", True, "open"),
            Decision("context", True, "window", "2 of 2 messages"),
            Decision("context", True, "blocks"),
            Decision("response_filter", True, "no_secret"),
            Decision("save", True, "answered"),
            durations=(
                ("queue", "waited", -1500, 1500, "ok"),
                ("stage", "check_access", 0, 400, "open"),
                ("stage", "read_history", 400, 100, "window"),
                ("stage", "assemble", 500, 2000, "blocks"),
                ("stage", "filter_answer", 2500, 50, "no_secret"),
            ),
        )
    )
    assert line.waited == 1.5
    assert [(str(one.title), one.after, one.took) for one in line.steps] == [
        ("Addressed to the assistant", None, None),
        ("Access", 0.4, 0.4),
        ("Prompt", 0.5, 0.1),
        ("Prompt", 2.5, 2.0),
        ("Check of the answer", 2.55, 0.05),
        ("Stored", None, None),
    ]


def test_a_decision_within_a_stage_takes_no_time_of_another() -> None:
    line = timeline_of(
        trace(
            Decision("memory", True, "kept"),
            Decision("memory", True, "opened"),
            durations=(("stage", "open_memory", 0, 100, "opened"),),
        )
    )
    assert [one.took for one in line.steps] == [None, 0.1]


def test_a_failed_stage_is_named_after_its_function() -> None:
    failed = Decision("generate", False, "failed", "see the log")
    line = timeline_of(trace(failed, durations=(("stage", "generate", 0, 100, "failed"),)))
    assert [(str(one.title), one.took) for one in line.steps] == [("Generate", 0.1)]


@pytest.mark.parametrize(
    ("decision", "step"),
    [
        (Decision("limits", False, "user"), "`limits`"),
        (Decision("access", False, NOT_APPROVED), "parley access list"),
        (Decision("access", True, "open"), ""),
        (Decision("queue", False, "dropped"), ""),
    ],
)
def test_a_refusal_names_the_next_step(decision: Decision, step: str) -> None:
    (one,) = timeline_of(trace(decision)).steps
    assert step in one.next_step
    assert bool(step) == bool(one.next_step)


def test_calls_of_models_have_tokens_and_cost_if_they_were_answered() -> None:
    line = timeline_of(
        trace(
            durations=(
                ("model", "big", 1000, 500_000, "ModelBusy"),
                ("model", "small", 501_000, 250_000, "ok", (100, 20, 80, 5, 7)),
            )
        )
    )
    busy, answered = line.calls
    assert (busy.model, busy.ended, busy.took, busy.input_tokens) == ("big", "ModelBusy", 500.0, 0)
    assert (answered.input_tokens, answered.output_tokens) == (100, 20)
    assert (answered.cache_read_tokens, answered.cache_write_tokens, answered.micros) == (80, 5, 7)


def test_tools_are_listed_apart_from_decisions() -> None:
    line = timeline_of(
        trace(
            Decision("tool", True, "memory_search", "", data={"seconds": 0.25}),
            Decision("tool", False, "web_get", "timed out"),
        )
    )
    assert line.steps == ()
    assert [(one.name, one.ok, one.note, one.seconds) for one in line.tools] == [
        ("memory_search", True, "", 0.25),
        ("web_get", False, "timed out", None),
    ]


def test_recall_has_the_rank_of_each_search() -> None:
    found = [("abc12345", "preference", "user", 0.875, {"bm25": 2, "vector": 1, "new": 3})]
    line = timeline_of(trace(Decision("recall", True, "recalled", "", data={"items": found})))
    (one,) = line.recalled
    assert (one.kind, one.score) == ("preference", 0.875)
    assert [(str(rank.title), rank.rank) for rank in one.ranks] == [
        ("words", 2),
        ("meaning", 1),
        ("new", 3),
    ]


@pytest.mark.parametrize("data", [{"items": "x"}, {"items": [1]}, {"other": 1}])
def test_recall_in_an_unknown_form_is_left_out(data: dict[str, object]) -> None:
    assert timeline_of(trace(Decision("recall", True, "recalled", "", data=data))).recalled == ()


def test_blocks_have_budgets_and_what_was_left_out() -> None:
    lost = [{"what": "bible", "why": "cut", "tokens": 90}]
    block = {"kind": "project", "tokens": 10, "budget": 20, "needed": 100, "allotted": 20}
    blocks = [{**block, "losses": lost, "more": 2}]
    data = {"window": 1000, "reserved": 300, "blocks": blocks}
    line = timeline_of(trace(Decision("context", True, "blocks", "", data=data)))
    (one,) = line.blocks
    assert (line.window, line.reserved) == (1000, 300)
    assert (one.tokens, one.budget, one.needed, one.more) == (10, 20, 100, 2)
    assert [(str(loss.what), str(loss.why), loss.tokens) for loss in one.lost] == [
        ("Project notes", "cut at the end of a sentence", 90)
    ]


def test_a_trace_of_a_refusal_has_no_prompt_and_no_calls() -> None:
    line = timeline_of(trace(Decision("access", False, "user_blocked")))
    assert (line.waited, line.calls, line.blocks, line.recalled, line.window) == (
        None,
        (),
        (),
        (),
        0,
    )
