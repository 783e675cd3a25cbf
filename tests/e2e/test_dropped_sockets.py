"""Connections are lost repeatedly while people write: every message is answered once."""

from pathlib import Path
from typing import Final

from simulators.slack import SlackSimulator
from tests.e2e.conftest import only, open_lab
from tests.e2e.harness import by_bot
from tests.support.patience import PATIENCE

DROPS: Final = 20


@only("discord", "slack-socket", "telegram-polling")
async def test_many_interruptions_lose_and_repeat_nothing(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path, {"conversation": {"overlap": "queue"}}) as lab:
        if isinstance(lab.platform, SlackSimulator):
            # Slack's own third attempt comes after a minute, which a test does not wait for.
            lab.platform.sockets.retry_after = (0.0,) * (DROPS + 2)
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        questions = [f"say: number {number:02d}" for number in range(DROPS)]
        for text in questions:
            await lab.platform.say(ada, room, text)
            await lab.platform.drop_connections()
            await lab.platform.wait_connected()
        await lab.answers(room, DROPS, timeout=2 * PATIENCE)
        texts = [message.text for message in by_bot(await lab.quiet(room))]
        assert texts == [text.removeprefix("say: ") for text in questions]
