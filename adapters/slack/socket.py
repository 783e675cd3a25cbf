"""Socket Mode through slack-bolt, with a client that replaces a socket as soon as it ends.

slack_sdk's own client notices a lost socket only by a check every few seconds, sleeps with its lock
held after a failed attempt, and then tries the same one-time address again. The client here opens
one socket when it is told to and reports the end of a socket at once; `SocketConnection` decides
when to open the next one. A delivery is acknowledged only after it is stored.
"""

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable
from logging import Logger
from typing import Final

import aiohttp
import structlog
from aiohttp import ClientWebSocketResponse, WSMessage, WSMsgType
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from adapters.shared.connection import CONNECTION_DEADLINE, LivenessMonitor
from adapters.slack.client import LOG
from adapters.slack.errors import UNREACHABLE, refusal, start_error
from adapters.slack.webhook import Take
from gateway.background_tasks import stop_task
from gateway.errors import StartError, Transient
from gateway.ports import Liveness
from gateway.text import text

log = structlog.get_logger(__name__)

# Translators: a ping asks the platform for a sign of life.
_NO_PING: Final = text("no ping was answered for {time}")
OPEN_SECONDS: Final = 15.0
CLOSE_SECONDS: Final = 3.0
PING_SECONDS: Final = 10.0
"""Between pings; after four without a pong the library regards the connection as lost."""
MISSED_PINGS: Final = 3
"""Pings without an answer after which the connection counts as not alive."""
ACK_SECONDS: Final = 2.5
"""The time for which an acknowledgement waits for the next socket; Slack waits 3 seconds for it."""

RECENT_SECONDS: Final = 60.0
QUICK_PAUSE: Final = 0.2
"""Before another socket when the last ones were lost within a short time."""
FLAPPING: Final = 30
SLOW_PAUSE: Final = 5.0
"""The same after more than `FLAPPING` lost sockets within `RECENT_SECONDS`."""
LONGEST_PAUSE: Final = 10.0
LONGEST_WAIT: Final = 300.0
"""The longest wait that Slack can request, in seconds."""
JITTER: Final = 0.2

_ENDS: Final = (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR)


class SocketConnection:
    """A Socket Mode connection. `on_end` is called when it is lost for good."""

    def __init__(
        self,
        web: AsyncWebClient,
        app_token: str,
        take: Take,
        on_end: Callable[[BaseException | None], None],
    ) -> None:
        self._take = take
        self._on_end = on_end
        app = AsyncApp(
            name="parley",
            client=web,
            logger=LOG,
            signing_secret="unused in socket mode",  # noqa: S106 - keeps bolt from its environment
            # Runs before bolt's own handling, which acknowledges first and works afterwards.
            before_authorize=self._handle,
        )
        self._client = SingleSocketClient(app_token, web, LOG, PING_SECONDS)
        self._handler = SocketHandler(app, self._client)
        self._liveness = LivenessMonitor(
            _NO_PING, time.time
        )  # the library notes pongs by this clock
        self._client.message_listeners.append(self._on_message)
        self._greeted = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect and wait for Slack's "hello". Raises `StartError`."""
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                await self._client.connect()
                await self._greeted.wait()
        except (SlackApiError, *UNREACHABLE) as error:
            raise start_error(error, "platforms.slack.app_token") from error
        self._keeping = asyncio.create_task(self._keep_open(), name="slack socket")

    async def close(self) -> None:
        """Close the socket and end its tasks."""
        keeping, self._keeping = self._keeping, None
        await stop_task(keeping)
        self._client.closed = True
        self._client.auto_reconnect_enabled = False
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._client.disconnect()  # type: ignore[no-untyped-call]  # slack_sdk has no annotation there
        except TimeoutError:
            log.warning("close_not_answered", platform="slack")
        await self._handler.close_async()  # type: ignore[no-untyped-call]  # bolt has no annotation there

    def alive(self) -> Liveness:
        """The verdict by the last answered ping."""
        client = self._client
        if client.last_ping_pong_time is not None:
            self._liveness.answered(client.last_ping_pong_time)
        socket = client.current_session
        connected = socket is not None and not socket.closed and not client.stale
        return self._liveness.check(MISSED_PINGS * client.ping_interval, connected)

    async def _handle(self, body: dict[str, object]) -> BoltResponse:
        """Bolt acknowledges a delivery that is answered with 200, and no other."""
        return BoltResponse(status=200 if await self._take(body) else 503, body="")

    async def _on_message(
        self,
        client: AsyncBaseSocketModeClient,
        message: dict[str, object],
        raw: str | None = None,
    ) -> None:
        if message.get("type") == "hello":
            self._greeted.set()

    async def _keep_open(self) -> None:
        """Open another socket whenever one is lost, until that is of no use."""
        loop = asyncio.get_running_loop()
        losses: deque[float] = deque(maxlen=FLAPPING + 1)
        while True:
            await self._client.lost.wait()
            began = loop.time()
            losses.append(began)
            recent = sum(began - at < RECENT_SECONDS for at in losses)
            try:
                await self._reopen(recent, began)
            except Exception as error:  # noqa: BLE001 - the end of the task ends the connection
                self._on_end(error)
                return
            seconds = round(loop.time() - began, 3)
            log.info("socket_reopened", platform="slack", seconds=seconds)

    async def _reopen(self, losses: int, began: float) -> None:
        """Try until there is a socket. Raises `StartError` when there will be none. `losses` is how
        many sockets were lost recently, `began` the loop's time of the last loss."""
        loop, failures, requested = asyncio.get_running_loop(), 0, 0.0
        while True:
            pause = max(requested, pause_before(failures, losses))
            await asyncio.sleep(pause * (1 + JITTER * random.random()))  # noqa: S311 - no secret
            try:
                async with asyncio.timeout(OPEN_SECONDS):
                    await self._client.connect()
            except SlackApiError as error:
                reason = start_error(error, "platforms.slack.app_token")
                if reason.permanent:
                    raise reason from error
                requested = _requested_wait(error)
            except UNREACHABLE:
                log.warning("slack_not_reached", platform="slack")
            else:
                return
            failures += 1
            if loop.time() - began > CONNECTION_DEADLINE:
                raise StartError(
                    text("The connection to Slack is lost."), text("Parley connects again.")
                )


def pause_before(failures: int, losses: int) -> float:
    """Seconds before the next attempt, after so many failed ones and so many recent losses.

    The first loss costs no pause. A server that accepts sockets and drops them again gets longer
    pauses after some time.
    """
    if failures:
        return min(QUICK_PAUSE * 2.0 ** min(failures, 10), LONGEST_PAUSE)
    if losses <= 1:
        return 0.0
    return QUICK_PAUSE if losses <= FLAPPING else SLOW_PAUSE


def _requested_wait(error: SlackApiError) -> float:
    """The seconds that Slack asks to wait, otherwise 0."""
    reason = refusal(error, sends=False)
    seconds = reason.retry_after if isinstance(reason, Transient) else None
    return min(seconds or 0.0, LONGEST_WAIT)


class SingleSocketClient(SocketModeClient):
    """One socket at a time: `connect` opens the next one, `lost` is set when one is needed."""

    def __init__(
        self, app_token: str, web: AsyncWebClient, logger: Logger, ping_interval: float
    ) -> None:
        super().__init__(app_token, logger, web, web.proxy, False, ping_interval)
        self.proxy = web.proxy
        self.lost = asyncio.Event()
        self._open = asyncio.Event()
        self._closing: set[asyncio.Task[bool]] = set()

    async def connect(self) -> None:
        """Open the next socket, then close the last one if it is still open. Tries once.

        Raises `SlackApiError`, `aiohttp.ClientError` and OSError.
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
            closing = asyncio.ensure_future(last.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def connect_to_new_endpoint(self, force: bool = False) -> None:
        """Called by the library when Slack asks for another socket."""
        self.lost.set()

    async def send_message(self, message: str) -> None:
        """Send an acknowledgement, through the next socket when this one is lost.

        After `ACK_SECONDS` it is dropped: Slack then sends the event again, as a duplicate.
        """
        try:
            async with asyncio.timeout(ACK_SECONDS):
                while not await self._sent(message):
                    await self._open.wait()
        except TimeoutError:
            log.info("acknowledgement_dropped", platform="slack")

    async def _sent(self, message: str) -> bool:
        session = self.current_session
        if session is not None and not session.closed:
            try:
                await session.send_str(message)
            except (ConnectionError, aiohttp.ClientError):
                pass
            else:
                return True
        self._ended(session)
        return False

    async def _receive(self, session: ClientWebSocketResponse) -> None:
        """Read one socket to its end."""
        try:
            while (message := await session.receive()).type not in _ENDS:
                await self._handle_frame(message, session)
        except (ConnectionError, RuntimeError, aiohttp.ClientError) as error:
            log.info("socket_unreadable", platform="slack", error=error)
        finally:
            self._ended(session)

    async def _handle_frame(self, message: WSMessage, session: ClientWebSocketResponse) -> None:
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
        """Ask for another socket, unless another one is already open."""
        if session is self.current_session:
            self._open.clear()
            self.lost.set()

    async def close(self) -> None:
        """Close everything, also sockets whose closing handshake is not finished."""
        for closing in list(self._closing):
            closing.cancel()
        await super().close()  # type: ignore[no-untyped-call]  # slack_sdk has no annotation there


class SocketHandler(AsyncSocketModeHandler):
    """Bolt's handler with a given client instead of one of its own."""

    def __init__(self, app: AsyncApp, client: SingleSocketClient) -> None:
        self.app = app
        self.app_token = client.app_token
        self.client = client
        client.socket_mode_request_listeners.append(self.handle)  # type: ignore[arg-type]  # slack_sdk names its own request class
