"""Figures: each event once, few labels, and no id among them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from gateway.observe.gauges import GaugeReadings, Gauges
from gateway.observe.metrics import MAX_CODES, MAX_UNSENT, OTHER, Label, Metrics
from gateway.policy.decision import Decision
from gateway.ports import Liveness, Usage
from gateway.ports.observer import FinishedTurn, SendAttempt, Timing
from gateway.ports.queues import QueueDepths
from gateway.ports.traces import Trace
from gateway.ports.usage import UsageRow
from tests.support.messages import outbound, place

AT = datetime(2026, 11, 21, tzinfo=UTC)


def samples(metrics: Metrics) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Everything on the page, as a Prometheus server reads it."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(metrics.page().decode())
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float:
    return samples(metrics).get((f"parley_{name}", frozenset(labels.items())), 0.0)


def answered(
    *timings: Timing,
    outcome: str = "answered",
    refusal: Decision | None = None,
    platform: str = "slack",
    key: str = "r1:0",
    usage: tuple[UsageRow, ...] = (),
) -> FinishedTurn:
    trace = Trace("r1", "m1", platform, "main", "c", "message", AT, (), outcome, 1.0)
    return FinishedTurn(trace, timings, usage, 10.0, 10.5, key, refusal)


def attempt(key: str = "r1:0", failed: str = "", began: float = 12.0) -> SendAttempt:
    return SendAttempt(outbound(key, at=place(platform="slack")), began, 0.25, failed)


@pytest.fixture
def metrics() -> Metrics:
    return Metrics({"slack", "telegram"}, {"claude"})


def test_every_program_has_separate_metrics(metrics: Metrics) -> None:
    metrics.arrived("slack", "message")
    assert value(metrics, "events_total", platform="slack", kind="message") == 1
    assert value(Metrics({"slack"}), "events_total", platform="slack", kind="message") == 0


def test_a_turn_is_counted_with_its_stages_and_its_cost(metrics: Metrics) -> None:
    row = UsageRow("t", "p", "w", "claude", Usage(100, 20, 5, 0), 2_500_000, AT)
    metrics.answered(
        answered(
            Timing("stage", "check_access", 10.5, 0.001),
            Timing("model", "claude", 10.6, 1.0),
            Timing("stage", "generate", 10.6, 1.1),
            usage=(row,),
        )
    )
    assert value(metrics, "turns_total", platform="slack", outcome="answered") == 1
    assert value(metrics, "stage_seconds_count", stage="check_access") == 1
    assert value(metrics, "stage_seconds_sum", stage="queue") == 0.5
    assert value(metrics, "model_seconds_sum", model="claude", result="ok") == 1.0
    assert value(metrics, "tokens_total", model="claude", kind="input") == 100
    assert value(metrics, "tokens_total", model="claude", kind="cache_read") == 5
    assert value(metrics, "cost_dollars_total", model="claude") == pytest.approx(2.5)


def test_the_answer_time_ends_with_the_last_send_and_excludes_the_model_in_the_second_metric(
    metrics: Metrics,
) -> None:
    metrics.answered(answered(Timing("model", "claude", 10.6, 1.0), key="r1:1"))
    metrics.attempted(attempt("r1:0"))
    assert value(metrics, "answer_seconds_count", platform="slack") == 0
    metrics.attempted(attempt("r1:1"))
    assert value(metrics, "answer_seconds_sum", platform="slack") == pytest.approx(2.25)
    assert value(metrics, "answer_without_model_seconds_sum", platform="slack") == pytest.approx(
        1.25
    )


def test_pauses_between_failed_calls_are_time_of_the_model(metrics: Metrics) -> None:
    failed = Timing("model", "claude", 10.5, 0.125, "ModelUnavailable", (), "529 overloaded")
    again, later = Timing("model", "claude", 11.0, 0.25), Timing("model", "claude", 11.5, 0.25)

    metrics.answered(answered(failed, again, later, key="r1:1"))
    metrics.attempted(attempt("r1:1"))

    whole = value(metrics, "answer_seconds_sum", platform="slack")
    own = value(metrics, "answer_without_model_seconds_sum", platform="slack")
    assert whole - own == pytest.approx(0.5 + 0.25 + 0.25)


def test_a_repeated_send_is_a_retry_and_the_answer_counts_once(metrics: Metrics) -> None:
    metrics.answered(answered())
    metrics.attempted(attempt(failed="Transient"))
    metrics.attempted(attempt(failed="Transient"))
    metrics.attempted(attempt())
    metrics.attempted(attempt())
    assert value(metrics, "send_seconds_count", platform="slack", result="Transient") == 2
    assert value(metrics, "send_seconds_count", platform="slack", result="ok") == 2
    assert value(metrics, "retries_total", platform="slack") == 2
    assert value(metrics, "answer_seconds_count", platform="slack") == 1


def test_a_refusal_has_its_stage_and_reason(metrics: Metrics) -> None:
    denied = Decision("limits", False, "user_limit")
    metrics.answered(answered(outcome="refused:limits", refusal=denied, key=""))
    assert value(metrics, "refusals_total", stage="limits", reason="user_limit") == 1
    assert value(metrics, "turns_total", platform="slack", outcome="refused") == 1


@pytest.mark.parametrize(
    ("what", "detail", "name", "labels"),
    [
        ("duplicate", "telegram", "duplicates_total", {"platform": "telegram"}),
        ("dead_letter", "slack", "dead_letters_total", {"platform": "slack"}),
        ("not_addressed", "no_trigger", "not_addressed_total", {"reason": "no_trigger"}),
        ("budget_alert", "user_per_day", "budget_alerts_total", {"reason": "user_per_day"}),
        ("ignored", "poll_answer_8812", "other_events_total", {"event": "ignored"}),
    ],
)
def test_named_counters_have_their_metric(
    metrics: Metrics, what: str, detail: str, name: str, labels: dict[str, str]
) -> None:
    metrics.count(what, detail)
    assert value(metrics, name, **labels) == 1


def test_durations_measured_elsewhere_are_not_counted_twice(metrics: Metrics) -> None:
    metrics.count("sent", "slack")
    assert not [name for name, _ in samples(metrics) if name == "parley_other_events_total"]


@given(st.lists(st.text(max_size=60), max_size=400))
def test_a_label_has_few_values_for_any_input(values: list[str]) -> None:
    label = Label({"slack"}, most=10)
    assert len({label.of(value) for value in values}) <= 12


@given(st.integers(min_value=0).map(str), st.uuids().map(str))
def test_ids_never_become_labels(number: str, uuid: str) -> None:
    label = Label(most=MAX_CODES)
    assert label.of(number) == OTHER
    assert label.of(f"user_{number}") == OTHER
    assert label.of(uuid) == OTHER
    assert label.of("user_limit") == "user_limit"


def test_unknown_values_become_other_everywhere(metrics: Metrics) -> None:
    metrics.arrived("matrix", "message-of-ada")
    metrics.count("duplicate", "@ada:example.org")
    metrics.answered(answered(Timing("stage", "stage 7", 0, 0), platform="matrix", outcome="Ada!"))
    metrics.attempted(attempt(failed="Ada is not an error"))
    page = metrics.page().decode()
    assert "ada" not in page.lower().replace("adapter", "")
    assert value(metrics, "events_total", platform=OTHER, kind=OTHER) == 1


def test_answers_that_are_never_sent_do_not_accumulate(metrics: Metrics) -> None:
    for number in range(MAX_UNSENT + 100):
        metrics.answered(answered(key=f"r{number}:0"))
        metrics.attempted(attempt(f"x{number}:0", failed="Transient"))
    assert len(metrics._unsent) == MAX_UNSENT
    assert len(metrics._refused) == MAX_UNSENT


def test_gauges_are_read_at_the_time_of_the_request(metrics: Metrics) -> None:
    now = [
        GaugeReadings(
            waiting=3, unsent=2, connections={"slack": "unresponsive"}, reconnects={"slack": 4}
        )
    ]
    metrics.registry.register(Gauges(lambda: now[0]))
    assert value(metrics, "turns_queued") == 3
    assert value(metrics, "connection_state", account="slack", state="unresponsive") == 1
    assert value(metrics, "connection_state", account="slack", state="ready") == 0
    assert value(metrics, "reconnects_total", account="slack") == 4
    now[0] = GaugeReadings(proofs={"slack": Liveness(True, "", 7.5)}, parts={"storage": False})
    assert value(metrics, "turns_queued") == 0
    assert value(metrics, "connection_proof_age_seconds", account="slack") == 7.5
    assert value(metrics, "up", part="storage") == 0
    now[0] = GaugeReadings(oldest=12.5, budgets={"user_per_day": 2.0})
    assert value(metrics, "turns_oldest_seconds") == 12.5
    assert value(metrics, "budget_limit_dollars", account="user_per_day") == 2


def test_writes_of_memory_are_counted_by_outcome_and_code(metrics: Metrics) -> None:
    metrics.written("stored", "explicit")
    metrics.written("refused", "I like tea")
    assert value(metrics, "memory_writes_total", outcome="stored", code="explicit") == 1
    assert value(metrics, "memory_writes_total", outcome="refused", code=OTHER) == 1


def test_shared_gauges_exist_only_with_shared_work(metrics: Metrics) -> None:
    now = [GaugeReadings()]
    metrics.registry.register(Gauges(lambda: now[0]))
    assert not [name for name, _ in samples(metrics) if name.startswith("parley_shared")]
    now[0] = GaugeReadings(shared=QueueDepths(events=5, sends=3, dead=1, workers=2))
    names = ("events_waiting", "sends_waiting", "dead_letters", "workers")
    assert [value(metrics, f"shared_{name}") for name in names] == [5, 3, 1, 2]


def test_metrics_of_the_process_are_included(metrics: Metrics) -> None:
    names = {name for name, _ in samples(metrics)}
    assert {"process_resident_memory_bytes", "process_cpu_seconds_total"} <= names
