"""A worker asks the process that holds the connection for the members of a project."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault, PlatformSimulator, SimPerson, SimRoom
from tests.e2e.conftest import VARIANTS, only
from tests.e2e.harness import FAST, by_bot, running_as_processes
from tests.e2e.test_membership import ASKED, BIBLE, WORD, leave
from tests.support.databases import migrated_database
from tests.support.patience import PATIENCE
from tests.support.servers import PostgresServer, RedisServer

pytestmark = pytest.mark.xdist_group("databases")


@pytest.fixture
async def model(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AnthropicSimulator]:
    for kept in ("BELIEVED_FOR", "DOUBTED_FOR"):
        monkeypatch.setattr(f"gateway.outbound.membership.{kept}", timedelta(0))
    simulator = AnthropicSimulator()
    await simulator.start()
    yield simulator
    await simulator.stop()


@pytest.fixture
async def platform(
    variant: str,
    model: AnthropicSimulator,
    tmp_path: Path,
    redis: RedisServer,
    postgres: PostgresServer,
) -> AsyncIterator[PlatformSimulator]:
    """A platform, with an adapter process and a worker behind it."""
    simulator = VARIANTS[variant]()
    more = {
        "storage": {"url": redis.url},
        "database": {"url": migrated_database(postgres)},
        "delivery": FAST,
        "access": {"operators": [simulator.person("Olga").id]},
        "model": {
            "provider": "anthropic",
            "api_key": model.api_key,
            "base_url": model.base_url,
        },
    }
    async with running_as_processes(("adapter", "worker"), simulator, tmp_path, more):
        yield simulator


async def answer_to(
    platform: PlatformSimulator, person: SimPerson, room: SimRoom, text: str, command: str = ""
) -> str:
    """The assistant's answer to a message, or to a command."""
    before = len(by_bot(platform.shown(room)))
    if command:
        await platform.command(person, room, command, text)
    else:
        await platform.say(person, room, text, mention=room.kind != "direct")
    shown = await platform.wait_for(room, lambda seen: len(by_bot(seen)) > before, PATIENCE)
    return by_bot(shown)[-1].text


@only("discord", "telegram-polling")
async def test_a_worker_checks_membership_and_denies_access_without_an_answer(
    platform: PlatformSimulator, model: AnthropicSimulator
) -> None:
    room, ada = platform.room("general"), platform.person("Ada")
    alone = platform.direct(ada)
    await answer_to(platform, platform.person("Olga"), room, BIBLE, "bible")
    await answer_to(platform, ada, room, "hello")
    assert "The project is now" in await answer_to(platform, ada, alone, "1", "project")
    await answer_to(platform, ada, alone, "what is the word?")
    assert WORD in str(model.bodies[-1])

    platform.faults.add(Fault(ASKED[platform.platform], "server_error", times=100))
    assert "does not say at the moment" in await answer_to(platform, ada, alone, "and now?")
    assert WORD not in str(model.bodies[-1])
    platform.faults.clear()

    leave(platform, ada, room, notify=False)
    assert "You are not in" in await answer_to(platform, ada, alone, "what was it?")
    assert WORD not in str(model.bodies[-1])
