"""With separate roles, every process and command says which part no process serves."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
import yaml

from gateway.errors import ModelUnavailable
from gateway.observe.correlation import asking
from gateway.observe.gauges import GaugeReadings
from gateway.ports.clock import SystemClock
from parley.app import App
from parley.cli.status.report import StatusReport, attention, stored_state
from parley.config import Settings, from_mapping
from parley.doctor.stores import check_servers
from parley.runtime import Role
from parley.wiring.accounts import account_names
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import FAST, LIFTED
from tests.parley.cli.kit import parley, read_until, started
from tests.parley.console.kit import Console, Visitor
from tests.parley.http.api.kit import Program
from tests.support.databases import migrated_database
from tests.support.ports import free_port
from tests.support.program import running_app
from tests.support.servers import PostgresServer, RedisServer
from tests.support.waiting import eventually

pytestmark = pytest.mark.xdist_group("databases")
MISSING = 1.5


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes report every 0.1 seconds instead of every 5, and are missing after 0.6."""
    monkeypatch.setattr("parley.runtime.process_reports.EVERY", 0.1)
    monkeypatch.setattr("parley.runtime.installation.MISSING_AFTER", MISSING)
    monkeypatch.setattr("gateway.stores.redis.processes.MISSING_AFTER", MISSING)


def document(
    telegram: TelegramSimulator, redis: RedisServer, database: str, port: int = 0
) -> dict[str, object]:
    return {
        "model": {"provider": "offline"},
        "platforms": {"telegram": telegram.settings(), "web": {"enabled": True}},
        "limits": {**LIFTED, "api_per_minute": 0},
        "delivery": FAST,
        "storage": {"url": redis.url},
        "database": {"url": database},
        "access": {"owners": ["web:oona"], "operators": ["web:olga"]},
        "server": {"port": port, "token_key": "k" * 40},
        "webhooks": {"port": 0},
    }


@dataclass
class Installation:
    """Processes of one installation, all of them in the process of this test."""

    settings: Settings
    stack: AsyncExitStack
    http: aiohttp.ClientSession

    async def start(self, role: Role, platform: str = "") -> App:
        app = App(self.settings, role=role, platform=platform)
        return await self.stack.enter_async_context(running_app(app, drain=0))

    async def ready(self, app: App, of: str) -> tuple[int, Mapping[str, Mapping[str, str]]]:
        async with self.http.get(f"{app.local.base_url}/readyz{of}") as answer:
            return answer.status, await answer.json()

    async def visitor(self, app: App) -> Visitor:
        return await Console(Program(app, self.http, self.settings)).visitor("oona")


@pytest.fixture
async def installation(redis: RedisServer, postgres: PostgresServer) -> AsyncIterator[Installation]:
    async with AsyncExitStack() as stack:
        telegram = TelegramSimulator()
        await telegram.start()
        stack.push_async_callback(telegram.stop)
        settings = from_mapping(document(telegram, redis, migrated_database(postgres)))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        yield Installation(settings, stack, http)


async def die(app: App) -> None:
    """Let a process report no more, as one that was killed."""
    assert app._reports is not None
    assert app._reports._task is not None
    app._reports._task.cancel()
    await asyncio.gather(app._reports._task, return_exceptions=True)


def gauges(app: App) -> GaugeReadings:
    assert app.health._parts is not None
    return app.health._now(app.health._parts)


async def needs(installation: Installation, app: App) -> list[str]:
    """What `parley status` names."""
    settings = installation.settings
    now = SystemClock().now()
    stored = await stored_state(settings, app.storage, now)
    report = StatusReport(now, "", None, stored, accounts=account_names(settings), has_port=False)
    return attention(report)


async def broken(installation: Installation) -> list[str]:
    """What `parley doctor` finds about processes."""
    findings = await check_servers(installation.settings)
    return [one.name for one in findings if one.status == "broken" and "Postgre" not in one.name]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("what", ["worker", "adapter"])
async def test_a_part_that_dies_is_named_by_every_process_and_command(
    what: Role, installation: Installation
) -> None:
    observer = await installation.start("adapter", "web")
    parts = {role: await installation.start(role) for role in ("worker",)}
    parts["adapter"] = await installation.start("adapter", "telegram")
    part, start = ("workers", "worker") if what == "worker" else ("telegram", "adapter")

    async def is_complete() -> bool:
        return (await installation.ready(observer, "?of=installation"))[0] == 200

    await eventually(is_complete)
    assert await needs(installation, observer) == []
    assert await broken(installation) == []

    await die(parts[what])

    async def is_missing() -> bool:
        return not await is_complete()

    await eventually(is_missing)
    status, state = await installation.ready(observer, "")
    assert status == 200, "the process itself can do its work, and a load balancer keeps it"
    assert state["installation"][part] == "missing"
    assert f"parley run --role {start}" in state["problems"][part]
    (need,) = await needs(installation, observer)
    assert f"parley run --role {start}" in need
    assert len(await broken(installation)) == 1
    page = (await (await installation.visitor(observer)).get("/overview")).text
    assert "has not reported for" in page
    assert f"parley run --role {start}" in page
    ages = {(role, account): seconds for role, account, seconds in gauges(observer).roles}
    assert ages["worker" if what == "worker" else "adapter", part.removeprefix("workers")] > MISSING

    await installation.start(what, "" if what == "worker" else "telegram")
    await eventually(is_complete)
    assert await needs(installation, observer) == []


@pytest.mark.usefixtures("quick")
async def test_an_outage_of_redis_makes_no_part_missing(
    installation: Installation, redis: RedisServer
) -> None:
    observer = await installation.start("adapter")
    worker = await installation.start("worker")
    seen: list[str] = []

    def watch(app: App) -> bool:
        assert app._reports is not None
        now = app._reports.installation
        seen.extend(now.problems if now else ())
        return now is not None

    await eventually(lambda: watch(observer) and watch(worker))
    seen.clear()
    redis.stop()
    await eventually(lambda: not watch(observer) and not watch(worker))
    _, state = await installation.ready(observer, "")
    assert "installation" not in state, "nobody knows"
    await asyncio.sleep(2 * MISSING)
    redis.start()
    await eventually(lambda: watch(observer) and watch(worker))
    for _ in range(10):
        watch(observer)
        watch(worker)
        await asyncio.sleep(0.1)
    assert seen == []


async def test_a_wrong_question_about_readiness_is_refused(installation: Installation) -> None:
    observer = await installation.start("adapter")
    status, state = await installation.ready(observer, "?of=instalation")
    assert status == 400
    assert "/readyz?of=installation" in str(state["error"])


@pytest.mark.nightly
async def test_killed_processes_are_missing_within_30_seconds(
    tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    async with AsyncExitStack() as stack:
        telegram = TelegramSimulator()
        await telegram.start()
        stack.push_async_callback(telegram.stop)
        database, processes, configs = migrated_database(postgres), [], []
        roles = (("adapter", "web"), ("adapter", "telegram"), ("worker", ""))
        for role, platform in roles:
            config = tmp_path / f"{role}{platform}.yaml"
            config.write_text(yaml.safe_dump(document(telegram, redis, database, free_port())))
            more = ("--platform", platform) if platform else ()
            process = await stack.enter_async_context(
                started("run", "--config", str(config), "--role", role, *more, cwd=tmp_path)
            )
            await read_until(process.stdout, "ready gateway")
            processes.append(process)
            configs.append(str(config))

        async def status() -> tuple[int, str]:
            ended = await parley("status", "--config", configs[0], cwd=tmp_path)
            return ended.status, ended.out

        async def is_well() -> bool:
            return (await status())[0] == 0

        async def names_both() -> bool:
            code, text = await status()
            both = "The last worker" in text and "The process that serves telegram" in text
            return code == 1 and both and "Nothing needs attention" not in text

        await eventually(is_well, 30)
        for process in processes[1:]:
            process.kill()
        await eventually(names_both, 30)
        doctor = await parley("doctor", "--config", configs[0], cwd=tmp_path)
        assert "BROKEN  workers" in doctor.out
        assert "BROKEN  account telegram" in doctor.out


@pytest.mark.usefixtures("quick")
async def test_a_failing_model_of_a_worker_is_named_by_every_process_until_any_gets_an_answer(
    installation: Installation,
) -> None:
    observer = await installation.start("adapter", "web")
    await installation.start("adapter", "telegram")
    first, second = [await installation.start("worker") for _ in range(2)]
    error = ModelUnavailable("Overloaded", status=529, request_id="req-1")
    for person in ("ada", "ben"):
        with asking(person):
            first.model_health.call_failed("m", "https://x.org", error, 0.1, ())

    async def named() -> bool:
        return "models" in (await installation.ready(observer, ""))[1]

    await eventually(named)
    assert "2 people waited" in (await installation.ready(observer, ""))[1]["problems"]["model: m"]
    (need,) = await needs(installation, observer)
    assert "m at https://x.org has given no answer since" in need
    page = (await (await installation.visitor(observer)).get("/overview")).text
    assert "HTTP 529, overloaded" in page

    second.model_health.call_answered("m", "https://x.org")

    async def forgotten() -> bool:
        return not await named() and not first.model_health.failures()

    await eventually(forgotten)
    assert await needs(installation, observer) == []
