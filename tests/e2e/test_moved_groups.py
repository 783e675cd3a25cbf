"""Telegram: a group that became a supergroup, and topics that are closed or deleted."""

from pathlib import Path
from typing import Final

import pytest
from redis.asyncio import Redis

from adapters.telegram.upgraded_groups import UpgradedGroups
from gateway.outbound.retry_decision import ELSEWHERE_NOTE
from simulators.base import SimRoom
from simulators.telegram import TelegramSimulator
from tests.e2e.conftest import open_lab_with_model
from tests.e2e.harness import Lab
from tests.support.databases import migrated_database
from tests.support.servers import PostgresServer, RedisServer

pytestmark = pytest.mark.xdist_group("databases")
POLLING: Final = "telegram-polling"


@pytest.fixture(params=["sqlite", "redis and postgresql"])
def stores(request: pytest.FixtureRequest) -> dict[str, object]:
    if request.param == "sqlite":
        return {}
    redis: RedisServer = request.getfixturevalue("redis")
    postgres: PostgresServer = request.getfixturevalue("postgres")
    return {"storage": {"url": redis.url}, "database": {"url": migrated_database(postgres)}}


def telegram(lab: Lab) -> TelegramSimulator:
    assert isinstance(lab.platform, TelegramSimulator)
    return lab.platform


async def ask(lab: Lab, room: SimRoom, text: str) -> None:
    await lab.platform.say(lab.platform.person("Ada"), room, text, mention=True)


@pytest.mark.parametrize("notify", [True, False])
async def test_conversation_memory_and_access_follow_a_group_that_became_a_supergroup(
    stores: dict[str, object], notify: bool, tmp_path: Path
) -> None:
    async with open_lab_with_model(POLLING, tmp_path, stores) as (lab, model):
        sim = telegram(lab)
        ada, room = sim.person("Ada"), sim.room("Team", "private")
        await ask(lab, room, "The parrot is called Rosalind.")
        await lab.answer(room)
        await sim.command(ada, room, "remember", "The release is on the 4th of May.")
        (_, noted) = await lab.answers(room, 2)
        model.open.clear()
        await ask(lab, room, "one more question")
        await model.wait_for_requests(len(model.requests) + 1)
        supergroup = sim.upgrade(ada, room, notify=notify)
        model.open.set()
        await lab.answers(supergroup, 1)
        await ask(lab, supergroup, "What is the parrot called, and when is the release?")
        await lab.answers(supergroup, 2)
        prompt = str(model.bodies[-1])
        assert "Rosalind" in prompt
        assert "4th of May" in prompt
        assert "one more question" in prompt
        assert noted.text
        await sim.command(ada, supergroup, "clear")
        await lab.answers(supergroup, 3)


async def test_the_ids_of_both_groups_survive_the_loss_of_redis(
    tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    url = redis.url.replace("/0", "/3")
    stores = {"storage": {"url": url}, "database": {"url": migrated_database(postgres)}}
    async with open_lab_with_model(POLLING, tmp_path, stores) as (lab, _):
        sim = telegram(lab)
        room = sim.room("Team", "private")
        await ask(lab, room, "hello")
        await lab.answer(room)
        supergroup = sim.upgrade(sim.person("Ada"), room)
        await ask(lab, supergroup, "and here?")
        await lab.answer(supergroup)
        await lab.idle()
        async with Redis.from_url(url) as client:
            await client.flushdb()
        state = lab.app.storage.long_lived_states.of("telegram", "main")
        after_restart = UpgradedGroups(state, "main")
        _, present = await after_restart.addressed({"chat_id": int(room.id)})
    assert present == int(supergroup.id)


@pytest.mark.parametrize("delete", [True, False])
async def test_the_answer_to_a_topic_that_is_gone_is_shown_in_the_group(
    delete: bool, tmp_path: Path
) -> None:
    async with open_lab_with_model(POLLING, tmp_path) as (lab, model):
        sim = telegram(lab)
        ada, room = sim.person("Ada"), sim.room("Forum", "private")
        topic = await sim.open_thread(ada, room, "Topic")
        model.open.clear()
        await ask(lab, topic, "question?")
        await model.wait_for_requests(1)
        sim.close_topic(topic, delete=delete)
        model.open.set()
        note, answer = await lab.answers(room, 2)
        assert note.text == ELSEWHERE_NOTE.english
        assert (answer.thread_id, answer.reply_to_id) == ("", "")
        assert len(await lab.quiet(topic)) == 0
