"""The recorded responses of llama.cpp's own server, read by the provider.

`make nightly` talks with the server itself; `recorded/llama_cpp.json` names the versions.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from gateway.errors import ContextTooLong, ModelRefused
from gateway.llm.openai_compatible import OpenAICompatibleProvider
from gateway.llm.served_window import ModelServer, served_window
from gateway.ports import ModelFinished, TextDelta
from tests.gateway.llm.asking import question

RECORDED: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "recorded" / "llama_cpp.json").read_text()
)["responses"]


@asynccontextmanager
async def replaying(name: str, *, models: str = "models") -> AsyncIterator[str]:
    """A server that sends the recorded bytes; its address ends in `/v1`."""

    async def handle(request: web.Request) -> web.Response:
        path = request.path.removeprefix("/v1")
        said = RECORDED[{"/models": models, "/props": "props"}.get(path, name)]
        kind = {"Content-Type": said["content_type"]}
        return web.Response(status=said["status"], body=said["body"].encode(), headers=kind)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def answered(name: str) -> tuple[str, ModelFinished]:
    async with replaying(name) as address:
        provider = OpenAICompatibleProvider("", "smollm2-135m-instruct", address)
        try:
            events = [event async for event in provider.stream(question("Say hello."))]
        finally:
            await provider.close()
    last = events[-1]
    assert isinstance(last, ModelFinished)
    return "".join(event.text for event in events if isinstance(event, TextDelta)), last


async def test_an_answer() -> None:
    text, finished = await answered("answer")

    assert text
    assert finished.stop == "end"
    assert (finished.usage.input_tokens + finished.usage.cache_read_tokens) > 0
    assert finished.usage.output_tokens > 0


@pytest.mark.parametrize("name", ["cut_at_length", "cut_at_window"])
async def test_an_answer_that_is_cut(name: str) -> None:
    text, finished = await answered(name)

    assert text
    assert finished.stop == "max_tokens"


async def test_a_context_that_is_too_long() -> None:
    with pytest.raises(ContextTooLong) as refused:
        await answered("too_long")

    error = refused.value
    assert (error.tokens, error.limit, error.status) == (3031, 2048, 400)


async def test_another_refusal() -> None:
    with pytest.raises(ModelRefused):
        await answered("refused")


async def test_the_window_is_in_the_list_of_models() -> None:
    async with replaying("answer") as address:
        assert await served_window(ModelServer(0, address, "smollm2-135m-instruct")) == 2_048


async def test_the_window_is_in_the_properties_of_the_server() -> None:
    async with replaying("answer", models="refused") as address:
        assert await served_window(ModelServer(0, address, "smollm2-135m-instruct")) == 2_048
