"""Several processes share the work through a real Redis and a real PostgreSQL."""

import asyncio
import re
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import yaml

from simulators.base import Shown, SimRoom
from simulators.telegram import TelegramSimulator
from tests.e2e.conftest import open_lab
from tests.e2e.harness import FAST, LIFTED, by_bot
from tests.parley.cli.kit import started
from tests.support.databases import migrated_database, new_database
from tests.support.patience import LAUNCH, PATIENCE
from tests.support.servers import PostgresServer, RedisServer

pytestmark = pytest.mark.xdist_group("databases")
MARK = re.compile(r"number (\d+)")


@pytest.mark.parametrize("variant", ["discord", "slack-socket", "telegram-polling", "whatsapp"])
async def test_one_process_on_redis_and_postgresql_answers_and_remembers(
    variant: str, tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    stores = {"storage": {"url": redis.url}, "database": {"url": migrated_database(postgres)}}
    async with open_lab(variant, tmp_path, stores) as lab:
        ada = lab.platform.person(f"Ada of {variant}")
        room = lab.platform.direct(ada)
        await lab.platform.say(ada, room, "My favourite colour is turquoise")
        await lab.answer(room)
        await lab.platform.say(ada, room, "What did I say?")
        assert "turquoise" in (await lab.answer(room, after=1)).text


async def test_adapter_and_workers_share_the_work_and_survive_a_crash_of_one_worker(
    tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    async with AsyncExitStack() as stack:
        telegram = TelegramSimulator()
        await telegram.start()
        stack.push_async_callback(telegram.stop)
        config = _config(tmp_path, telegram, redis, postgres)
        await stack.enter_async_context(_parley(config, "--role", "adapter"))
        workers = [
            await stack.enter_async_context(_parley(config, "--role", "worker")) for _ in range(2)
        ]
        rooms = await _ask(telegram, people=10, each=6)
        await telegram.wait_for(rooms[0], lambda shown: len(by_bot(shown)) >= 2, PATIENCE)
        workers[0].kill()
        for room in rooms:
            await telegram.wait_for(room, lambda shown: len(_numbers(shown)) >= 6, 40)
        for room in rooms:
            answered = _numbers(telegram.shown(room))
            assert answered == sorted(answered), "out of order within a chat"
            assert max(Counter(answered).values()) == 1, "answered twice"


def _numbers(shown: list[Shown]) -> list[int]:
    """The numbers that the bot's answers repeat, in their order."""
    texts = [message.text.rpartition("You said:")[2] for message in by_bot(shown)]
    return [int(result.group(1)) for text in texts if (result := MARK.search(text))]


async def _ask(telegram: TelegramSimulator, people: int, each: int) -> list[SimRoom]:
    rooms = []
    for who in range(people):
        person = telegram.person(f"Person {who}")
        rooms.append(telegram.direct(person))
    for number in range(each):
        for who in range(people):
            person = telegram.person(f"Person {who}")
            await telegram.say(person, rooms[who], f"This is number {number}")
    return rooms


def _config(
    folder: Path, telegram: TelegramSimulator, redis: RedisServer, postgres: PostgresServer
) -> Path:
    path = folder / "parley.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "model": {"provider": "offline"},
                "platforms": {"telegram": telegram.settings()},
                "limits": LIFTED,
                "delivery": FAST,
                "conversation": {"overlap": "queue"},
                "storage": {"url": redis.url.replace("/0", "/1")},
                "database": {"url": new_database(postgres)},
                "server": {"port": 0},
                "webhooks": {"port": 0},
            }
        )
    )
    return path


@asynccontextmanager
async def _parley(config: Path, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A `parley run` that is ready."""
    command = ("run", "--config", str(config), *arguments)
    async with started(*command, cwd=config.parent) as process:  # the record of work is kept there
        assert process.stdout is not None
        try:
            async with asyncio.timeout(LAUNCH):
                while b"ready gateway" not in (line := await process.stdout.readline()):
                    assert line, "parley ended before it was ready"
            yield process
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            await asyncio.wait_for(process.communicate(), PATIENCE)
