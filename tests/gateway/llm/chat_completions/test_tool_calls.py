"""Tool calls as real servers send them, and what goes back with them."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from gateway.immutable import replace
from gateway.llm.chat_completions.arguments import split_arguments
from gateway.ports import ModelMessage, ModelRequest, OpaqueBlock, ToolCall, ToolOutcome, ToolSpec
from tests.gateway.llm.asking import Heard, ask, question
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

FIND = ToolSpec("find", "Finds.", {"type": "object", "properties": {"q": {"type": "string"}}})
FIND_ALL = ToolSpec("find_all", "Finds all.", {"type": "object", "properties": {}})
ASKED = question("Hi", tools=(FIND, FIND_ALL))


def piece(
    arguments: Any = None, name: str | None = None, call_id: str | None = None, **more: Any
) -> dict[str, Any]:
    """One piece of a call."""
    function = {"name": name, "arguments": arguments}
    kept = {key: value for key, value in function.items() if value is not None}
    return {"function": kept, **({"id": call_id} if call_id is not None else {}), **more}


def calls(*pieces: Any, finish: str | None = "tool_calls") -> Reply:
    return sse(*(chunk({"tool_calls": [each]}) for each in pieces), chunk({}, finish))


TEA, MILK = '{"q": "tea"}', '{"q": "milk"}'
ONE = [("find", {"q": "tea"})]
TWO = [("find", {"q": "tea"}), ("find", {"q": "milk"})]
FORMS: dict[str, tuple[Reply, list[tuple[str, dict[str, Any]]]]] = {
    "in pieces": (calls(piece("", "find", "a", index=0), piece('{"q": ', index=0),
                        piece('"tea"}', index=0)), ONE),
    "an object": (calls(piece({"q": "tea"}, "find", "a", index=0)), ONE),  # llama.cpp, MiniMax
    "encoded twice": (calls(piece(json.dumps(TEA), "find", "a", index=0)), ONE),
    "encoded thrice": (calls(piece(json.dumps(json.dumps(TEA)), "find", "a", index=0)), ONE),
    "null": (calls(piece("null", "find", "a", index=0)), [("find", {})]),
    "none": (calls(piece(None, "find", "a", index=0)), [("find", {})]),
    "in a list": (calls(piece(f"[{TEA}]", "find", "a")), ONE),
    "in a fence": (calls(piece(f"```json\n{TEA}\n```", "find", "a")), ONE),
    "as Python": (calls(piece("{'q': 'tea'}", "find", "a")), ONE),
    "with a line feed": (calls(piece('{"q": "te\na"}', "find", "a")), [("find", {"q": "te\na"})]),
    "with garbage behind": (calls(piece(TEA + "<|im_end|>", "find", "a")), ONE),
    "with a brace too many": (calls(piece(TEA + "}", "find", "a")), ONE),
    "repeated at the end": (calls(piece('{"q": ', "find", "a", index=0), piece('"tea"}', index=0),
                                  piece(TEA, index=0)), ONE),
    "all so far in each piece": (calls(piece('{"q"', "find", "a", index=0),
                                       piece('{"q": "te', index=0), piece(TEA, index=0)), ONE),
    "no index": (calls(piece("", "find", "a"), piece('{"q": '), piece('"tea"}')), ONE),
    "no index, two ids": (calls(piece(TEA, "find", "a"), piece(MILK, "find", "b")), TWO),
    "no index, no id": (calls(piece(TEA, "find"), piece(MILK, "find")), TWO),
    "all index 0": (calls(piece(TEA, "find", "a", index=0), piece(MILK, "find", "b", index=0)),
                    TWO),
    "all index 0, no id": (calls(piece(TEA, "find", index=0), piece(MILK, "find", index=0)), TWO),
    "all index 0, in pieces": (
        calls(piece("", "find", "a", index=0), piece(TEA, index=0),
              piece("", "find", "b", index=0), piece(MILK, index=0)), TWO),
    "all index 0, joined": (calls(piece(TEA + MILK, "find", "a", index=0)), TWO),
    "one id for two": (calls(piece(TEA, "find", "a", index=0), piece(MILK, "find", "a", index=1)),
                       TWO),
    "one id and index for two": (
        calls(piece(TEA, "find", "a", index=0), piece(MILK, "find", "a", index=0)), TWO),
    "empty ids": (calls(piece(TEA, "find", "", index=0), piece(MILK, "find", "", index=1)), TWO),
    "an id in each piece": (
        calls(piece("", "find", "a", index=0), piece('{"q": ', None, "b", index=0),
              piece('"tea"}', None, "c", index=0)), ONE),
    "a name in each piece": (
        calls(piece('{"q": ', "find", "a", index=0), piece('"tea"}', "find", "a", index=0)), ONE),
    "a name in pieces": (
        calls(piece(None, "find", "a", index=0), piece(None, "_all", index=0),
              piece("{}", index=0)), [("find_all", {})]),
    "a name that grows": (
        calls(piece(None, "fi", "a", index=0), piece(TEA, "find", index=0)), ONE),
    "a namespace": (calls(piece(TEA, "functions.find:0", "a")), ONE),  # Kimi
    "another namespace": (calls(piece(TEA, "default_api.find", "a")), ONE),  # Gemini
    "a token in the name": (calls(piece(TEA, "find<|channel|>json", "a")), ONE),  # gpt-oss
    "a text for the index": (calls(piece(TEA, "find", "a", index="0")), ONE),
    "a whole message": (
        as_json({"choices": [{"message": {"content": None, "tool_calls": [piece(TEA, "find", "a")]},
                              "finish_reason": "tool_calls"}]}), ONE),
    "a whole message at the end": (
        sse(chunk({"tool_calls": [piece(TEA, "find", "a", index=0)]}),
            {"choices": [{"message": {"tool_calls": [piece(TEA, "find", "a")]},
                          "finish_reason": "tool_calls"}]}), ONE),
    "function_call": (sse(chunk({"function_call": {"name": "find", "arguments": '{"q": '}}),
                          chunk({"function_call": {"arguments": '"tea"}'}}, "function_call")), ONE),
    "finish stop": (calls(piece(TEA, "find", "a", index=0), finish="stop"), ONE),
    "finish length, whole": (calls(piece(TEA, "find", "a", index=0), finish="length"), ONE),
    "no finish": (calls(piece(TEA, "find", "a", index=0), finish=None), ONE),
    "markup beside the call": (
        sse(chunk({"content": f'<tool_call>{{"name": "find", "arguments": {MILK}}}</tool_call>'}),
            chunk({"tool_calls": [piece(TEA, "find", "a")]}), chunk({}, "tool_calls")), ONE),
}  # fmt: skip


@for_each("form", FORMS)
async def test_a_call_is_understood(form: str) -> None:
    reply, expected = FORMS[form]
    async with serving(reply) as server:
        heard = await ask(server.provider, ASKED)

    assert [(call.name, json.loads(call.arguments)) for call in heard.calls] == expected
    assert heard.finished.stop == "tool_use"
    assert heard.text == ""
    ids = [call.id for call in heard.calls]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,40}", each) for each in ids)


async def test_a_call_that_the_length_cut_is_told_apart() -> None:
    async with serving(calls(piece('{"q": "te', "find", "a"), finish="length")) as server:
        assert (await ask(server.provider, ASKED)).finished.stop == "max_tokens"


async def test_arguments_that_are_no_object_stay_for_the_model_to_see() -> None:
    async with serving(calls(piece("{q: tea", "find", "a")), said("Hello.")) as server:
        heard = await ask(server.provider, ASKED)
        await ask(server.provider, continued(heard))

    assert heard.calls[0].arguments == "{q: tea"
    assert server.bodies[1]["messages"][-2]["tool_calls"][0]["function"]["arguments"] == "{}"


@pytest.mark.parametrize("text", ["{" * 50_000, "[" * 50_000, '"' * 50_000, "x" * 300_000])
def test_hostile_arguments_are_bounded(text: str) -> None:
    assert split_arguments(text)


async def test_the_calls_of_one_answer_are_bounded() -> None:
    many = (piece(TEA, "find", f"a{n}", index=n) for n in range(500))
    async with serving(calls(*many)) as server:
        assert len((await ask(server.provider, ASKED)).calls) == 64


def continued(heard: Heard, request: ModelRequest = ASKED) -> ModelRequest:
    """The request after the tools ran."""
    outcomes = tuple(ToolOutcome(call.id, "done") for call in heard.calls)
    added = (heard.finished.message, ModelMessage("user", outcomes))
    return replace(request, messages=(*request.messages, *added))


async def returned(reply: Reply) -> Mapping[str, Any]:
    """The message with the call, as the next request has it."""
    async with serving(reply, said("Hello.")) as server:
        heard = await ask(server.provider, ASKED)
        await ask(server.provider, continued(heard))
        message: Mapping[str, Any] = server.bodies[1]["messages"][-2]
        ids = [call["id"] for call in message["tool_calls"]]
        assert [server.bodies[1]["messages"][-1]["tool_call_id"]] == ids
    return message


CALL = piece(TEA, "find", "a", index=0)
DETAILS = [
    {"type": "reasoning.text", "text": "so ", "index": 0, "id": None, "signature": None},
    {"type": "reasoning.text", "text": "it is", "index": 0, "signature": "sig"},
    {"type": "reasoning.encrypted", "data": "abc", "index": 1},
]


@pytest.mark.parametrize(
    "name", ["reasoning_content", "reasoning", "reasoning_text", "thinking", "thought"]
)
async def test_reasoning_goes_back_under_its_name(name: str) -> None:
    reply = sse(chunk({name: "so "}), chunk({name: "it is", "content": ""}),
                chunk({"tool_calls": [CALL]}), chunk({}, "tool_calls"))  # fmt: skip
    assert (await returned(reply))[name] == "so it is"


async def test_details_of_reasoning_go_back_as_one_list() -> None:
    pieces = (chunk({"reasoning_details": [each]}) for each in DETAILS)
    message = await returned(sse(*pieces, chunk({"tool_calls": [CALL]}), chunk({}, "tool_calls")))
    assert message["reasoning_details"] == [
        {"type": "reasoning.text", "text": "so it is", "index": 0, "id": None, "signature": "sig"},
        DETAILS[2],
    ]


async def test_signatures_of_calls_go_back_with_their_call() -> None:
    signed = {**CALL, "extra_content": {"google": {"thought_signature": "c2ln"}}}
    call = (await returned(calls(signed)))["tool_calls"][0]
    assert call["extra_content"] == {"google": {"thought_signature": "c2ln"}}


async def test_thoughts_in_the_text_go_back_in_the_text() -> None:
    reply = sse(chunk({"content": "<think>so</think>\nI look."}), chunk({"tool_calls": [CALL]}),
                chunk({}, "tool_calls"))  # fmt: skip
    assert (await returned(reply))["content"] == "<think>so</think>\nI look."


async def test_typed_parts_go_back_as_parts() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "so"}]}]
    reply = sse(chunk({"content": parts}), chunk({"tool_calls": [CALL]}), chunk({}, "tool_calls"))
    assert (await returned(reply))["content"] == parts


async def test_the_own_id_of_a_service_goes_back_to_it_only() -> None:
    async with serving(calls(piece(TEA, "find", "functions.find:0")), said("Hello.")) as server:
        heard = await ask(server.provider, ASKED)
        await ask(server.provider, continued(heard))
        await ask(server.provider, replace(continued(heard), model="another"))
    ids = [body["messages"][-1]["tool_call_id"] for body in server.bodies[1:]]
    assert ids[0] == "functions.find:0"
    assert re.fullmatch("[a-zA-Z0-9_-]{1,40}", ids[1])


async def test_reasoning_goes_to_no_other_model() -> None:
    reply = sse(chunk({"reasoning": "secret"}), chunk({"tool_calls": [CALL]}), chunk({}, "stop"))
    async with serving(reply, said("Hello.")) as server:
        heard = await ask(server.provider, ASKED)
        await ask(server.provider, replace(continued(heard), model="another"))
    assert "secret" not in json.dumps(server.bodies[1])


async def test_an_answer_without_calls_keeps_no_reasoning() -> None:
    reply = sse(chunk({"reasoning": "so"}), chunk({"content": "Hello."}), chunk({}, "stop"))
    async with serving(reply) as server:
        content = (await ask(server.provider, ASKED)).finished.message.content
    assert not any(isinstance(block, OpaqueBlock) for block in content)


@pytest.mark.parametrize(
    ("words", "kept"),
    [("property 'reasoning_content' is unsupported", None),  # Groq
     ("The `reasoning_content` in the thinking mode must be passed back to the API.", " ")],
)  # fmt: skip
async def test_reasoning_that_a_server_refuses_or_misses(words: str, kept: str | None) -> None:
    reply = sse(
        chunk({"reasoning_content": "so"}), chunk({"tool_calls": [CALL]}), chunk({}, "stop")
    )
    async with serving(
        reply,
        lambda body: (
            said("Hello.")
            if body["messages"][-2].get("reasoning_content") == kept
            else refused(words)
        ),
    ) as server:
        heard = await ask(server.provider, ASKED)
        request = continued(heard)
        if kept is not None:  # the history was shortened, or another model made the call
            bare = replace(heard.finished.message, content=tuple(heard.calls))
            request = replace(request, messages=(*ASKED.messages, bare, request.messages[-1]))
        assert (await ask(server.provider, request)).text == "Hello."


async def test_ids_that_repeat_in_the_history_are_sent_apart() -> None:
    rounds = (
        ModelMessage("assistant", (ToolCall("call_0", "find", TEA),)),
        ModelMessage("user", (ToolOutcome("call_0", "1"),)),
        ModelMessage("assistant", (ToolCall("call_0", "find", MILK),)),
        ModelMessage("user", (ToolOutcome("call_0", "2"),)),
    )
    async with serving(said("Hello.")) as server:
        await ask(server.provider, question("Hi", *rounds, tools=(FIND,)))
    messages = server.bodies[0]["messages"]
    ids = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert len(set(ids)) == 2
    assert ids == [m["tool_call_id"] for m in messages if m["role"] == "tool"]
