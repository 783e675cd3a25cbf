"""Work that an earlier run left is continued by the next one, on the same database."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault, PlatformSimulator
from tests.e2e.conftest import EVERY_CONNECTION, VARIANTS
from tests.e2e.harness import Lab, app_on, by_bot, simulated
from tests.e2e.test_faults import SEND


@asynccontextmanager
async def one_platform(variant: str) -> AsyncIterator[tuple[PlatformSimulator, int]]:
    """A platform that outlives the gateways connected to it."""
    platform = VARIANTS[variant]()
    async with simulated({platform.platform: platform}) as port:
        yield platform, port


@EVERY_CONNECTION
async def test_a_conversation_continues_after_a_restart(variant: str, tmp_path: Path) -> None:
    async with one_platform(variant) as (platform, port):
        ada = platform.person("Ada")
        room = platform.direct(ada)
        async with app_on({platform.platform: platform}, tmp_path, port) as app:
            message_id = await platform.say(ada, room, "My favourite colour is turquoise")
            await Lab(app, platform).answer(room)
            await Lab(app, platform).idle()
        async with app_on({platform.platform: platform}, tmp_path, port) as app:
            lab = Lab(app, platform)
            await platform.say(ada, room, "What did I say?")
            assert "turquoise" in (await lab.answer(room, after=1)).text
            await lab.idle()
            assert len(by_bot(platform.shown(room))) == 2, "nothing is said again"
            (trace,) = await app.services.stores.traces.find(message_id)
            assert trace.outcome == "answered"


@EVERY_CONNECTION
async def test_accepted_messages_are_answered_by_the_next_process(
    variant: str, tmp_path: Path
) -> None:
    model = AnthropicSimulator()
    await model.start()
    section = {"provider": "anthropic", "api_key": model.api_key, "base_url": model.base_url}
    try:
        async with one_platform(variant) as (platform, port):
            ada = platform.person("Ada")
            room = platform.direct(ada)
            name = {platform.platform: platform}
            async with app_on(name, tmp_path, port, {"model": section}) as app:
                model.faults.add(Fault("messages", "slow", delay=60))
                await platform.say(ada, room, "a slow question")
                await model.wait_for_requests(1)
                await app.stop(drain=0)
            assert by_bot(platform.shown(room)) == []
            async with app_on(name, tmp_path, port, {"model": section}) as app:
                lab = Lab(app, platform)
                assert "a slow question" in (await lab.answer(room)).text
                assert len(await lab.quiet(room)) == 1
    finally:
        await model.stop()


@EVERY_CONNECTION
async def test_unsent_answers_are_sent_by_the_next_process(variant: str, tmp_path: Path) -> None:
    async with one_platform(variant) as (platform, port):
        ada = platform.person("Ada")
        room = platform.direct(ada)
        name = {platform.platform: platform}
        async with app_on(name, tmp_path, port) as app:
            method = SEND[platform.platform]
            platform.faults.add(Fault(method, "rate_limit", times=100, retry_after=2.0))
            await platform.say(ada, room, "hello")
            await Lab(app, platform).answered(method, 429)
            await app.stop(drain=0)
        platform.faults.clear()
        assert by_bot(platform.shown(room)) == []
        async with app_on(name, tmp_path, port) as app:
            lab = Lab(app, platform)
            await lab.answer(room)
            assert len(await lab.quiet(room)) == 1
