"""What users of other programs reported about services with the Messages API and the Responses API.

The source of each case is the report that is named.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from aiohttp import web

from gateway.errors import ModelUnavailable
from gateway.immutable import replace
from gateway.llm.anthropic.provider import AnthropicProvider
from gateway.llm.anthropic.request import to_body
from gateway.llm.responses import ResponsesProvider
from gateway.ports import (
    ImageBlock,
    ModelMessage,
    ModelRequest,
    OpaqueBlock,
    TextBlock,
    ToolCall,
    ToolOutcome,
    Usage,
)
from tests.gateway.llm.asking import ADD, ask, assistant, question, user

Body = Mapping[str, Any]
Reply = tuple[int, str]


@asynccontextmanager
async def serving(reply: Callable[[Body], Reply], *, stays: bool = False) -> AsyncIterator[Any]:
    """Serve one text for each request: a document, or a stream of events. `stays`: the connection
    is kept busy behind it."""
    bodies: list[Body] = []
    stop = asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        bodies.append(body)
        status, text = reply(body)
        kind = "application/json" if text.startswith("{") else "text/event-stream"
        response = web.StreamResponse(status=status, headers={"Content-Type": kind})
        await response.prepare(request)
        await response.write(text.encode())
        while stays and not stop.is_set():
            await response.write(b": ping\n\n")
            await asyncio.sleep(0.1)
        return response

    app = web.Application()
    app.router.add_post("/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    claude = AnthropicProvider("key", "claude-m", url)
    gpt = ResponsesProvider("key", "gpt-m", f"{url}/v1")
    try:
        yield type("Server", (), {"bodies": bodies, "claude": claude, "gpt": gpt, "url": url})
    finally:
        await claude.close()
        await gpt.close()
        stop.set()
        await runner.cleanup()


def sse(*events: Body | str, named: bool = True) -> str:
    texts = []
    for event in events:
        if isinstance(event, str):
            texts.append(event)
        else:
            name = f"event: {event['type']}\n" if named else ""
            texts.append(f"{name}data: {json.dumps(event)}\n\n")
    return "".join(texts)


def start(**usage: int) -> Body:
    message = {"model": "claude-m", "content": [], "usage": usage or {"input_tokens": 9}}
    return {"type": "message_start", "message": message}


OPENED = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
HELLO = {
    "type": "content_block_delta",
    "index": 0,
    "delta": {"type": "text_delta", "text": "Hello."},
}
CLOSED = {"type": "content_block_stop", "index": 0}


def ended(reason: str = "end_turn", **usage: int) -> Body:
    used = usage or {"output_tokens": 3}
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": used}


STOPPED = {"type": "message_stop"}
WHOLE = sse(start(), OPENED, HELLO, CLOSED, ended(), STOPPED)
COMPLETE = {
    "no message_stop (tombii/better-ccflare 307)": sse(start(), OPENED, HELLO, CLOSED, ended()),
    "no content_block_stop (xemantic/anthropic-sdk-kotlin 147)": sse(
        start(), OPENED, HELLO, ended(), STOPPED
    ),
    "text in content_block_start (earendil-works/pi 7283)": sse(
        start(),
        {**OPENED, "content_block": {"type": "text", "text": "Hello."}},
        CLOSED,
        ended(),
        STOPPED,
    ),
    "no names of events": sse(start(), OPENED, HELLO, CLOSED, ended(), STOPPED, named=False),
    "the end of OpenAI's streams": sse(
        start(), OPENED, HELLO, CLOSED, ended(), "data: [DONE]\n\n", named=False
    ),
    "an empty event that keeps the connection": sse(
        start(), "data: \n\n", ": comment\n\n", OPENED, HELLO, CLOSED, ended(), STOPPED
    ),
    "a document in place of a stream": json.dumps(
        {
            "type": "message",
            "model": "claude-m",
            "content": [{"type": "text", "text": "Hello."}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 9, "output_tokens": 3},
        }
    ),
}


@pytest.mark.parametrize("case", COMPLETE)
async def test_a_complete_answer_of_a_proxy_is_not_thrown_away(case: str) -> None:
    async with serving(lambda _: (200, COMPLETE[case])) as server:
        heard = await ask(server.claude, question("Hi"))
    assert heard.text == "Hello."
    assert heard.finished.message == assistant("Hello.")
    assert (heard.finished.stop, heard.finished.usage) == ("end", Usage(9, 3))


async def test_an_answer_whose_end_never_comes_is_not_waited_for_long() -> None:
    text = sse(start(), OPENED, HELLO, CLOSED, ended())
    async with serving(lambda _: (200, text), stays=True) as server, asyncio.timeout(10):
        assert (await ask(server.claude, question("Hi"))).text == "Hello."


@pytest.mark.parametrize("text", ["", "event: ping\ndata: {}\n\n", "<html>Sign in</html>"])
async def test_an_answer_of_nothing_is_not_asked_for_again_and_again(text: str) -> None:
    async with serving(lambda _: (200, text)) as server:
        for provider in (server.claude, server.gpt):
            with pytest.raises(ModelUnavailable) as caught:
                await ask(provider, question("Hi"))
            assert not caught.value.passes


async def test_an_error_without_the_name_of_its_event_is_one() -> None:
    """BerriAI/litellm 4562, karthink/gptel 1512."""
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    async with serving(lambda _: (200, sse(start(), OPENED, HELLO, error, named=False))) as server:
        with pytest.raises(ModelUnavailable, match="overloaded_error"):
            await ask(server.claude, question("Hi"))


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (
            {"input_tokens": 90},
            {"input_tokens": 0, "output_tokens": 3},
        ),  # envoyproxy 1631
        ({"input_tokens": 0}, {"input_tokens": 90, "output_tokens": 3}),  # zai-org/GLM-5 139
        ({"input_tokens": 90}, {"input_tokens": 90, "output_tokens": 3}),  # both, cumulative
        ({"input_tokens": 90}, {"output_tokens": 3}),  # sgl-project/sglang 33419
    ],
)
async def test_the_tokens_of_the_prompt_are_counted_once_wherever_they_are(
    first: dict[str, int], last: dict[str, int]
) -> None:
    text = sse(start(**first), OPENED, HELLO, CLOSED, ended("end_turn", **last), STOPPED)
    async with serving(lambda _: (200, text)) as server:
        assert (await ask(server.claude, question("Hi"))).finished.usage == Usage(90, 3)


def in_tools(*blocks: OpaqueBlock, call_id: str = "call_1") -> ModelRequest:
    called = ModelMessage("assistant", (*blocks, ToolCall(call_id, "add", "{}")))
    return question(
        "1 + 2?", called, ModelMessage("user", (ToolOutcome(call_id, "3"),)), tools=(ADD,)
    )


def refusal(message: str, **more: object) -> Reply:
    error = {"type": "invalid_request_error", "message": message, **more}
    return 400, json.dumps({"type": "error", "error": error})


@pytest.mark.parametrize(
    "words",
    [
        "messages.1.content.0: Invalid `signature` in `thinking` block",  # claude-code 10627
        "messages.1.content.0: Invalid signature in thinking",  # can1357/oh-my-pi 4298
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks cannot be modified.",
    ],
)
async def test_reasoning_that_claude_refuses_is_left_out(words: str) -> None:
    thought = json.dumps({"type": "thinking", "thinking": "so", "signature": "s"})

    def reply(body: Body) -> Reply:
        return refusal(words) if "thinking" in json.dumps(body["messages"]) else (200, WHOLE)

    async with serving(reply) as server:
        request = in_tools(OpaqueBlock(f"{server.url} claude-m", thought))
        assert (await ask(server.claude, request)).text == "Hello."
    assert len(server.bodies) == 2
    assert server.bodies[1]["messages"][1]["content"][0]["type"] == "tool_use"


@pytest.mark.parametrize(
    "words",
    [
        "Could not process image",  # anthropics/claude-code 46127
        "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 9 bytes > 5 bytes",
        "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg'",
    ],
)
async def test_a_picture_that_claude_refuses_is_left_out(words: str) -> None:
    def reply(body: Body) -> Reply:
        return refusal(words) if '"image"' in json.dumps(body["messages"]) else (200, WHOLE)

    seen = ModelMessage("user", (ImageBlock("image/png", b"png"), TextBlock("What is it?")))
    async with serving(reply) as server:
        assert (await ask(server.claude, question(seen))).text == "Hello."
        await ask(server.claude, question(seen))
    assert "picture was left out" in json.dumps(server.bodies[1])
    assert '"image"' in json.dumps(server.bodies[2])  # the next one is tried


def test_ids_of_another_service_fit_and_stay_unique() -> None:
    """langchain-ai/langchain 37756, maximhq/bifrost 5097."""
    first = in_tools(call_id="functions.add:0").messages
    request = replace(question("Hi"), messages=(*first, assistant("3"), *first, user("And?")))
    messages = to_body(request, "claude-m")["messages"]
    calls = [b["id"] for m in messages for b in m["content"] if b["type"] == "tool_use"]
    results = [
        b["tool_use_id"] for m in messages for b in m["content"] if b["type"] == "tool_result"
    ]
    assert calls == results
    assert len(set(calls)) == 2
    assert all(call.replace("_", "").replace("-", "").isalnum() for call in calls)


def test_an_answer_to_continue_ends_without_white_space() -> None:
    """langchain-ai/langchain 35073: "cannot end with trailing whitespace"."""
    messages = to_body(question("Hi", assistant("One \n")), "claude-m")["messages"]
    assert messages[-1]["content"][-1]["text"] == "One"
    kept = to_body(question("Hi", assistant("One \n"), "Two"), "claude-m")["messages"]
    assert kept[1]["content"][-1]["text"] == "One \n"


# --- the Responses API ----------------------------------------------------------------------------

ANSWER = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Hello."}],
}


def completed(*items: Body) -> str:
    response = {
        "status": "completed",
        "output": items,
        "usage": {"input_tokens": 9, "output_tokens": 3},
    }
    return sse({"type": "response.completed", "response": response})


def _always(text: str, _: Body) -> Reply:
    return 200, text


async def test_reasoning_is_asked_for_encrypted_and_never_sent_back_without() -> None:
    """openai/openai-agents-python 919, vercel/ai 7543: "Items are not persisted when `store` is set
    to false"."""
    call = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{}"}
    thought: Body = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None}
    sealed = {**thought, "id": "rs_2", "encrypted_content": "gAAA", "status": None}
    for item, kept in ((thought, False), (sealed, True)):
        text = completed(item, call)
        async with serving(partial(_always, text)) as server:
            heard = await ask(server.gpt, question("1 + 2?", tools=(ADD,)))
            outcome = ModelMessage("user", (ToolOutcome("c1", "3"),))
            await ask(server.gpt, question("1 + 2?", heard.finished.message, outcome, tools=(ADD,)))
        sent = [item for item in server.bodies[1]["input"] if item.get("type") == "reasoning"]
        assert bool(sent) == kept
        assert all("status" not in item for item in sent)
        assert server.bodies[0]["include"] == ["reasoning.encrypted_content"]


async def test_a_model_without_encrypted_reasoning_is_asked_without_it_from_then_on() -> None:
    def reply(body: Body) -> Reply:
        if "include" in body:
            return refusal("Encrypted content is not supported with this model.", param="include")
        return 200, completed(ANSWER)

    async with serving(reply) as server:
        for _ in range(2):
            assert (await ask(server.gpt, question("Hi"))).text == "Hello."
    assert ["include" in body for body in server.bodies] == [True, False, False]


@pytest.mark.parametrize(
    "words",
    [
        "The encrypted content gAAA could not be verified.",  # openai/codex 8145
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
        "Input[1] missing required field `summary`",  # newo-ether/Agora 141
    ],
)
async def test_reasoning_that_openai_refuses_is_left_out(words: str) -> None:
    thought = json.dumps({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA"})

    def reply(body: Body) -> Reply:
        refused = any(item.get("type") == "reasoning" for item in body["input"])
        return refusal(words) if refused else (200, completed(ANSWER))

    async with serving(reply) as server:
        request = in_tools(OpaqueBlock(f"{server.url}/v1 gpt-m", thought))
        assert (await ask(server.gpt, request)).text == "Hello."
    assert len(server.bodies) == 2
    assert server.bodies[1]["include"] == ["reasoning.encrypted_content"]
