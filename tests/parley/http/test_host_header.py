"""The host that a request names: read in one way, and refused where it could be read in two."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.ports import WebhookRequest, WebhookResponse
from gateway.ports.http_routes import LocalRequest, LocalResponse, LocalRoute
from gateway.ports.rights import LOCAL_PAGES
from parley.http.host_header import Host, is_valid_host_request, read_host
from parley.http.local_listener import LocalListener
from parley.http.webhook_listener import WebhookListener
from tests.support.for_each import for_each

MALFORMED = [
    "evil@127.0.0.1",
    "127.0.0.1@evil.example",
    "user:secret@localhost",
    "127.0.0.1.evil.example",
    "127.0.0.1.",
    "localhost.",
    "localhost..",
    ".localhost",
    "a..b",
    "localhost:0",
    "localhost:65536",
    "localhost:99999999999",
    "localhost:",
    "localhost:8o",
    "localhost:80:80",
    "localhost:-1",
    "localhost:+80",
    "localhost:８０",
    "local host",
    "localhost, evil.example",
    "localhost/evil",
    "localhost\\evil",
    "localhost?x",
    "localhost#x",
    "http://localhost",
    "%6cocalhost",
    "::1",
    "[::1",
    "::1]",
    "[::1]x",
    "[::1]:",
    "[::1]:99999",
    "[::1%25lo]",
    "[::1%lo]",
    "[127.0.0.1]",
    "[localhost]",
    "[]",
    "[[::1]]",
    "2130706433",
    "0x7f000001",
    "127.1",
    "0177.0.0.1",
    "127.0.0.1.0",
    "127.0.0.256",
    "lоcalhost",
    "a" * 64,
    ".".join(["a" * 60] * 5),
]
PLAIN = [
    ("localhost", Host("localhost")),
    ("LocalHost:8081", Host("localhost", 8081)),
    ("127.0.0.1:1", Host("127.0.0.1", 1)),
    ("[::1]:65535", Host("::1", 65535)),
    ("[::FFFF:127.0.0.1]", Host("::ffff:127.0.0.1")),
    ("parley.example", Host("parley.example")),
    ("203.0.113.5.sslip.example", Host("203.0.113.5.sslip.example")),
    ("my_service:8080", Host("my_service", 8080)),
    ("xn--bcher-kva.example", Host("xn--bcher-kva.example")),
]


@for_each("text", MALFORMED)
def test_an_ambiguous_host_is_refused(text: str) -> None:
    assert read_host(text) is None


@pytest.mark.parametrize(("text", "host"), PLAIN)
def test_a_host_is_a_name_with_an_optional_port(text: str, host: Host) -> None:
    assert read_host(text) == host


@given(st.text(max_size=300))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    result = read_host(text)
    assert result is None or (result.name == result.name.lower() and "@" not in result.name)


@pytest.mark.parametrize(
    ("target", "hosts", "required", "well"),
    [
        ("/a?b", ["localhost"], True, True),
        ("/", [], False, True),
        ("/", [], True, False),
        ("/", ["localhost", "localhost"], True, False),
        ("/", [""], True, False),
        ("http://evil.example/", ["localhost"], True, False),
        ("*", ["localhost"], True, False),
        ("localhost:80", ["localhost"], True, False),
        ("", ["localhost"], True, False),
    ],
)
def test_a_request_names_a_path_and_one_host(
    target: str, hosts: list[str], required: bool, well: bool
) -> None:
    assert is_valid_host_request(target, hosts, required=required) is well


Ask = Callable[[bytes], Awaitable[int]]


@contextlib.asynccontextmanager
async def local() -> AsyncIterator[int]:
    async def hello(_request: LocalRequest) -> LocalResponse:
        return LocalResponse(b"hello")

    made = LocalListener()
    made.add_routes([LocalRoute("GET", "/", hello, LOCAL_PAGES)])
    await made.start()
    yield made.port
    await made.stop()


@contextlib.asynccontextmanager
async def webhooks() -> AsyncIterator[int]:
    async def take(_request: WebhookRequest) -> WebhookResponse:
        return WebhookResponse(200, "hello")

    made = WebhookListener()
    made.add("/", take, proof="Host")
    await made.start()
    yield made.port
    await made.stop()


@pytest.fixture(params=[local, webhooks])
async def ask(request: pytest.FixtureRequest) -> AsyncIterator[Ask]:
    """Sends the bytes of a request; the status of the answer."""
    async with request.param() as port:

        async def status_of(head: bytes) -> int:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(head)
            line = await asyncio.wait_for(reader.readline(), 30)
            writer.close()
            return int(line.split()[1])

        yield status_of


async def test_both_listeners_answer_a_request_with_a_valid_host(ask: Ask) -> None:
    for host in (b"localhost", b"127.0.0.1:8081", b"[::1]"):
        assert await ask(b"GET / HTTP/1.1\r\nHost: " + host + b"\r\n\r\n") == 200


@pytest.mark.parametrize("host", [text for text in MALFORMED if text.isascii()])
async def test_both_listeners_refuse_a_malformed_host(ask: Ask, host: str) -> None:
    assert await ask(f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()) == 400


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost:\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nhost: evil.example\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: local\thost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\x00\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\x0b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: l\xf6calhost\r\n\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.0\r\nHost: evil@127.0.0.1\r\n\r\n",
    ],
)
async def test_both_listeners_refuse_a_request_without_exactly_one_host(
    ask: Ask, head: bytes
) -> None:
    assert await ask(head) == 400
