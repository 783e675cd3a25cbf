"""The smallest REST and gateway client, to look at answers that discord.py would hide."""

import json
import zlib
from typing import Any, Self

import aiohttp

from simulators.discord import DiscordSimulator
from tests.support.patience import PATIENCE


class Client:
    """Speaks plain HTTP and WebSocket to a simulator."""

    def __init__(self, sim: DiscordSimulator) -> None:
        self.sim = sim
        self._session = aiohttp.ClientSession()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: object,
    ) -> None:
        await self._session.close()

    async def call(
        self, method: str, path: str, body: object = None, *, token: str | None = None, **more: Any
    ) -> tuple[int, Any, Any]:
        """(status, JSON or text, headers)."""
        token = self.sim.token if token is None else token
        headers = {"Authorization": f"Bot {token}"}
        url = f"{self.sim.settings()['api_base']}{path}"
        async with self._session.request(method, url, json=body, headers=headers, **more) as answer:
            text = await answer.text()
            is_json = answer.headers.get("Content-Type") == "application/json"
            return answer.status, json.loads(text) if is_json else text, answer.headers

    async def post(self, channel_id: str, **body: object) -> tuple[int, Any]:
        """Create a message."""
        status, data, _ = await self.call("POST", f"/channels/{channel_id}/messages", body)
        return status, data

    async def get(self, url: str) -> tuple[int, bytes]:
        """Fetch anything."""
        async with self._session.get(url) as answer:
            return answer.status, await answer.read()

    async def gateway(self, query: str = "v=10&encoding=json") -> "Socket":
        """Open a gateway socket."""
        ws = await self._session.ws_connect(f"{self.sim.settings()['gateway_url']}?{query}")
        return Socket(ws, self.sim.token)


class Socket:
    """A gateway socket."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse, token: str) -> None:
        self.ws = ws
        self.token = token
        self._inflate = zlib.decompressobj()

    async def receive(self) -> dict[str, Any]:
        """The next message; {"closed": code} at the end."""
        message = await self.ws.receive(timeout=PATIENCE)
        if message.type is aiohttp.WSMsgType.TEXT:
            return dict(json.loads(message.data))
        if message.type is aiohttp.WSMsgType.BINARY:
            assert message.data.endswith(b"\x00\x00\xff\xff")
            return dict(json.loads(self._inflate.decompress(message.data)))
        return {"closed": self.ws.close_code}

    async def until(self, event: str) -> dict[str, Any]:
        """The next event of that name."""
        while True:
            message = await self.receive()
            if message.get("t") == event or "closed" in message:
                return message

    async def send(self, op: int, data: object) -> None:
        """Send a command."""
        await self.ws.send_json({"op": op, "d": data})

    async def identify(self, intents: int = 0b1011_0110_0000_0001, **more: object) -> None:
        """IDENTIFY, by default with servers, messages, reactions and content."""
        await self.send(2, {"token": self.token, "intents": intents, "properties": {}, **more})
