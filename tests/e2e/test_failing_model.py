"""A model that fails can be seen: in the log, in /readyz, in the metrics, in the trace, by the
reference of an apology, and it recovers everywhere."""

import json
import re
from pathlib import Path

import aiohttp
import pytest
from structlog.testing import capture_logs

from gateway.llm.model_health import LINES
from parley.cli.why import describe
from tests.e2e.conftest import open_lab
from tests.e2e.harness import Lab
from tests.support.failing_model import failing_model
from tests.support.patience import PATIENCE
from tests.support.ports import free_port

OVERLOADED = json.dumps({"error": {"message": "Overloaded, key-of-the-operator", "type": "x"}})
HTML = "<html><head><title>502</title></head><body><h1>Bad gateway</h1></body></html>"


async def ask(lab: Lab, after: int = 0) -> str:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "hello")
    text = (await lab.answer(room, after=after, timeout=PATIENCE)).text
    await lab.idle()
    return text


async def page(lab: Lab, path: str) -> str:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{lab.app.local.base_url}{path}") as response,
    ):
        return await response.text()


@pytest.mark.parametrize(
    ("status", "text", "kind", "shown"),
    [
        (529, OVERLOADED, "overloaded", "Overloaded"),
        (401, OVERLOADED, "key_refused", "401"),
        (404, OVERLOADED, "not_found", "404"),
        (429, OVERLOADED, "rate_limited", "429"),
        (500, HTML, "server_error", "500"),
    ],
)
async def test_a_failing_model_is_seen_everywhere_and_recovers_everywhere(
    tmp_path: Path, status: int, text: str, kind: str, shown: str
) -> None:
    headers = {"x-request-id": "req-7", "retry-after": "0.1"}
    async with (
        failing_model(status, text, headers) as model,
        open_lab("telegram-polling", tmp_path, {"model": model.section()}) as lab,
    ):
        with capture_logs() as lines:
            apology = await ask(lab)

        failed = [line for line in lines if line["event"] == "model_call_failed"]
        assert 1 <= len(failed) <= LINES
        assert (failed[0]["status"], failed[0]["kind"]) == (status, kind)
        assert shown in str(failed[0]["message"])
        assert failed[0]["request_id"] == "req-7"
        assert "key-of-the-operator" not in str(lines)

        state = json.loads(await page(lab, "/readyz"))
        (seen,) = state["models"]
        assert state["ready"] is True
        assert (seen["model"], seen["status"], seen["kind"]) == ("m", status, kind)
        assert (seen["failed_calls"], seen["people"]) == (model.calls, 1)
        assert seen["request_id"] == "req-7"
        assert f"HTTP {status}" in state["problems"]["model: m"]
        assert "1 person waited" in state["problems"]["model: m"]
        assert "key-of-the-operator" not in str(state)

        metrics = await page(lab, "/metrics")
        labels = f'{{model="m",status="{status}"}}'
        assert f"parley_model_failed_calls_total{labels} {model.calls}.0" in metrics
        assert f"parley_model_failing_since_timestamp_seconds{labels}" in metrics
        assert f"parley_model_failing_people{labels} 1.0" in metrics

        found = re.search(r"Reference for the operator: ([0-9a-f]{16})", apology)
        assert found is not None
        (trace,) = await lab.app.storage.stores.traces.find(found[1])
        assert f"call of m  {status} {kind}" in describe(trace)

        model.status = 200
        assert await ask(lab, after=1) == "All is well again, thank you."
        state = json.loads(await page(lab, "/readyz"))
        assert "models" not in state
        assert "problems" not in state
        metrics = await page(lab, "/metrics")
        assert "parley_model_failing_people{" not in metrics
        assert f"parley_model_failed_calls_total{labels}" in metrics


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:{port}/v1", "connection_refused"),
        ("https://no-such-host.invalid/v1", "dns"),
    ],
)
async def test_a_server_that_cannot_be_reached_is_named_with_its_reason(
    tmp_path: Path, url: str, kind: str
) -> None:
    address = url.format(port=free_port())
    section = {"provider": "openai", "name": "m", "api_key": "k", "base_url": address}
    model = {"model": {**section, "retry_seconds": 0}}
    async with open_lab("telegram-polling", tmp_path, model) as lab:
        await ask(lab)
        (seen,) = json.loads(await page(lab, "/readyz"))["models"]
        assert (seen["status"], seen["kind"]) == (None, kind)


async def test_a_server_with_another_protocol_is_a_failure_of_tls(tmp_path: Path) -> None:
    async with failing_model() as server:
        url = server.url.replace("http://", "https://")
        model = {"model": server.section(base_url=url, retry_seconds=0)}
        async with open_lab("telegram-polling", tmp_path, model) as lab:
            await ask(lab)
            (seen,) = json.loads(await page(lab, "/readyz"))["models"]
            assert seen["kind"] == "tls"
