"""A whole Parley with llama.cpp's own server and a small real model: the form of what happens,
never the wording."""

import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from gateway.turn import model_turn
from simulators.telegram import TelegramSimulator
from tests.e2e.harness import Lab, by_bot, running
from tests.support.llama_server import INSTALLED, MODEL, llama_server
from tests.support.ports import free_port

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.timeout(1_800),
    pytest.mark.skipif(not INSTALLED, reason="the group model-server is not installed"),
]
SECONDS = 600.0
"""A busy machine reads a prompt of 3,000 tokens in minutes."""
SHORT = 16
"""Tokens of an answer whose words do not matter."""
FAILED = {one.english for one in (model_turn.TOO_LONG, model_turn.UNAVAILABLE, model_turn.REFUSED)}


class Between:
    """Stands between Parley and the model's server: passes everything on and records it. `change`
    may change the body of a question; without `lists` the server names no windows."""

    def __init__(self, server: str, *, lists: bool) -> None:
        self._server = server.removesuffix("/v1")
        self._lists = lists
        self.change: Callable[[dict[str, Any]], None] = lambda body: None
        self.bodies: list[dict[str, Any]] = []
        self.statuses: list[int] = []
        self.prompts: list[int] = []
        self.broken_off = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "GET" and not self._lists:
            return web.Response(status=404)
        content = await request.read()
        if content:
            body = json.loads(content)
            self.bodies.append(body)
            self.change(body)
            content = json.dumps(body).encode()
        connector = aiohttp.TCPConnector(force_close=True)
        async with (
            aiohttp.ClientSession(connector=connector, trust_env=False) as session,
            session.request(
                request.method,
                self._server + request.path,
                data=content or None,
                headers={"Content-Type": "application/json"},
            ) as answer,
        ):
            if content:
                self.statuses.append(answer.status)
            headers = {"Content-Type": answer.headers["Content-Type"]}
            reply = web.StreamResponse(status=answer.status, headers=headers)
            await reply.prepare(request)
            received = bytearray()
            try:
                async for data in answer.content.iter_any():
                    received += data
                    await reply.write(data)
            except ConnectionError:
                self.broken_off += 1
        self.prompts += [
            json.loads(line[6:])["usage"]["prompt_tokens"]
            for line in received.splitlines()
            if line.startswith(b"data: {") and b'"usage"' in line
        ]
        return reply


@asynccontextmanager
async def parley(
    folder: Path, window: int, *, lists: bool = True, max_tokens: int = 48
) -> AsyncIterator[tuple[Lab, Between]]:
    """Parley with a model whose window is smaller than configured."""
    async with llama_server(window) as address:
        between = Between(address, lists=lists)
        application = web.Application(client_max_size=2**24)
        application.router.add_route("*", "/{path:.*}", between.handle)
        runner = web.AppRunner(application, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        model = {
            "provider": "openai",
            "name": MODEL,
            "base_url": f"http://127.0.0.1:{runner.addresses[0][1]}/v1",
            "max_tokens": max_tokens,
            "timeout": SECONDS,
        }
        simulator = TelegramSimulator()
        try:
            async with running({"telegram": simulator}, folder, {"model": model}) as app:
                yield Lab(app, simulator), between
        finally:
            await runner.cleanup()


def said_by_assistant(body: dict[str, Any]) -> str:
    return "\n".join(str(m["content"]) for m in body["messages"] if m["role"] == "assistant")


@pytest.mark.parametrize(("window", "lists"), [(2_048, False), (4_096, True)])
async def test_a_conversation_longer_than_the_window(
    tmp_path: Path, window: int, lists: bool
) -> None:
    async with parley(tmp_path, window, lists=lists, max_tokens=SHORT) as (lab, between):
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        for number in range(20):
            text = f"Fact {number}: " + f"whale {number} swims far from the cold coast. " * 18
            await lab.platform.say(ada, room, text)
            answer = await lab.answer(room, after=number, timeout=SECONDS)
            assert answer.text.strip()
            assert answer.text not in FAILED
            await lab.idle(SECONDS)
        windows = lab.app.windows

    refused = [status for status in between.statuses if status != 200]
    assert len(refused) <= (0 if lists else 1)
    assert between.statuses.count(200) == 20
    assert max(between.prompts) <= window
    assert max(between.prompts[-5:]) > window // 3  # the history is shortened, not thrown away
    assert len(between.bodies[-1]["messages"]) > 3
    assert "Fact 19" in str(between.bodies[-1]["messages"][-1])
    assert all("_(" not in said_by_assistant(body) for body in between.bodies)
    assert any(str(window) in finding.setting for finding in windows.findings())


async def test_a_server_that_closes_its_connections_and_starts_again_with_another_window(
    tmp_path: Path,
) -> None:
    simulator, port = TelegramSimulator(), free_port()
    address = f"http://127.0.0.1:{port}/v1"
    model = {"provider": "openai", "name": MODEL, "base_url": address, "max_tokens": SHORT}
    long = "".join(random.Random(1).choices("0123456789abcdefXYZ#+", k=700))
    async with running({"telegram": simulator}, tmp_path, {"model": model}) as app:
        lab = Lab(app, simulator)
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)

        async def answers(*texts: str) -> None:
            for text in texts:
                seen = len(by_bot(lab.platform.shown(room)))
                await lab.platform.say(ada, room, text)
                answer = await lab.answer(room, after=seen, timeout=SECONDS)
                assert answer.text.strip()
                assert not any(failed in answer.text for failed in FAILED)
                await lab.idle(SECONDS)

        async with llama_server(2_048, port):
            await answers("Hello", "Hello again", f"Read {long}")
            assert lab.app.model_health.failed_calls() == {}
        async with llama_server(1_280, port):
            await answers(f"Once more {long}", f"And again {long}")
        refused = sum(lab.app.model_health.failed_calls().values())
        assert refused <= 2


async def test_an_answer_that_is_stopped_in_the_middle(tmp_path: Path) -> None:
    async with parley(tmp_path, 2_048, max_tokens=600) as (lab, between):
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        await lab.platform.say(ada, room, "Write a very long story about the sea.")
        await lab.answer(room, timeout=SECONDS)
        await lab.platform.say(ada, room, "/stop")
        shown = await lab.quiet(room)
        stopped = len(shown)
        await lab.platform.say(ada, room, "What is a whale?")
        answer = await lab.answer(room, after=stopped, timeout=SECONDS)
        await lab.idle(SECONDS)

    assert answer.text.strip()
    assert answer.text not in FAILED
    assert set(between.statuses) == {200}
    assert "Stopped" not in said_by_assistant(between.bodies[-1])


async def test_an_empty_answer(tmp_path: Path) -> None:
    end_of_text = 2

    async with parley(tmp_path, 2_048) as (lab, between):
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        between.change = lambda body: body.update(logit_bias=[[end_of_text, 100]])
        await lab.platform.say(ada, room, "Hello")
        empty = await lab.answer(room, timeout=SECONDS)
        asked = len(between.bodies)
        between.change = lambda body: None
        await lab.platform.say(ada, room, "Hello again")
        answer = await lab.answer(room, after=1, timeout=SECONDS)
        shown = by_bot(lab.platform.shown(room))

    assert empty.text.strip()
    assert asked <= 3
    assert answer.text.strip()
    assert answer.text != empty.text
    assert len(shown) == 2
    assert said_by_assistant(between.bodies[-1]) == ""
