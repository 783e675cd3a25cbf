"""The running program's reports over HTTP: health, readiness, metrics."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from db.errors import StoreUnavailable
from gateway.observe.gauges import EventLoopMonitor
from gateway.ports.work_guard import WorkItem
from gateway.stores.sqlite.hot_state import SqliteBuckets
from gateway.stores.usage import UsageLedger
from gateway.text import verbatim
from parley.app import App
from parley.http.health_endpoints import Health
from parley.http.local_listener import LocalListener
from parley.runtime.health import EVERY, StoreMonitor, database_probe, storage_probe
from simulators.base import PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import Lab, running
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database
from tests.support.patience import PATIENCE
from tests.support.servers import postgres_server, redis_server
from tests.support.waiting import eventually

TOKEN = "a-token-of-decent-length"


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def response_of(
    http: aiohttp.ClientSession, app: App, path: str
) -> tuple[int, dict[str, object]]:
    async with http.get(app.local.base_url + path) as answer:
        return answer.status, await answer.json()


async def becomes(http: aiohttp.ClientSession, app: App, *, ready: bool) -> dict[str, object]:
    """The answer of `/readyz`, once it says that."""
    answers: list[tuple[int, dict[str, object]]] = []

    async def as_expected() -> bool:
        answers.append(await response_of(http, app, "/readyz"))
        return (answers[-1][0] == 200) is ready

    await eventually(as_expected)
    return answers[-1][1]


async def figures(http: aiohttp.ClientSession, app: App) -> dict[str, float]:
    """Samples by name and labels, as `name{a,b}`."""
    async with http.get(app.local.base_url + "/metrics") as answer:
        assert answer.status == 200
        text = await answer.text()
    return {
        f"{sample.name}{{{','.join(sample.labels.values())}}}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_the_metrics_contain_a_conversation(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    platforms: dict[str, PlatformSimulator] = {
        "telegram": TelegramSimulator(),
        "slack": SlackSimulator(mode="http"),
    }
    async with running(platforms, tmp_path) as app:
        for platform in platforms.values():
            lab = Lab(app, platform)
            ada = platform.person("Ada")
            await platform.say(ada, platform.direct(ada), "hello")
            await lab.answer(platform.direct(ada))
            await lab.idle()
        result = await figures(http, app)
    for name in platforms:
        assert result[f"parley_events_total{{message,{name}}}"] == 1
        assert result[f"parley_turns_total{{answered,{name}}}"] == 1
        assert result[f"parley_answer_seconds_count{{{name}}}"] == 1
        assert result[f"parley_connection_state{{{name},ready}}"] == 1
    assert result["parley_stage_seconds_count{generate}"] == 2
    assert result["parley_stage_seconds_count{inbox}"] == 2
    assert result["parley_up{storage}"] == result["parley_up{webhooks}"] == 1


async def test_the_metrics_contain_each_step_of_recall(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    telegram = TelegramSimulator()
    async with running({"telegram": telegram}, tmp_path) as app:
        lab, ada = Lab(app, telegram), telegram.person("Ada")
        room = telegram.direct(ada)
        await telegram.say(ada, room, "remember that I prefer tabs")
        await lab.answers(room, 1)
        await telegram.say(ada, room, "do I like tabs or spaces better?")
        await lab.answers(room, 2)
        await lab.idle()
        result = await figures(http, app)
    assert result["parley_recalls_total{ok}"] >= 1
    for step in ("bm25", "context", "scoring", "selection", "total"):
        assert result[f"parley_recall_seconds_count{{{step}}}"] >= 1
    assert result["parley_recall_candidates_total{bm25}"] >= 1
    assert result["parley_recall_results_total{}"] >= 1
    assert result["parley_recall_notes_total{no_model}"] >= 1


async def test_two_programs_in_one_process_have_separate_metrics(
    tmp_path: Path, http: aiohttp.ClientSession
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = TelegramSimulator(), TelegramSimulator()
    async with (
        running({"telegram": first}, tmp_path / "a") as one,
        running({"telegram": second}, tmp_path / "b") as two,
    ):
        ada = first.person("Ada")
        await first.say(ada, first.direct(ada), "hello")
        await Lab(one, first).answer(first.direct(ada))
        assert (await figures(http, one))["parley_events_total{message,telegram}"] == 1
        assert "parley_events_total{message,telegram}" not in await figures(http, two)


async def test_metrics_require_admission(tmp_path: Path, http: aiohttp.ClientSession) -> None:
    overrides = {"server": {"port": 0, "token": TOKEN}}
    async with running({"telegram": TelegramSimulator()}, tmp_path, overrides) as app:
        address = app.local.base_url + "/metrics"
        async with http.get(address) as answer:
            assert answer.status == 401
        async with http.get(address, headers={"X-Forwarded-For": "9.9.9.9"}) as answer:
            assert answer.status == 401
        async with http.get(address, headers={"Authorization": f"Bearer {TOKEN}"}) as answer:
            assert answer.status == 200
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")


async def test_an_unresponsive_socket_is_reported_as_not_ready(
    tmp_path: Path, http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parley.runtime.supervisor.CHECK_EVERY", 0.05)
    monkeypatch.setattr("adapters.discord.socket.ACK_SECONDS", 1.5)
    discord, telegram = DiscordSimulator(), TelegramSimulator()
    discord.gateway.heartbeat_ms = 400
    async with running({"discord": discord, "telegram": telegram}, tmp_path) as app:
        await becomes(http, app, ready=True)
        discord.stop_responding()
        ada = discord.person("Ada")
        room = discord.direct(ada)
        await discord.say(ada, room, "can you hear me?")
        result = await becomes(http, app, ready=False)
        parts, problems = result["parts"], result["problems"]
        assert isinstance(parts, dict)
        assert isinstance(problems, dict)
        assert (parts["discord"], parts["telegram"]) == ("unresponsive", "ready")
        assert problems["discord"]
        await Lab(app, discord).answer(room)
        await becomes(http, app, ready=True)


async def test_an_unavailable_store_is_not_ready(
    tmp_path: Path, http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parley.runtime.health.EVERY", 0.02)
    async with running({"telegram": TelegramSimulator()}, tmp_path) as app:
        app.health._stores._probes = {"storage": gone}
        result = await becomes(http, app, ready=False)
        assert result["problems"] == {"storage": "the disk is full"}
        assert (await figures(http, app))["parley_up{storage}"] == 0
        assert (await response_of(http, app, "/healthz"))[0] == 200


async def gone() -> None:
    raise StoreUnavailable("the disk is full")


@pytest.mark.parametrize("engine", ["redis", "postgres"])
async def test_the_outage_and_return_of_a_server_are_reported_in_time(
    engine: str, tmp_path: Path, http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parley.runtime.health.EVERY", 0.05)
    part = {"redis": "storage", "postgres": "database"}[engine]
    opened = redis_server() if engine == "redis" else postgres_server()
    with opened as server:
        overrides = {part: {"url": server.url}}
        if part == "database":
            overrides["storage"] = {"url": f"sqlite:///{tmp_path}/hot.db"}
        async with running({"telegram": TelegramSimulator()}, tmp_path, overrides) as app:
            assert app.readiness().ready
            await asyncio.to_thread(server.stop)
            result = await becomes(http, app, ready=False)
            parts = result["parts"]
            assert isinstance(parts, dict)
            assert {name for name, state in parts.items() if state != "ready"} == {part}
            await asyncio.to_thread(server.start)
            await becomes(http, app, ready=True)


async def test_a_closed_webhook_listener_is_not_ready(tmp_path: Path) -> None:
    async with running({"slack": SlackSimulator(mode="http")}, tmp_path) as app:
        assert app.readiness().parts["webhooks"] == "ready"
        await app.webhooks.stop()
        state = app.readiness()
        assert not state.ready
        assert state.parts["webhooks"] == "unavailable"


async def test_quarantined_work_is_reported_and_the_program_stays_ready(tmp_path: Path) -> None:
    async with running({"telegram": TelegramSimulator()}, tmp_path) as app:
        assert app.readiness().problems == {}
        await app.guard.quarantine(WorkItem("chore", "memories"))
        state = app.readiness()
        assert state.ready
        assert str(state.problems["quarantine"]).startswith("1 in quarantine and no longer tried")
        assert b"parley_quarantined 1.0" in app.health.metrics.page()


async def test_the_program_is_not_ready_before_start_and_after_stop(tmp_path: Path) -> None:
    async with running({"telegram": TelegramSimulator()}, tmp_path) as app:
        assert app.readiness().ready
    state = app.readiness()
    assert not state.ready
    assert state.parts["gateway"] == "stopping"


async def test_a_blocked_event_loop_is_detected(http: aiohttp.ClientSession) -> None:
    watch = EventLoopMonitor()
    watch.start()
    await eventually(lambda: watch._lags)
    before = watch.lag
    time.sleep(before + 0.6)
    await eventually(lambda: watch.lag >= before + 0.3)
    await watch.stop()
    await watch.stop()


@pytest.mark.parametrize(("well", "status"), [(True, 200), (False, 503)])
async def test_health_reports_if_the_event_loop_is_blocked(
    http: aiohttp.ClientSession, well: bool, status: int
) -> None:
    made = LocalListener(health=lambda: Health(well, 7.25))
    await made.start()
    async with http.get(made.base_url + "/healthz") as answer:
        assert answer.status == status
        body = await answer.json()
    assert body == {"status": "ok" if well else "stalled", "loop_lag": 7.25}
    await made.stop()


class Store:
    """A store that does as it is told."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.asked = 0

    async def probe(self) -> None:
        self.asked += 1
        if self.failure is not None:
            raise self.failure


async def test_a_failing_store_is_reported_until_it_recovers() -> None:
    store, other, clock = Store(), Store(), FakeClock()
    watch = StoreMonitor({"storage": store.probe, "database": other.probe}, clock)
    watch.start()
    await clock.advance(0)
    assert watch.problems == {}
    store.failure = StoreUnavailable("the disk is full\nDETAIL: what somebody wrote")
    with capture_logs() as logs:
        await clock.advance(EVERY * 100)
        assert watch.problems == {"storage": verbatim("the disk is full")}
        store.failure = None
        await clock.advance(EVERY)
    assert watch.problems == {}
    errors = [line["event"] for line in logs if line["log_level"] == "error"]
    assert errors == ["store_unavailable"]
    assert other.asked == store.asked
    await watch.stop()
    await watch.stop()


async def test_a_store_without_an_answer_is_reported_after_the_time_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("parley.runtime.health.ANSWER_SECONDS", 0.01)
    watch = StoreMonitor({"storage": lambda: asyncio.Event().wait()}, FakeClock())
    with capture_logs():
        await asyncio.wait_for(watch.round(), PATIENCE)
    assert "no answer" in str(watch.problems["storage"])


async def test_an_outage_is_reported_before_the_driver_times_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("parley.runtime.health.ANSWER_SECONDS", 0.01)
    held, let_go = asyncio.Event(), asyncio.Event()

    async def slow_to_give_up() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            held.set()
            await let_go.wait()

    watch = StoreMonitor({"database": slow_to_give_up}, FakeClock())
    with capture_logs():
        asking = asyncio.create_task(watch.round())
        await asyncio.wait_for(held.wait(), PATIENCE)
        assert "no answer" in str(watch.problems["database"])
    let_go.set()
    await asking


async def test_any_exception_of_a_store_means_unavailable() -> None:
    store = Store()
    store.failure = KeyError("a bug")
    watch = StoreMonitor({"storage": store.probe}, FakeClock())
    with capture_logs():
        await watch.round()
    assert set(watch.problems) == {"storage"}


async def test_the_probes_work_on_a_real_file_and_leave_few_rows(tmp_path: Path) -> None:
    clock = FakeClock()
    database = sqlite_database(tmp_path / "parley.db")
    await database.start()
    buckets, usage = SqliteBuckets(database, clock), UsageLedger(database, clock)
    watch = StoreMonitor(
        {"storage": storage_probe(buckets), "database": database_probe(usage)}, clock
    )
    for _ in range(20):
        await watch.round()
        await clock.advance(EVERY)
    assert watch.problems == {}
    count = "SELECT (SELECT count(*) FROM reserved) + (SELECT count(*) FROM claimed_keys)"
    assert await database.run_job(lambda db: db.execute(count).fetchone()) == (2,)
    await database.run_job(lambda db: db.execute("PRAGMA query_only=ON").fetchall() and None)
    with capture_logs():
        await watch.round()
    assert set(watch.problems) == {"storage", "database"}
    await database.stop()
