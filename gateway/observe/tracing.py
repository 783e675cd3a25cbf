"""Traces for OpenTelemetry: a span per turn with its stages, model calls and sends.

Spans are created when a turn is over, from its timings, so that a traced program runs as an
untraced one does. They hold platforms, codes and durations; no content, and of ids only that of the
turn, which reveals nothing of the platform's. A send finds its turn by that id, also in
another process.

Imported only if a collector is configured: the library is an extra.
"""

import asyncio
import hashlib
import random
from collections.abc import Mapping
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from gateway.ports import Clock
from gateway.ports.observer import FinishedTurn, SendAttempt, Timing

EXPORT_SECONDS: Final = 5.0
"""The time limit of one export, and of the last one at the end."""
NANO: Final = 1_000_000_000
FAILED: Final = "failed"
Attributes = Mapping[str, str | int | float]


class OtelTracing:
    """Implements `gateway.ports.observer.Observer`."""

    def __init__(self, processor: SpanProcessor, clock: Clock) -> None:
        self._clock = clock
        self._ids = _Ids()
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "parley"}),
            id_generator=self._ids,
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("parley")

    async def close(self) -> None:
        """Export the remaining spans."""
        await asyncio.to_thread(self._provider.shutdown)

    def arrived(self, platform: str, kind: str) -> None: ...

    def stored(self, seconds: float) -> None: ...

    def answered(self, answered: FinishedTurn) -> None:
        trace = answered.trace
        attributes: dict[str, str | int | float] = {
            "parley.turn": trace.id,
            "parley.platform": trace.platform,
            "parley.account": trace.account,
            "parley.kind": trace.kind,
            "parley.outcome": trace.outcome,
        }
        for row in answered.usage:
            attributes["parley.model"] = row.model
            attributes["parley.input_tokens"] = row.usage.input_tokens
            attributes["parley.output_tokens"] = row.usage.output_tokens
        self._ids.expect(trace_id(trace.id), span_id(trace.id))
        end = self._clock.monotonic()
        failed = trace.outcome == FAILED
        self._span("turn", Context(), answered.stored, end, attributes, failed=failed)
        parent = context_of(trace.id)
        self._span("queue", parent, answered.stored, answered.began, {})
        for timing in answered.timings:
            self._timing(timing, parent)

    def attempted(self, attempt: SendAttempt) -> None:
        outbound = attempt.outbound
        self._span(
            "send",
            context_of(outbound.turn_id),
            attempt.began,
            attempt.began + attempt.seconds,
            {
                "parley.platform": outbound.place.platform,
                "parley.account": outbound.place.account,
                "parley.part": outbound.key.partition(":")[2],
                "parley.ended": attempt.failed or "ok",
            },
            failed=bool(attempt.failed),
        )

    def _timing(self, timing: Timing, parent: Context) -> None:
        name = timing.name if timing.kind == "stage" else timing.kind
        attributes = {"parley.ended": timing.ended}
        if timing.kind != "stage":
            attributes[f"parley.{timing.kind}"] = timing.name
        end = timing.began + timing.seconds
        failed = timing.ended == FAILED
        self._span(name, parent, timing.began, end, attributes, failed=failed)

    def _span(
        self,
        name: str,
        context: Context,
        began: float,
        ended: float,
        attributes: Attributes,
        *,
        failed: bool = False,
    ) -> None:
        epoch = self._clock.now().timestamp() - self._clock.monotonic()
        span = self._tracer.start_span(
            name,
            context,
            attributes=attributes,
            start_time=round((epoch + began) * NANO),
        )
        if failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end(round((epoch + max(began, ended)) * NANO))


class _Ids(IdGenerator):
    """Random ids, except for the announced ones."""

    def __init__(self) -> None:
        self._trace = self._span = 0

    def expect(self, trace: int, span: int) -> None:
        """Use these for the next root span."""
        self._trace, self._span = trace, span

    def generate_trace_id(self) -> int:
        trace, self._trace = self._trace or random.getrandbits(128), 0
        return trace

    def generate_span_id(self) -> int:
        span, self._span = self._span or random.getrandbits(64), 0
        return span


def trace_id(turn_id: str) -> int:
    """Return 128 bits derived from the turn's id."""
    return int.from_bytes(hashlib.blake2b(turn_id.encode(), digest_size=16).digest()) or 1


def span_id(turn_id: str) -> int:
    """Return 64 bits derived from the turn's id."""
    return int.from_bytes(hashlib.blake2b(turn_id.encode(), digest_size=8).digest()) or 1


def context_of(turn_id: str) -> Context:
    """Return the context for spans of a turn."""
    ids = SpanContext(
        trace_id(turn_id), span_id(turn_id), is_remote=True, trace_flags=TraceFlags(1)
    )
    return set_span_in_context(NonRecordingSpan(ids), Context())


def to_collector(endpoint: str, clock: Clock) -> OtelTracing:
    """Return tracing to a collector, OTLP over HTTP, in the background. Raises `ImportError`."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415 - an extra of its own
        OTLPSpanExporter,
    )

    suffix = "/v1/traces"
    url = endpoint if endpoint.endswith(suffix) else endpoint.rstrip("/") + suffix
    exporter = OTLPSpanExporter(endpoint=url, timeout=EXPORT_SECONDS)
    return OtelTracing(BatchSpanProcessor(exporter), clock)
