"""The guarded client against servers on loopback: allowed and refused requests."""

import asyncio
import gzip
import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, ip_network

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from hypothesis import given
from hypothesis import strategies as st

from safety.http import client as outbound
from safety.http.addresses import AllowedHost
from safety.http.client import (
    Forbidden,
    GuardedAnswer,
    GuardedClient,
    OutboundPolicy,
    TimedOut,
    TooLarge,
    TooManyRedirects,
    Unreachable,
    read_target,
)
from tests.support.for_each import for_each

LOOPBACK = frozenset({ip_network("127.0.0.0/8")})
Reply = Callable[[str, dict[str, str]], Awaitable[bytes]]


@dataclass
class Server:
    """A server that counts every connection, and what was asked of it."""

    port: int = 0
    connections: int = 0
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    replies: dict[str, bytes] = field(default_factory=dict)
    silent: bool = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *rest = head.strip().split("\r\n")
            method, path, _ = first.split(" ")
            self.asked.append((f"{method} {path}", dict(r.lower().split(": ", 1) for r in rest)))
            if self.silent:
                await reader.read()
            writer.write(self.replies.get(path, reply(404)))
            await writer.drain()
        except (OSError, EOFError):
            pass
        finally:
            writer.close()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    state = Server()
    listening = await asyncio.start_server(state.serve, "127.0.0.1", 0)
    state.port = listening.sockets[0].getsockname()[1]
    yield state
    listening.close()


class Names(AbstractResolver):
    """Answers each question with the next of its answers; the last one stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.asked.append(host)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return [
            ResolveResult(hostname=host, host=a, port=port, family=family, proto=0, flags=0)
            for a in answer
        ]

    async def close(self) -> None: ...


def reply(status: int, body: bytes = b"", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} x", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def policy(port: int, *hosts: str, **more: object) -> OutboundPolicy:
    rules = tuple(AllowedHost.parse(f"{host}:{port}") for host in hosts or ("site.example",))
    return OutboundPolicy(rules, **more)  # type: ignore[arg-type]


def client(server: Server, **more: object) -> GuardedClient:
    """One for which loopback is the operator's own network."""
    chosen = policy(server.port, "site.example", "other.example", allow_private=LOOPBACK, **more)
    return GuardedClient(chosen, resolver=Names(["127.0.0.1"]))


async def fetch(server: Server, path: str, **more: object) -> GuardedAnswer:
    return await client(server, **more).request("GET", f"http://site.example:{server.port}{path}")


# --- what it does ---------------------------------------------------------------------------------


async def test_a_page_of_a_listed_host_is_fetched(server: Server) -> None:
    server.replies["/a?b=%20c"] = reply(200, b"hello", Content_Type="text/plain")
    answer = await fetch(server, "/a?b=%20c#part")
    assert (answer.status, answer.body, answer.complete) == (200, b"hello", True)
    assert answer.headers["content-type"] == "text/plain"
    question, headers = server.asked[0]
    assert question == "GET /a?b=%20c"
    assert headers["host"] == f"site.example:{server.port}"


async def test_a_head_request_has_no_body(server: Server) -> None:
    server.replies["/"] = reply(200)
    answer = await client(server).request("HEAD", f"http://site.example:{server.port}")
    assert (answer.status, server.asked[0][0]) == (200, "HEAD /")


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("", bytes)]
)
async def test_a_compressed_response_is_decompressed(
    server: Server, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    server.replies["/"] = reply(200, pack(b"x" * 5000), Content_Encoding=encoding)
    assert (await fetch(server, "/")).body == b"x" * 5000


async def test_redirects_are_followed_within_the_listed_hosts(server: Server) -> None:
    server.replies["/1"] = reply(302, Location="/2")
    server.replies["/2"] = reply(301, Location=f"http://other.example:{server.port}/3")
    server.replies["/3"] = reply(200, b"there")
    assert (await fetch(server, "/1")).body == b"there"


async def test_credentials_are_sent_to_their_host_only(server: Server) -> None:
    server.replies["/1"] = reply(302, Location="/2")
    server.replies["/2"] = reply(302, Location=f"http://other.example:{server.port}/3")
    await client(server).request(
        "GET", f"http://site.example:{server.port}/1", headers={"Authorization": "Bearer t"}
    )
    assert ["authorization" in headers for _, headers in server.asked] == [True, True, False]


async def test_proxies_of_the_environment_are_not_used(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    server.replies["/"] = reply(200, b"direct")
    assert (await fetch(server, "/")).body == b"direct"


# --- bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["", "gzip"])
async def test_a_response_beyond_the_limit_is_refused_or_cut(server: Server, encoding: str) -> None:
    body = b"\0" * 5_000_000
    packed = gzip.compress(body) if encoding else body
    server.replies["/"] = reply(200, packed, Content_Encoding=encoding)
    with pytest.raises(TooLarge, match="1000"):
        await fetch(server, "/", max_bytes=1000)
    answer = await client(server).request(
        "GET", f"http://site.example:{server.port}/", max_bytes=6000, cut=True
    )
    assert (len(answer.body), answer.complete) == (6000, False)


async def test_a_chain_of_redirects_is_limited(server: Server) -> None:
    server.replies["/"] = reply(302, Location="/")
    with pytest.raises(TooManyRedirects):
        await fetch(server, "/")
    assert server.connections == 4


async def test_the_duration_has_a_limit(server: Server) -> None:
    server.silent = True
    with pytest.raises(TimedOut):
        await fetch(server, "/", timeout=0.2)


async def test_headers_have_a_limit(server: Server) -> None:
    server.replies["/"] = reply(200, X="y" * 100_000)
    with pytest.raises(Unreachable):
        await fetch(server, "/")
    server.replies["/"] = b"HTTP/1.1 200 x\r\n" + b"X: y\r\n" * 1000 + b"\r\n"
    with pytest.raises(Unreachable):
        await fetch(server, "/")


async def test_interim_responses_have_a_limit(server: Server) -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\n"
    server.replies["/"] = interim * 100 + reply(200, b"whole")
    assert (await fetch(server, "/", max_bytes=1_000)).body == b"whole"
    server.replies["/"] = interim * 100_000 + reply(200, b"whole")
    with pytest.raises(Unreachable):
        await fetch(server, "/", max_bytes=1_000)


@pytest.mark.parametrize("encoding", ["gzip", "br", "gzip, gzip"])
async def test_an_invalid_compressed_response_is_refused(server: Server, encoding: str) -> None:
    server.replies["/"] = reply(200, b"no archive", Content_Encoding=encoding)
    with pytest.raises(Unreachable):
        await fetch(server, "/")


async def test_a_truncated_compressed_response_is_refused(server: Server) -> None:
    server.replies["/"] = reply(200, gzip.compress(b"x" * 9000)[:-10], Content_Encoding="gzip")
    with pytest.raises(Unreachable):
        await fetch(server, "/")


async def test_a_host_without_a_server_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(Unreachable):
        await fetch(Server(port), "/")


# --- where it never gets --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        ["127.0.0.1"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["93.184.216.34", "127.0.0.1"],
        ["127.0.0.1", "93.184.216.34"],
        ["2606:4700::1", "fe80::1%lo"],
        ["64:ff9b::7f00:1"],
        ["localhost"],
        ["0x7f.1"],
        ["2130706433"],
        [""],
    ],
)
async def test_a_name_with_an_internal_address_is_refused(
    server: Server, answer: list[str]
) -> None:
    names = Names(answer)
    guarded = GuardedClient(policy(server.port), resolver=names)
    with pytest.raises(Forbidden):
        await guarded.request("GET", f"http://site.example:{server.port}/")
    assert names.asked == ["site.example"]
    assert server.connections == 0


async def test_a_name_that_changes_its_address_is_refused(server: Server) -> None:
    """Allowed at first (here: the operator's own network), then loopback's neighbour."""
    server.replies["/"] = reply(302, Location="/again")
    first_only = frozenset({ip_network("127.0.0.1/32")})
    chosen = policy(server.port, allow_private=first_only)
    guarded = GuardedClient(chosen, resolver=Names(["127.0.0.1"], ["127.0.0.2"]))
    with pytest.raises(Forbidden):
        await guarded.request("GET", f"http://site.example:{server.port}/")
    assert server.connections == 1


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["127.0.0.1", "127.0.0.2", "::1"]])
async def test_the_connection_is_checked_even_if_the_resolver_is_not(
    server: Server, addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbound, "GuardedResolver", lambda inner, _: inner)
    guarded = GuardedClient(policy(server.port), resolver=Names(addresses))
    with pytest.raises((Forbidden, Unreachable)):
        await guarded.request("GET", f"http://site.example:{server.port}/")
    assert server.connections == 0


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/",
        "http://localhost:{port}/",
        "http://[::1]:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://0x7f000001:{port}/",
        "http://2130706433:{port}/",
        "http://127.1:{port}/",
        "http://0:{port}/",
        "//127.0.0.1:{port}/",
        "\\\\127.0.0.1:{port}/",
        "http://site.example:{port}@127.0.0.1:{port}/",
        "http://unlisted.example:{port}/",
        "http://site.example:{other}/",
        "file:///etc/passwd",
        "ftp://site.example/",
        "gopher://127.0.0.1:{port}/",
        "javascript:alert(1)",
    ],
)
async def test_a_redirect_to_an_unlisted_host_is_refused(server: Server, location: str) -> None:
    """A second server on loopback must not see a single connection."""
    inside = Server()
    listening = await asyncio.start_server(inside.serve, "127.0.0.1", 0)
    inside.port = listening.sockets[0].getsockname()[1]
    place = location.format(port=inside.port, other=inside.port)
    server.replies["/"] = reply(302, Location=place)
    first = frozenset({ip_network("127.0.0.1/32")})
    chosen = policy(server.port, allow_private=first)
    guarded = GuardedClient(chosen, resolver=Names(["127.0.0.1"]))
    with pytest.raises((Forbidden, TooManyRedirects)):
        await guarded.request("GET", f"http://site.example:{server.port}/")
    listening.close()
    assert inside.connections == 0


async def test_a_redirect_from_https_to_http_is_not_followed(server: Server) -> None:
    guarded = client(server)
    secure = read_target(
        f"https://site.example:{server.port}/", policy(server.port, allow_private=LOOPBACK)
    )
    with pytest.raises(Forbidden, match="https"):
        guarded._redirected(secure, f"http://site.example:{server.port}/")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:{}/", "http://[::1]:{}/", "http://127.0.0.1.:{}"]
)
async def test_a_literal_address_of_a_listed_host_must_be_allowed(server: Server, url: str) -> None:
    guarded = GuardedClient(policy(server.port, "127.0.0.1", "[::1]"))
    with pytest.raises(Forbidden, match="public"):
        await guarded.request("GET", url.format(server.port))
    assert server.connections == 0


async def test_an_allowed_network_does_not_list_its_hosts(server: Server) -> None:
    guarded = GuardedClient(policy(server.port, allow_private=LOOPBACK))
    with pytest.raises(Forbidden, match="not one of the allowed hosts"):
        await guarded.request("GET", f"http://127.0.0.1:{server.port}/")
    assert server.connections == 0


async def test_no_host_is_reachable_without_a_list(server: Server) -> None:
    names = Names(["127.0.0.1"])
    guarded = GuardedClient(OutboundPolicy((), allow_private=LOOPBACK), resolver=names)
    with pytest.raises(Forbidden):
        await guarded.request("GET", f"http://site.example:{server.port}/")
    assert (names.asked, server.connections) == ([], 0)


@for_each(
    "url",
    [
        "",
        "site.example",
        "//site.example/",
        "http:///x",
        "http://",
        "http://site.example:80:80/",
        "http://site.example:/",
        "http://site.example:8080/",
        "http://site.example:99999/",
        "http://user@site.example/",
        "http://user:pass@site.example/",
        "http://@site.example/",
        "http://evil.example@site.example/",
        "http://site.example\\@evil.example/",
        "http://site.example/ x",
        "http://site.example/\r\nX: y",
        "http://site.example\t/",
        "http://site%2eexample/",
        "http://ｓｉｔｅ.example/",
        "http://site。example/",
        "http://[site.example]/",
        "http://[::1/",
        "http://[fe80::1%25lo]/",
        "http://[v1.x]/",
        "https://site.example.evil.example/",
        "https://evilsite.example/",
        "https://site.example/" + "x" * 2048,
        "https://site.example/\udc80",
    ],
)
def test_an_ambiguous_address_is_refused(url: str) -> None:
    with pytest.raises(Forbidden):
        read_target(url, OutboundPolicy((AllowedHost("site.example"),)))


def test_the_reason_never_contains_the_path() -> None:
    with pytest.raises(Forbidden) as refused:
        read_target("https://unlisted.example/token", OutboundPolicy(()))
    assert "token" not in str(refused.value)


def _spellings(address: IPv4Address) -> list[str]:
    a, b, c, d = address.packed
    whole = int(address)
    fullwidth = str.maketrans("0123456789.", "０１２３４５６７８９。")
    return [
        f"{a}.{b}.{c}.{d}",
        f"{a}.{b}.{c}.{d}.",
        f"{a}.{b}.{c * 256 + d}",
        f"{a}.{b * 65536 + c * 256 + d}",
        f"{whole}",
        f"0x{whole:x}",
        f"0X{whole:08X}",
        f"0{whole:o}",
        f"0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}",
        f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        f"{a:03}.{b:03}.{c:03}.{d:03}",
        f"0x{a:x}.{b}.0{c:o}.{d}",
        str(address).translate(fullwidth),
        f"{a}%2e{b}.{c}.{d}",
        f"x@{address}",
        f"[::ffff:{address}]",
        f"[::{address}]",
        f"[64:ff9b::{address}]",
        f"[2002:{whole >> 16:x}:{whole & 0xFFFF:x}::1]",
        f"[::ffff:{whole >> 16:x}:{whole & 0xFFFF:x}]",
        f"[0:0:0:0:0:ffff:{address}]",
    ]


@given(
    st.sampled_from(["127.0.0.0/8", "10.0.0.0/8", "169.254.0.0/16", "192.168.0.0/16"]), st.data()
)
def test_no_spelling_of_an_internal_address_is_allowed(network: str, data: st.DataObject) -> None:
    """Even where the rules list every spelling as a host of its own."""
    inner = data.draw(st.ip_addresses(network=network))
    assert isinstance(inner, IPv4Address)
    for spelling in _spellings(inner):
        listed = AllowedHost(spelling.strip("[]").lower().rstrip("."))
        everything = OutboundPolicy((listed, AllowedHost(str(inner)), *_forms(spelling)))
        with pytest.raises(Forbidden):
            read_target(f"http://{spelling}/", everything)


def _forms(spelling: str) -> tuple[AllowedHost, ...]:
    try:
        return (AllowedHost.parse(spelling),)
    except ValueError:
        return ()
