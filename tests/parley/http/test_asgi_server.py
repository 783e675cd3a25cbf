"""The local listener's connections over raw sockets: malformed, slow, large and lost requests."""

import asyncio
import signal
import socket
import time
from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from gateway.immutable import replace
from gateway.observe.security_log import SecurityLog
from gateway.ports.observer import SecurityEvent
from parley.http import asgi_server
from parley.http.connections import ConnectionBounds
from parley.http.local_listener import BOUNDS, LocalListener
from parley.http.middlewares import SECURITY_HEADERS
from tests.parley.http.local import HOST, Handlers, answers, dialogue, error_of, get, serving
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually

QUICK = ConnectionBounds(head_seconds=0.3, body_seconds=0.3, idle_seconds=0.3)
POST = b"POST /echo HTTP/1.1\r\n" + HOST


@pytest.fixture
def handlers() -> Handlers:
    return Handlers()


@pytest.fixture
async def listener(handlers: Handlers) -> AsyncIterator[LocalListener]:
    async with serving(handlers) as made:
        yield made


@pytest.fixture
async def quick(handlers: Handlers) -> AsyncIterator[LocalListener]:
    async with serving(handlers, bounds=QUICK) as made:
        yield made


SMUGGLED = b"GET /files/stolen HTTP/1.1\r\n" + HOST + b"\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n",
        b"Content-Length: 0\r\nContent-Length: 40\r\n\r\n",
        b"Content-Length: 0, 40\r\n\r\n",
        b"X: a\r\n Content-Length: 40\r\n\r\n",
        b"X: a\nContent-Length: 40\r\n\r\n",
        b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\n",
    ],
)
async def test_an_ambiguous_request_is_refused_with_all_that_follows_it(
    listener: LocalListener, handlers: Handlers, head: bytes
) -> None:
    with capture_logs() as logged:
        ((status, headers, body),) = await answers(listener, POST + head + SMUGGLED)
    assert (status, error_of(body), headers["connection"]) == (400, "malformed", "close")
    assert SECURITY_HEADERS.items() >= {("X-Frame-Options", headers["x-frame-options"])}
    assert not {"server", "date"} & headers.keys()
    assert handlers.reached in ([], ["/echo"]), "the body came after the handler began"
    assert logged == []


async def test_a_body_that_becomes_malformed_ends_an_answer_that_has_begun(
    listener: LocalListener, handlers: Handlers
) -> None:
    head = get("/events", b"Transfer-Encoding: chunked\r\n")
    async with dialogue(listener, head + b"1\r\na\r\n") as (reader, writer):
        await reader.readuntil(b"data: first\n\n")
        writer.write(b"no length\r\n")
        assert b"HTTP/1.1" not in await reader.read()
    await eventually(lambda: handlers.closed == 1)


async def test_requests_in_one_piece_are_answered_in_their_order(
    listener: LocalListener, handlers: Handlers
) -> None:
    body = b"Content-Length: 5\r\n\r\nhello"
    chunks = b"Transfer-Encoding: chunked\r\n\r\n5\r\nworld\r\n0\r\n\r\n"
    sent = get("/files/1", close=False) + POST + body + POST + chunks + get("/files/2")
    result = await answers(listener, sent)
    assert [(status, body) for status, _, body in result] == [
        (200, b"hello"), (200, b"hello"), (200, b"world"), (200, b"hello"),
    ]  # fmt: skip
    assert handlers.reached == ["/files/1", "/echo", "/echo", "/files/2"]


@pytest.mark.parametrize(
    "start",
    [b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Part: ", POST + b"Content-Length: 9000\r\n\r\n", b""],
    ids=["head", "body", "silent"],
)
async def test_one_byte_at_a_time_does_not_extend_the_deadline(
    quick: LocalListener, start: bytes
) -> None:
    async with dialogue(quick, start) as (reader, writer):
        began = time.monotonic()
        ended = asyncio.create_task(reader.read())
        while not ended.done():
            if start:
                writer.write(b"a")
            await asyncio.wait({ended}, timeout=0.05)
        assert time.monotonic() - began < PATIENCE / 2
        assert ended.exception() or b" 200 " not in ended.result()


async def test_a_connection_is_kept_alive_until_its_idle_deadline(quick: LocalListener) -> None:
    async with dialogue(quick) as (reader, writer):
        for _ in range(2):
            writer.write(get("/", close=False))
            assert (await reader.readuntil(b"hello")).startswith(b"HTTP/1.1 200")
        assert await reader.read() == b""


async def test_a_client_that_disconnects_ends_its_stream(
    listener: LocalListener, handlers: Handlers
) -> None:
    async with dialogue(listener, get("/events")) as (reader, _):
        await reader.readuntil(b"data: first\n\n")
        assert handlers.closed == 0
    await eventually(lambda: handlers.closed == 1)


async def test_a_client_that_reads_nothing_of_a_stream_is_disconnected(
    quick: LocalListener, handlers: Handlers
) -> None:
    with socket.create_connection(("127.0.0.1", quick.port)) as made:
        made.sendall(get("/flood"))
        await eventually(lambda: handlers.closed == 1)
        await eventually(lambda: not len(quick.connections))


async def test_a_half_closed_connection_is_freed(listener: LocalListener) -> None:
    async with dialogue(listener, b"GET / HTTP/1.1\r\n") as (reader, writer):
        await eventually(lambda: len(listener.connections) == 1)
        writer.write_eof()
        assert await reader.read() == b""
    await eventually(lambda: not len(listener.connections))


async def test_streams_end_when_the_listener_stops(handlers: Handlers) -> None:
    async with serving(handlers) as made, dialogue(made, get("/events")) as (reader, _):
        await reader.readuntil(b"data: first\n\n")
        began = time.monotonic()
        await made.stop()
        assert time.monotonic() - began < asgi_server.GRACE_SECONDS
        assert (await reader.read()).endswith(b"0\r\n\r\n"), "the answer is complete"
    assert handlers.closed == 1


async def test_a_request_in_work_is_answered_before_the_listener_stops(
    handlers: Handlers,
) -> None:
    async with serving(handlers) as made, dialogue(made, get("/hangs", close=False)) as (reader, _):
        await eventually(lambda: handlers.reached)
        stopping = asyncio.create_task(made.stop())
        await eventually(lambda: not made.listening)
        handlers.hanging.set()
        await stopping
        assert (await reader.read()).endswith(b"late")


async def test_a_request_that_hangs_does_not_keep_the_listener_from_stopping(
    handlers: Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asgi_server.GRACE_SECONDS + asgi_server.CANCEL_SECONDS < 5
    monkeypatch.setattr(asgi_server, "GRACE_SECONDS", 0.1)
    async with serving(handlers) as made, dialogue(made, get("/hangs")) as (reader, _):
        await eventually(lambda: handlers.reached)
        await made.stop()
        assert b" 200 " not in await reader.read()
        assert handlers.cancelled == 1


async def test_a_body_over_the_limit_is_refused_without_being_read(handlers: Handlers) -> None:
    async with serving(handlers, max_body=1000) as made:
        for length in (1001, 10**15):
            head = POST + f"Content-Length: {length}\r\n\r\n".encode()
            ((status, headers, body),) = await answers(made, head)
            assert (status, error_of(body), headers["connection"]) == (413, "too_large", "close")
        chunk = b"400\r\n" + b"x" * 1024 + b"\r\n"
        ((status, _, body),) = await answers(
            made, POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunk
        )
        assert (status, error_of(body)) == (413, "too_large")
        assert handlers.reached == ["/echo"], "the length of the chunked body was not known"


async def test_a_body_over_the_limit_of_its_route_is_refused_without_being_read(
    listener: LocalListener,
) -> None:
    ((status, _, body),) = await answers(listener, POST + b"Content-Length: 100001\r\n\r\n")
    assert (status, error_of(body)) == (413, "too_large")


async def test_refusals_are_audited_with_their_reason_and_without_the_path(
    handlers: Handlers,
) -> None:
    noted: list[SecurityEvent] = []

    class Noting(SecurityLog):
        def note(self, event: SecurityEvent) -> None:
            noted.append(event)

    async with serving(handlers, security=Noting()) as made:
        await answers(made, get("/secret-path"))
        await answers(made, get("/", b"X-Forwarded-For: 203.0.113.9\r\n"))
        await answers(made, get("/"))
    assert [(event.event, event.reason) for event in noted] == [
        ("local_denied", "not_found"),
        ("local_denied", "forwarded_without_token"),
    ]
    assert "secret-path" not in str(noted)


async def test_a_client_that_sends_all_before_it_reads_gets_the_refusal(
    handlers: Handlers,
) -> None:
    large = 3_000_000

    def send_and_read(port: int) -> bytes:
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as made:
            made.sendall(POST + f"Content-Length: {large}\r\n\r\n".encode() + b"x" * large)
            return made.recv(1000)

    async with serving(handlers, max_body=1000) as made:
        assert (await asyncio.to_thread(send_and_read, made.port)).startswith(b"HTTP/1.1 413 ")


async def test_a_refused_client_is_not_asked_to_continue(
    listener: LocalListener, handlers: Handlers
) -> None:
    expected = b"Expect: 100-continue\r\nContent-Length: 5\r\n"
    strange = b"Origin: http://elsewhere.example\r\n"
    async with dialogue(listener, POST + expected + strange + b"\r\n") as (reader, _):
        assert (await reader.read()).startswith(b"HTTP/1.1 403 ")
    async with dialogue(listener, POST + expected + b"\r\n") as (reader, writer):
        assert await reader.readline() == b"HTTP/1.1 100 Continue\r\n"
        writer.write(b"hello")
        assert (await reader.readuntil(b"hello")).count(b"HTTP/1.1 200 OK") == 1


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 9000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 300_000, 431),
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: 1\r\n" * 64 + b"\r\n", 431),
        (b"GET /\r\n\r\n", 400),
        (b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00", 400),
        (POST + b"Transfer-Encoding: gzip\r\n\r\n", 501),
    ],
    ids=[
        *("a header", "a header without end", "a target", "headers"),
        *("HTTP/0.9", "CONNECT", "HTTP/2", "TLS", "a coding"),
    ],
)
async def test_a_request_that_cannot_be_read_is_refused_and_its_connection_closed(
    listener: LocalListener, sent: bytes, status: int
) -> None:
    ((result, headers, _),) = await answers(listener, sent)
    assert (result, headers["connection"]) == (status, "close")


@pytest.mark.parametrize("wanted", [b"websocket", b"h2c", b"TLS/1.0"])
async def test_an_upgrade_is_answered_as_an_ordinary_request(
    listener: LocalListener, wanted: bytes
) -> None:
    upgrade = b"Upgrade: " + wanted + b"\r\nConnection: Upgrade\r\nHTTP2-Settings: AAMAAABk\r\n"
    sent = get("/", upgrade, close=False)
    async with dialogue(listener, sent + get("/files/next")) as (reader, _):
        assert (await reader.read()).count(b"HTTP/1.1 200 ") == 2


async def test_an_unexpected_error_is_logged_and_answered_without_its_text(
    listener: LocalListener,
) -> None:
    with capture_logs() as logged:
        ((status, _, body),) = await answers(listener, get("/fails"))
        async with dialogue(listener, get("/breaks")) as (reader, _):
            broken = await reader.read()
    assert (status, error_of(body)) == (500, "failed")
    assert [entry["event"] for entry in logged] == ["local_request_failed"] * 2
    assert b"data: first" in broken
    assert not broken.endswith(b"0\r\n\r\n"), "the client sees that the answer is cut"
    assert b"secret" not in body + broken


async def test_paths_and_methods_that_are_not_served_are_refused_as_json(
    listener: LocalListener,
) -> None:
    ((status, _, body),) = await answers(listener, get("/nothing"))
    assert (status, error_of(body)) == (404, "not_found")
    delete = b"DELETE / HTTP/1.1\r\nConnection: close\r\n" + HOST + b"\r\n"
    ((status, headers, body),) = await answers(listener, delete)
    assert (status, error_of(body)) == (405, "method_not_allowed")
    assert headers["allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize("path", ["/", "/events", "/healthz"])
async def test_head_has_the_headers_and_no_body(
    listener: LocalListener, handlers: Handlers, path: str
) -> None:
    async with dialogue(listener, get(path).replace(b"GET", b"HEAD", 1)) as (reader, _):
        head, _, rest = (await reader.read()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert rest == b""
    assert handlers.closed == (path == "/events")


@pytest.mark.parametrize(
    ("path", "status", "reached"),
    [
        ("/files/a%2Fb", 200, "/files/a/b"),
        ("/files/..%2f..%2fx", 200, "/files/../../x"),
        ("/files%2Fa", 404, ""),
        ("/files/../echo", 404, ""),
        ("//echo", 404, ""),
        ("/echo/", 404, ""),
        ("/%65cho", 404, ""),
    ],
)
async def test_paths_are_matched_as_they_were_sent_and_decoded_once(
    listener: LocalListener, handlers: Handlers, path: str, status: int, reached: str
) -> None:
    ((result, _, _),) = await answers(listener, get(path))
    assert result == status
    assert handlers.reached == ([reached] if reached else [])


async def test_the_signal_handlers_of_the_program_stay(handlers: Handlers) -> None:
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    async with serving(handlers):
        assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before


async def test_many_connections_leave_room_for_a_genuine_request(handlers: Handlers) -> None:
    bounds = replace(BOUNDS, connections=20)
    half = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Half: "
    async with serving(handlers, bounds=bounds) as made:
        sockets = []
        try:
            for _ in range(200):
                sockets.append(socket.create_connection(("127.0.0.1", made.port)))
                sockets[-1].sendall(half)
            ((status, _, _),) = await answers(made, get("/"))
            assert status == 200
            assert len(made.connections) <= 20
        finally:
            for one in sockets:
                one.close()
