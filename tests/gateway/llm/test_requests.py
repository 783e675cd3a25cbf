"""The requests of the providers, beside those of the services' own libraries."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anthropic
import openai
import pytest
from aiohttp import web

from gateway.errors import ModelError, ModelUnavailable
from gateway.llm import openai_compatible
from gateway.llm.anthropic.provider import AnthropicProvider
from gateway.llm.openai_compatible import OpenAICompatibleProvider
from gateway.llm.streamed_call import StreamingProvider
from gateway.ports import ModelMessage, ToolCall, ToolOutcome
from tests.gateway.llm.asking import ADD, ask, question

OWN = ("accept", "accept-encoding", "connection", "content-length", "host", "user-agent")
"""Headers of the client, not of the service."""
AT_ONCE = {"retry-after-ms": "1"}
"""What the libraries wait before they repeat a request."""
REQUEST = question(
    "1 + 2?",
    ModelMessage("assistant", (ToolCall("t1", "add", '{"a": 1}'),)),
    ModelMessage("user", (ToolOutcome("t1", "3 ü"),)),
    tools=(ADD,),
)


REFUSED = (anthropic.APIStatusError, openai.APIStatusError)
Call = Callable[..., Awaitable[object]]
Library = Callable[[str, int], AbstractAsyncContextManager[Call]]


@dataclass(frozen=True)
class Seen:
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class Refusing:
    """A server that refuses every request with `status`."""

    url: str = ""
    status: int = 400
    requests: list[Seen] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append(Seen(request.path, headers, await request.json()))
        return web.json_response({"error": {}}, status=self.status, headers=AT_ONCE)


@pytest.fixture
async def server() -> AsyncIterator[Refusing]:
    refusing = Refusing()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", refusing.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    refusing.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield refusing
    await runner.cleanup()


def claude(url: str) -> StreamingProvider:
    return AnthropicProvider("test-key", base_url=f"{url}/proxy/")


def compatible(url: str) -> StreamingProvider:
    return OpenAICompatibleProvider("test-key", "gpt-test", f"{url}/proxy/v1/")


@asynccontextmanager
async def closing(provider: StreamingProvider) -> AsyncIterator[StreamingProvider]:
    yield provider
    await provider.close()


@asynccontextmanager
async def by_anthropic(url: str, retries: int) -> AsyncIterator[Call]:
    address = f"{url}/proxy/"
    async with anthropic.AsyncAnthropic(
        api_key="test-key", base_url=address, max_retries=retries
    ) as client:
        yield client.messages.create


@asynccontextmanager
async def by_openai(url: str, retries: int) -> AsyncIterator[Call]:
    address = f"{url}/proxy/v1/"
    async with openai.AsyncOpenAI(
        api_key="test-key", base_url=address, max_retries=retries
    ) as client:
        yield client.chat.completions.create


BOTH = pytest.mark.parametrize(
    ("provider_at", "library_at"), [(claude, by_anthropic), (compatible, by_openai)]
)


@BOTH
async def test_a_request_is_that_of_the_library(
    server: Refusing,
    monkeypatch: pytest.MonkeyPatch,
    provider_at: Callable[[str], StreamingProvider],
    library_at: Library,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    for name in ("ANTHROPIC", "OPENAI"):
        lines = "x-team: a: b\nno header\nAnthropic-Version: own\nopenai-project: other"
        monkeypatch.setenv(f"{name}_CUSTOM_HEADERS", lines)

    async with closing(provider_at(server.url)) as provider, library_at(server.url, 0) as call:
        await refused(provider)
        ours = server.requests[0]
        server.requests.clear()
        with suppress(*REFUSED):
            await call(**ours.body)

    (theirs,) = server.requests
    assert (ours.path, ours.body) == (theirs.path, theirs.body)
    assert of_service(ours.headers) == of_service(theirs.headers)
    assert ours.headers["x-team"] == "a: b"


@BOTH
async def test_what_the_library_would_repeat_is_a_temporary_failure(
    server: Refusing, provider_at: Callable[[str], StreamingProvider], library_at: Library
) -> None:
    async with closing(provider_at(server.url)) as provider, library_at(server.url, 1) as call:
        for server.status in (400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 503, 529):
            error = await refused(provider)
            body = server.requests[0].body
            server.requests.clear()
            with suppress(*REFUSED):
                await call(**body)

            repeated = len(server.requests) == 2
            assert isinstance(error, ModelUnavailable) == repeated, server.status
            server.requests.clear()


def test_a_local_server_needs_no_key() -> None:
    assert "Authorization" not in openai_compatible.headers("")


async def refused(provider: StreamingProvider) -> Exception:
    with pytest.raises(ModelError) as refusal:
        await ask(provider, REQUEST)
    return refusal.value


def of_service(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that are not of the client itself."""
    own = (*OWN, *(name for name in headers if name.startswith("x-stainless-")))
    return {name: value for name, value in headers.items() if name not in own}
