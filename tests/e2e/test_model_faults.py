"""Answers when the language model fails: an answer or one sentence, never both."""

from pathlib import Path

import pytest

from gateway.turn.model_turn import UNAVAILABLE
from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault, FaultKind
from tests.e2e.conftest import only, open_lab
from tests.e2e.harness import Lab, by_bot
from tests.support.patience import LAUNCH, PATIENCE

LONG = "A whale is a mammal and breathes air. " * 10 + "That is all."
FAULTS: tuple[FaultKind, ...] = (
    "overloaded",
    "server_error",
    "slow",
    "broken_stream",
    "stream_error",
)


async def ask(lab: Lab) -> list[str]:
    """Everything the bot says to one question."""
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "what is a whale?")
    await lab.answer(room, timeout=PATIENCE)
    return [message.text for message in await lab.quiet(room)]


def section(model: AnthropicSimulator) -> dict[str, object]:
    return {"provider": "anthropic", "api_key": model.api_key, "base_url": model.base_url}


@only("discord", "telegram-polling", "whatsapp")
@pytest.mark.parametrize("kind", FAULTS)
async def test_the_next_model_answers_once(
    variant: str, tmp_path: Path, kind: FaultKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A visible beginning of an answer is never replaced; a slow machine would show a part of
    it."""
    monkeypatch.setattr("gateway.outbound.live.answer.FIRST_AFTER", LAUNCH)
    first = AnthropicSimulator(reply=lambda _: LONG)
    second = AnthropicSimulator(reply=lambda _: LONG)
    first.faults.add(Fault("*", kind, times=9, delay=2.0 if kind == "slow" else 0.0))
    await first.start()
    await second.start()
    try:
        choice = {**section(first), "timeout": 0.5, "fallbacks": [section(second)]}
        async with open_lab(variant, tmp_path, {"model": choice}) as lab:
            assert await ask(lab) == [LONG]
    finally:
        await first.stop()
        await second.stop()


@only("discord", "slack-socket", "telegram-polling", "whatsapp")
async def test_a_model_that_recovers_answers_and_the_wait_is_shown_meanwhile(
    variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More failures than one round of attempts: on the old limit of two this was an apology."""
    monkeypatch.setattr("gateway.turn.model_attempts.FIRST_PAUSE", 0.2)
    monkeypatch.setattr("gateway.outbound.live.answer.HELD_AFTER", 0.3)
    model = AnthropicSimulator(reply=lambda _: LONG)
    model.faults.add(Fault("*", "server_error", times=8))
    await model.start()
    try:
        async with open_lab(variant, tmp_path, {"model": section(model)}) as lab:
            ada = lab.platform.person("Ada")
            room = lab.platform.direct(ada)
            await lab.platform.say(ada, room, "what is a whale?")
            if variant in ("discord", "slack-socket"):
                assert "I keep trying" in (await lab.answer(room)).text
            await lab.platform.wait_for(
                room, lambda shown: any(m.text == LONG for m in by_bot(shown)), PATIENCE
            )
            assert [message.text for message in await lab.quiet(room)] == [LONG]
    finally:
        await model.stop()


@only("discord", "telegram-polling", "whatsapp")
@pytest.mark.parametrize("kind", ["overloaded", "server_error", "slow"])
async def test_without_a_fallback_one_sentence_is_sent(
    variant: str, tmp_path: Path, kind: FaultKind
) -> None:
    model = AnthropicSimulator(reply=lambda _: LONG)
    model.faults.add(Fault("*", kind, times=99, delay=2.0 if kind == "slow" else 0.0))
    await model.start()
    try:
        choice = {**section(model), "timeout": 0.5, "retry_seconds": 3.0}
        async with open_lab(variant, tmp_path, {"model": choice}) as lab:
            (reply,) = await ask(lab)
            assert reply.startswith(UNAVAILABLE.english)
    finally:
        await model.stop()
