"""What recall costs and finds, step by step, for Prometheus."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from prometheus_client.registry import CollectorRegistry

from gateway.observe.labels import MAX_CODES, TYPE, Label
from gateway.observe.metric_values import CounterFamily, HistogramFamily

ARMS: Final = ("bm25", "vector", "reranker")
WHOLE: Final = "whole"


@dataclass(frozen=True, slots=True)
class RecallMeasurement:
    """A question that was looked up in memory, and how it `ended`: "ok", "stopped" where nobody
    waited for it any longer, or the error's type.

    `steps` are names with seconds, `candidates` the number that each arm found; `notes` say, by
    their codes, what was left out.
    """

    seconds: float
    ended: str = "ok"
    steps: Iterable[tuple[str, float]] = ()
    candidates: Iterable[tuple[str, int]] = ()
    results: int = 0
    notes: Iterable[str] = ()


class RecallMetrics:
    """Counts what recall does, for whoever it does it."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._step = Label((*ARMS, WHOLE), most=MAX_CODES)
        self._arm = Label(ARMS)
        self._note = Label(most=MAX_CODES)
        self._ended = Label(pattern=TYPE, most=MAX_CODES)
        self._asked = CounterFamily("parley_recalls", "Questions looked up in memory.", ("ended",))
        self._notes = CounterFamily("parley_recall_notes", "What recall went without.", ("note",))
        self._found = CounterFamily(
            "parley_recall_candidates", "Candidates that were found.", ("arm",)
        )
        self._given = CounterFamily("parley_recall_results", "Memories that were given out.", ())
        self._steps = HistogramFamily("parley_recall_seconds", "One step of recall.", ("step",))
        for collector in (self._asked, self._notes, self._found, self._given, self._steps):
            registry.register(collector)

    def recalled(self, recalled: RecallMeasurement) -> None:
        """Count one question."""
        self._asked.add(self._ended.of(recalled.ended))
        self._steps.add(recalled.seconds, WHOLE)
        for step, seconds in recalled.steps:
            self._steps.add(seconds, self._step.of(step))
        for arm, number in recalled.candidates:
            self._found.add(self._arm.of(arm), by=number)
        for note in recalled.notes:
            self._notes.add(self._note.of(note))
        self._given.add(by=recalled.results)
