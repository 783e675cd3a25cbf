"""Anthropic's library, as the transport of a provider."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from gateway.errors import ModelError, ModelRefused
from gateway.llm.anthropic import provider as module
from gateway.llm.anthropic.provider import AnthropicProvider
from gateway.llm.streamed_call import MAX_ERROR
from simulators.anthropic import AnthropicSimulator
from tests.gateway.llm.asking import ask, question
from tests.support.patience import PATIENCE

WRITTEN = 64 * 1024 * 1024


class Odd:
    """A server that refuses with a very long text, or sends elsewhere."""

    def __init__(self) -> None:
        self.url = ""
        self.sent = 0
        self.paths: list[str] = []
        self.headers: set[str] = set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.paths.append(request.path)
        self.headers |= {name.lower() for name in request.headers}
        if request.path.startswith("/elsewhere"):
            raise web.HTTPTemporaryRedirect(f"{self.url}/other")
        response = web.StreamResponse(status=400, headers={"request-id": "req_1"})
        await response.prepare(request)
        try:
            while self.sent < WRITTEN:
                await response.write(b"x" * 65_536)
                self.sent += 65_536
        except ConnectionError:
            pass
        return response


@pytest.fixture
async def odd() -> AsyncIterator[Odd]:
    server, app = Odd(), web.Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield server
    await runner.cleanup()


async def test_an_error_is_read_up_to_a_bound(odd: Odd) -> None:
    provider = AnthropicProvider("k", base_url=odd.url)

    with pytest.raises(ModelRefused) as caught:
        await ask(provider, question("Hello"))
    await provider.close()

    assert caught.value.status == 400
    assert caught.value.request_id == "req_1"
    assert odd.sent < WRITTEN, f"read on after {MAX_ERROR} bytes"


async def test_a_redirect_is_not_followed(odd: Odd) -> None:
    provider = AnthropicProvider("k", base_url=f"{odd.url}/elsewhere")

    with pytest.raises(ModelError) as caught:
        await ask(provider, question("Hello"))
    await provider.close()

    assert caught.value.status == 307
    assert odd.paths == ["/elsewhere/v1/messages"]


async def test_a_request_does_not_describe_the_machine(odd: Odd) -> None:
    provider = AnthropicProvider("k", base_url=odd.url)

    with pytest.raises(ModelError):
        await ask(provider, question("Hello"))
    await provider.close()

    described = {"x-stainless-os", "x-stainless-arch", "x-stainless-runtime"}
    assert "anthropic-version" in odd.headers
    assert not {name for name in odd.headers if name.startswith(tuple(described))}


async def test_the_library_is_loaded_once_and_outside_the_loop(
    claude: AnthropicSimulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    make = module._client

    def noted(access: module.AnthropicAccess) -> object:
        threads.append(threading.get_ident())
        return make(access)

    monkeypatch.setattr(module, "_client", noted)
    provider = AnthropicProvider("test-key", base_url=claude.base_url)

    await asyncio.gather(provider.load(), *(ask(provider, question("Hello")) for _ in range(5)))
    await provider.close()

    assert len(threads) == 1
    assert threads[0] != threading.get_ident()
    assert len(claude.requests) == 5


async def test_a_closed_provider_makes_a_new_client(claude: AnthropicSimulator) -> None:
    provider = AnthropicProvider("test-key", base_url=claude.base_url)
    for _ in range(2):
        assert (await ask(provider, question("Hello"))).text == "You said: Hello"
        await provider.close()


def test_a_program_loads_the_library_with_the_first_use_only() -> None:
    code = (
        "import asyncio, sys; from gateway.llm.anthropic.provider import AnthropicProvider\n"
        "provider = AnthropicProvider('k'); before = 'anthropic' in sys.modules\n"
        "async def use(): await provider.load(); await provider.close()\n"
        "asyncio.run(use()); print(before, 'anthropic' in sys.modules)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert printed.stdout.split() == ["False", "True"]
