"""The offline model sets reminders by their tool, and only where it has it."""

import json

import pytest

from gateway.llm.offline import OfflineProvider
from gateway.ports import (
    ModelFinished,
    ModelMessage,
    ModelRequest,
    TextBlock,
    ToolCall,
    ToolOutcome,
)
from gateway.ports.model import ContentBlock
from gateway.turn.reminder_tool import REMIND


async def answer(*messages: ModelMessage, tools: bool = True) -> ContentBlock:
    request = ModelRequest("", messages, (REMIND,) if tools else ())
    events = [event async for event in OfflineProvider().stream(request)]
    finished = events[-1]
    assert isinstance(finished, ModelFinished)
    return finished.message.content[0]


def asked(text: str) -> ModelMessage:
    return ModelMessage("user", (TextBlock(text),))


@pytest.mark.parametrize(
    ("text", "minutes", "what"),
    [
        ("Remind me in 3 seconds to drink some water", 0.05, "drink some water"),
        ("please remind me in 1 hour to call Ben.", 60, "call Ben"),
        ("remind me in 2 days to pay", 2_880, "pay"),
    ],
)
async def test_it_calls_the_tool(text: str, minutes: float, what: str) -> None:
    call = await answer(asked(text))
    assert isinstance(call, ToolCall)
    assert call.name == "remind"
    assert json.loads(call.arguments) == {"text": what, "in_minutes": minutes}
    outcome = ModelMessage("user", (ToolOutcome(call.id, '{"noted": {}}'),))
    said = await answer(asked(text), ModelMessage("assistant", (call,)), outcome)
    assert said == TextBlock("I will remind you.")


async def test_without_the_tool_or_a_time_it_does_not() -> None:
    assert isinstance(await answer(asked("remind me in 3 seconds to go"), tools=False), TextBlock)
    assert isinstance(await answer(asked("remind me to go")), TextBlock)
