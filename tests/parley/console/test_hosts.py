"""The host of each request to the console, the API and MCP, on raw sockets."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.parley.console.kit import OWNER, Console, console_in, console_settings

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATHS = (
    "/console/overview",
    "/console/sign-in",
    "/api/v1/brain",
    "/api/v1/console/overview",
    "/api/v1/openapi.json",
    "/api/events",
)
STRANGE = (
    "evil.example",
    "evil.example:80",
    "127.0.0.1.evil.example",
    "127.0.0.1.nip.io",
    "localhost.evil.example",
    "evil.example@localhost",
    "parley.example.org.evil.example",
    "xparley.example.org",
    "10.1.2.3",
    "169.254.169.254",
    "[2001:db8::1]",
    "[::ffff:10.0.0.1]",
)
MALFORMED = (
    "",
    "localhost.",
    "parley.example.org.",
    "localhost:0",
    "localhost:65536",
    "localhost:8081:1",
    "[::1",
    "::1",
    "2130706433",
    "0x7f000001",
    "127.1",
    "localhost, evil.example",
    "localhost evil.example",
)
OURS = (
    "localhost",
    "LOCALHOST:1",
    "127.0.0.1:8081",
    "127.8.9.10",
    "[::1]:8081",
    "parley.example.org",
    "Parley.Example.org:443",
    "gateway-1:8081",
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def console(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Console]:
    folder: Path = tmp_path_factory.mktemp("hosts")
    public = {"url": "https://parley.example.org"}
    server = {"port": 0, "hosts": ["gateway-1"]}
    async with console_in(console_settings(folder, console=public, server=server)) as started:
        yield started


async def answered(console: Console, request: str) -> tuple[int, str]:
    """The status and the text of the answer to a request as it is sent."""
    port = int(console.app.local.base_url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.encode("latin-1"))
    head = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), head.decode("latin-1")


async def status_for(console: Console, path: str, *fields: str, version: str = "1.1") -> int:
    """The status for an owner, with a token and these header fields."""
    token = console.program.token(OWNER)
    lines = [f"GET {path} HTTP/{version}", f"Authorization: Bearer {token}", *fields]
    status, _ = await answered(console, "\r\n".join([*lines, "", ""]))
    return status


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("host", STRANGE)
async def test_a_strange_host_is_refused_also_with_a_token(
    console: Console, path: str, host: str
) -> None:
    assert await status_for(console, path, f"Host: {host}") in (400, 403)


@pytest.mark.parametrize("host", MALFORMED)
async def test_a_malformed_host_is_refused(console: Console, host: str) -> None:
    assert await status_for(console, PATHS[2], f"Host: {host}") in (400, 403)


@pytest.mark.parametrize("host", OURS)
async def test_our_own_hosts_are_served_with_any_port(console: Console, host: str) -> None:
    assert await status_for(console, "/api/v1/brain", f"Host: {host}") == 200
    assert await status_for(console, "/console/sign-in", f"Host: {host}") == 200


async def test_exactly_one_host_is_needed(console: Console) -> None:
    for fields in ((), ("Host: localhost", "Host: localhost"), ("Host: localhost", "Host: evil.x")):
        assert await status_for(console, "/api/v1/brain", *fields) == 400
    assert await status_for(console, "/api/v1/brain", version="1.0") == 403
    assert await status_for(console, "/console/sign-in", version="1.0") == 403


@pytest.mark.parametrize(
    "target",
    ["http://localhost/api/v1/brain", "http://evil.example/api/v1/brain", "evil.example:80", "*"],
)
async def test_an_absolute_target_is_refused(console: Console, target: str) -> None:
    assert await status_for(console, target, "Host: localhost") in (400, 404)


async def test_forwarded_hosts_neither_help_nor_harm(console: Console) -> None:
    claims = (
        "X-Forwarded-Host: localhost",
        "Forwarded: host=localhost",
        "X-Original-Host: localhost",
    )
    for claim in claims:
        assert await status_for(console, PATHS[2], "Host: evil.example", claim) == 403
    for claim in ("X-Forwarded-Host: evil.example", "Forwarded: host=evil.example"):
        assert await status_for(console, PATHS[2], "Host: parley.example.org", claim) == 200


async def test_mcp_knows_the_same_hosts(console: Console) -> None:
    token = console.program.token(OWNER)
    for host, status in (("evil.example", 403), ("parley.example.org", 400)):
        request = (
            f"POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            "Content-Length: 2\r\n\r\n{}"
        )
        assert (await answered(console, request))[0] == status


async def test_health_answers_any_valid_host_without_details(console: Console) -> None:
    for path in ("/healthz", "/readyz"):
        assert await status_for(console, path, "Host: 10.1.2.3:8081") == 200
