"""With one of the two stores down, the console shows what needs only the other one, and names the
store that does not answer. An action that is repeated has one entry in the audit."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from parley.console.routes import ROUTES
from tests.parley.console.kit import (
    OPERATOR,
    OWNER,
    PERSON,
    Console,
    Sections,
    console_in,
    console_settings,
)
from tests.parley.console.talk import World, world_in
from tests.parley.console.test_routes import address
from tests.support.databases import migrated_database
from tests.support.servers import RedisServer, postgres_server, redis_server

pytestmark = pytest.mark.xdist_group("databases")
NEEDS_REDIS = {"outbox", "personal_data"}
"""Pages about what both stores hold: the outbox, and everything that is stored about a person."""
REASON = "Ada wrote that she is in danger"
SIGNED_IN = (PERSON, OPERATOR, OWNER)


@dataclass(frozen=True)
class OnServers:
    """The console of a program on Redis and PostgreSQL, with conversations."""

    console: Console
    redis: RedisServer
    world: World

    async def audited(self, what: str) -> int:
        """The number of entries in the audit about an action of the console."""
        log = self.console.app.storage.memory.audit_on(b"k" * 32)
        entries = [link.entry for link in await log.links(0, 1000)]
        return sum(dict(one.details).get("what") == what for one in entries)


@pytest.fixture
async def servers(tmp_path: Path, postgres: object) -> AsyncIterator[OnServers]:
    with redis_server() as redis:
        sections: Sections = {
            "storage": {"url": redis.url},
            "database": {"url": migrated_database(postgres)},  # type: ignore[arg-type]
            "server": {"port": 0, "token_key": "k" * 40},
            "console": {"break_glass": True},
            "watchdog": {"folder": str(tmp_path)},
        }
        async with console_in(console_settings(tmp_path, **sections)) as console:
            yield OnServers(console, redis, await world_in(console.app))


async def test_without_redis_people_sign_in_and_every_page_of_the_database_works(
    servers: OnServers,
) -> None:
    console, turn = servers.console, servers.world.adas
    links = [await console.link(name) for name in SIGNED_IN]
    servers.redis.stop()
    failed: dict[str, str] = {}
    for link in links:
        visitor = console.stranger()
        assert (await visitor.use(link)).status == 303, "signing in needs only the database"
        for route in ROUTES:
            if route.method != "GET":
                continue
            path, values = address(route)
            path = path.replace("0123456789abcdef", turn)
            query = "&".join(f"{key}={value}" for key, value in values.items())
            page = await visitor.get(f"{path}?{query}")
            if page.status >= 500:
                failed[route.name] = page.text
            if page.status == 200 and "Redis" in page.text:
                named = ("does not answer", "storage is unavailable")
                assert any(words in page.text for words in named), route.name
    assert failed.keys() == NEEDS_REDIS
    for text in failed.values():
        assert "Redis, the store of waiting messages and answers, does not answer." in text
        assert "parley doctor" in text
        assert 'href="/console/overview"' in text, "the menu leads to the pages that work"
    overview = await (await console.visitor(OWNER)).get("/overview")
    assert overview.status == 200
    assert re.search(r"storage is unavailable|because their store cannot be read", overview.text)


async def test_without_redis_the_api_of_the_console_names_the_store(servers: OnServers) -> None:
    client = servers.console.program.api_client(OWNER)
    servers.redis.stop()
    answer = await client("GET", "/console/outbox")
    assert (answer.status, answer.code) == (503, "unavailable")
    assert answer.json["error"]["where"] == "Redis"
    assert answer.json["error"]["message"].startswith("Redis, the store of waiting messages")
    assert "127.0.0.1" not in str(answer.json), "not its address"
    assert answer.headers["Retry-After"]


@pytest.mark.parametrize("action", ["take-over", "break-glass"])
async def test_an_action_that_is_repeated_during_an_outage_is_audited_once(
    action: str, servers: OnServers
) -> None:
    fields, what = {
        "take-over": ({"name": "Olga"}, "taken_over"),
        "break-glass": (
            {"reason": "Ada wrote that she is in danger", "name": "Olga"},
            "glass_broken",
        ),
    }[action]
    visitor = await servers.console.visitor(OPERATOR)
    path = f"/conversations/{servers.world.adas}/{action}"
    servers.redis.stop()
    for _ in range(3):
        refused = await visitor.post(path, fields)
        assert refused.status == 503
        assert "Redis" in refused.text
    assert await servers.audited(what) == 0, "nothing was done"
    servers.redis.start()
    done = await visitor.post(path, fields)
    assert done.status in (200, 303), done.text
    assert await servers.audited(what) == 1


async def test_the_checks_run_without_redis_and_name_it(servers: OnServers) -> None:
    visitor = await servers.console.visitor(OPERATOR)
    servers.redis.stop()
    assert (await visitor.post("/health/check")).status == 303


async def test_without_postgresql_the_page_names_it(tmp_path: Path) -> None:
    with postgres_server() as postgres, redis_server() as redis:
        sections: Sections = {
            "storage": {"url": redis.url},
            "database": {"url": migrated_database(postgres)},
            "server": {"port": 0, "token_key": "k" * 40},
            "watchdog": {"folder": str(tmp_path)},
        }
        async with console_in(console_settings(tmp_path, **sections)) as console:
            visitor = await console.visitor(OWNER)
            postgres.stop()
            page = await visitor.get("/overview")
            assert page.status == 503
            assert "PostgreSQL, the database, does not answer." in page.text
            assert "Redis" not in page.text
            assert "parley doctor" in page.text
            answer = await console.program.api_client(OWNER)("GET", "/console/overview")
            assert answer.json["error"]["where"] == "PostgreSQL"
            postgres.start()
