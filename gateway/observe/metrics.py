"""Metrics for Prometheus, with a registry per program.

Events of a message are counted as they happen; values that can be read on demand (queues,
connections, memory) are in `gauges.py`.
"""

import re
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final, TypeVar

from msgspec import Struct
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from gateway.ports import Usage
from gateway.ports.observer import FinishedTurn, SendAttempt, Timing

BOUNDS: Final = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0),
)
"""Upper bounds of the buckets in seconds; the gateway's own time is limited to 0.02."""
NAMES: Final = (*map(floatToGoString, BOUNDS), "+Inf")
Labels = tuple[str, ...]
OTHER: Final = "other"
CODE: Final = re.compile(r"[a-z][a-z_]{0,39}")
"""A reason code or a stage: no digits, so that no id matches."""
TYPE: Final = re.compile(r"[A-Za-z]{1,40}")
"""The name of an error."""
MODEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,79}")
MAX_CODES: Final = 64
MAX_MODELS: Final = 20


class CounterFamily(Collector):
    """A counter with labels."""

    def __init__(self, name: str, meaning: str, labels: Sequence[str]) -> None:
        self._name, self._meaning, self._labels = name, meaning, tuple(labels)
        self._values: dict[Labels, float] = {}

    def add(self, *labels: str, by: float = 1.0) -> None:
        self._values[labels] = self._values.get(labels, 0.0) + by

    def collect(self) -> Iterator[CounterMetricFamily]:
        family = CounterMetricFamily(self._name, self._meaning, labels=self._labels)
        for labels, value in self._values.items():
            family.add_metric(labels, value)
        yield family


class HistogramFamily(Collector):
    """A histogram of seconds with labels."""

    def __init__(self, name: str, meaning: str, labels: Sequence[str]) -> None:
        self._name, self._meaning, self._labels = name, meaning, tuple(labels)
        self._buckets: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def add(self, seconds: float, *labels: str) -> None:
        if labels not in self._buckets:
            self._buckets[labels] = [0] * len(NAMES)
            self._sums[labels] = 0.0
        self._buckets[labels][bisect_left(BOUNDS, seconds)] += 1
        self._sums[labels] += seconds

    def collect(self) -> Iterator[HistogramMetricFamily]:
        family = HistogramMetricFamily(self._name, self._meaning, labels=self._labels)
        for labels, buckets in self._buckets.items():
            upto = list(zip(NAMES, accumulate(buckets), strict=True))
            family.add_metric(labels, upto, self._sums[labels])
        yield family


class Label:
    """The values of one label. `known` ones always pass; of others the first `most` that match
    `pattern`; any other one becomes "other"."""

    def __init__(
        self, known: Iterable[str] = (), *, pattern: re.Pattern[str] = CODE, most: int = 0
    ) -> None:
        self._values = set(known)
        self._room = most
        self._pattern = pattern

    def of(self, value: str) -> str:
        """Return `value`, or "other"."""
        if value in self._values:
            return value
        if self._room > 0 and self._pattern.fullmatch(value):
            self._values.add(value)
            self._room -= 1
            return value
        return OTHER


METHODS: Final = ("bm25", "vector", "reranker")
TOTAL: Final = "total"


class RecallMeasurement(Struct, frozen=True):
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
        self._step = Label((*METHODS, TOTAL), most=MAX_CODES)
        self._method = Label(METHODS)
        self._note = Label(most=MAX_CODES)
        self._ended = Label(pattern=TYPE, most=MAX_CODES)
        self._recalls = CounterFamily(
            "parley_recalls",
            "Recalls: ok, stopped if the result was no longer needed, or the type of the error.",
            ("result",),
        )
        self._notes = CounterFamily(
            "parley_recall_notes",
            "Recalls without a model: no_model, model_failed, model_slow, model_paused, "
            "reranker_failed; exact for questions that words alone answer; unrelated for those "
            "about which nothing is known.",
            ("note",),
        )
        self._candidates = CounterFamily(
            "parley_recall_candidates", "Candidates of bm25, vector, reranker.", ("method",)
        )
        self._given = CounterFamily("parley_recall_results", "Returned memories.", ())
        self._steps = HistogramFamily(
            "parley_recall_seconds",
            "Duration of each step of recall: bm25 (words), embedding (the question's vector), "
            "vector, fusion, context (neighbouring turns), feedback, scoring (weights), reranker, "
            "selection; total.",
            ("step",),
        )
        for collector in (self._recalls, self._notes, self._candidates, self._given, self._steps):
            registry.register(collector)

    def recalled(self, recalled: RecallMeasurement) -> None:
        """Count one recall."""
        self._recalls.add(self._ended.of(recalled.ended))
        self._steps.add(recalled.seconds, TOTAL)
        for step, seconds in recalled.steps:
            self._steps.add(seconds, self._step.of(step))
        for method, number in recalled.candidates:
            self._candidates.add(self._method.of(method), by=number)
        for note in recalled.notes:
            self._notes.add(self._note.of(note))
        self._given.add(by=recalled.results)


CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
KINDS: Final = (
    *("message", "edit", "deletion", "button", "command"),
    *("reaction", "membership", "inline_query"),
)
MAX_UNSENT: Final = 10_000
"""Sends whose end is awaited; beyond that the oldest is dropped and not counted."""
MICRO: Final = 1e-6
ELSEWHERE: Final = frozenset({"turn", "sent", "send_failed"})
"""Events that other metrics count in more detail."""
WITH_REASON: Final = frozenset({"not_addressed", "budget_alert"})
"""Events that are counted by reason code; all others are counted by platform."""
_T = TypeVar("_T")


class _Unsent(Struct, frozen=True):
    """A queued answer: when its event was stored (monotonic seconds), and the model's time."""

    platform: str
    stored: float
    model: float


class Metrics:
    """Implements `Observer`. `platforms` are the connected ones."""

    def __init__(self, platforms: Collection[str], models: Collection[str] = ()) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=self.registry)
        self._platform = Label(platforms)
        self._kind = Label(KINDS)
        self._stage = Label(most=MAX_CODES)
        self._reason = Label(most=MAX_CODES)
        self._outcome = Label(most=MAX_CODES)
        self._event = Label(most=MAX_CODES)
        self._code = Label(most=MAX_CODES)
        self._error = Label(pattern=TYPE, most=MAX_CODES)
        self._model = Label(models, pattern=MODEL, most=MAX_MODELS)
        self._unsent: OrderedDict[str, _Unsent] = OrderedDict()
        self._refused: OrderedDict[str, None] = OrderedDict()
        self._define_counters()
        self._define_durations()
        self.recall = RecallMetrics(self.registry)

    def _define_counters(self) -> None:
        self._events = self._counter("events", "Received events.", "platform", "kind")
        self._counted = {
            "duplicate": self._counter(
                "duplicates", "Events that were received more than once.", "platform"
            ),
            "not_addressed": self._counter(
                "not_addressed", "Messages that did not address the assistant.", "reason"
            ),
            "dead_letter": self._counter(
                "dead_letters", "Answers that could not be delivered.", "platform"
            ),
            "budget_alert": self._counter(
                "budget_alerts", "Budget thresholds that were passed.", "reason"
            ),
        }
        self._without_memory = self._counter(
            "answers_without_memory",
            "Answers without a part of memory: brief or recall, because it was too_slow, "
            "unavailable or failed.",
            "part",
            "reason",
        )
        self._others = self._counter("other_events", "Other events, by their name.", "event")
        self._turns = self._counter("turns", "Completed turns.", "platform", "outcome")
        self._refusals = self._counter("refusals", "Refusals.", "stage", "reason")
        self._tokens = self._counter(
            "tokens", "Tokens: input, output, cache_read, cache_write.", "model", "kind"
        )
        self._writes = self._counter(
            "memory_writes",
            "Statements for memory, by outcome (stored, review, blocked, refused) and reason code.",
            "outcome",
            "code",
        )
        self._cost = self._counter(
            "cost_dollars", "Cost in dollars, by the known or configured prices.", "model"
        )
        self._retries = self._counter("retries", "Sends that were retried.", "platform")

    def _define_durations(self) -> None:
        self._stages = self._seconds(
            "stage",
            "Duration of each stage: inbox (storing), queue (waiting), then the stages of a turn.",
            "stage",
        )
        self._models = self._seconds(
            "model",
            "Duration of each call of a model; result is ok or the type of the error.",
            "model",
            "result",
        )
        self._sends = self._seconds(
            "send",
            "Duration of each attempt to send; result is ok or the type of the error.",
            "platform",
            "result",
        )
        self._whole = self._seconds(
            "answer", "Time from the stored message to the last part sent.", "platform"
        )
        self._without_model = self._seconds(
            "answer_without_model",
            "Time from the stored message to the last part sent, without the model's time.",
            "platform",
        )

    def count(self, what: str, detail: str = "") -> None:
        """Count an event by its name; `detail` is a platform or a reason code, "part:reason" for
        `without_memory`."""
        if what in ELSEWHERE:
            return
        if what == "without_memory":
            part, _, reason = detail.partition(":")
            self._without_memory.add(self._reason.of(part), self._reason.of(reason))
            return
        counter = self._counted.get(what)
        if counter is None:
            self._others.add(self._event.of(what))
            return
        label = self._reason if what in WITH_REASON else self._platform
        counter.add(label.of(detail))

    def written(self, outcome: str, code: str) -> None:
        """Count a write of memory by its outcome and reason code."""
        self._writes.add(self._outcome.of(outcome), self._code.of(code))

    def arrived(self, platform: str, kind: str) -> None:
        self._events.add(self._platform.of(platform), self._kind.of(kind))

    def stored(self, seconds: float) -> None:
        self._stages.add(seconds, "inbox")

    def answered(self, answered: FinishedTurn) -> None:
        trace = answered.trace
        platform = self._platform.of(trace.platform)
        refusal = answered.refusal
        self._turns.add(platform, self._outcome.of("refused" if refusal else trace.outcome))
        if refusal is not None:
            self._refusals.add(self._stage.of(refusal.stage), self._reason.of(refusal.reason))
        self._stages.add(max(0.0, answered.began - answered.stored), "queue")
        for timing in answered.timings:
            if timing.kind == "model":
                name = self._model.of(timing.name)
                self._models.add(timing.seconds, name, self._error.of(timing.ended))
            else:
                self._stages.add(timing.seconds, self._stage.of(timing.name))
        for row in answered.usage:
            self._used(self._model.of(row.model), row.usage, row.micros)
        if answered.last_key:
            model = _seconds_of_model(answered.timings)
            _remember(self._unsent, answered.last_key, _Unsent(platform, answered.stored, model))

    def attempted(self, attempt: SendAttempt) -> None:
        platform = self._platform.of(attempt.outbound.place.platform)
        ended, key = self._error.of(attempt.failed or "ok"), attempt.outbound.key
        self._sends.add(attempt.seconds, platform, ended)
        if key in self._refused:
            self._retries.add(platform)
        if attempt.failed:
            _remember(self._refused, key, None)
            return
        self._refused.pop(key, None)
        unsent = self._unsent.pop(key, None)
        if unsent is not None:
            whole = max(0.0, attempt.began + attempt.seconds - unsent.stored)
            self._whole.add(whole, unsent.platform)
            self._without_model.add(max(0.0, whole - unsent.model), unsent.platform)

    def page(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self.registry)

    def _used(self, model: str, usage: Usage, micros: int) -> None:
        for kind, tokens in (
            ("input", usage.input_tokens),
            ("output", usage.output_tokens),
            ("cache_read", usage.cache_read_tokens),
            ("cache_write", usage.cache_write_tokens),
        ):
            if tokens > 0:
                self._tokens.add(model, kind, by=tokens)
        if micros > 0:
            self._cost.add(model, by=micros * MICRO)

    def _counter(self, name: str, meaning: str, *labels: str) -> CounterFamily:
        made = CounterFamily(f"parley_{name}", meaning, labels)
        self.registry.register(made)
        return made

    def _seconds(self, name: str, meaning: str, *labels: str) -> HistogramFamily:
        made = HistogramFamily(f"parley_{name}_seconds", meaning, labels)
        self.registry.register(made)
        return made


def _seconds_of_model(timings: Sequence[Timing]) -> float:
    """Return the seconds that a turn waited for its model: its calls, and the pause after each
    failed one until the next."""
    calls = [timing for timing in timings if timing.kind == "model"]
    pauses = (
        max(0.0, after.began - call.began - call.seconds)
        for call, after in pairwise(calls)
        if call.failure
    )
    return sum(call.seconds for call in calls) + sum(pauses)


def _remember(kept: OrderedDict[str, _T], key: str, value: _T) -> None:
    kept[key] = value
    while len(kept) > MAX_UNSENT:
        kept.popitem(last=False)
