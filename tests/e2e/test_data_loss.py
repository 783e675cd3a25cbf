"""Redis loses its data while an answer is being written, and while it waits to be sent."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gateway.outbound.retry_decision import REPEAT_NOTE
from parley.maintenance.message_log import lost_delivery
from simulators.base import Fault, Shown
from tests.e2e.conftest import open_lab_with_model
from tests.e2e.harness import by_bot
from tests.support.databases import migrated_database
from tests.support.patience import PATIENCE
from tests.support.servers import PostgresServer, RedisServer
from tests.support.waiting import eventually

pytestmark = pytest.mark.xdist_group("databases")
PROBLEM = "data loss: empty"


@pytest.mark.parametrize("variant", ["discord", "slack-socket", "telegram-polling", "whatsapp"])
async def test_an_answer_that_is_being_written_is_sent_once_and_the_loss_is_reported(
    variant: str, tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    url = redis.url.replace("/0", "/3")
    stores = {
        "storage": {"url": url},
        "database": {"url": migrated_database(postgres)},
        "delivery": {"live": False},
    }
    async with open_lab_with_model(variant, tmp_path, stores) as (lab, model):
        ada = lab.platform.person(f"Ada of {variant}")
        room = lab.platform.direct(ada)
        await lab.platform.say(ada, room, "hello")
        await lab.answer(room)
        model.faults.add(Fault("*", "slow", delay=2.0))
        asked = len(model.requests)
        await lab.platform.say(ada, room, "what now?")
        await eventually(lambda: len(model.requests) > asked, PATIENCE)
        await emptied(url)
        await lab.answer(room, after=1)
        assert len(_answers(await lab.quiet(room))) == 2
        await eventually(lambda: PROBLEM in lab.app.readiness().problems, PATIENCE)
        assert lab.app.readiness().ready
        traces = await lab.app.storage.stores.traces.recent(1)
        assert await lost_delivery(lab.app.storage, traces[0]) == ""
        await lab.platform.say(ada, room, "and then?")
        await eventually(lambda: len(_answers(by_bot(lab.platform.shown(room)))) == 3, PATIENCE)


async def test_an_answer_that_waited_in_redis_alone_is_reported_as_unknown(
    tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    url = redis.url.replace("/0", "/3")
    stores = {"storage": {"url": url}, "database": {"url": migrated_database(postgres)}}
    async with open_lab_with_model("telegram-polling", tmp_path, stores) as (lab, _):
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        await lab.platform.say(ada, room, "hello")
        await lab.answer(room)
        await lab.idle()
        await emptied(url)
        await eventually(lambda: PROBLEM in lab.app.readiness().problems, PATIENCE)
        traces = await lab.app.storage.stores.traces.recent(1)
        assert "delivery unknown" in await lost_delivery(lab.app.storage, traces[0])


def _answers(shown: Sequence[Shown]) -> list[Shown]:
    """The answers without the note that stands above one whose send began before the loss."""
    return [one for one in shown if one.text != REPEAT_NOTE.english]


async def emptied(url: str) -> None:
    """Delete everything in this database of Redis."""
    async with Redis.from_url(url) as client:
        await client.flushdb()
