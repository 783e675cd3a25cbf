"""Mounts ASGI applications below prefixes of the local listener. They check their own tokens."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Final, TypeAlias

import structlog
from msgspec import Struct
from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Scope

from gateway.errors import StartError

MakeLifespan: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]
LIFESPAN_SECONDS: Final = 1.0
"""Seconds in which an application ends when the listener stops."""

log = structlog.get_logger(__name__)


class MountedApp(Struct, frozen=True):
    """An ASGI application and its prefix. `lifespan` is entered after `make`, before the port
    opens, and left when the port is closed."""

    prefix: str
    make: Callable[[], ASGIApp]
    lifespan: MakeLifespan | None = None


class AppMount(Mount):
    """Mounts an application also at its prefix itself, which it sees as the path `/`."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return the match, and what changes in the scope for the application."""
        if scope["path"] != self.path:
            return super().matches(scope)
        below = f"{self.path}/"
        match, changes = super().matches({**scope, "path": below})
        return match, {**changes, "path": below}


class Lifespans:
    """Enters and leaves the lifespans in one task: a task group must end in the task in which it
    began."""

    def __init__(self, lifespans: Iterable[MakeLifespan]) -> None:
        self._lifespans = tuple(lifespans)
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Enter all lifespans. Raises `StartError` if one of them fails; the log has its error."""
        if not self._lifespans:
            return
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(begun), name="mounted-apps")
        self._task.add_done_callback(_report)
        await asyncio.wait({self._task, begun}, return_when=asyncio.FIRST_COMPLETED)
        if not begun.done():
            raise StartError(
                "local listener: an application of it did not start.", "The log has details."
            )

    async def stop(self) -> None:
        """Leave all lifespans, within `LIFESPAN_SECONDS`."""
        self._ending.set()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=LIFESPAN_SECONDS)
            self._task.cancel()

    async def _live(self, begun: "asyncio.Future[None]") -> None:
        async with AsyncExitStack() as stack:
            for lifespan in self._lifespans:
                await stack.enter_async_context(lifespan())
            begun.set_result(None)
            await self._ending.wait()


def _report(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("mounted_app_failed", exc_info=error)
