"""Traces as a collector gets them: one per turn, sends included, nothing of people in them."""

import pytest

from tests.support.immutable import force

pytest.importorskip("opentelemetry.sdk", reason="the extra otel is not installed")

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gateway.errors import Transient
from gateway.llm.model_health import ModelHealth, WatchedModel, WatchedProvider
from gateway.observe.tracing import OtelTracing
from gateway.policy.access import AccessPolicy
from gateway.ports.model import TimeLimits
from gateway.turn.services import Policies
from tests.support.clock import FakeClock
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, received


class Spans:
    """Spans that were delivered."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.clock = FakeClock()
        self.tracing = OtelTracing(SimpleSpanProcessor(self._exporter), self.clock)

    @property
    def all(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.all if span.name == name]


@pytest.fixture
def spans() -> Spans:
    return Spans()


def watched(g: Gateway, spans: Spans) -> None:
    """Let the spans see what this gateway does."""
    spans.tracing._clock = g.clock
    force(g.services, "observer", spans.tracing)
    model = WatchedModel(g.model.name, "", TimeLimits())
    force(g.services, "provider", WatchedProvider(g.model, model, ModelHealth(g.clock), g.clock))
    g.services.deliverer._observer = spans.tracing


async def test_a_turn_is_one_trace_with_stages_model_and_send(spans: Spans) -> None:
    async with gateway() as g:
        watched(g, spans)
        await g.take(received("hello", at=direct()))
    (root,) = spans.named("turn")
    assert root.parent is None
    assert root.attributes is not None
    assert root.attributes["parley.outcome"] == "answered"
    assert root.attributes["parley.input_tokens"] == 100
    children = [span for span in spans.all if span is not root]
    assert {span.name for span in children} >= {
        *("queue", "identify", "check_access", "read_history", "generate", "save"),
        *("model", "send"),
    }
    assert root.context is not None
    for span in children:
        assert span.parent is not None
        assert span.context is not None
        assert span.parent.span_id == root.context.span_id
        assert span.context.trace_id == root.context.trace_id


async def test_spans_have_the_times_of_the_work(spans: Spans) -> None:
    async with gateway() as g:
        watched(g, spans)
        g.model.open.clear()
        await g.take(received("hello", at=direct()))
        await g.clock.advance(2.5)
        g.model.open.set()
        await g.rest()
    (model,), (root,) = spans.named("model"), spans.named("turn")
    assert model.start_time is not None
    assert model.end_time is not None
    assert root.start_time is not None
    assert root.end_time is not None
    assert model.end_time - model.start_time == 2_500_000_000
    assert root.start_time == round(g.clock.now().timestamp() - 2.5) * 1_000_000_000
    assert root.end_time >= model.end_time


async def test_two_turns_are_two_traces(spans: Spans) -> None:
    async with gateway() as g:
        watched(g, spans)
        await g.take(received("one", message_id="m1", at=direct()))
        await g.take(received("two", message_id="m2", at=direct()))
    traces = {span.context.trace_id for span in spans.all if span.context is not None}
    assert len(spans.named("turn")) == len(traces) == 2


async def test_every_send_attempt_is_a_span_and_a_failed_one_is_marked(spans: Spans) -> None:
    async with gateway() as g:
        watched(g, spans)
        g.adapter.failures.append(Transient("later", retry_after=1.0))
        await g.take(received("hello", at=direct()))
        await g.clock.advance(1.0)
        await g.rest()
    ended = [span.attributes["parley.ended"] for span in spans.named("send") if span.attributes]
    assert ended == ["Transient", "ok"]
    assert not spans.named("send")[0].status.is_ok


async def test_a_trace_contains_no_data_and_no_ids_of_people(spans: Spans) -> None:
    policies = Policies(access=AccessPolicy(blocked_users=frozenset({"mallory"})))
    async with gateway(policies=policies) as g:
        watched(g, spans)
        g.model.reply = lambda request: "the canary sings"
        await g.take(
            received("canary", message_id="m-wolf", author="ada-lynx", at=direct("xorchid"))
        )
        await g.take(received("canary", message_id="m-yew", author="mallory", at=direct("xorchid")))
    assert len(spans.named("turn")) == 2
    text = "".join(span.to_json() for span in spans.all)
    for word in ("canary", "wolf", "lynx", "orchid", "yew", "mallory", "Ada"):
        assert word not in text


async def test_remaining_spans_are_sent_at_shutdown(spans: Spans) -> None:
    await spans.tracing.close()
    assert spans.all == []
