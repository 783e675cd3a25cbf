"""A question that crashes the real program repeatedly is quarantined."""

import asyncio
from pathlib import Path

from gateway.inbound.crash_loop_guard import MAX_REDELIVERIES
from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import by_bot, configuration, simulated
from tests.e2e.test_program import lines_until, slow_model, written
from tests.parley.cli.kit import parley, started
from tests.support.patience import LAUNCH, PATIENCE


async def test_a_question_that_kills_every_process_is_quarantined(tmp_path: Path) -> None:
    telegram = TelegramSimulator()
    ada, bert = telegram.person("Ada"), telegram.person("Bert")
    room = telegram.direct(ada)
    async with simulated({"telegram": telegram}) as port, slow_model() as model:
        section = {"provider": "anthropic", "api_key": model.api_key, "base_url": model.base_url}
        settings = configuration({"telegram": telegram}, tmp_path, port, {"model": section})
        config = written(tmp_path, settings)
        model.faults.add(Fault("messages", "slow", times=MAX_REDELIVERIES + 1, delay=600))
        await telegram.say(ada, room, "the end of you")
        for life in range(MAX_REDELIVERIES + 1):
            assert by_bot(telegram.shown(room)) == []
            await until_it_dies_of_it(config, tmp_path, model, life + 1)
        async with started("run", "--config", config, cwd=tmp_path) as process:
            await lines_until(process, "ready gateway")
            shown = await telegram.wait_for(room, lambda seen: bool(by_bot(seen)), PATIENCE)
            assert "the program stopped each time it worked on it" in by_bot(shown)[0].text
            other = telegram.direct(bert)
            await telegram.say(bert, other, "and me?")
            await telegram.wait_for(other, lambda seen: bool(by_bot(seen)), LAUNCH)
            listed = await parley("outbox", "list", "--config", config, cwd=tmp_path)
        assert len(model.requests) == MAX_REDELIVERIES + 2
    assert "never answered: the program crashed at each attempt" in listed.out
    assert "the end of you" not in listed.out


async def until_it_dies_of_it(
    config: str, folder: Path, model: AnthropicSimulator, requests: int
) -> None:
    """One life: the program is killed as soon as it has asked the model."""
    async with started("run", "--config", config, cwd=folder) as process:
        task = asyncio.create_task(model.wait_for_requests(requests, 2 * LAUNCH))
        await lines_until(process, "ready gateway")
        await task
        process.kill()
        await process.wait()
