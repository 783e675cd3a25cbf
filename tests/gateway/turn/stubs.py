"""A model and tools that do what a test wants."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

from gateway.errors import ToolError
from gateway.immutable import replace
from gateway.ports import (
    ContentBlock,
    ModelEvent,
    ModelFinished,
    ModelMessage,
    ModelRequest,
    StopReason,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolSpec,
    Usage,
    Wait,
)
from gateway.ports.clock import SystemClock
from gateway.turn.model_turn import TurnLimits, TurnRequest, TurnResult
from gateway.turn.tool_loop import ToolLoop

Says = Callable[[ModelRequest, int], tuple[ContentBlock, ...]]
Tool = Callable[[Mapping[str, object]], Awaitable[str]]


def spec(name: str, *, side_effects: bool = False) -> ToolSpec:
    return ToolSpec(name, f"Does {name}.", {"type": "object"}, side_effects=side_effects)


class StubModel:
    """Says what `says(request, number of the call)` returns, as one piece."""

    name = "stub"

    def __init__(self, says: Says, usage: Usage | None = None, stop: StopReason = "end") -> None:
        self._says = says
        self._stop: StopReason = stop
        self._usage = usage or Usage(10, 5)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        content = self._says(request, len(self.requests))
        for block in content:
            if isinstance(block, TextBlock):
                yield TextDelta(block.text)
        calls = any(isinstance(block, ToolCall) for block in content)
        message = ModelMessage("assistant", content)
        yield ModelFinished(message, "tool_use" if calls else self._stop, self._usage, "stub-1")

    async def close(self) -> None:
        pass


class StubTools:
    """Tools as functions of their arguments."""

    def __init__(self, *specs: ToolSpec, run: Mapping[str, Tool] | None = None) -> None:
        self._specs = specs
        self._run = run or {}
        self.called: list[tuple[str, Mapping[str, object]]] = []

    async def tools(self) -> tuple[ToolSpec, ...]:
        return self._specs

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        self.called.append((name, arguments))
        if name in self._run:
            return await self._run[name](arguments)
        if not any(each.name == name for each in self._specs):
            raise ToolError(f"there is no tool {name!r}")
        return f"{name} done"

    async def close(self) -> None:
        pass


class Turn:
    """One turn and what was streamed while it ran."""

    def __init__(self, limits: TurnLimits | None = None, *, seen: bool = True) -> None:
        self.limits = limits or TurnLimits()
        self.seen = seen
        self.pieces: list[str] = []
        self.waited: list[Wait] = []

    async def ask(
        self,
        text: str,
        model: object,
        tools: StubTools | None = None,
        history: tuple[ModelMessage, ...] = (),
        **changes: object,
    ) -> TurnResult:
        request = TurnRequest("Be brief.", history, (TextBlock(text),), max_tokens=500)
        loop = ToolLoop(
            replace(request, limits=self.limits, **changes),  # type: ignore[arg-type]  # its fields
            model,  # type: ignore[arg-type]  # any provider
            tools or StubTools(),
            SystemClock(),
            self,
        )
        result = await loop.run()
        assert "".join(self.pieces) == result.text
        assert result.text.strip()
        return result

    def take_back(self, kept: str) -> bool:
        if not self.seen:
            assert "".join(self.pieces).startswith(kept)
            self.pieces = [kept]
        return not self.seen

    async def on_text(self, piece: str) -> None:
        assert piece
        self.pieces.append(piece)

    def waits(self, wait: Wait) -> None:
        self.waited.append(wait)
