"""Hands everything that a platform posts to several receivers at once, to each more than once."""

import asyncio
from collections.abc import Sequence
from typing import Final

import aiohttp
from aiohttp import web

TIMES: Final = 2
MAX_BODY: Final = 4_000_000


class Doubler:
    """A web server between a platform and the public listeners of several processes."""

    def __init__(self, receivers: Sequence[str]) -> None:
        """`receivers` are their base URLs."""
        self._receivers = receivers
        self._session: aiohttp.ClientSession | None = None
        self._runner: web.AppRunner | None = None
        self.posted = 0

    async def start(self) -> str:
        """Listen on a free port of loopback; the base URL."""
        self._session = aiohttp.ClientSession(trust_env=False)
        app = web.Application(client_max_size=MAX_BODY)
        app.router.add_post("/{path:.*}", self._post)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        return f"http://{host}:{port}"

    async def stop(self) -> None:
        """End."""
        if self._runner is not None:
            await self._runner.cleanup()
        if self._session is not None:
            await self._session.close()

    async def _post(self, request: web.Request) -> web.Response:
        body = await request.read()
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in {"host", "content-length", "connection"}
        }
        posts = [self._hand_on(f"{r}{request.path_qs}", body, headers) for r in self._receivers]
        statuses = [s for times in await asyncio.gather(*posts) for s in times]
        return web.Response(status=max(statuses))

    async def _hand_on(self, url: str, body: bytes, headers: dict[str, str]) -> list[int]:
        return await asyncio.gather(*(self._once(url, body, headers) for _ in range(TIMES)))

    async def _once(self, url: str, body: bytes, headers: dict[str, str]) -> int:
        assert self._session is not None
        self.posted += 1
        async with self._session.post(url, data=body, headers=headers) as answer:
            await answer.read()
            return answer.status
