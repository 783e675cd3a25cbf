"""The public listener over real sockets."""

import asyncio
import gzip
import hashlib
from collections.abc import AsyncIterator

import aiohttp
import pytest
from structlog.testing import capture_logs

from gateway.errors import ConfigurationError, StartError
from gateway.ports import WebhookRequest, WebhookResponse, WebhookRoutes
from parley.http.connections import ConnectionBounds, ConnectionPhase
from parley.http.webhook_listener import MAX_QUERY, WebhookListener
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually
from tests.support.work import deadly

PATH = "/webhook/test"
ANY = "Host"
"""A header that every request has: these handlers check nothing."""
QUICK = ConnectionBounds(head_seconds=0.3, body_seconds=0.3, idle_seconds=0.3)


class Handler:
    """Keeps what it got; `then` is what it does about it."""

    def __init__(self) -> None:
        self.got: list[WebhookRequest] = []
        self.error: Exception | None = None
        self.wait: asyncio.Event | None = None

    async def __call__(self, request: WebhookRequest) -> WebhookResponse:
        self.got.append(request)
        if self.wait is not None:
            await self.wait.wait()
        if self.error is not None:
            raise self.error
        return WebhookResponse(200, "thanks")


@pytest.fixture
def handler() -> Handler:
    return Handler()


async def serving(made: WebhookListener, handler: Handler) -> AsyncIterator[WebhookListener]:
    made.add(PATH, handler, proof=ANY)
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def listener(handler: Handler) -> AsyncIterator[WebhookListener]:
    async for made in serving(WebhookListener(max_body=1000, max_at_once=2), handler):
        yield made


@pytest.fixture
async def impatient(handler: Handler) -> AsyncIterator[WebhookListener]:
    """Waits for nothing longer than a third of a second."""
    made = WebhookListener(bounds=QUICK, handler_seconds=0.3)
    async for served in serving(made, handler):
        yield served


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def raw(listener: WebhookListener, data: bytes) -> bytes:
    """Return the response to exactly these bytes, until the connection closes or is silent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    try:
        writer.write(data)
        await writer.drain()
        async with asyncio.timeout(PATIENCE):
            return await reader.read(4000)
    finally:
        writer.close()


def test_it_implements_the_port(listener: WebhookListener) -> None:
    routes: WebhookRoutes = listener
    assert routes is listener


async def test_a_client_that_disconnects_is_not_logged_as_an_error(
    listener: WebhookListener, handler: Handler
) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    writer.write(f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf".encode())
    await writer.drain()
    with capture_logs() as reply:
        async with asyncio.timeout(PATIENCE):
            while not listener.connections.count(ConnectionPhase.BODY):
                await asyncio.sleep(0)
            writer.transport.abort()
            while not listener.refused[400]:
                await asyncio.sleep(0)
    assert handler.got == []
    assert reply == []


async def test_the_body_is_passed_unchanged(
    listener: WebhookListener, http: aiohttp.ClientSession, handler: Handler
) -> None:
    body = b'{"a": 1 ,"\\u00e4":"\xff\x00"}\r\n '
    async with http.post(listener.base_url + PATH + "?x=1&y=a%20b", data=body) as answer:
        assert (answer.status, await answer.text()) == (200, "thanks")
        assert "Server" not in answer.headers
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    (request,) = handler.got
    assert request.body == body
    assert request.query == {"x": "1", "y": "a b"}
    assert (request.method, request.path) == ("POST", PATH)
    assert all(name == name.lower() for name in request.headers)


async def test_a_compressed_body_is_not_decompressed(
    listener: WebhookListener, http: aiohttp.ClientSession, handler: Handler
) -> None:
    packed = gzip.compress(b"0" * 1_000_000)[:900]
    headers = {"Content-Encoding": "gzip"}
    async with http.post(listener.base_url + PATH, data=packed, headers=headers) as answer:
        assert answer.status == 200
    assert handler.got[0].body == packed


@pytest.mark.parametrize("path", ["/", "/webhook", PATH + "/", PATH + "x", "/healthz", "/console"])
async def test_other_paths_are_not_served(
    listener: WebhookListener, http: aiohttp.ClientSession, handler: Handler, path: str
) -> None:
    async with http.post(listener.base_url + path, data=b"x") as answer:
        assert (answer.status, await answer.text()) == (404, "")
        assert "Server" not in answer.headers
    assert handler.got == []


@pytest.mark.parametrize("method", ["PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE"])
async def test_other_methods_are_refused(
    listener: WebhookListener, http: aiohttp.ClientSession, handler: Handler, method: str
) -> None:
    async with http.request(method, listener.base_url + PATH) as answer:
        assert answer.status == 405
        assert answer.headers["Allow"] == "GET, POST"
    assert handler.got == []


async def test_a_large_body_is_refused_with_and_without_a_declared_length(
    listener: WebhookListener, http: aiohttp.ClientSession, handler: Handler
) -> None:
    async def trickle() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b"x" * 100

    async with http.post(listener.base_url + PATH, data=b"x" * 1000) as answer:
        assert answer.status == 200
    async with http.post(listener.base_url + PATH, data=b"x" * 1001) as answer:
        assert answer.status == 413
    async with http.post(listener.base_url + PATH, data=trickle()) as answer:
        assert answer.status == 413
    assert len(handler.got) == 1
    assert listener.refused[413] == 2


async def test_a_missing_body_times_out(impatient: WebhookListener, handler: Handler) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nonly this".encode()
    assert b"408" in await raw(impatient, head)
    assert handler.got == []


async def test_missing_headers_time_out(impatient: WebhookListener) -> None:
    assert await raw(impatient, b"") == b""
    assert await raw(impatient, f"POST {PATH} HTTP/1.1\r\nHost:".encode()) == b""


async def test_headers_and_queries_have_limits(
    listener: WebhookListener, http: aiohttp.ClientSession, handler: Handler
) -> None:
    many = {f"p{n}": "1" for n in range(MAX_QUERY + 1)}
    async with http.get(listener.base_url + PATH, params=many) as answer:
        assert answer.status == 400
    for data in (
        f"GET {PATH}?{'a' * 5000} HTTP/1.1\r\nHost: x\r\n\r\n",
        f"GET {PATH} HTTP/1.1\r\nHost: x\r\nX-Long: {'a' * 9000}\r\n\r\n",
        f"GET {PATH} HTTP/1.1\r\nHost: x\r\n" + "X-H: 1\r\n" * 200 + "\r\n",
    ):
        answer_bytes = await raw(listener, data.encode())
        assert b" 400 " in answer_bytes[:15]
        assert b"Server" not in answer_bytes
    assert handler.got == []


async def test_a_request_that_is_not_http_gets_no_explanation(listener: WebhookListener) -> None:
    answer = await raw(listener, b"\x16\x03\x01 hello\r\n\r\n")
    assert b" 400 " in answer[:15]
    assert answer.endswith(b"\r\n\r\n"), "no body"
    assert b"ython" not in answer


async def test_an_internal_error_is_not_shown(
    listener: WebhookListener, http: aiohttp.ClientSession, handler: Handler
) -> None:
    handler.error = RuntimeError("the database password is hunter2")
    with capture_logs() as reply:
        async with http.post(listener.base_url + PATH, data=b"x") as answer:
            assert (answer.status, await answer.text()) == (500, "")
    assert [(line["event"], line["path"]) for line in reply] == [("webhook_failed", PATH)]
    handler.error = None
    async with http.post(listener.base_url + PATH, data=b"x") as answer:
        assert answer.status == 200


async def test_too_many_concurrent_requests_are_answered_with_503(
    listener: WebhookListener, http: aiohttp.ClientSession, handler: Handler
) -> None:
    handler.wait = asyncio.Event()
    let_in = [asyncio.create_task(status_of(http, listener)) for _ in range(2)]
    await eventually(lambda: len(handler.got) >= 2)
    assert [await status_of(http, listener) for _ in range(2)] == [503] * 2
    handler.wait.set()
    assert await asyncio.gather(*let_in) == [200] * 2
    assert len(handler.got) == 2
    assert await status_of(http, listener) == 200


async def test_a_slow_handler_is_answered_with_503(
    impatient: WebhookListener, http: aiohttp.ClientSession, handler: Handler
) -> None:
    handler.wait = asyncio.Event()
    assert await status_of(http, impatient) == 503
    assert len(handler.got) == 1
    handler.wait = None
    assert await status_of(http, impatient) == 200


async def status_of(http: aiohttp.ClientSession, listener: WebhookListener) -> int:
    """The answer to a request to the handler."""
    async with http.post(listener.base_url + PATH, data=b"x") as answer:
        return answer.status


async def test_a_second_signature_header_is_ignored(
    listener: WebhookListener, handler: Handler
) -> None:
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: x\r\nX-Sig: good\r\nX-Sig: bad\r\nConnection: close\r\n\r\n"
    )
    await raw(listener, head.encode())
    assert handler.got[0].headers["x-sig"] == "good, bad"


async def test_paths_can_be_added_and_removed_while_it_runs(
    listener: WebhookListener, http: aiohttp.ClientSession, handler: Handler
) -> None:
    with pytest.raises(ConfigurationError, match="two accounts"):
        listener.add(PATH, handler, proof=ANY)
    with pytest.raises(ConfigurationError):
        listener.add("no-slash", handler, proof=ANY)
    listener.remove(PATH)
    listener.remove(PATH)
    async with http.post(listener.base_url + PATH) as answer:
        assert answer.status == 404
    listener.add(PATH, handler, proof=ANY)
    async with http.post(listener.base_url + PATH) as answer:
        assert answer.status == 200


async def test_it_starts_only_when_a_path_is_registered(handler: Handler) -> None:
    idle = WebhookListener()
    assert not await idle.start_if_needed()
    idle.add(PATH, handler, proof=ANY)
    assert await idle.start_if_needed()
    assert idle.port > 0
    await idle.start()
    await idle.stop()
    await idle.stop()


async def test_a_taken_port_is_a_clear_error(listener: WebhookListener) -> None:
    second = WebhookListener(port=listener.port)
    with pytest.raises(StartError, match=r"webhooks\.port"):
        await second.start()
    await second.stop()


async def test_two_accounts_that_connect_at_once_share_the_port() -> None:
    listener = WebhookListener()
    await asyncio.gather(listener.start(), listener.start())
    port = listener.port
    await listener.start()
    assert listener.port == port
    await listener.stop()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


async def test_a_quarantined_body_is_acknowledged_without_parsing(
    handler: Handler, http: aiohttp.ClientSession
) -> None:
    guard = deadly("payload", hashlib.blake2b(b"deadly", digest_size=16).hexdigest())
    async for listener in serving(WebhookListener(guard=guard), handler):
        for body in (b"deadly", b"harmless"):
            async with http.post(f"{listener.base_url}{PATH}", data=body) as answer:
                assert answer.status == 200
    assert [request.body for request in handler.got] == [b"harmless"]
    assert len(guard.marked) == 1
    assert guard.in_work == []
