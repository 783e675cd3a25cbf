"""The unchanged anthropic SDK talks to the simulator."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import pytest

from simulators.anthropic import Answer, AnthropicSimulator, UseTool
from simulators.base import Fault

MODEL = "claude-sonnet-5-5"
HELLO: Any = [{"role": "user", "content": "Hello"}]
TOOL: Any = {"name": "add", "description": "Adds.", "input_schema": {"type": "object"}}


@pytest.fixture
async def sim() -> AsyncIterator[AnthropicSimulator]:
    simulator = AnthropicSimulator()
    await simulator.start()
    yield simulator
    await simulator.stop()


@pytest.fixture
async def client(sim: AnthropicSimulator) -> AsyncIterator[anthropic.AsyncAnthropic]:
    made = anthropic.AsyncAnthropic(api_key="test-key", base_url=sim.base_url, max_retries=0)
    yield made
    await made.close()


async def test_a_plain_answer_repeats_the_message(client: anthropic.AsyncAnthropic) -> None:
    answer = await client.messages.create(model=MODEL, max_tokens=100, messages=HELLO)

    assert answer.content[0].type == "text"
    assert answer.content[0].text == "You said: Hello"
    assert answer.stop_reason == "end_turn"
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens > 0


async def test_a_streamed_answer_contains_thinking_text_and_a_tool_call(
    sim: AnthropicSimulator, client: anthropic.AsyncAnthropic
) -> None:
    text = "A sentence that is long enough for several pieces of it. ü 漢字 🎈"
    sim.script(Answer(text, (UseTool("add", {"a": 1, "b": [2, 3]}),), thinking="Let me see."))

    async with client.messages.stream(
        model=MODEL, max_tokens=100, messages=HELLO, tools=[TOOL]
    ) as stream:
        pieces = [piece async for piece in stream.text_stream]
        answer = await stream.get_final_message()

    assert "".join(pieces) == text
    assert len(pieces) > 1
    assert [block.type for block in answer.content] == ["thinking", "text", "tool_use"]
    assert answer.content[2].type == "tool_use"
    assert answer.content[2].input == {"a": 1, "b": [2, 3]}
    assert answer.stop_reason == "tool_use"


async def test_the_raw_stream_contains_every_event_type(
    sim: AnthropicSimulator, client: anthropic.AsyncAnthropic
) -> None:
    async with client.messages.with_streaming_response.create(
        model=MODEL, max_tokens=100, messages=HELLO, stream=True
    ) as response:
        lines = [line async for line in response.iter_lines()]

    kinds = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    assert kinds[:3] == ["message_start", "content_block_start", "ping"]
    assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    assert "content_block_delta" in kinds


async def test_a_tool_result_is_accepted(
    sim: AnthropicSimulator, client: anthropic.AsyncAnthropic
) -> None:
    sim.script(Answer(tools=(UseTool("add", {"a": 1}),)))
    first = await client.messages.create(model=MODEL, max_tokens=100, messages=HELLO, tools=[TOOL])
    call = first.content[0]
    assert call.type == "tool_use"
    result: Any = {"type": "tool_result", "tool_use_id": call.id, "content": "3"}

    second = await client.messages.create(
        model=MODEL,
        max_tokens=100,
        tools=[TOOL],
        messages=[
            *HELLO,
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": [result]},
        ],
    )

    assert second.content[0].type == "text"
    assert second.content[0].text == "You said: 3"


async def test_tokens_are_counted(client: anthropic.AsyncAnthropic) -> None:
    short = await client.messages.count_tokens(model=MODEL, messages=HELLO)
    long = await client.messages.count_tokens(
        model=MODEL, messages=[{"role": "user", "content": "word " * 1000}]
    )

    assert 0 < short.input_tokens < 20
    assert 1000 < long.input_tokens < 2000


async def test_a_marked_prefix_is_read_from_the_cache_at_the_second_request(
    client: anthropic.AsyncAnthropic,
) -> None:
    system: Any = [{"type": "text", "text": "rule " * 4000, "cache_control": {"type": "ephemeral"}}]

    async def ask(text: str) -> anthropic.types.Usage:
        answer = await client.messages.create(
            model=MODEL,
            max_tokens=10,
            system=system,
            messages=[{"role": "user", "content": text}],
        )
        return answer.usage

    first, second = await ask("one"), await ask("two")

    assert first.cache_creation_input_tokens
    assert first.cache_read_input_tokens == 0
    assert second.cache_read_input_tokens == first.cache_creation_input_tokens
    assert second.cache_creation_input_tokens == 0


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("rate_limit", anthropic.RateLimitError),
        ("server_error", anthropic.InternalServerError),
        ("overloaded", anthropic.OverloadedError),
        ("drop_before", anthropic.APIConnectionError),
        ("drop_after", anthropic.APIConnectionError),
        ("stream_error", anthropic.APIStatusError),
    ],
)
async def test_faults_have_the_form_of_the_service(
    sim: AnthropicSimulator, client: anthropic.AsyncAnthropic, kind: Any, error: type[Exception]
) -> None:
    sim.faults.add(Fault("messages", kind, retry_after=7))

    async def read_all() -> None:
        stream = await client.messages.create(
            model=MODEL, max_tokens=100, messages=HELLO, stream=True
        )
        async for _ in stream:
            pass

    with pytest.raises(error) as caught:
        await read_all()

    if isinstance(caught.value, anthropic.RateLimitError):
        assert caught.value.response.headers["retry-after"] == "7"
        assert caught.value.body == {
            "type": "error",
            "error": {
                "type": "rate_limit_error",
                "message": "This request would exceed your account's rate limit.",
            },
            "request_id": caught.value.response.json()["request_id"],
        }
    await client.messages.create(model=MODEL, max_tokens=9, messages=HELLO)


async def test_the_retries_of_the_library_survive_an_overload(sim: AnthropicSimulator) -> None:
    sim.faults.add(Fault("messages", "overloaded", retry_after=0))
    async with anthropic.AsyncAnthropic(api_key="test-key", base_url=sim.base_url) as patient:
        await patient.messages.create(model=MODEL, max_tokens=9, messages=HELLO)

    assert [call.status for call in sim.requests] == [529, 200]


@pytest.mark.parametrize(
    ("key", "status", "kind"),
    [("wrong", 401, "authentication_error"), ("disabled-key", 403, "permission_error")],
)
async def test_keys_are_checked(sim: AnthropicSimulator, key: str, status: int, kind: str) -> None:
    async with anthropic.AsyncAnthropic(api_key=key, base_url=sim.base_url) as stranger:
        with pytest.raises(anthropic.APIStatusError) as caught:
            await stranger.messages.create(model=MODEL, max_tokens=9, messages=HELLO)

    assert caught.value.status_code == status
    assert isinstance(caught.value.body, dict)
    assert caught.value.body["error"]["type"] == kind


async def test_an_unknown_model_is_refused(client: anthropic.AsyncAnthropic) -> None:
    with pytest.raises(anthropic.NotFoundError, match="model: claude-0"):
        await client.messages.create(model="claude-0", max_tokens=9, messages=HELLO)


async def test_a_prompt_beyond_the_window_reports_both_numbers() -> None:
    simulator = AnthropicSimulator(windows={MODEL: 100})
    await simulator.start()
    long: Any = [{"role": "user", "content": "word " * 200}]
    async with anthropic.AsyncAnthropic(
        api_key="test-key", base_url=simulator.base_url, max_retries=0
    ) as client:
        with pytest.raises(
            anthropic.BadRequestError, match=r"prompt is too long: \d+ tokens > 100 maximum"
        ):
            await client.messages.create(model=MODEL, max_tokens=9, messages=long)
    await simulator.stop()


async def test_thinking_is_accepted_in_its_original_position_only(
    sim: AnthropicSimulator, client: anthropic.AsyncAnthropic
) -> None:
    sim.script(Answer(tools=(UseTool("add"),), thinking="Hm."))
    first = await client.messages.create(model=MODEL, max_tokens=99, messages=HELLO, tools=[TOOL])
    call = first.content[1]
    assert call.type == "tool_use"
    result: Any = {"type": "tool_result", "tool_use_id": call.id, "content": "3"}
    tail: Any = [
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": [result]},
    ]

    await client.messages.create(model=MODEL, max_tokens=99, tools=[TOOL], messages=[*HELLO, *tail])
    changed: Any = {"role": "user", "content": "Something else"}
    with pytest.raises(anthropic.BadRequestError, match="conversation before them has changed"):
        await client.messages.create(
            model=MODEL, max_tokens=99, tools=[TOOL], messages=[changed, *tail]
        )


async def test_requests_are_recorded_with_their_size(
    sim: AnthropicSimulator, client: anthropic.AsyncAnthropic
) -> None:
    image: Any = {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": "image/png",
            "data": base64.b64encode(b"\x89PNG\r\n\x1a\n rest").decode(),
        },
    }
    await client.messages.create(
        model=MODEL, max_tokens=9, messages=[{"role": "user", "content": [image]}]
    )

    (call,) = sim.requests
    assert call.path == "/v1/messages"
    assert call.headers["anthropic-version"]
    assert call.size > 100
    assert sim.bodies[0]["max_tokens"] == 9
