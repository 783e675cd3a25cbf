"""Parts of the local listener with tokens of their own: ASGI applications below a prefix."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import Final, TypeAlias

import structlog
from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Scope

from gateway.errors import StartError

MakeLife: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]
LIFE_SECONDS: Final = 1.0
"""Seconds in which a part ends when the listener stops."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class GuardedPart:
    """A part. `life` is entered after `make`, before the port opens, and left when it is closed."""

    prefix: str
    make: Callable[[], ASGIApp]
    life: MakeLife | None = None


class PartMount(Mount):
    """Mounts a part at its prefix too, which it sees as the path `/`."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return the match, and what changes in the scope for the part."""
        if scope["path"] != self.path:
            return super().matches(scope)
        below = f"{self.path}/"
        match, changes = super().matches({**scope, "path": below})
        return match, {**changes, "path": below}


class PartLives:
    """Keeps the lives of parts in one task: a task group ends in the task that it began in."""

    def __init__(self, lives: Iterable[MakeLife]) -> None:
        self._lives = tuple(lives)
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin. Raises what a part raises at its start."""
        if not self._lives:
            return
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(begun), name="guarded-parts")
        self._task.add_done_callback(_report)
        await asyncio.wait({self._task, begun}, return_when=asyncio.FIRST_COMPLETED)
        if not begun.done():
            raise StartError("local listener: a part of it did not start.", "The log has details.")

    async def stop(self) -> None:
        """End, within `LIFE_SECONDS`."""
        self._ending.set()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=LIFE_SECONDS)
            self._task.cancel()

    async def _live(self, begun: "asyncio.Future[None]") -> None:
        async with AsyncExitStack() as stack:
            for life in self._lives:
                await stack.enter_async_context(life())
            begun.set_result(None)
            await self._ending.wait()


def _report(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("guarded_part_ended", exc_info=error)
