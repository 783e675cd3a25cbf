"""The offline model remembers through the memory tools, and only where it has them."""

import json

import pytest

from gateway.llm.offline import OfflineProvider
from gateway.llm.offline_tools import memory_report
from gateway.ports import (
    ModelFinished,
    ModelMessage,
    ModelRequest,
    TextBlock,
    ToolCall,
    ToolOutcome,
    ToolSpec,
)

TOOLS = tuple(
    ToolSpec(name, name, {"type": "object"}, side_effects=False)
    for name in ("memory_store", "memory_search")
)


def person(*texts: str) -> tuple[ModelMessage, ...]:
    messages: list[ModelMessage] = []
    for text in texts:
        messages += [
            ModelMessage("user", (TextBlock(text),)),
            ModelMessage("assistant", (TextBlock("ok"),)),
        ]
    return tuple(messages[:-1])


async def answer(
    messages: tuple[ModelMessage, ...], tools: tuple[ToolSpec, ...] = TOOLS
) -> TextBlock | ToolCall:
    events = [e async for e in OfflineProvider().stream(ModelRequest("", messages, tools))]
    finished = events[-1]
    assert isinstance(finished, ModelFinished)
    (block,) = finished.message.content
    assert isinstance(block, TextBlock | ToolCall)
    return block


@pytest.mark.parametrize(
    ("said", "content", "kind"),
    [
        ("Remember that I prefer tabs.", "I prefer tabs.", "preference"),
        ("please remember: we decided to use Rust", "we decided to use Rust", "decision"),
        ("[Ada] remember my dog is called Luna", "my dog is called Luna", "fact"),
    ],
)
async def test_it_stores_the_persons_words(said: str, content: str, kind: str) -> None:
    call = await answer(person(said))
    assert isinstance(call, ToolCall)
    assert call.name == "memory_store"
    assert json.loads(call.arguments) == {"type": kind, "content": content, "quote": content}


@pytest.mark.parametrize(
    ("asked", "query"),
    [
        ("What do you know about my dog?", "my dog"),
        ("what did I say about tabs", "tabs"),
        ("What is my favourite editor?", "my favourite editor"),
    ],
)
async def test_it_searches_for_facts_outside_the_conversation(asked: str, query: str) -> None:
    call = await answer(person(asked))
    assert isinstance(call, ToolCall)
    assert json.loads(call.arguments)["query"] == query


async def test_facts_of_the_conversation_need_no_search() -> None:
    response = await answer(person("my dog is Luna", "what is my dog?"))
    assert isinstance(response, TextBlock)
    assert "Luna" in response.text


@pytest.mark.parametrize("said", ["remember that I prefer tabs", "what do you know about me?"])
async def test_without_memory_tools_it_calls_none(said: str) -> None:
    assert isinstance(await answer(person(said), ()), TextBlock)


async def test_it_reports_the_result_of_a_tool() -> None:
    call = ToolCall("offline_memory_0", "memory_search", "{}")
    results = {
        "results": [{"content": "I prefer\ntabs", "created_at": "2026-11-20T09:00:00+00:00"}]
    }
    messages = (
        *person("what do you know about tabs?"),
        ModelMessage("assistant", (call,)),
        ModelMessage("user", (ToolOutcome(call.id, json.dumps(results)),)),
    )
    response = await answer(messages)
    assert isinstance(response, TextBlock)
    assert "“I prefer tabs” (2026-11-20)" in response.text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"success": true, "id": "mem-1"}', "I will remember that."),
        ('{"success": false, "error": "It is stored already."}', "It is stored already."),
        ('{"success": false, "status": "waiting_for_the_person", "error": "x"}', "not sure"),
        ('{"results": []}', "I remember nothing about that."),
        ("[]", "[]"),
        ("no JSON", "no JSON"),
    ],
)
def test_every_result_has_a_sentence(content: str, words: str) -> None:
    assert words in memory_report(content)
