"""An application that is loaded when the program is ready, or with an earlier request."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from starlette.types import ASGIApp, Receive, Scope, Send

HttpApp: TypeAlias = ASGIApp
"""An application for HTTP, for those who only pass it on."""


@dataclass(slots=True)
class LateApp:
    """Builds an application in a thread, because loading takes a while."""

    make: Callable[[], ASGIApp]
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app or await self.load()
        await app(scope, receive, send)

    async def load(self) -> ASGIApp:
        """Build the application, once. Raises `TypeError` for a route without a declaration."""
        async with self._lock:
            if self._app is None:
                self._app = await asyncio.to_thread(self.make)
            return self._app
