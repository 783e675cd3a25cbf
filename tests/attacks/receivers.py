"""A receiver of event webhooks that answers what it likes, and deliveries to it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from gateway.ports.clock import SystemClock
from memory.agents.model import AgentType
from memory.agents.stores.events import WebhookState
from memory.agents.webhooks import WebhookDelivery
from parley.config import from_mapping
from parley.wiring.agents import webhook_delivery
from tests.attacks.scene import Scene

SECRET: Final = "the secret of a receiver that attacks"
OWN: Final = ("127.0.0.0/8",)
"""The network in which an operator permits a receiver."""
OK: Final = b"HTTP/1.1 204 No Content\r\n\r\n"
Answers: TypeAlias = Callable[[str, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrived, with names of headers in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """Everything in it."""
        return f"{self.path}\n{json.dumps(dict(self.headers))}\n{self.body.decode()}"


@dataclass
class Receiver:
    """A server on loopback; `answer` writes its answers, given the path of a request."""

    answer: Answers
    port: int = 0
    got: list[Request] = field(default_factory=list)
    connections: list[asyncio.StreamWriter] = field(default_factory=list)

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read a request and answer it."""
        self.connections.append(writer)
        with suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.strip().split("\r\n")
            pairs = (line.partition(": ") for line in lines)
            headers = {name.lower(): value for name, _, value in pairs}
            body = await reader.readexactly(int(headers["content-length"]))
            self.got.append(Request(first.split()[1], headers, body))
            await self.answer(first.split()[1], writer)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def receiving(answer: Answers) -> AsyncIterator[Receiver]:
    """A receiver, from its start to its end."""
    receiver = Receiver(answer)
    server = await asyncio.start_server(receiver.take, "127.0.0.1", 0)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        for writer in receiver.connections:
            writer.transport.abort()


async def accepts(_: str, writer: asyncio.StreamWriter) -> None:
    """Answer as a receiver that has the event."""
    writer.write(OK)


@dataclass
class Deliveries:
    """The delivery to webhooks of a scene, which begins with what happens next."""

    scene: Scene
    delivery: WebhookDelivery

    async def states(self) -> dict[str, WebhookState]:
        """The progress of each webhook, by the name without the scene's tag."""
        store = self.scene.stage.app.storage.memory.webhooks
        end = f"-{self.scene.tag}"
        known = await store.states()
        return {one.name.removesuffix(end): one for one in known if one.name.endswith(end)}


async def delivering(
    scene: Scene, addresses: Mapping[str, str], networks: Sequence[str] = ()
) -> Deliveries:
    """Configure webhooks as an operator does, by their names. Raises `SettingsError`."""
    sections: dict[str, dict[str, Any]] = {
        f"{name}-{scene.tag}": {"url": url, "secret": SECRET, "networks": networks}
        for name, url in addresses.items()
    }
    app = scene.stage.app
    read = from_mapping({"model": {"provider": "offline"}, "agents": {"webhooks": sections}})
    settings = app.settings.model_copy(update={"agents": read.agents})
    delivery = webhook_delivery(settings, app.storage.memory, SystemClock())
    assert delivery is not None
    await delivery.step()
    return Deliveries(scene, delivery)


async def happens(scene: Scene, name: str = "coder") -> str:
    """Register an agent of Ada, which is an event; its id."""
    agents = scene.stage.app.memory.agents
    assert agents is not None
    scene.member("ada")
    request = (await scene.handle("ada")).request
    made = await agents.registry.register_agent(request, AgentType.CLAUDE_CODE, name=name)
    return made.id
