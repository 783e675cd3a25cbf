"""Socket Mode: slack-bolt's connection, watched, with acknowledgements only for what is stored."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import aiohttp
import structlog
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client import LOG
from adapters.slack.errors import start_error
from adapters.slack.pulse import Pulse
from gateway.errors import StartError

log = structlog.get_logger(__name__)

Take: TypeAlias = Callable[[dict[str, object]], Awaitable[bool]]

OPEN_SECONDS: Final = 15.0
CLOSE_SECONDS: Final = 3.0
PING_SECONDS: Final = 10.0
"""Between pings; after four without a pong the library calls the connection dead."""

WATCH_SECONDS: Final = 1.0
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
        self._handler = AsyncSocketModeHandler(app, app_token, ping_interval=PING_SECONDS)
        self._client = self._handler.client
        self._client.proxy = client.proxy
        self.pulse = Pulse(self._client)
        self._client.message_listeners.append(self._notice)
        self._greeted = asyncio.Event()
        self._ended: asyncio.Future[StartError | None] = asyncio.get_running_loop().create_future()
        self._watching: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect and wait for Slack's greeting. Raises `StartError`."""
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                # Asked for here because the library would repeat a refusal for ever.
                self._client.wss_uri = await self._client.issue_new_wss_url()
                await self._handler.connect_async()  # type: ignore[no-untyped-call]  # bolt's
                await self._greeted.wait()
        except (SlackApiError, aiohttp.ClientError, OSError) as error:
            raise start_error(error, "platforms.slack.app_token") from error
        self._watching = asyncio.create_task(self._watch(), name="slack socket")
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
                await self._client.disconnect()  # type: ignore[no-untyped-call]  # slack_sdk's
        except TimeoutError:
            log.warning("farewell_not_answered", platform="slack")
        await self._handler.close_async()  # type: ignore[no-untyped-call]  # bolt's
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

    async def _watch(self) -> None:
        """Reconnect sooner than the library does, and notice when that is of no use."""
        loop = asyncio.get_running_loop()
        alive = loop.time()
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if await self._client.is_connected():
                alive = loop.time()
                continue
            try:
                async with asyncio.timeout(OPEN_SECONDS):
                    await self._client.connect_to_new_endpoint()
            except SlackApiError as error:
                reason = start_error(error, "platforms.slack.app_token")
                if reason.permanent:
                    self._end(reason)
                    return
            except (aiohttp.ClientError, OSError):
                log.warning("not_reached", platform="slack")
            if loop.time() - alive > GIVE_UP_SECONDS:
                self._end(StartError("The connection to Slack is lost.", "It is made anew."))
                return

    def _watched(self, task: asyncio.Task[None]) -> None:
        failure = None if task.cancelled() else task.exception()
        if failure is not None and not self._ended.done():
            self._ended.set_exception(failure)

    def _end(self, error: StartError | None) -> None:
        if not self._ended.done():
            self._ended.set_result(error)
