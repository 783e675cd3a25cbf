"""Shortcuts to call a provider and to read the result."""

from dataclasses import dataclass

from gateway.ports import (
    LLMProvider,
    ModelFinished,
    ModelMessage,
    ModelRequest,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolSpec,
)

ADD = ToolSpec(
    "add",
    "Adds two numbers.",
    {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
)


@dataclass(frozen=True, slots=True)
class Heard:
    """Everything a call gave."""

    pieces: tuple[str, ...]
    finished: ModelFinished

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def calls(self) -> list[ToolCall]:
        return [b for b in self.finished.message.content if isinstance(b, ToolCall)]


def user(text: str) -> ModelMessage:
    return ModelMessage("user", (TextBlock(text),))


def assistant(text: str) -> ModelMessage:
    return ModelMessage("assistant", (TextBlock(text),))


def question(*messages: ModelMessage | str, tools: tuple[ToolSpec, ...] = ()) -> ModelRequest:
    replies = tuple(user(m) if isinstance(m, str) else m for m in messages)
    return ModelRequest("Be brief.", replies, tools, max_tokens=500)


async def ask(provider: LLMProvider, request: ModelRequest) -> Heard:
    """One call; fails when there is no end, or anything after it."""
    pieces: list[str] = []
    finished: ModelFinished | None = None
    async for event in provider.stream(request):
        assert finished is None
        if isinstance(event, TextDelta):
            pieces.append(event.text)
        elif isinstance(event, ModelFinished):
            finished = event
    assert finished is not None
    return Heard(tuple(pieces), finished)
