"""Answers as real servers send them. Each comment names the source of a form."""

import json
from contextlib import aclosing
from typing import Any

import pytest

from gateway.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from gateway.ports import TextDelta, Working
from tests.gateway.llm.asking import ADD, ask, question
from tests.gateway.llm.chat_completions.scripted_server import (
    Reply,
    as_json,
    chunk,
    refused,
    said,
    serving,
    sse,
)
from tests.support.for_each import for_each

WHOLE = {
    "object": "chat.completion",
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}
HELLO = chunk({"role": "assistant", "content": "Hello."})
END = chunk({}, "stop")
USAGE = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}


def lines(*values: Any, end: str = "\n") -> Reply:
    return Reply("".join(f"{json.dumps(value)}{end}" for value in values).encode())


COMPLETE = {
    "no finish_reason": sse(HELLO),  # KoboldCpp, text-generation-webui
    "no [DONE]": sse(HELLO, END, done=False),  # Gemini's endpoint, some vLLM proxies
    "only the usage ends it": sse(HELLO, USAGE, done=False),
    "empty data lines": sse("data:\n\n", HELLO, "data: \n\n", "event: ping\ndata:\n\n", END),
    "comments": sse(": OPENROUTER PROCESSING\n\n", HELLO, ": keep-alive\n\n", END),  # OpenRouter
    "words for data": sse("data: ping\n\n", HELLO, END),
    "CRLF and a byte order mark": Reply(
        b"\xef\xbb\xbf" + sse(HELLO, END).body.replace(b"\n", b"\r\n")
    ),
    "no empty lines": Reply(sse(HELLO, END).body.replace(b"\n\n", b"\n")),
    "no last line feed": Reply(sse(HELLO, END).body.rstrip(b"\n")),
    "lines of JSON": lines(HELLO, END),
    "lines of JSON and [DONE]": Reply(lines(HELLO).body + b"[DONE]\n"),
    "a document": as_json(WHOLE),  # servers that ignore `stream`
    "a document of several lines": Reply(json.dumps(WHOLE, indent=1).encode() + b"\n"),
    "a list of chunks": as_json([HELLO, END]),
    "finish_reason is empty": sse(HELLO, chunk({}, "")),
    "finish_reason is the text null": sse(chunk({"content": "Hello."}, "null"), END),  # DashScope
    "finish_reason eos": sse(HELLO, chunk({}, "eos"), done=False),
    "finish_reason stop_sequence": sse(HELLO, chunk({}, "stop_sequence"), done=False),
    "finish_reason COMPLETE": sse(HELLO, chunk({}, "COMPLETE"), done=False),
    "finish_reason tool_calls without calls": sse(HELLO, chunk({}, "tool_calls")),
    "finish_reason is no text": sse({"choices": [{"delta": {"content": "Hello."},
                                                  "finish_reason": {"a": 1}}]}),
    "usage is null": sse({**HELLO, "usage": None}, {**END, "usage": None}),
    "usage of other types": sse(HELLO, END, {"choices": [], "usage": {"prompt_tokens": "x"}}),
    "choices is null": sse({"choices": None, "prompt_filter_results": []}, HELLO, END),  # Azure
    "delta is null": sse({"choices": [{"delta": None}]}, HELLO, END),
    "the whole message at the end": sse(
        HELLO, {"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}
    ),
    "all text so far in each message": sse(
        {"choices": [{"message": {"content": "Hel"}}]},
        {"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]},
    ),  # DashScope without incremental output
    "message instead of delta": sse({"choices": [{"message": {"content": "Hello."}}]}),
    "text instead of delta": sse({"choices": [{"text": "Hello."}]}),  # older completions
    "typed parts": sse(
        chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "so"}]}]}),
        chunk({"content": [{"type": "text", "text": "Hel"}]}),
        chunk({"content": "lo."}),
        END,
    ),  # Mistral's reasoning models
    "marked thoughts": sse(
        chunk({"content": "so", "extra_content": {"google": {"thought": True}}}), HELLO, END
    ),  # Gemini with include_thoughts
    "an error after the end": sse(HELLO, END, {"error": {"message": "late"}}, done=False),
    "the connection breaks after the end": sse(HELLO, END, done=False, cut=True),
    "the connection stays open": sse(HELLO, END, stays=True),
    "garbage after the end": sse(HELLO, END, 'data: {"choices": [\n\n', done=False),
}  # fmt: skip


@for_each("form", COMPLETE)
async def test_a_complete_answer_is_read_in_one_request(form: str) -> None:
    async with serving(COMPLETE[form]) as server:
        heard = await ask(server.provider, question("Hi", tools=(ADD,)))

    assert heard.text == "Hello."
    assert [b.text for b in heard.finished.message.content if hasattr(b, "text")] == ["Hello."]
    assert heard.finished.stop in ("end", "other")
    assert len(server.bodies) == 1


BROKEN = {
    "cut in the text": sse(HELLO, done=False, cut=True),
    "ends in the text": sse(HELLO, done=False),
    "ends in an event": Reply(sse(HELLO, END).body[:-60]),
    "half a document": Reply(json.dumps(WHOLE).encode()[:60]),
    "half a document with cut": Reply(json.dumps(WHOLE).encode()[:60], cut=True),
    "an error in the answer": sse(HELLO, {"error": {"message": "Overloaded"}}, done=False),
    "finish_reason error": sse(HELLO, chunk({}, "error")),  # OpenRouter
    "insufficient_system_resource": sse(HELLO, chunk({}, "insufficient_system_resource")),
    "an unreadable event": sse(HELLO, 'data: {"choices": [\n\n'),
    "choices of another type": sse({"choices": 5}),
}


@for_each("form", BROKEN)
async def test_a_broken_answer_can_be_asked_for_again(form: str) -> None:
    async with serving(BROKEN[form]) as server:
        with pytest.raises(ModelUnavailable) as caught:
            await ask(server.provider, question("Hi"))
    assert caught.value.passes


@for_each(
    "reply",
    [
        Reply(b""),
        Reply(b"\n"),
        sse(),
        sse(chunk({"role": "assistant"}), done=False),
        Reply(b": only comments\n\n"),
        Reply(b"<html>Sign in</html>", kind="text/html"),
    ],
)
async def test_an_empty_answer_is_not_asked_for_again_and_again(reply: Reply) -> None:
    async with serving(reply) as server:
        with pytest.raises(ModelUnavailable, match=r"empty|a page of HTML") as caught:
            await ask(server.provider, question("Hi"))
    assert not caught.value.passes


ERRORS = {
    "OpenRouter": (
        as_json({"error": {"message": "No credits", "code": 402}}), ModelRefused, "No credits"),
    "an error event": (
        Reply(b'event: error\ndata: {"error": {"message": "Sorry", "code": 503}}\n\n'),
        ModelUnavailable, "Sorry"),
    "an error field": (
        Reply(b'error: {"code": 500, "message": "Sorry", "type": "server_error"}\n\n'),
        ModelUnavailable, "Sorry"),  # llama.cpp
    "words": (Reply(b"event: error\ndata: it broke\n\n"), ModelUnavailable, "it broke"),
    "vLLM": (
        as_json({"object": "error", "message": "bad", "type": "BadRequestError", "code": 400}),
        ModelRefused, "bad"),
    "a list": (
        as_json([{"error": {"code": 400, "message": "API key not valid"}}], 400),
        ModelRefused, "API key not valid"),  # Google
    "FastAPI": (as_json({"detail": "Not authenticated"}, 403), ModelRefused, "Not authenticated"),
    "MiniMax": (
        as_json({"base_resp": {"status_code": 1004, "status_msg": "login fail"}}),
        ModelUnavailable, "login fail"),
    "plain text": (Reply(b"upstream failed", 502, "text/plain"), ModelUnavailable, "upstream"),
    "an overflow in a stream": (
        sse({"error": {"code": 400, "n_prompt_tokens": 6022, "n_ctx": 2048,
                       "type": "exceed_context_size_error",
                       "message": "request (6022 tokens) exceeds the available context size "
                       "(2048 tokens), try increasing it"}}),
        ContextTooLong, "6022"),
}  # fmt: skip


@for_each("server_name", ERRORS)
async def test_an_error_keeps_its_words(server_name: str) -> None:
    reply, kind, words = ERRORS[server_name]
    async with serving(reply) as server:
        with pytest.raises(ModelError, match=words) as caught:
            await ask(server.provider, question("Hi"))
    assert type(caught.value) is kind
    assert caught.value.request_id == "req-1"


@for_each(
    "reply",
    [
        refused("The prompt was filtered", code="content_filter"),  # Azure
        refused("Input data may contain inappropriate content.", code="data_inspection_failed"),
        refused(
            "The request was rejected because it was considered high risk", type="content_filter"
        ),  # Moonshot
        refused("Content Exists Risk"),  # DeepSeek
        refused("系统检测到输入或生成内容可能包含不安全或敏感内容", code="1301"),  # Zhipu
        refused("Content violates usage guidelines.", 403),  # xAI
    ],
)
async def test_a_filtered_question_is_a_filtered_answer(reply: Reply) -> None:
    async with serving(reply) as server:
        heard = await ask(server.provider, question("Hi"))
    assert (heard.finished.stop, heard.finished.message.content) == ("filtered", ())


@for_each(
    ("finish", "stop"),
    [
        ("length", "max_tokens"),
        ("MAX_TOKENS", "max_tokens"),
        ("model_length", "max_tokens"),
        ("content_filter", "filtered"),
        ("SAFETY", "filtered"),
        ("sensitive", "filtered"),
        ("refusal", "refusal"),
        ("end_turn", "end"),
        ("weather", "other"),
    ],
)
async def test_the_reason_of_the_end_has_many_names(finish: str, stop: str) -> None:
    async with serving(said("Sure. First", finish=finish)) as server:
        heard = await ask(server.provider, question("Hi"))
    assert heard.finished.stop == stop


async def test_half_a_surrogate_pair_costs_no_answer() -> None:
    def piece(text: str) -> str:
        return f"data: {json.dumps(chunk({'content': 'X'}))}\n\n".replace("X", text)

    reply = sse(piece(r"a\ud83d"), piece(r"\ude00b\udc00"), piece(r"c\ud83d"), chunk({}, "stop"))
    async with serving(reply) as server:
        heard = await ask(server.provider, question("Hi"))
    assert heard.text == "a😀b\ufffdc\ufffd"


async def test_reasoning_is_work_without_text() -> None:
    reply = sse(chunk({"reasoning": "hm"}), HELLO, {**chunk({}, "length")})
    events = []
    async with serving(reply) as server:
        events = [event async for event in server.provider.stream(question("Hi"))]
    assert any(isinstance(event, Working) for event in events) or len(events) == 2
    assert events[-1].reasoned  # type: ignore[union-attr]


async def test_the_usage_of_other_services_is_read() -> None:
    forms = (
        {"usage": {"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 4}},
        {"x_groq": {"usage": {"prompt_tokens": 6, "completion_tokens": 2}}},
        {"usage": {"input_tokens": 6, "output_tokens": 2}},
    )
    for form in forms:
        async with serving(sse(HELLO, {**END, **form})) as server:
            usage = (await ask(server.provider, question("Hi"))).finished.usage
        assert (usage.input_tokens, usage.output_tokens) == (6, 2)


async def test_an_answer_behind_the_first_one_is_shown_while_it_is_written() -> None:
    open_ended = sse(HELLO, done=False, stays=True)
    async with serving(said("Hello."), open_ended) as server:
        await ask(server.provider, question("Hi"))
        async with aclosing(server.provider.stream(question("Hi"))) as events:  # type: ignore[type-var]
            assert await anext(events) == TextDelta("Hello.")


async def test_reasoning_that_began_in_the_prompt_is_held_back_from_then_on() -> None:
    thought = said("so", "\n</think>\n\nHello.")
    async with serving(thought, thought, said("Hello."), said("Hel", "lo.")) as server:
        for _ in range(4):
            assert (await ask(server.provider, question("Hi"))).text == "Hello."
