"""Windows that servers name: asked in the background, with the key, and bounded."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from gateway.llm import served_window as module
from gateway.llm.known_windows import MARGIN, KnownWindows, ModelPlace
from gateway.llm.served_window import ModelServer, WindowSearch, served_window, window_of
from tests.support.waiting import eventually

Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(handle: Handle) -> AsyncIterator[str]:
    application = web.Application()
    application.router.add_get("/{path:.*}", handle)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def listing(*entries: dict[str, Any]) -> Handle:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.json_response({"object": "list", "data": entries})

    return handle


@pytest.mark.parametrize(
    "entry",
    [
        {"id": "m", "max_model_len": 8_192},  # vLLM, SGLang
        {"id": "m", "context_length": 8_192},  # OpenRouter, Together
        {"id": "m", "context_length": 32_768, "top_provider": {"context_length": 8_192}},
        {"id": "m", "context_window": 8_192},  # Groq
        {"id": "m", "max_context_length": 8_192},  # Mistral
        {"id": "m", "max_context_length": 131_072, "loaded_context_length": 8_192},  # LM Studio
        {"id": "m", "meta": {"n_ctx": 8_192, "n_ctx_train": 32_768}},  # llama.cpp
        {"id": "m", "max_input_tokens": 8_192},
    ],
    ids=",".join,
)
async def test_the_window_of_a_model(entry: dict[str, Any]) -> None:
    async with serving(listing({"id": "other", "context_length": 1_024}, entry)) as address:
        assert await served_window(ModelServer(0, address, "m")) == 8_192


@pytest.mark.parametrize("size", [True, "8192", -1, 0, 1.5, None, [8_192]])
def test_what_is_no_window(size: object) -> None:
    assert window_of({"id": "m", "context_length": size}) == 0


async def test_a_list_without_the_model_names_no_window() -> None:
    entries = ({"id": "a", "context_length": 1_024}, {"id": "b", "context_length": 2_048})

    async with serving(listing(*entries)) as address:
        assert await served_window(ModelServer(0, address, "m")) == 0


async def test_the_key_is_sent_and_never_to_another_address() -> None:
    seen: list[tuple[str, str]] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        seen.append((request.path, request.headers.get("Authorization", "")))
        raise web.HTTPFound("/elsewhere")

    async with serving(handle) as address:
        server = ModelServer(0, address, "m", {"Authorization": "Bearer k"})
        assert await served_window(server) == 0

    assert seen == [("/v1/models", "Bearer k"), ("/props", "Bearer k")]


@pytest.mark.parametrize("body", [b"[" * 10_000, b"no json", b"[]", b"{}", b'{"data": 3}'])
async def test_an_answer_that_is_no_list(body: bytes) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(body=body)

    async with serving(handle) as address:
        assert await served_window(ModelServer(0, address, "m")) == 0


async def test_an_endless_answer_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 10_000)

    async def handle(request: web.Request) -> web.StreamResponse:
        entry = json.dumps({"data": [{"id": "m", "context_length": 8_192}]})
        return web.Response(text=entry + " " * 20_000)

    async with serving(handle) as address:
        assert await served_window(ModelServer(0, address, "m")) == 0


async def test_the_search_waits_for_a_server_that_starts_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PAUSES", (0.0, 0.2, 0.2))
    known = KnownWindows([ModelPlace("m", "s", 32_000)])
    waits = 0

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal waits
        waits += 1
        if waits == 1:
            assert request.transport is not None
            request.transport.abort()
        return web.json_response({"data": [{"id": "m", "context_length": 8_192}]})

    async with serving(handle) as address:
        search = WindowSearch([ModelServer(0, address, "m")], known)
        search.start()
        await eventually(lambda: known.window(0) == round(8_192 * MARGIN))
        await search.stop()


async def test_the_search_asks_again_after_it_had_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PAUSES", (0.0,))
    monkeypatch.setattr(module, "AGAIN", 0.01)
    sizes = [8_192, 16_384]

    async def handle(request: web.Request) -> web.StreamResponse:
        size = sizes.pop(0) if len(sizes) > 1 else sizes[0]
        return web.json_response({"data": [{"id": "m", "context_length": size}]})

    known = KnownWindows([ModelPlace("m", "s", 32_000)])
    async with serving(handle) as address:
        search = WindowSearch([ModelServer(0, address, "m")], known)
        search.start()
        await eventually(lambda: known.window(0) == round(16_384 * MARGIN))
        await search.stop()


@pytest.mark.parametrize("size", [1, 511, 10**18, 10**400, -(10**18)])
async def test_a_window_that_no_model_has_changes_nothing(size: int) -> None:
    async with serving(listing({"id": "m\x1b[31m", "context_length": size})) as address:
        found = await served_window(ModelServer(0, address, "m"))

    known = KnownWindows([ModelPlace("m", "s", 32_000)])
    known.named(0, found)
    assert known.window(0) == 32_000


async def test_a_search_that_hangs_ends_with_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAUSES", (0.0,))
    asked = asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        asked.set()
        await asyncio.sleep(60)
        return web.Response()

    known = KnownWindows([ModelPlace("m", "s", 32_000)])
    async with serving(handle) as address:
        search = WindowSearch([ModelServer(0, address, "m")], known)
        search.start()
        await asked.wait()
        await search.stop()

    assert known.window(0) == 32_000
