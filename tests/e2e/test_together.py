"""Several platforms, several accounts, one program."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

from simulators.base import PlatformSimulator, SimRoom
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.e2e.harness import Lab, running
from tests.support.patience import PATIENCE

SECOND = "7000000002:simulated-telegram-bot-token-second"


async def ask(lab: Lab, question: str, after: int = 0) -> str:
    """Return the answer in Ada's direct conversation."""
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, question)
    answer = await lab.answer(room, after=after)
    await lab.idle()
    return answer.text


async def test_four_platforms_in_one_program_are_separate(tmp_path: Path) -> None:
    platforms: dict[str, PlatformSimulator] = {
        "discord": DiscordSimulator(),
        "slack": SlackSimulator(mode="http"),
        "telegram": TelegramSimulator(mode="webhook"),
        "whatsapp": WhatsAppSimulator(),
    }
    async with running(platforms, tmp_path) as app:
        labs = {name: Lab(app, platform) for name, platform in platforms.items()}
        async with asyncio.TaskGroup() as tasks:
            for name, lab in labs.items():
                tasks.create_task(ask(lab, f"My favourite platform is {name}"))
        for name, lab in labs.items():
            answer = await ask(lab, "What did I say?", after=1)
            assert name in answer
            assert not any(other in answer for other in labs if other != name)
        assert app.readiness().ready
        assert dict(app.supervisor.states) == dict.fromkeys(platforms, "ready")


async def test_two_accounts_of_a_platform_are_two_bots(tmp_path: Path) -> None:
    """The same person with the same id in both: the two bots share no messages."""
    first, second = TelegramSimulator(), TelegramSimulator(token=SECOND, username="second_bot")
    async with running({"telegram": first, "telegram/second": second}, tmp_path) as app:
        one, two = Lab(app, first), Lab(app, second)
        assert first.person("Ada").id == second.person("Ada").id
        await ask(one, "The password is swordfish")
        assert "swordfish" not in await ask(two, "What did I say?")
        assert "swordfish" in await ask(one, "What did I say?", after=1)
        accounts = {trace.account for trace in await app.decisions()}
        assert accounts == {"main", "second"}


async def test_the_webhooks_of_two_accounts_have_separate_paths(tmp_path: Path) -> None:
    first = SlackSimulator(mode="http")
    second = SlackSimulator(mode="http", path="/webhook/slack/second", team="T0SECOND")
    async with running({"slack": first, "slack/second": second}, tmp_path) as app:
        assert set(app.webhooks.paths) == {"/webhook/slack", "/webhook/slack/second"}
        assert "one" in await ask(Lab(app, first), "I am number one")
        assert "two" in await ask(Lab(app, second), "I am number two")


async def test_an_unavailable_platform_does_not_affect_the_others(tmp_path: Path) -> None:
    telegram, whatsapp = TelegramSimulator(), WhatsAppSimulator()
    async with running({"telegram": telegram, "whatsapp": whatsapp}, tmp_path) as app:
        await ask(Lab(app, whatsapp), "hello")
        ada = telegram.person("Ada")
        room: SimRoom = telegram.direct(ada)
        port = urlsplit(telegram.url).port or 0
        await telegram.server.stop()
        lab = Lab(app, whatsapp)
        await lab.platform.say(whatsapp.person("Ada"), whatsapp.direct(whatsapp.person("Ada")), "?")
        await lab.answer(whatsapp.direct(whatsapp.person("Ada")), after=1)
        await telegram.server.start(port)
        await telegram.say(ada, room, "are you back?")
        await Lab(app, telegram).answer(room, timeout=PATIENCE)
