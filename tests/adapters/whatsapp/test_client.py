"""The client sends requests to Meta only, and cancelled requests leave its connections free."""

import asyncio

import pytest
from yarl import URL

from adapters.whatsapp.client import GraphClient
from adapters.whatsapp.manifest import WhatsAppSettings
from gateway.errors import Permanent, Transient
from simulators.whatsapp import WhatsAppSimulator
from tests.support.for_each import for_each


@for_each(
    ("url", "allowed"),
    [
        ("https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1", True),
        ("https://graph.facebook.com/v25.0/1", True),
        ("http://lookaside.fbsbx.com/x", False),
        ("https://lookaside.fbsbx.com:8443/x", False),
        ("https://lookaside.fbsbx.com.evil.example/x", False),
        ("https://evil.example/lookaside.fbsbx.com", False),
        ("https://lookaside.fbsbx.com@evil.example/x", False),
        ("http://169.254.169.254/latest/meta-data", False),
        ("http://127.0.0.1:6379/", False),
        ("https://[::1]/x", False),
        ("file:///etc/passwd", False),
        ("//lookaside.fbsbx.com/x", False),
        ("https://lookaside.fbsbx.com:port/x", False),
        ("", False),
    ],
)
def test_files_are_fetched_from_hosts_of_meta_only(url: str, *, allowed: bool) -> None:
    client = GraphClient(WhatsAppSettings())
    assert client._may_fetch(url) is allowed


def test_a_configured_host_can_serve_files() -> None:
    client = GraphClient(WhatsAppSettings(base_url="http://127.0.0.1:8081"))
    assert client._may_fetch("http://127.0.0.1:8081/files/1")
    assert not client._may_fetch("http://127.0.0.1:8082/files/1")


def test_a_proxy_of_the_environment_serves_meta_but_not_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("no_proxy", "NO_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    client = GraphClient(WhatsAppSettings())
    assert client._proxy(URL("https://graph.facebook.com/v25.0/1")) == "http://proxy.example:3128"
    assert client._proxy(URL("http://127.0.0.1:8081/v25.0/1")) is None


async def test_a_message_that_the_proxy_refuses_was_not_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    proxy = await asyncio.start_server(refuse, "127.0.0.1")
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
    monkeypatch.setenv("no_proxy", "")
    client = GraphClient(WhatsAppSettings())
    try:
        with pytest.raises(Transient, match="cannot be reached"):
            await client.post_message({})
    finally:
        await client.close()
        proxy.close()


async def test_a_token_that_no_header_can_carry_is_a_permanent_error() -> None:
    simulator = WhatsAppSimulator()
    await simulator.start()
    settings = simulator.settings() | {"access_token": "a\nHost: evil"}
    client = GraphClient(WhatsAppSettings.model_validate(settings))
    try:
        with pytest.raises(Permanent, match="cannot be written"):
            await client.post_message({})
    finally:
        await client.close()
        await simulator.stop()


async def test_cancelled_requests_leave_the_connections_free() -> None:
    simulator = WhatsAppSimulator()
    await simulator.start()
    client = GraphClient(WhatsAppSettings.model_validate(simulator.settings()))
    try:
        for _ in range(2):
            questions = [asyncio.create_task(client.number()) for _ in range(60)]
            await asyncio.sleep(0)  # twenty have a connection that is not open yet, the rest waits
            for task in questions:
                task.cancel()
            await asyncio.gather(*questions, return_exceptions=True)
        described = await asyncio.wait_for(client.number(), 5)
        assert described["id"] == simulator.settings()["phone_number_id"]
    finally:
        await client.close()
        await simulator.stop()
