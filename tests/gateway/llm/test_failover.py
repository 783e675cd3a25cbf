"""Failover when a model does not answer."""

from collections.abc import AsyncIterator

import pytest

from gateway.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from gateway.immutable import replace
from gateway.llm.anthropic.provider import AnthropicProvider
from gateway.llm.failover import ATTEMPTS, FailoverProvider
from gateway.llm.known_windows import KnownWindows, ModelPlace
from gateway.llm.openai_compatible import OpenAICompatibleProvider
from gateway.ports import ModelEvent, ModelFinished, ModelRequest, TextDelta, Usage
from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault
from simulators.openai import OpenAISimulator
from tests.gateway.llm.asking import ask, assistant, question
from tests.support.clock import FakeClock


class Stub:
    """A provider that raises what it is given, one error a call, and then answers its name."""

    def __init__(self, name: str, *errors: ModelError, says_first: str = "") -> None:
        self.name = name
        self.errors = list(errors)
        self.says_first = says_first
        self.requests: list[ModelRequest] = []
        self.closed = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        if self.errors:
            if self.says_first:
                yield TextDelta(self.says_first)
            raise self.errors.pop(0)
        yield TextDelta(self.name)
        yield ModelFinished(assistant(self.name), "end", Usage(1, 1), self.name)

    async def close(self) -> None:
        self.closed = True


def down(retry_after: float | None = None) -> ModelUnavailable:
    return ModelUnavailable("down", retry_after)


async def test_an_overloaded_model_is_retried_after_a_pause() -> None:
    clock, first = FakeClock(instant=True), Stub("first", down())

    heard = await ask(FailoverProvider([first], clock), question("Hello"))

    assert heard.text == "first"
    assert len(first.requests) == 2
    assert clock.slept == [0.5]


async def test_the_pause_is_the_one_that_the_service_states() -> None:
    clock = FakeClock(instant=True)

    await ask(FailoverProvider([Stub("first", down(3.0))], clock), question("Hello"))

    assert clock.slept == [3.0]


async def test_after_a_long_stated_pause_the_next_model_is_called_instead() -> None:
    clock, first, second = FakeClock(instant=True), Stub("first", down(30.0)), Stub("second")

    heard = await ask(FailoverProvider([first, second], clock), question("Hello"))

    assert heard.text == "second"
    assert clock.slept == []
    assert len(first.requests) == 1


async def test_the_next_model_is_called_after_all_attempts() -> None:
    clock, first, second = FakeClock(instant=True), Stub("first", *[down()] * 9), Stub("second")

    heard = await ask(FailoverProvider([first, second], clock), question("Hello"))

    assert heard.text == "second"
    assert len(first.requests) == ATTEMPTS


async def test_a_failed_model_is_called_last_until_its_pause_ends() -> None:
    clock, first, second = (
        FakeClock(instant=True),
        Stub("first", *[down()] * ATTEMPTS),
        Stub("second"),
    )
    both = FailoverProvider([first, second], clock, cool_down=60)
    await ask(both, question("one"))

    soon = await ask(both, question("two"))
    clock.skip(61)
    later = await ask(both, question("three"))

    assert (soon.text, later.text) == ("second", "first")
    assert len(first.requests) == ATTEMPTS + 1


async def test_a_failed_model_is_called_if_there_is_no_other() -> None:
    clock, only = FakeClock(instant=True), Stub("only", *[down()] * ATTEMPTS)
    provider = FailoverProvider([only], clock)
    with pytest.raises(ModelUnavailable):
        await ask(provider, question("one"))

    assert (await ask(provider, question("two"))).text == "only"


async def test_an_answer_that_was_shown_is_not_repeated_by_another_model() -> None:
    first, second = Stub("first", down(), says_first="Half an"), Stub("second")
    provider = FailoverProvider([first, second], FakeClock(instant=True))
    pieces: list[ModelEvent] = []

    async def read() -> None:
        async for event in provider.stream(question("Hello")):
            pieces.append(event)

    with pytest.raises(ModelUnavailable):
        await read()

    assert pieces == [TextDelta("Half an")]
    assert (len(first.requests), len(second.requests)) == (1, 0)


async def test_a_refusal_is_not_retried_and_the_next_model_is_called() -> None:
    first, second = Stub("first", ModelRefused("no such key")), Stub("second")

    heard = await ask(FailoverProvider([first, second], FakeClock(instant=True)), question("Hello"))

    assert heard.text == "second"
    assert len(first.requests) == 1


def windows(first: int, second: int) -> KnownWindows:
    return KnownWindows([ModelPlace("first", "", first), ModelPlace("second", "", second)])


async def test_a_conversation_that_is_too_long_for_every_model_is_reported_to_the_turn() -> None:
    first, second = Stub("first", ContextTooLong("too long", 300, 200)), Stub("second")
    failover = FailoverProvider(
        [first, second], FakeClock(instant=True), windows=windows(1_000, 250)
    )

    with pytest.raises(ContextTooLong):
        await ask(failover, question("Hello"))

    assert second.requests == []


async def test_a_larger_model_answers_what_is_too_long_for_the_first() -> None:
    first, second = Stub("first", ContextTooLong("too long", 3_000, 2_000)), Stub("second")
    failover = FailoverProvider(
        [first, second], FakeClock(instant=True), windows=windows(8_000, 8_000)
    )
    long = replace(question("Hello"), tokens=3_000)

    await ask(failover, long)
    await ask(failover, long)

    assert (len(first.requests), len(second.requests)) == (1, 2)


async def test_that_a_conversation_is_too_long_is_said_also_when_the_larger_model_is_down() -> None:
    first = Stub("first", ContextTooLong("too long", 3_000, 2_000))
    second = Stub("second", *[down()] * 9)

    with pytest.raises(ContextTooLong):
        await ask(FailoverProvider([first, second], FakeClock(instant=True)), question("Hello"))


async def test_the_first_error_is_reported_when_every_model_fails() -> None:
    first = Stub("first", *[ModelUnavailable("the first is down")] * 9)
    second = Stub("second", *[ModelUnavailable("the second is down")] * 9)

    with pytest.raises(ModelUnavailable, match="the first is down"):
        await ask(FailoverProvider([first, second], FakeClock(instant=True)), question("Hello"))

    assert len(first.requests) + len(second.requests) == 2 * ATTEMPTS


async def test_the_model_of_a_room_replaces_the_first_model_only() -> None:
    first, second = Stub("first", *[down()] * 9), Stub("second")
    request = replace(question("Hello"), model="claude-opus-5-5")

    await ask(FailoverProvider([first, second], FakeClock(instant=True)), request)

    assert first.requests[0].model == "claude-opus-5-5"
    assert second.requests[0].model == ""


async def test_close_closes_all_models() -> None:
    first, second = Stub("first"), Stub("second")

    await FailoverProvider([first, second], FakeClock(instant=True)).close()

    assert first.closed
    assert second.closed


async def test_an_overloaded_anthropic_server_answers_at_the_second_attempt(
    claude: AnthropicSimulator,
) -> None:
    claude.faults.add(Fault("messages", "overloaded", retry_after=1))
    clock = FakeClock(instant=True)
    provider = FailoverProvider([AnthropicProvider("test-key", base_url=claude.base_url)], clock)

    heard = await ask(provider, question("Hello"))

    assert heard.text == "You said: Hello"
    assert clock.slept == [1.0]
    assert [call.status for call in claude.requests] == [529, 200]
    await provider.close()


async def test_an_unavailable_anthropic_server_is_replaced_by_the_other_service(
    claude: AnthropicSimulator, compatible: OpenAISimulator
) -> None:
    claude.faults.add(Fault("messages", "server_error", times=99))
    provider = FailoverProvider(
        [
            AnthropicProvider("test-key", base_url=claude.base_url),
            OpenAICompatibleProvider("test-key", "gpt-test", compatible.base_url),
        ],
        FakeClock(instant=True),
    )

    heard = await ask(provider, question("Hello"))

    assert heard.text == "You said: Hello"
    assert heard.finished.model == "gpt-test"
    assert len(claude.requests) == ATTEMPTS
    await provider.close()


@pytest.mark.parametrize("kind", ["broken_stream", "stream_error"])
async def test_a_stream_that_breaks_after_text_is_not_restarted(
    claude: AnthropicSimulator, compatible: OpenAISimulator, kind: str
) -> None:
    claude.script("A long answer, of which the first half arrives. " * 20)
    claude.faults.add(Fault("messages", kind))  # type: ignore[arg-type]  # a literal, by parametrize
    provider = FailoverProvider(
        [
            AnthropicProvider("test-key", base_url=claude.base_url),
            OpenAICompatibleProvider("test-key", "gpt-test", compatible.base_url),
        ],
        FakeClock(instant=True),
    )

    with pytest.raises(ModelUnavailable):
        await ask(provider, question("Hello"))

    assert len(claude.requests) == 1
    assert len(compatible.bodies) == 0
    await provider.close()
