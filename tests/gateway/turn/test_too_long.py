"""A conversation that does not fit the model, through the real library."""

from collections.abc import Mapping

from gateway.llm.anthropic.provider import AnthropicProvider
from gateway.ports import ModelMessage
from gateway.turn import model_turn
from simulators.anthropic import Answer, AnthropicSimulator, UseTool
from tests.gateway.llm.asking import assistant, user
from tests.gateway.turn.stubs import StubTools, Turn, spec


def long_history(questions: int) -> tuple[ModelMessage, ...]:
    return tuple(
        message
        for number in range(questions)
        for message in (user(f"question {number} " + "word " * 40), assistant("answer " * 40))
    )


async def test_a_conversation_too_long_for_the_service_is_cut_and_answered(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.windows["claude-sonnet-5-5"] = 1_000

    result = await Turn().ask("And now?", provider, history=long_history(20), window=100_000)

    assert result.text == "You said: And now?"
    assert [call.status for call in claude.requests] == [400, 200]
    kept = claude.bodies[1]["messages"]
    assert 1 < len(kept) < 41
    assert kept[0]["role"] == "user"
    assert any("left out" in note for note in result.notes)


async def test_a_known_window_is_respected_without_a_request(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.windows["claude-sonnet-5-5"] = 1_000

    await Turn().ask("And now?", provider, history=long_history(20), window=1_300)

    assert [call.status for call in claude.requests] == [200]


async def test_a_request_that_never_fits_is_tried_at_most_three_times_in_smaller_sizes(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.windows["claude-sonnet-5-5"] = 10

    result = await Turn().ask("word " * 3_000, provider, history=long_history(20))

    assert (result.text, result.outcome) == (model_turn.TOO_LONG.english, "too_long")
    sizes = [call.size for call in claude.requests]
    assert len(sizes) <= 3
    assert sizes == sorted(set(sizes), reverse=True)


async def test_a_system_prompt_that_is_too_long_is_not_sent(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    result = await Turn().ask("Hi", provider, system="rule " * 5_000, window=2_000)

    assert result.outcome == "too_long"
    assert len(claude.requests) == 0


async def test_cutting_during_a_turn_omits_the_reasoning(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    async def talk(_arguments: Mapping[str, object]) -> str:
        return "word " * 1_500

    claude.script(Answer("", (UseTool("talk"),), thinking="Hm."), "Done.")
    claude.windows["claude-sonnet-5-5"] = 4_000

    result = await Turn().ask(
        "Go",
        provider,
        StubTools(spec("talk"), run={"talk": talk}),
        history=long_history(15),
        window=4_500,
    )

    assert result.text == "Done."
    assert claude.requests[-1].status == 200
    last = claude.bodies[-1]["messages"]
    assert not any(block["type"] == "thinking" for m in last for block in m["content"])
