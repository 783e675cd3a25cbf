"""An application that is loaded with its first request."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from starlette.types import ASGIApp, Receive, Scope, Send

HttpApp: TypeAlias = ASGIApp
"""An application for HTTP, for those who only pass it on."""


@dataclass(slots=True)
class LateApp:
    """Builds an application with its first request, in a thread: loading takes a while."""

    make: Callable[[], ASGIApp]
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            async with self._lock:
                if self._app is None:
                    self._app = await asyncio.to_thread(self.make)
        await self._app(scope, receive, send)
