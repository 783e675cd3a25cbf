"""No page, report or log of the running program has a secret of a configured address in it."""

import io
import json
import logging
from pathlib import Path

import aiohttp
import structlog

from gateway.observe.logs import configure_logs
from parley.config.secrets import secret_values
from parley.console.routes import ROUTES
from tests.parley.console.kit import console_in, console_settings
from tests.support.waiting import eventually

USER, PASSWORD, PART, VALUE = "uSr7canary1x", "pA5canary2yQ9", "pTh9canary3z55", "qRy4canary4w77"
CANARIES = (USER, PASSWORD, PART, VALUE)
ADDRESS = f"http://{USER}:{PASSWORD}@127.0.0.1:9/{PART}/mcp?key={VALUE}"
RECEIVER = f"https://hooks.example.org/services/{PART}?key={VALUE}"
SECRET = "whsec_" + "c2VjcmV0" * 5


async def test_no_page_shows_a_secret_of_an_address(tmp_path: Path) -> None:
    settings = console_settings(
        tmp_path,
        mcp={"servers": {"far": {"url": ADDRESS}}},
        agents={"webhooks": {"ci": {"url": RECEIVER, "secret": SECRET}}},
    )
    lines = io.StringIO()
    async with console_in(settings) as console:
        configure_logs("json", logging.DEBUG, secrets=secret_values(settings), stream=lines)
        toolbox = console.app.services.toolbox
        await eventually(lambda: any(one.problem for one in toolbox.states()))
        structlog.get_logger("gateway.test").error("failed", problem=f"no answer of {ADDRESS}")
        shown = [await told(console.app.local.base_url)]
        for name in ("oona", "olga"):
            visitor = await console.visitor(name)
            pages = [one.path for one in ROUTES if one.method == "GET" and "{" not in one.path]
            for path in (*pages, "/configuration?show=all", "/configuration/export"):
                page = await visitor.get(path, accept="text/html")
                shown.append(page.text)
                shown.append((await visitor.get(path, accept="application/json")).text)
    assert any("hooks.example.org/services/…" in text for text in shown)
    everything = "\n".join((*shown, lines.getvalue()))
    assert [canary for canary in CANARIES if canary in everything] == []
    assert [
        json.loads(line)["problem"] for line in lines.getvalue().splitlines() if "no answer" in line
    ]


async def told(base: str) -> str:
    async with aiohttp.ClientSession() as http:
        texts = []
        for path in ("/readyz", "/healthz", "/metrics"):
            async with http.get(base + path) as answer:
                texts.append(await answer.text())
    return "\n".join(texts)
