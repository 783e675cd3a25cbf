"""Traces are sent where a collector is named, and cost nothing where none is."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web

from gateway.errors import LibraryMissing
from parley.wiring.observe import endpoint_of, open_tracing
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import Lab, running
from tests.support.clock import FakeClock

try:
    EXPORTER = importlib.util.find_spec("opentelemetry.exporter.otlp.proto.http") is not None
except ModuleNotFoundError:
    EXPORTER = False
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("configured", "env", "endpoint"),
    [
        (None, {}, ""),
        ("http://a:4318", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://b"}, "http://a:4318"),
        (None, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://b"}, "http://b"),
        (
            None,
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://b",
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/v1/traces",
            },
            "http://c/v1/traces",
        ),
        (None, {"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, ""),
    ],
)
def test_the_configuration_overrides_the_environment(
    configured: str | None, env: dict[str, str], endpoint: str
) -> None:
    assert endpoint_of(configured, env) == endpoint


def test_without_a_collector_the_library_is_not_loaded() -> None:
    code = (
        "import sys; from parley.app import App; from parley.config import from_mapping; "
        "App(from_mapping({'database': {'url': 'memory://'}})); "
        "sys.exit(any(name.startswith('opentelemetry.sdk') for name in sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={}, check=False)
    assert ended.returncode == 0


@pytest.mark.skipif(EXPORTER, reason="the exporter is installed here")
def test_a_missing_library_is_one_clear_message() -> None:
    with pytest.raises(LibraryMissing, match="opentelemetry"):
        open_tracing("http://127.0.0.1:4318", FakeClock())


@pytest.mark.skipif(not EXPORTER, reason="the extra otel is not installed")
async def test_a_real_collector_receives_the_spans_at_shutdown_at_the_latest(
    tmp_path: Path,
) -> None:
    bodies: list[bytes] = []

    async def take(request: web.Request) -> web.Response:
        bodies.append(await request.read())
        return web.Response()

    collector = web.Application()
    collector.router.add_post("/v1/traces", take)
    runner = web.AppRunner(collector)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    overrides = {"observe": {"otlp_endpoint": f"http://127.0.0.1:{site.port}"}}
    telegram = TelegramSimulator()
    async with running({"telegram": telegram}, tmp_path, overrides) as app:
        ada = telegram.person("Ada")
        await telegram.say(ada, telegram.direct(ada), "canary")
        await Lab(app, telegram).answer(telegram.direct(ada))
        await Lab(app, telegram).idle()
    sent = b"".join(bodies)
    assert b"check_access" in sent
    assert b"canary" not in sent
    await runner.cleanup()
