"""Servers that do not take a part of a request. The words are those of real servers."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from gateway.errors import ContextTooLong, ModelRefused, ModelUnavailable
from gateway.immutable import replace
from gateway.llm.chat_completions.limits import PARTS, Part
from gateway.ports import (
    ImageBlock,
    ModelMessage,
    ModelRequest,
    TextBlock,
    ToolCall,
    ToolOutcome,
    ToolSpec,
)
from tests.gateway.llm.asking import ADD, ask, question
from tests.gateway.llm.chat_completions.scripted_server import (
    Body,
    Reply,
    as_json,
    refused,
    said,
    serving,
)
from tests.support.for_each import for_each

PICTURE = ModelMessage("user", (ImageBlock("image/png", b"png"), TextBlock("What is it?")))
PARTS_OF_TEXT = ModelMessage("user", (TextBlock("One."), TextBlock("Two.")))
FIND = ToolSpec(
    "find",
    "Finds things.",
    {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "kind": {"anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}]},
            "tags": {"type": "array", "items": {"const": "a"}},
        },
    },
)
ROUND = (
    ModelMessage("assistant", (ToolCall("call_abcdefghijkl", "add", '{"a": 1}'),)),
    ModelMessage("user", (ToolOutcome("call_abcdefghijkl", "3"),)),
)
PLAIN = question("Hi", tools=(ADD,))
IN_TOOLS = question("1 + 2?", *ROUND, tools=(ADD,))
TWICE = question("One", "Two", tools=(ADD,))
SEEN = question(PICTURE, tools=(ADD,))
JOINED = question(PARTS_OF_TEXT, tools=(ADD,))
SCHEMAS = question("Hi", tools=(FIND,))


def roles(body: Body) -> list[str]:
    return [message["role"] for message in body["messages"]]


def contents(body: Body) -> list[Any]:
    return [message.get("content") for message in body["messages"]]


def alternates(body: Body) -> bool:
    kept = [role for role in roles(body) if role != "system"]
    return all(a != b for a, b in pairwise(kept))


def has_picture(body: Body) -> bool:
    return "image_url" in json.dumps(body["messages"])


def call_ids(body: Body) -> list[str]:
    return [call["id"] for m in body["messages"] for call in m.get("tool_calls", ())]


Takes = Callable[[Body], bool]
REFUSALS: list[tuple[Part, ModelRequest, Takes, Reply]] = [
    ("tools", PLAIN, lambda b: "tools" not in b, reply)
    for reply in (
        refused("registry.ollama.ai/library/gemma3:latest does not support tools"),
        refused('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'),
        refused("No endpoints found that support tool use.", 404, code=404),  # OpenRouter
        refused("Function calling is not enabled for models/gemma-3-27b-it"),  # Google
        refused("tools param requires --jinja flag", 500),  # llama.cpp
        refused("`tool calling` is not supported with this model", param="tools"),  # Groq
        refused("This model doesn't support tool use in streaming mode."),  # Bedrock
        as_json({"detail": [{"loc": ["body", "tools"], "msg": "Extra inputs", "type": "x"}]}, 422),
        as_json({"error": "unsupported", "param": "tools"}, 400),
        Reply(b"unknown field: tools", 400, "text/plain"),
        as_json({"error": {"message": "does not support tools", "code": 400}}),
    )
]
REFUSALS += [
    ("pictures", SEEN, lambda b: not has_picture(b), reply)
    for reply in (
        refused("image input is not supported - hint: you may need to provide the mmproj", 500),
        refused("messages[1]: unknown variant `image_url`, expected `text`"),
        refused("At most 0 image(s) may be provided in one request."),  # vLLM
        refused("No endpoints found that support image input", 404),
        refused("wrong", param="messages[1].content[0].type"),
        as_json({"detail": [{"loc": ["body", "messages", 1, "content", 0, "image_url"]}]}, 422),
    )
]
REFUSALS += [
    ("max_tokens", PLAIN, lambda b: "max_tokens" not in b, reply)
    for reply in (
        refused("Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.", param="max_tokens"),
        refused("max_tokens: Extra inputs are not permitted"),
        as_json({"message": 'json: unknown field "max_tokens"'}, 422),
    )
]  # fmt: skip
REFUSALS += [
    ("system", PLAIN, lambda b: "system" not in roles(b), reply)
    for reply in (
        refused("System role not supported", 500),  # Gemma's template
        refused("Developer instruction is not enabled for models/gemma-3-27b-it"),
        refused("Unsupported value: 'messages[0].role' does not support 'system' with this model.",
                param="messages[0].role"),
        refused("unknown variant `system`, expected `user` or `assistant`", 422),
    )
]  # fmt: skip
REFUSALS += [
    ("repeated_roles", TWICE, alternates, reply)
    for reply in (
        refused("Conversation roles must alternate user/assistant/user/assistant/...", 500),
        refused('roles must alternate between "user" and "assistant", but found multiple "user" '
                "roles in a row"),
        refused("Please ensure that multiturn requests alternate between user and model."),
    )
]  # fmt: skip
REFUSALS += [
    ("null_content", IN_TOOLS, lambda b: None not in contents(b), reply)
    for reply in (
        refused("Invalid value for 'content': expected a string, got null.",
                param="messages.[2].content"),
        refused("'NoneType' object has no attribute 'strip'", 500),
        as_json({"detail": [{"loc": ["body", "messages", 2, "content"], "type": "string_type"}]},
                422),
    )
]  # fmt: skip
REFUSALS += [
    ("text_parts", JOINED, lambda b: all(isinstance(c, str) for c in contents(b)), reply)
    for reply in (
        refused("content must be a string"),
        refused('can only concatenate str (not "list") to str', 500),
        refused("json: cannot unmarshal array into Go struct field Message.content of type string"),
    )
]
REFUSALS += [
    ("schema_keywords", SCHEMAS, lambda b: "anyOf" not in json.dumps(b), reply)
    for reply in (
        refused('Invalid JSON payload received. Unknown name "additionalProperties" at '
                "'tools[0].function_declarations[0].parameters': Cannot find field."),
        refused("Invalid schema for function 'find': schema must have a 'type' key",
                param="tools[0].function.parameters"),
        refused("failed to parse grammar", 500),
    )
]  # fmt: skip
REFUSALS += [
    ("call_ids", IN_TOOLS, lambda b: all(len(i) == 9 and i.isalnum() for i in call_ids(b)), reply)
    for reply in (
        refused("Tool call id was call_abcdefghijkl but must be a-z, A-Z, 0-9, with a length of 9"),
        refused("string too long", param="messages[2].tool_calls[0].id"),
    )
]
REFUSALS += [
    ("stream_options", PLAIN, lambda b: "stream_options" not in b,
     refused("Unrecognized request argument supplied: stream_options")),
    ("stream", PLAIN, lambda b: not b["stream"],
     refused("Unsupported value: 'stream' does not support true with this model.", param="stream")),
    ("tool_choice", replace(PLAIN, tool_choice="none"), lambda b: "tool_choice" not in b,
     refused("Invalid value: 'none'. Supported values are: 'auto'.", param="tool_choice")),
]  # fmt: skip


@for_each(("part", "request_", "takes", "reply"), REFUSALS)
async def test_a_refused_part_is_left_out_once_and_for_all(
    part: Part, request_: ModelRequest, takes: Takes, reply: Reply
) -> None:
    async with serving(lambda body: said("Hello.") if takes(body) else reply) as server:
        first = await ask(server.provider, request_)
        tried = len(server.bodies)
        again = await ask(server.provider, request_)
        findings = server.provider.findings()

    assert (first.text, again.text) == ("Hello.", "Hello.")
    assert tried <= 3
    assert len(server.bodies) == tried + 1
    assert part in findings[-1].setting
    assert findings[-1].model == "m"


@for_each("part", PARTS)
async def test_a_part_can_be_left_out_by_the_configuration(part: Part) -> None:
    takes = {each: takes for each, _, takes, _ in REFUSALS}
    requests = {each: request for each, request, _, _ in REFUSALS}
    async with serving(said("Hello."), without=(part,)) as server:
        await ask(server.provider, requests.get(part, IN_TOOLS))
        assert part not in takes or takes[part](server.bodies[0])
        assert server.provider.findings() == ()


async def test_several_parts_are_found_one_after_the_other() -> None:
    def reply(body: Body) -> Reply:
        if "max_tokens" in body:
            return refused("Unsupported parameter: 'max_tokens'", param="max_tokens")
        if "tools" in body:
            return refused("tools are not supported")
        if "system" in roles(body):
            return refused("system messages are not supported")
        return said("Hello.")

    async with serving(reply) as server:
        assert (await ask(server.provider, PLAIN)).text == "Hello."
        assert len(server.bodies) == 4
        assert len(server.provider.findings()) == 3
        assert server.bodies[-1]["messages"][0]["content"].startswith("Be brief.\n\nHi")


async def test_a_smaller_number_of_tokens_is_kept() -> None:
    words = "max_tokens is too large: 500. This model supports at most 300 completion tokens"
    async with serving(
        lambda b: said("Hello.") if b["max_tokens"] <= 300 else refused(words)
    ) as server:
        await ask(server.provider, PLAIN)
        await ask(server.provider, PLAIN)
    assert [body["max_tokens"] for body in server.bodies] == [500, 300, 300]


async def test_words_behind_a_result_are_no_part_of_it() -> None:
    """avante-corp/avante.nvim 2562: Mistral's "Unexpected role 'user' after role 'tool'"."""

    def reply(body: Body) -> Reply:
        pairs = list(pairwise(roles(body)))
        return (
            refused("Unexpected role 'user' after role 'tool'")
            if (("tool", "user") in pairs)
            else said("Hello.")
        )

    async with serving(reply) as server:
        request = question("1 + 2?", *ROUND, "And now?", tools=(ADD,))
        assert (await ask(server.provider, request)).text == "Hello."
    sent = server.bodies[-1]["messages"]
    assert [message["role"] for message in sent[-3:]] == ["tool", "assistant", "user"]
    assert (sent[-3]["content"], sent[-1]["content"]) == ("3", "And now?")


async def test_a_description_that_is_too_long_is_cut() -> None:
    """BerriAI/litellm 4735."""
    words = "Invalid 'tools[0].function.description': string too long. Expected a string with "
    words += "maximum length 1024, but got a string with length 1103 instead."
    place = "tools[0].function.description"

    def reply(body: Body) -> Reply:
        length = len(body["tools"][0]["function"]["description"])
        return said("Hello.") if length <= 1024 else refused(words, param=place)

    async with serving(reply) as server:
        long = question("Hi", tools=(replace(ADD, description="a" * 1103),))
        assert (await ask(server.provider, long)).text == "Hello."
    assert len(server.bodies) == 2


@pytest.mark.parametrize("status", [400, 422])
async def test_a_refusal_without_a_reason_is_tried_in_the_plain_form(status: int) -> None:
    reply = Reply(b"", status)
    async with serving(lambda b: reply if "tools" in b else said("Hello.")) as server:
        for _ in range(3):
            assert (await ask(server.provider, PLAIN)).text == "Hello."
    assert len(server.bodies) == 3 + 3 + 1  # known after the second time


async def test_a_picture_is_left_out_and_the_model_is_told() -> None:
    reply = refused("Internal error", 500)
    async with serving(lambda b: reply if has_picture(b) else said("Hello.")) as server:
        assert (await ask(server.provider, SEEN)).text == "Hello."
    assert "picture was left out" in json.dumps(server.bodies[-1])
    assert "What is it?" in json.dumps(server.bodies[-1])


@pytest.mark.parametrize(
    ("reply", "kind", "requests"),
    [
        (refused("Incorrect API key provided", 401), ModelRefused, 1),
        (refused("You exceeded your current quota", 429), ModelUnavailable, 1),
        (refused("The model `m` does not exist", 404), ModelRefused, 1),
        (refused("Internal function error: FUNCTION_INVOCATION_FAILED", 500), ModelUnavailable, 1),
        (refused("maximum context length is 8192 tokens. Your messages resulted in 9000."),
         ContextTooLong, 1),
    ],
)  # fmt: skip
async def test_another_error_is_not_asked_for_again(
    reply: Reply, kind: type[Exception], requests: int
) -> None:
    async with serving(reply) as server:
        with pytest.raises(kind):
            await ask(server.provider, PLAIN)
    assert len(server.bodies) == requests


async def test_a_refusal_that_nothing_avoids_costs_further_requests_once() -> None:
    async with serving(refused("no")) as server:
        for _ in range(2):
            with pytest.raises(ModelRefused):
                await ask(server.provider, PLAIN)
    assert len(server.bodies) == 3 + 1


async def test_tool_rounds_reach_a_model_without_tools_as_text() -> None:
    async with serving(said("Hello."), without=("tools",)) as server:
        await ask(server.provider, IN_TOOLS)
    (body,) = server.bodies
    assert roles(body) == ["system", "user", "user"]
    assert "Result of a tool:\n3" in body["messages"][-1]["content"]
