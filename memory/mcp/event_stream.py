"""The stream of a caller's events (`subscriptions/listen` of revision 2026-07-28).

A stream tells its client that the resource `memory://events` changed; the client reads it. Events
of this process arrive at once. Those of other processes are polled from the database.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final

import mcp_types
import structlog
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from db.errors import StoreUnavailable
from memory.mcp.resources import EVENTS
from memory.mcp.tool_definition import McpCall

MAX_STREAMS: Final = 256
MAX_STREAMS_PER_PERSON: Final = 8
STREAM_SECONDS: Final = 3_600.0
"""The longest stream; the client opens the next one."""
PAUSE_SECONDS: Final = 0.1
"""The shortest time between two reads of one stream."""
CHECK_SECONDS: Final = 10.0
"""Seconds between two checks of the token."""
PAGE: Final = 100
FULL: Final = "There are too many open streams. Close one, or try again later."

log = structlog.get_logger(__name__)


class EventStreams:
    """The open streams of one server, each for one caller."""

    def __init__(
        self,
        open_call: Callable[[ServerRequestContext[Any, Any]], Awaitable[McpCall]],
        still_allowed: Callable[[ServerRequestContext[Any, Any]], Awaitable[bool]],
        poll_seconds: float,
    ) -> None:
        """`still_allowed` checks the token of an open stream again."""
        self._open_call = open_call
        self._still_allowed = still_allowed
        self._poll_seconds = poll_seconds
        self._open: Counter[str] = Counter()

    async def listen(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: mcp_types.SubscriptionsListenRequestParams,
    ) -> mcp_types.SubscriptionsListenResult:
        """Serve one stream until its client closes it, the token ends, or an hour has passed."""
        call = await self._open_call(ctx)
        person = call.person
        if self._open.total() >= MAX_STREAMS or self._open[person] >= MAX_STREAMS_PER_PERSON:
            raise MCPError(mcp_types.INTERNAL_ERROR, FULL)
        self._open[person] += 1
        bus = InMemorySubscriptionBus()
        handler = ListenHandler(bus, max_subscriptions=1)
        watcher = asyncio.create_task(self._watch(ctx, call, bus, handler.close))
        try:
            return await handler(ctx, params)
        finally:
            # Without awaiting: a stream that its client closes is cancelled at every await.
            watcher.cancel()
            self._open[person] -= 1
            self._open += Counter()  # without people whose last stream ended

    async def _watch(
        self,
        ctx: ServerRequestContext[Any, Any],
        call: McpCall,
        bus: InMemorySubscriptionBus,
        close: Callable[[], None],
    ) -> None:
        """Publish a change for new events of this caller, and end the stream in time."""
        events, time = call.services.events, asyncio.get_running_loop().time
        until, checked = time() + STREAM_SECONDS, time()
        added, number = events.added, await events.newest()
        pause = min(PAUSE_SECONDS, self._poll_seconds / 2)
        try:
            while time() < until:
                await asyncio.sleep(pause)
                await events.wait(added, asyncio.sleep(self._poll_seconds - pause))
                added = events.added
                try:
                    if time() - checked >= min(CHECK_SECONDS, 5 * self._poll_seconds):
                        if not await self._still_allowed(ctx):
                            return
                        checked = time()
                    if await events.newest() == number:
                        continue
                    page = await events.after(call.handle.request, number, PAGE)
                except StoreUnavailable as error:
                    log.warning("mcp_without_store", stream=True, error=str(error))
                    continue
                number = page.last
                if page.events:
                    await bus.publish(ResourceUpdated(EVENTS))
        finally:
            close()
