"""Metrics of memory recall, step by step."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from prometheus_client.registry import CollectorRegistry

from gateway.observe.metric_values import MAX_CODES, TYPE, CounterFamily, HistogramFamily, Label

ARMS: Final = ("bm25", "vector", "reranker")
WHOLE: Final = "whole"


@dataclass(frozen=True, slots=True)
class RecallMeasurement:
    """One recall, and how it `ended`: "ok", "stopped" if it was cancelled, or the error's type.

    `steps` are names with seconds, `candidates` the number of results per method; `notes` are codes
    of what was left out.
    """

    seconds: float
    ended: str = "ok"
    steps: Iterable[tuple[str, float]] = ()
    candidates: Iterable[tuple[str, int]] = ()
    results: int = 0
    notes: Iterable[str] = ()


class RecallMetrics:
    """Counts recalls."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._step = Label((*ARMS, WHOLE), most=MAX_CODES)
        self._arm = Label(ARMS)
        self._note = Label(most=MAX_CODES)
        self._ended = Label(pattern=TYPE, most=MAX_CODES)
        self._asked = CounterFamily("parley_recalls", "Recalls.", ("ended",))
        self._notes = CounterFamily(
            "parley_recall_notes", "Parts that recall ran without.", ("note",)
        )
        self._found = CounterFamily("parley_recall_candidates", "Candidates found.", ("arm",))
        self._given = CounterFamily("parley_recall_results", "Memories given to turns.", ())
        self._steps = HistogramFamily(
            "parley_recall_seconds", "Duration of one step of recall.", ("step",)
        )
        for collector in (self._asked, self._notes, self._found, self._given, self._steps):
            registry.register(collector)

    def recalled(self, recalled: RecallMeasurement) -> None:
        """Count one recall."""
        self._asked.add(self._ended.of(recalled.ended))
        self._steps.add(recalled.seconds, WHOLE)
        for step, seconds in recalled.steps:
            self._steps.add(seconds, self._step.of(step))
        for arm, number in recalled.candidates:
            self._found.add(self._arm.of(arm), by=number)
        for note in recalled.notes:
            self._notes.add(self._note.of(note))
        self._given.add(by=recalled.results)
