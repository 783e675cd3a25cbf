"""The demo on paper: its world, its page on a real port."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import aiohttp
import pytest

from gateway.text import verbatim
from parley.demo.api import DemoPages
from parley.demo.world import World
from parley.http.local_listener import LocalListener
from tests.parley.demo.paper import PaperGateway, PaperSimulator


@dataclass
class PaperDemo:
    """Everything of a demo, without platforms."""

    simulators: dict[str, PaperSimulator]
    world: World
    gateway: PaperGateway


@dataclass
class Served:
    """The page of a paper demo."""

    demo: PaperDemo
    url: str
    client: aiohttp.ClientSession

    async def act(self, **action: object) -> tuple[int, dict[str, object]]:
        place = {"platform": "telegram", "room": "direct", "person": "Ada"}
        async with self.client.post(
            f"{self.url}/demo/api/act", json={**place, **action}, headers={"Origin": self.url}
        ) as response:
            return response.status, await response.json()

    async def room(self, platform: str, room: str, person: str = "Ada") -> dict[str, object]:
        query = {"platform": platform, "room": room, "person": person}
        async with self.client.get(f"{self.url}/demo/api/room", params=query) as response:
            assert response.status == 200
            result: dict[str, object] = await response.json()
            return result


@pytest.fixture(autouse=True)
def _quiet_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """On paper an answer is whole at once."""
    monkeypatch.setattr("parley.demo.player.QUIET_SECONDS", 0.01)


@pytest.fixture
def paper() -> PaperDemo:
    simulators = {
        name: PaperSimulator(name, rooms=name != "whatsapp")
        for name in ("discord", "slack", "telegram", "whatsapp")
    }
    return PaperDemo(simulators, World(simulators), PaperGateway(*simulators.values()))


async def _no_console() -> str:
    return "http://127.0.0.1:1/console/sign-in#code"


@pytest.fixture
async def served(paper: PaperDemo) -> AsyncIterator[Served]:
    pages = DemoPages(
        paper.world,
        paper.gateway.decisions,
        _no_console,
        assistant="Parley",
        model=verbatim("Paper model"),
    )
    listener = LocalListener()
    listener.add_routes(pages.routes())
    await listener.start()
    async with aiohttp.ClientSession() as client:
        yield Served(paper, listener.base_url, client)
        pages.close()
    await listener.stop()
