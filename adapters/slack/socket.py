"""Socket Mode: slack-bolt's connection, watched, with acknowledgements only for what is stored."""

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import aiohttp
import structlog
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client import LOG
from adapters.slack.errors import refusal, start_error
from adapters.slack.liveness import LivenessMonitor
from adapters.slack.socket_client import EventedClient, EventedHandler
from gateway.errors import StartError, Transient

log = structlog.get_logger(__name__)

Take: TypeAlias = Callable[[dict[str, object]], Awaitable[bool]]

OPEN_SECONDS: Final = 15.0
CLOSE_SECONDS: Final = 3.0
PING_SECONDS: Final = 10.0
"""Between pings; after four without a pong the library calls the connection dead."""

LATELY_SECONDS: Final = 60.0
QUICK_PAUSE: Final = 0.2
"""Before another socket when the last ones did not hold for long."""
FLAPPING: Final = 30
SLOW_PAUSE: Final = 5.0
"""The same after more than `FLAPPING` sockets within `LATELY_SECONDS`."""
LONGEST_PAUSE: Final = 10.0
LONGEST_WAIT: Final = 300.0
"""Seconds, however long Slack asks to wait."""
JITTER: Final = 0.2
GIVE_UP_SECONDS: Final = 120.0
"""Without a connection for so long, the adapter is started anew from scratch."""


class SocketConnection:
    """One Socket Mode connection, from `open` to `close`."""

    def __init__(self, client: AsyncWebClient, app_token: str, take: Take) -> None:
        self._take = take
        app = AsyncApp(
            name="parley",
            client=client,
            logger=LOG,
            signing_secret="unused in socket mode",  # noqa: S106 - keeps bolt from its environment
            # Runs before bolt's own handling, which would answer first and work afterwards.
            before_authorize=self._handle,
        )
        self._client = EventedClient(app_token, client, LOG, PING_SECONDS)
        self._handler = EventedHandler(app, self._client)
        self.liveness = LivenessMonitor(self._client)
        self._client.message_listeners.append(self._notice)
        self._greeted = asyncio.Event()
        self._ended: asyncio.Future[StartError | None] = asyncio.get_running_loop().create_future()
        self._watching: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect and wait for Slack's greeting. Raises `StartError`."""
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                await self._client.connect()
                await self._greeted.wait()
        except (SlackApiError, aiohttp.ClientError, OSError) as error:
            raise start_error(error, "platforms.slack.app_token") from error
        self._watching = asyncio.create_task(self._keep_open(), name="slack socket")
        self._watching.add_done_callback(self._watched)

    async def wait_closed(self) -> None:
        """Return after `close`; raise `StartError` when the connection is lost for good."""
        error = await asyncio.shield(self._ended)
        if error is not None:
            raise error

    async def close(self) -> None:
        """Close the socket and end everything that belongs to it."""
        if self._watching is not None:
            self._watching.cancel()
        self._client.closed = True
        self._client.auto_reconnect_enabled = False
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._client.disconnect()  # type: ignore[no-untyped-call]  # slack_sdk has no annotation there
        except TimeoutError:
            log.warning("farewell_not_answered", platform="slack")
        await self._handler.close_async()  # type: ignore[no-untyped-call]  # bolt has no annotation there
        self._end(None)

    async def _handle(self, body: dict[str, object]) -> BoltResponse:
        """Bolt acknowledges what is answered with 200, and nothing else."""
        return BoltResponse(status=200 if await self._take(body) else 503, body="")

    async def _notice(
        self,
        client: AsyncBaseSocketModeClient,
        message: dict[str, object],
        raw: str | None = None,
    ) -> None:
        if message.get("type") == "hello":
            self._greeted.set()

    async def _keep_open(self) -> None:
        """Open another socket whenever one is lost; end when that is of no use."""
        loop = asyncio.get_running_loop()
        losses: deque[float] = deque(maxlen=FLAPPING + 1)
        while True:
            await self._client.lost.wait()
            began = loop.time()
            losses.append(began)
            lately = sum(began - at < LATELY_SECONDS for at in losses)
            error = await self._reopen(lately, began)
            if error is not None:
                self._end(error)
                return
            seconds = round(loop.time() - began, 3)
            log.info("socket_reopened", platform="slack", seconds=seconds)

    async def _reopen(self, losses: int, began: float) -> StartError | None:
        """Try until there is a socket, then None; else why there will be none. `losses` is how many
        sockets were lost lately, `began` the loop's time when the last one was."""
        loop, failures, asked = asyncio.get_running_loop(), 0, 0.0
        while True:
            wait = max(asked, pause_before(failures, losses))
            await asyncio.sleep(wait * (1 + JITTER * random.random()))  # noqa: S311 - no secret
            try:
                async with asyncio.timeout(OPEN_SECONDS):
                    await self._client.connect()
                return None
            except SlackApiError as error:
                reason = start_error(error, "platforms.slack.app_token")
                if reason.permanent:
                    return reason
                asked = _asked_to_wait(error)
            except (aiohttp.ClientError, OSError):
                log.warning("not_reached", platform="slack")
            failures += 1
            if loop.time() - began > GIVE_UP_SECONDS:
                return StartError("The connection to Slack is lost.", "It is made anew.")

    def _watched(self, task: asyncio.Task[None]) -> None:
        failure = None if task.cancelled() else task.exception()
        if failure is not None and not self._ended.done():
            self._ended.set_exception(failure)

    def _end(self, error: StartError | None) -> None:
        if not self._ended.done():
            self._ended.set_result(error)


def pause_before(failures: int, losses: int) -> float:
    """Seconds before the next attempt after so many vain ones, with so many sockets lost lately.

    The first loss costs no pause at all; a server that takes sockets and drops them again is left
    in peace after some time.
    """
    if failures:
        return min(QUICK_PAUSE * 2.0 ** min(failures, 10), LONGEST_PAUSE)
    if losses <= 1:
        return 0.0
    return QUICK_PAUSE if losses <= FLAPPING else SLOW_PAUSE


def _asked_to_wait(error: SlackApiError) -> float:
    """Seconds for which Slack wants to be left alone; 0 when it names none."""
    refused = refusal(error, sends=False)
    wanted = refused.retry_after if isinstance(refused, Transient) else None
    return min(wanted or 0.0, LONGEST_WAIT)
