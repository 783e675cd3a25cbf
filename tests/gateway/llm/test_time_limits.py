"""The time limits of a call, one for the first token and one between tokens."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

import pytest

from gateway.errors import AnswerStalled, NoFirstToken
from gateway.llm.anthropic.provider import AnthropicProvider
from gateway.llm.failover import FailoverProvider
from gateway.llm.model_health import ModelHealth, WatchedModel, WatchedProvider, within
from gateway.ports import ModelEvent, ModelRequest, TextDelta, Working
from gateway.ports.model import TimeLimits
from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault
from tests.gateway.llm.asking import ask, question
from tests.support.clock import FakeClock

SHORT = TimeLimits(first_token=0.05, between_tokens=0.05)


async def events(
    *gaps: float, kind: type[TextDelta] | type[Working] = TextDelta
) -> AsyncGenerator[ModelEvent, None]:
    for gap in gaps:
        await asyncio.sleep(gap)
        yield TextDelta("word ") if kind is TextDelta else Working()


async def heard(stream: AsyncIterator[ModelEvent]) -> Sequence[ModelEvent]:
    return [event async for event in stream]


async def test_a_call_without_a_first_token_ends_with_its_own_error() -> None:
    with pytest.raises(NoFirstToken, match=r"no first token within 0\.05 s"):
        await heard(within(SHORT, events(5.0)))


async def test_silence_within_an_answer_ends_with_another_error() -> None:
    with pytest.raises(AnswerStalled, match=r"no further token within 0\.05 s"):
        await heard(within(SHORT, events(0.0, 5.0)))


@pytest.mark.parametrize("kind", [TextDelta, Working])
async def test_any_event_is_a_sign_of_work(kind: type[TextDelta] | type[Working]) -> None:
    limits = TimeLimits(first_token=0.5, between_tokens=0.5)

    assert len(await heard(within(limits, events(*[0.1] * 8, kind=kind)))) == 8


async def test_the_time_of_the_reader_does_not_count() -> None:
    async for _ in within(SHORT, events(0.0, 0.0, 0.0)):
        await asyncio.sleep(0.1)


async def test_a_timeout_of_the_provider_itself_stays_what_it_is() -> None:
    async def broken() -> AsyncGenerator[ModelEvent, None]:
        for event in (Working(),):
            yield event
            raise TimeoutError("of a library")

    with pytest.raises(TimeoutError, match="of a library"):
        await heard(within(SHORT, broken()))


@pytest.mark.parametrize(
    ("kind", "error"), [("slow", NoFirstToken), ("slow_stream", AnswerStalled)]
)
async def test_a_slow_service_is_cut_by_the_limit_of_its_model(
    claude: AnthropicSimulator, kind: str, error: type[Exception]
) -> None:
    claude.reply = lambda _: "word " * 200
    claude.faults.add(Fault("messages", kind, delay=2.0))  # type: ignore[arg-type]  # a literal
    clock = FakeClock()
    limits = TimeLimits(first_token=1.0 if kind == "slow" else 9.0, between_tokens=0.3)
    provider = WatchedProvider(
        AnthropicProvider("test-key", base_url=claude.base_url),
        WatchedModel("claude", claude.base_url, limits),
        ModelHealth(clock),
        clock,
    )

    with pytest.raises(error):
        await ask(provider, question("Hello"))
    await provider.close()


async def test_a_model_too_slow_for_its_first_token_is_not_asked_twice() -> None:
    class Slow:
        name = "slow"
        calls = 0

        async def stream(self, _request: ModelRequest) -> AsyncIterator[ModelEvent]:
            self.calls += 1
            events: tuple[ModelEvent, ...] = ()
            for event in events:
                yield event
            raise NoFirstToken("no first token within 300 s")

        async def close(self) -> None:
            """Do nothing."""

    slow = Slow()
    with pytest.raises(NoFirstToken):
        await ask(FailoverProvider([slow], FakeClock(instant=True)), question("Hello"))

    assert slow.calls == 1
