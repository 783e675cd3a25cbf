"""slack_sdk's Socket Mode client with one change: the end of a socket is an event.

The library learns of a cut socket from a look at it every few seconds, sleeps with its lock held
when an attempt fails, and then tries the same one-time address again. This client opens one socket
when it is told to, and says at once when that socket ends; when to open the next is decided in
`adapters.slack.socket`.
"""

import asyncio
import time
from logging import Logger
from typing import Final

import aiohttp
import structlog
from aiohttp import ClientWebSocketResponse, WSMessage, WSMsgType
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

log = structlog.get_logger(__name__)

ACK_SECONDS: Final = 2.5
"""How long an acknowledgement waits for the next socket; Slack waits 3 seconds for it."""
_ENDS: Final = (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR)


class EventedClient(SocketModeClient):
    """One socket at a time: `connect` opens the next, `lost` is set as soon as one is needed."""

    def __init__(
        self, app_token: str, client: AsyncWebClient, logger: Logger, ping_interval: float
    ) -> None:
        super().__init__(app_token, logger, client, client.proxy, False, ping_interval)
        self.proxy = client.proxy
        self.lost = asyncio.Event()
        self._open = asyncio.Event()
        self._leaving: set[asyncio.Task[bool]] = set()

    async def connect(self) -> None:
        """Open the next socket; the last one, if it is still open, is closed after that.

        Raises `SlackApiError`, `aiohttp.ClientError` and OSError. Nothing is repeated here.
        """
        answer = await self.web_client.apps_connections_open(app_token=self.app_token)
        session = await self.aiohttp_client_session.ws_connect(
            str(answer["url"]),
            autoping=False,
            heartbeat=self.ping_interval,
            proxy=self.proxy,
            ssl=self.web_client.ssl if self.web_client.ssl is not None else True,
        )
        last, self.current_session = self.current_session, session
        self.last_ping_pong_time = time.time()
        self.lost.clear()
        self._open.set()
        if self.current_session_monitor is not None:
            self.current_session_monitor.cancel()
        self.current_session_monitor = asyncio.ensure_future(self._ping(session))
        self.message_receiver = asyncio.ensure_future(self._receive(session))
        if last is not None and not last.closed:
            leaving = asyncio.ensure_future(last.close())
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)

    async def connect_to_new_endpoint(self, force: bool = False) -> None:
        """Called by the library when Slack asks for another socket: it is opened by who waits."""
        self.lost.set()

    async def send_message(self, message: str) -> None:
        """Send an acknowledgement, through the next socket when this one is gone.

        After `ACK_SECONDS` it is given up: Slack sends the event again, and it is recognised.
        """
        try:
            async with asyncio.timeout(ACK_SECONDS):
                while not await self._sent(message):
                    await self._open.wait()
        except TimeoutError:
            log.info("acknowledgement_given_up", platform="slack")

    async def _sent(self, message: str) -> bool:
        session = self.current_session
        if session is None or session.closed:
            self._ended(session)
            return False
        try:
            await session.send_str(message)
        except (ConnectionError, aiohttp.ClientError):
            self._ended(session)
            return False
        return True

    async def _receive(self, session: ClientWebSocketResponse) -> None:
        """Read one socket to its end."""
        try:
            while (message := await session.receive()).type not in _ENDS:
                await self._take(message, session)
        except (ConnectionError, RuntimeError, aiohttp.ClientError) as error:
            log.info("socket_unreadable", platform="slack", error=error)
        finally:
            self._ended(session)

    async def _take(self, message: WSMessage, session: ClientWebSocketResponse) -> None:
        match message.type:
            case WSMsgType.TEXT:
                await self.enqueue_message(message.data)
            case WSMsgType.PING:
                await session.pong(message.data)
            case WSMsgType.PONG if session is self.current_session:
                self.last_ping_pong_time = time.time()

    async def _ping(self, session: ClientWebSocketResponse) -> None:
        """Ping one socket while it is the current one; without answers it counts as ended."""
        while session is self.current_session and not session.closed:
            await asyncio.sleep(self.ping_interval)
            try:
                await session.ping()
            except (ConnectionError, aiohttp.ClientError):
                break
            if await self.is_ping_pong_failing():
                break
        self._ended(session)

    def _ended(self, session: ClientWebSocketResponse | None) -> None:
        """Tell who waits, unless another socket took this one's place."""
        if session is self.current_session:
            self._open.clear()
            self.lost.set()

    async def close(self) -> None:
        """Close everything; sockets that are still saying goodbye are cut."""
        for leaving in list(self._leaving):
            leaving.cancel()
        await super().close()  # type: ignore[no-untyped-call]  # slack_sdk has no annotation there


class EventedHandler(AsyncSocketModeHandler):
    """Bolt's handler on this client instead of one of its own making."""

    def __init__(self, app: AsyncApp, client: EventedClient) -> None:
        self.app = app
        self.app_token = client.app_token
        self.client = client
        client.socket_mode_request_listeners.append(self.handle)  # type: ignore[arg-type]  # slack_sdk names its own request class
