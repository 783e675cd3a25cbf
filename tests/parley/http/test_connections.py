"""Bounds on open connections, over raw sockets: half requests keep no genuine one out."""

import asyncio
import hashlib
import hmac
import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.shared.signatures import verify_slack, verify_telegram, verify_whatsapp
from gateway.immutable import replace
from gateway.ports import WebhookRequest, WebhookResponse
from gateway.ports.http_routes import EventStream, LocalRequest, LocalRoute, ServerEvent
from gateway.ports.rights import LOCAL_PAGES
from parley.http.client_address import UNKNOWN, forwarded_for, is_one_of, networks, rate_limit_key
from parley.http.connections import ConnectionBounds, ConnectionPhase, Connections
from parley.http.local_listener import LocalListener
from parley.http.webhook_listener import WebhookListener
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually

SECRET = "a-secret-of-this-test"
LOOPBACK = networks(("127.0.0.1/32",))
HALF_HEAD = b"POST /webhook/whatsapp HTTP/1.1\r\nHost: x\r\nX-Part: "
HALF_BODY = (
    b"POST /webhook/whatsapp HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: sha256=0\r\n"
    b"Content-Length: 1000\r\n\r\n{"
)
SOON = 3.0
"""Seconds within which a genuine webhook is answered under any load."""


async def whatsapp(request: WebhookRequest) -> WebhookResponse:
    signature = request.headers.get("x-hub-signature-256", "")
    return WebhookResponse(200 if verify_whatsapp(request.body, signature, SECRET) else 401)


async def slack(request: WebhookRequest) -> WebhookResponse:
    stamp, signature = (request.headers.get(f"x-slack-{n}", "") for n in STAMPED)
    return WebhookResponse(200 if verify_slack(request.body, stamp, signature, SECRET) else 401)


async def telegram(request: WebhookRequest) -> WebhookResponse:
    given_secret = request.headers.get("x-telegram-bot-api-secret-token", "")
    return WebhookResponse(200 if verify_telegram(given_secret, SECRET) else 401)


STAMPED = ("request-timestamp", "signature")


def genuine(platform: str) -> bytes:
    """A signed webhook as the platform sends it."""
    body = json.dumps({"hello": platform}).encode()
    match platform:
        case "whatsapp":
            digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
            proof = f"X-Hub-Signature-256: sha256={digest}"
        case "slack":
            stamp = str(int(time.time()))
            base = b"v0:" + stamp.encode() + b":" + body
            digest = hmac.new(SECRET.encode(), base, hashlib.sha256).hexdigest()
            proof = f"X-Slack-Request-Timestamp: {stamp}\r\nX-Slack-Signature: v0={digest}"
        case _:
            proof = f"X-Telegram-Bot-Api-Secret-Token: {SECRET}"
    head = f"POST /webhook/{platform} HTTP/1.1\r\nHost: x\r\n{proof}\r\n"
    return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


def connected(port: int, data: bytes, source: str = "127.0.0.1") -> socket.socket:
    """A connection over which this much was sent."""
    made = socket.socket()
    made.bind((source, 0))
    made.connect(("127.0.0.1", port))
    made.sendall(data)
    return made


@contextmanager
def closing(sockets: list[socket.socket]) -> Iterator[list[socket.socket]]:
    try:
        yield sockets
    finally:
        for one in sockets:
            one.close()


async def exchange(port: int, data: bytes, source: str = "127.0.0.1") -> tuple[bytes, float]:
    """The answer's first bytes, and how long it took; empty when the connection was ended."""
    began = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    try:
        writer.write(data)
        async with asyncio.timeout(PATIENCE):
            answer = await reader.read(1000)
    except ConnectionError:
        answer = b""
    finally:
        writer.close()
    return answer[:12], time.monotonic() - began


async def all_genuine(port: int, source: str = "127.0.0.1") -> float:
    """Have a webhook of each platform answered; the longest time it took."""
    longest = 0.0
    for platform in ("whatsapp", "slack", "telegram"):
        answer, seconds = await exchange(port, genuine(platform), source)
        assert answer == b"HTTP/1.1 200", platform
        longest = max(longest, seconds)
    return longest


async def serve(listener: WebhookListener) -> AsyncIterator[WebhookListener]:
    listener.add("/webhook/whatsapp", whatsapp, proof="X-Hub-Signature-256")
    listener.add("/webhook/slack", slack, proof="X-Slack-Signature")
    listener.add("/webhook/telegram", telegram, proof="X-Telegram-Bot-Api-Secret-Token")
    await listener.start()
    yield listener
    await listener.stop()


@pytest.fixture
async def behind_proxy() -> AsyncIterator[WebhookListener]:
    """The proxy is 127.0.0.1; other loopback addresses are senders."""
    async for listener in serve(WebhookListener(proxies=LOOPBACK)):
        yield listener


SMALL = ConnectionBounds(
    connections=8,
    per_address=3,
    head_seconds=PATIENCE,
    body_seconds=PATIENCE,
    idle_seconds=PATIENCE,
    held_bytes=100_000,
)


@pytest.fixture
async def small() -> AsyncIterator[WebhookListener]:
    """Little room, and time enough for a busy machine: what is ended is ended for the room."""
    async for listener in serve(WebhookListener(bounds=SMALL, proxies=LOOPBACK)):
        yield listener


@pytest.fixture
async def brief() -> AsyncIterator[WebhookListener]:
    """Little time as well."""
    bounds = replace(SMALL, head_seconds=0.2, body_seconds=0.2, idle_seconds=0.2)
    async for listener in serve(WebhookListener(bounds=bounds, proxies=LOOPBACK)):
        yield listener


def much_later(connections: Connections, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at deadlines as if all of them had passed."""
    now = connections._now()
    with monkeypatch.context() as patched:
        patched.setattr(connections, "_now", lambda: now + 10 * PATIENCE)
        connections.sweep()


@pytest.mark.parametrize("source", ["127.0.0.1", "127.0.0.2"], ids=["through the proxy", "direct"])
async def test_signed_webhooks_are_answered_while_many_unfinished_requests_are_open(
    behind_proxy: WebhookListener, source: str
) -> None:
    port, sockets = behind_proxy.port, list[socket.socket]()

    def attack() -> None:
        for _ in range(1024):
            sockets.append(connected(port, HALF_HEAD, source))
        for _ in range(300):
            sockets.append(connected(port, HALF_BODY, source))

    with closing(sockets):
        attacking = asyncio.create_task(asyncio.to_thread(attack))
        while not attacking.done():
            await all_genuine(port)
        await attacking
        assert min([await all_genuine(port) for _ in range(3)]) < SOON
        assert len(behind_proxy.connections) <= 1024
        if source != "127.0.0.1":
            assert len(behind_proxy.connections) <= ConnectionBounds().per_address


async def test_one_byte_at_a_time_does_not_extend_the_time_limit(brief: WebhookListener) -> None:
    for start in (HALF_HEAD, HALF_BODY):
        reader, writer = await asyncio.open_connection("127.0.0.1", brief.port)
        writer.write(start)
        ended = asyncio.create_task(reader.read())
        began = time.monotonic()
        async with asyncio.timeout(PATIENCE):
            while not ended.done():
                writer.write(b"a")
                await asyncio.wait({ended}, timeout=0.05)
        assert b" 200 " not in ended.result() if not ended.exception() else True
        assert time.monotonic() - began < PATIENCE / 2
        writer.close()


@pytest.mark.parametrize(
    "data",
    [
        HALF_HEAD,
        HALF_BODY,
        (
            b"POST /webhook/slack HTTP/1.1\r\nHost: x\r\nX-Slack-Signature: a\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n"
        ),
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost:",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST / HTTP/1.0\r\nContent-Length: 9\r\n\r\n",
        b"",
    ],
    ids=["head", "body", "chunks", "pipelined", "kept alive", "HTTP/1.0", "silent"],
)
async def test_every_kind_of_unfinished_connection_is_closed(
    brief: WebhookListener, data: bytes
) -> None:
    with closing([connected(brief.port, data)]):
        await eventually(lambda: len(brief.connections) or brief.connections.ended)
        await eventually(lambda: not len(brief.connections))


async def test_the_oldest_unfinished_connection_is_closed_when_the_limit_is_reached(
    small: WebhookListener,
) -> None:
    with closing([connected(small.port, HALF_HEAD) for _ in range(8)]) as sockets:
        await eventually(lambda: len(small.connections) >= 8)
        sockets.append(connected(small.port, HALF_HEAD))
        answer, _ = await exchange(small.port, genuine("whatsapp"))
        assert answer == b"HTTP/1.1 200"
        sockets[0].settimeout(PATIENCE)
        assert sockets[0].recv(10) == b""
        assert small.connections.ended >= 2
        sockets[8].setblocking(False)
        with pytest.raises(BlockingIOError):
            sockets[8].recv(10)


async def test_one_address_can_only_close_its_own_connections(small: WebhookListener) -> None:
    with closing([connected(small.port, HALF_HEAD, "127.0.0.3")]) as sockets:
        sockets += [connected(small.port, HALF_HEAD, "127.0.0.2") for _ in range(6)]
        await eventually(lambda: small.connections.ended >= 3)
        assert len(small.connections) == 4
        sockets[0].setblocking(False)
        with pytest.raises(BlockingIOError):
            sockets[0].recv(10)


async def test_a_sender_behind_the_proxy_has_its_own_limit_of_requests(
    small: WebhookListener,
) -> None:
    def half(sender: str) -> bytes:
        named = f"X-Forwarded-For: 198.51.100.1, {sender}\r\n"
        return HALF_BODY.replace(b"Host: x\r\n", b"Host: x\r\n" + named.encode())

    with closing([connected(small.port, half("203.0.113.9"))]) as sockets:
        sockets += [connected(small.port, half("203.0.113.7")) for _ in range(5)]
        await eventually(lambda: small.connections.ended >= 2)
        assert small.connections.count(ConnectionPhase.BODY) == 4


async def test_the_bytes_of_unfinished_requests_have_a_common_limit(small: WebhookListener) -> None:
    large = HALF_BODY.replace(b"1000", b"90000") + b"x" * 60_000
    with closing([connected(small.port, large) for _ in range(2)]):
        await eventually(lambda: small.connections.ended)
        assert len(small.connections) == 1


async def test_a_request_that_is_being_answered_is_never_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened = asyncio.Event()

    async def slow(request: WebhookRequest) -> WebhookResponse:
        await opened.wait()
        return WebhookResponse()

    listener = WebhookListener(bounds=replace(SMALL, connections=2, per_address=2))
    listener.add("/slow", slow, proof="Host")
    await listener.start()
    request = b"POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    waiting = [asyncio.create_task(exchange(listener.port, request)) for _ in range(2)]
    await eventually(lambda: listener.connections.count(ConnectionPhase.WORK) >= 2)
    assert (await exchange(listener.port, request))[0] == b"", "there is no room"
    much_later(listener.connections, monkeypatch)
    opened.set()
    assert [answer for answer, _ in await asyncio.gather(*waiting)] == [b"HTTP/1.1 200"] * 2
    await listener.stop()


async def test_a_post_without_its_signature_is_refused_before_its_body(
    small: WebhookListener,
) -> None:
    unsigned = b"POST /webhook/slack HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n"
    assert (await exchange(small.port, unsigned))[0] == b"HTTP/1.1 401"


async def test_a_body_announced_with_expect_continue_is_requested(small: WebhookListener) -> None:
    head, _, body = genuine("telegram").partition(b"\r\n\r\n")
    reader, writer = await asyncio.open_connection("127.0.0.1", small.port)
    writer.write(head + b"\r\nExpect: 100-continue\r\n\r\n")
    async with asyncio.timeout(PATIENCE):
        assert await reader.readline() == b"HTTP/1.1 100 Continue\r\n"
        await reader.readline()
        writer.write(body)
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
    writer.close()


async def test_too_many_headers_are_refused(small: WebhookListener) -> None:
    many = b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-A: 1\r\n" * 500 + b"\r\n"
    assert (await exchange(small.port, many))[0].endswith(b" 400")


async def test_the_local_listener_has_the_same_limits_and_allows_long_streams(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    streaming, go_on = asyncio.Event(), asyncio.Event()

    async def news() -> AsyncIterator[ServerEvent]:
        for _ in range(8):
            yield ServerEvent("still here")
            streaming.set()
            await go_on.wait()

    async def events(_request: LocalRequest) -> EventStream:
        return EventStream(news(), lambda: None)

    listener = LocalListener(bounds=replace(SMALL, connections=6, per_address=6))
    listener.add_routes([LocalRoute("GET", "/events", events, LOCAL_PAGES)])
    await listener.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    writer.write(b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    await asyncio.wait_for(streaming.wait(), PATIENCE)
    with closing([connected(listener.port, HALF_HEAD) for _ in range(20)]):
        health = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        assert (await exchange(listener.port, health))[0] == b"HTTP/1.1 200"
        much_later(listener.connections, monkeypatch)
        assert len(listener.connections) == 1, "the stream, and no half of a request"
        go_on.set()
        async with asyncio.timeout(PATIENCE):
            assert (await reader.read()).count(b"still here") == 8
    writer.close()
    packed = b"POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Encoding: gzip\r\n\r\n"
    assert (await exchange(listener.port, packed))[0] == b"HTTP/1.1 415"
    await listener.stop()


class Transport(asyncio.Transport):
    """A transport of which only the end counts."""

    def __init__(self, host: str) -> None:
        super().__init__({"peername": (host, 1)})
        self.ended = False

    def get_write_buffer_size(self) -> int:
        return 0

    def close(self) -> None:
        self.ended = True

    abort = close

    def is_closing(self) -> bool:
        return self.ended


@given(st.lists(st.sampled_from(["203.0.113.1", "203.0.113.2", "127.0.0.1"]), max_size=80))
async def test_counts_stay_within_their_limits_for_any_clients(hosts: list[str]) -> None:
    from parley.http.connections import _Guarded  # noqa: PLC0415 - its only other user

    now = 0.0
    bounds = ConnectionBounds(connections=10, per_address=4)
    connections = Connections(bounds, LOOPBACK, now=lambda: now)
    made: list[_Guarded] = []
    for host in hosts:
        now += 0.01
        one = _Guarded(connections, asyncio.Protocol)
        one.transport = Transport(host)
        assert connections.opened(one), "an unfinished one is ended instead"
        made.append(one)
        left = [c for c in made if not c.transport.is_closing()]
        assert len(left) == len(connections) <= 10
        for sender in ("203.0.113.1", "203.0.113.2"):
            assert sum(c.address == sender for c in left) <= 4
        assert one in left, "the newest always has its turn"
    now += 100
    connections.sweep()
    assert len(connections) == 0
    connections.close()


async def test_connections_leave_file_descriptors_for_the_rest_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("parley.http.connections.openable_files", lambda: 16)
    listener = WebhookListener()
    listener.add("/webhook/whatsapp", whatsapp, proof="Host")
    await listener.start()
    with closing([connected(listener.port, HALF_HEAD) for _ in range(10)]):
        assert (await exchange(listener.port, genuine("whatsapp")))[0] == b"HTTP/1.1 200"
        assert len(listener.connections) <= 4
    await listener.stop()


def test_the_sender_is_the_rightmost_address_that_is_not_a_trusted_proxy() -> None:
    trusted = networks(("10.0.0.0/8", "::1"))
    assert forwarded_for(("1.1.1.1, 203.0.113.9, 10.1.1.1",), trusted) == "203.0.113.9"
    assert forwarded_for(("1.1.1.1", "203.0.113.9:5123"), trusted) == "203.0.113.9"
    assert forwarded_for(("[2001:db8:1:2:3::4]:443",), trusted) == "2001:db8:1:2::/64"
    assert forwarded_for(("2001:db8:1:2:3::4",), trusted) == "2001:db8:1:2::/64"
    assert forwarded_for(("203.0.113.9, somebody",), trusted) == UNKNOWN
    assert forwarded_for(("10.0.0.2, 10.0.0.1",), trusted) == ""
    assert forwarded_for((), trusted) == ""
    assert forwarded_for((",".join(["10.0.0.1"] * 5000),), trusted) == ""


def test_addresses_are_reduced_to_one_key_per_sender() -> None:
    assert rate_limit_key("::ffff:203.0.113.9") == rate_limit_key("203.0.113.9") == "203.0.113.9"
    assert rate_limit_key("2001:db8:1:2::1") == rate_limit_key("2001:db8:1:2:ffff::2")
    assert rate_limit_key("") == UNKNOWN
    assert is_one_of("::ffff:10.2.3.4", networks(("10.0.0.0/8",)))
    assert not is_one_of("nobody", networks(("10.0.0.0/8",)))
