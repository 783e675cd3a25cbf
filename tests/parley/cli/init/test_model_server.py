"""The list of models of an OpenAI-compatible server, and what is wrong when there is none."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from gateway.errors import BadInput
from parley.cli.init.model_server import (
    MAX_BYTES,
    ServedModel,
    ServerProblem,
    is_local,
    models_of,
    server_address,
)
from simulators.openai.server import OpenAISimulator

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """The address of a server that answers every request so."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def test_the_models_are_those_of_the_server() -> None:
    server = OpenAISimulator(api_key="", models=("llama3.2", "qwen3"))
    await server.start()
    assert [model.name for model in await models_of(server.base_url, "")] == ["llama3.2", "qwen3"]
    await server.stop()


@pytest.mark.parametrize(("key", "said"), [("", "needs a key"), ("sk-wrong", "key is refused")])
async def test_a_refused_key_is_no_unreachable_server(key: str, said: str) -> None:
    server = OpenAISimulator()
    await server.start()
    with pytest.raises(ServerProblem, match=said) as refused:
        await models_of(server.base_url, key)
    await server.stop()
    assert refused.value.kind == "key"


async def test_a_server_that_does_not_run_is_named() -> None:
    with pytest.raises(ServerProblem, match=r"Nothing answers at http://127\.0\.0\.1:9/v1") as gone:
        await models_of("http://127.0.0.1:9/v1", "")
    assert gone.value.kind == "unreachable"


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (404, "not found", "HTTP 404. Most addresses end in /v1."),
        (500, "{}", "HTTP 500"),
        (302, "", "HTTP 302"),
        (200, "<html>hello</html>", "not as an OpenAI-compatible server"),
        (200, '{"data": 3}', "not as an OpenAI-compatible server"),
        (200, "[" * 100_000, "not as an OpenAI-compatible server"),
        (200, "x" * (MAX_BYTES + 1), "more than"),
    ],
)
async def test_other_answers_are_explained(status: int, body: str, said: str) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=status, text=body, headers={"location": "http://127.0.0.1:9"})

    async with serving(answer) as address:
        with pytest.raises(ServerProblem) as problem:
            await models_of(address, "")
    assert said in str(problem.value)


async def test_names_prices_and_windows_are_read_and_invalid_entries_are_ignored() -> None:
    entries = [
        {"id": "a/b", "pricing": {"prompt": "0.0000025", "completion": "0.00001"}},
        {"id": "c", "context_length": 32_768, "pricing": {"prompt": "free"}},
        {"id": "d", "max_model_len": 4_096},
        {"id": "e", "context_length": True},
        {"id": "\x1b[31mred"},
        {"id": ""},
        {"id": "n" * 300},
        {"id": 7},
        "text",
    ]

    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"data": entries})

    async with serving(answer) as address:
        result = await models_of(address, "")
    assert result == [
        ServedModel("a/b", (2.5, 10.0)),
        ServedModel("c", None, 32_768),
        ServedModel("d", None, 4_096),
        ServedModel("e"),
    ]


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("localhost:11434", "http://localhost:11434/v1"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1"),
        ("https://host.example/openai/v1/", "https://host.example/openai/v1"),
        ("https://host.example/v1/chat/completions", "https://host.example/v1"),
        ("http://[::1]:8000", "http://[::1]:8000/v1"),
    ],
)
def test_an_address_is_completed(typed: str, address: str) -> None:
    assert server_address(typed) == address


@pytest.mark.parametrize("typed", ["", "ftp://host", "http://", "host:99999", "http://[::1", "a b"])
def test_an_invalid_address_is_refused(typed: str) -> None:
    with pytest.raises(BadInput, match="not an address"):
        server_address(typed)


def test_a_password_in_the_address_is_refused() -> None:
    with pytest.raises(BadInput, match="Leave the password out"):
        server_address("https://user:secret@host.example/v1")


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("http://localhost:1/v1", True),
        ("http://192.168.1.5/v1", True),
        ("http://gpu/v1", True),
        ("http://box.lan/v1", True),
        ("https://openrouter.ai/api/v1", False),
        ("https://8.8.8.8/v1", False),
    ],
)
def test_self_hosted_servers_are_recognised(address: str, local: bool) -> None:
    assert is_local(address) is local
