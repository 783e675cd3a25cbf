"""Metrics of recall: the duration of every step, the candidates of every search."""

import pytest

from gateway.observe.metrics import Metrics, RecallMeasurement
from tests.gateway.observe.test_metrics import samples, value


@pytest.fixture
def metrics() -> Metrics:
    return Metrics({"slack"})


def test_every_step_has_a_duration_and_every_search_its_candidates(metrics: Metrics) -> None:
    steps = [("bm25", 0.002), ("embedding", 0.011), ("vector", 0.003), ("context", 0.001)]
    searches = [("bm25", 50), ("vector", 12)]
    metrics.recall.recalled(RecallMeasurement(0.02, steps=steps, candidates=searches, results=7))
    metrics.recall.recalled(
        RecallMeasurement(0.01, steps=steps[:1], candidates=searches[:1], notes=["exact"])
    )
    assert value(metrics, "recalls_total", result="ok") == 2
    assert value(metrics, "recall_seconds_count", step="bm25") == 2
    assert value(metrics, "recall_seconds_sum", step="embedding") == 0.011
    assert value(metrics, "recall_seconds_sum", step="total") == pytest.approx(0.03)
    assert value(metrics, "recall_candidates_total", method="bm25") == 100
    assert value(metrics, "recall_candidates_total", method="vector") == 12
    assert value(metrics, "recall_results_total") == 7
    assert value(metrics, "recall_notes_total", note="exact") == 1


def test_the_outcome_is_recorded(metrics: Metrics) -> None:
    metrics.recall.recalled(RecallMeasurement(3.0, "stopped"))
    metrics.recall.recalled(RecallMeasurement(0.1, "StoreUnavailable"))
    metrics.count("without_memory", "recall:too_slow")
    assert value(metrics, "recalls_total", result="stopped") == 1
    assert value(metrics, "recalls_total", result="StoreUnavailable") == 1
    assert value(metrics, "answers_without_memory_total", part="recall", reason="too_slow") == 1


def test_unknown_values_become_other(metrics: Metrics) -> None:
    steps = [(f"step{number}", 0.1) for number in range(200)]
    searches = [(f"search {number}", 1) for number in range(200)]
    metrics.recall.recalled(RecallMeasurement(0.1, "no such", steps, searches, notes=["m-4711"]))
    labels = {
        dict(labels).get(name) for _, labels in samples(metrics) for name in ("step", "method")
    }
    assert labels == {None, "other", "total"}
