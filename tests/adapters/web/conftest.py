"""A page on a real port, and a gateway that only records events."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import aiohttp
import pytest

from adapters.web.connection import WebAdapter
from adapters.web.manifest import WebSettings
from gateway.message import InboundEvent, Outbound, Part, Place
from gateway.people import Audience
from gateway.ports import AdapterContext
from parley.http.local_listener import LocalListener
from tests.support.adapter_context import NoState, NoWebhooks
from tests.support.clock import FakeClock

NOW = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)


def nothing(what: str, detail: str = "") -> None:
    """Counts nothing."""


def context() -> AdapterContext:
    return AdapterContext("main", "Parley", FakeClock(NOW), NoState(), NoWebhooks(), nothing)


@dataclass
class Inbox:
    """The events that the gateway received; `fail` makes the next one raise."""

    events: list[InboundEvent] = field(default_factory=list)
    fail: Exception | None = None

    async def __call__(self, event: InboundEvent) -> None:
        if self.fail is not None:
            problem, self.fail = self.fail, None
            raise problem
        self.events.append(event)


@dataclass
class Page:
    """The served adapter and a browser-like client."""

    adapter: WebAdapter
    inbox: Inbox
    url: str
    client: aiohttp.ClientSession

    @property
    def origin(self) -> dict[str, str]:
        return {"Origin": self.url}

    async def open(self) -> str:
        """Load the page and return who the browser now is."""
        async with self.client.get(f"{self.url}/chat/") as response:
            assert response.status == 200
        return str((await self.history())["me"])

    async def history(self) -> dict[str, object]:
        async with self.client.get(f"{self.url}/chat/api/history") as response:
            assert response.status == 200
            result: dict[str, object] = await response.json()
            return result

    async def act(self, **action: object) -> tuple[int, str]:
        async with self.client.post(
            f"{self.url}/chat/api/actions", json=action, headers=self.origin
        ) as response:
            return response.status, await response.text()

    async def upload(self, data: bytes, name: str, mime: str) -> dict[str, object]:
        async with self.client.post(
            f"{self.url}/chat/api/files",
            data=data,
            headers={**self.origin, "X-File-Name": name, "Content-Type": mime},
        ) as response:
            assert response.status == 200, await response.text()
            stored: dict[str, object] = await response.json()
            return stored


def answer(person: str, html: str, key: str = "turn-1/0", **more: object) -> Outbound:
    """An answer as the gateway hands it over."""
    place = Place("web", "main", person, Audience.DIRECT)
    return Outbound(key, place, Part(html, "plain"), **more)  # type: ignore[arg-type]


@pytest.fixture
async def page() -> AsyncIterator[Page]:
    adapter = WebAdapter(WebSettings(enabled=True, max_upload_bytes=1_000_000), context())
    inbox = Inbox()
    await adapter.connect(inbox)
    listener = LocalListener()
    listener.add_routes(adapter.routes())
    await listener.start()
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as client:
        yield Page(adapter, inbox, listener.base_url, client)
        await adapter.disconnect()
    await listener.stop()
