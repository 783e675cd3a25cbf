"""One turn with the model: ask, run the tools it asks for, ask again, until it answers or a cap
is reached."""

from gateway.ports import Clock, LLMProvider, ToolProvider
from gateway.turn.types import OnText, TurnLimits, TurnRequest, TurnResult


async def run_turn(
    request: TurnRequest,
    provider: LLMProvider,
    tools: ToolProvider,
    limits: TurnLimits,
    clock: Clock,
    on_text: OnText | None = None,
) -> TurnResult:
    """Answer `request`. Never raises for what a model or a tool does; only cancellation and
    what `on_text` raises come through."""
    raise NotImplementedError
