"""The tokens of a turn, and the calibration from them."""

from gateway.errors import ModelUnavailable
from gateway.llm.anthropic.provider import AnthropicProvider
from gateway.llm.failover import FailoverProvider
from gateway.people import Audience
from gateway.ports import ContentBlock, ModelRequest
from gateway.ports.clock import SystemClock
from gateway.turn.model_turn import TurnRequest
from gateway.turn.prompt import PromptFacts, own_text, user_content
from gateway.turn.tool_loop import ToolLoop
from simulators.anthropic import AnthropicSimulator
from tests.gateway.turn.stubs import StubModel, StubTools, Turn
from tests.support.clock import FakeClock


async def test_the_estimate_is_calibrated_by_the_counts_of_the_service(
    provider: AnthropicProvider,
) -> None:
    result = await Turn().ask("word " * 2_000, provider)

    assert result.calibration.samples == 1
    assert 0.5 <= result.calibration.latin <= 3


async def test_the_request_of_a_first_hello_is_small(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    for platform in ("Discord", "Slack", "Telegram", "WhatsApp", "the web page"):
        for audience in Audience:
            facts = PromptFacts("Parley", platform, audience)
            request = TurnRequest(own_text(facts), (), user_content("hello", writer="Ana"))
            await ToolLoop(request, provider, StubTools(), SystemClock()).run()

    assert max(call.size for call in claude.requests) < 2_000


async def test_a_fallback_model_does_not_calibrate_the_first_model(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script("I stand in.")
    models = FailoverProvider([StubModel(_down), provider], FakeClock(instant=True))

    result = await Turn().ask("A long question of mine. " * 40, models)

    assert result.text == "I stand in."
    assert result.calibration.samples == 0
    assert result.usage.input_tokens > 50


def _down(request: ModelRequest, number: int) -> tuple[ContentBlock, ...]:
    raise ModelUnavailable("down")
