"""`/privacy erase` says that it is done, and nothing of the person is left behind the answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import open_lab
from tests.e2e.harness import Lab
from tests.e2e.test_memory import direct
from tests.support.servers import PostgresServer, RedisServer, postgres_server, redis_server


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with postgres_server() as server:
        yield server


async def test_erasing_is_confirmed(lab: Lab) -> None:
    ada = direct(lab)
    await ada.command("remember", "I prefer tabs")
    await ada.say("My dog is Luna")
    surely = await ada.press(await ada.command("privacy", "erase"), "Erase everything")
    assert "Everything is erased" in (await ada.press(surely, "Yes, all of it")).text


async def test_erasing_is_confirmed_on_redis(
    variant, tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    stores = {"storage": {"url": redis.url}, "database": {"url": postgres.url}}
    async with open_lab(variant, tmp_path, stores) as lab:
        ada = direct(lab, f"Ada of {variant}")
        await ada.command("remember", "I prefer tabs")
        await ada.say("My dog is Luna")
        surely = await ada.press(await ada.command("privacy", "erase"), "Erase everything")
        assert "Everything is erased" in (await ada.press(surely, "Yes, all of it")).text
