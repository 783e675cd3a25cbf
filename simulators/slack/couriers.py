"""Delivers events to the app: through its sockets, or as signed requests. Both try again.

Slack waits three seconds for the acknowledgement. An event that was not acknowledged comes again
at once, after one minute and after five; commands and presses do not come again.
"""

import asyncio
import hashlib
import hmac
import json
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias
from urllib.parse import urlencode

import aiohttp
from aiohttp import web

from simulators.base import ChangeSignal

Kind: TypeAlias = Literal["events_api", "slash_commands", "interactive"]

MAX_SOCKETS: Final = 10
"""Open Socket Mode connections of one app (docs.slack.dev/apis/events-api/using-socket-mode)."""
MAX_ATTEMPTS: Final = 20_000
"""The number of latest attempts that are recorded."""
VERIFY_SECONDS: Final = 3.0
"""The time that the app may take to answer the challenge, however short `ack_within` is."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One envelope on a socket; `began` and `ended` are the loop's time in seconds."""

    payload: Mapping[str, object]
    acknowledged: bool
    began: float
    ended: float


class Courier(Protocol):
    """Brings one payload to the app, as often as Slack would."""

    async def bring(self, kind: Kind, lane: str, payload: dict[str, object]) -> None: ...

    async def stop(self) -> None: ...


class Deliveries:
    """The deliveries under way."""

    def __init__(self, courier: Courier) -> None:
        self._courier = courier
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, kind: Kind, lane: str, payload: dict[str, object]) -> None:
        """Begin to deliver; payloads of one lane leave in the order of these calls."""
        task = asyncio.create_task(self._courier.bring(kind, lane, payload))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settled(self, timeout: float) -> None:
        """Return once everything was delivered or given up. Raises TimeoutError."""
        async with asyncio.timeout(timeout):
            while self._tasks:
                await asyncio.wait(set(self._tasks))

    async def stop(self) -> None:
        """Give up what was not delivered."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._courier.stop()


class SocketCourier:
    """Socket Mode: envelopes go to one open socket and wait for their acknowledgement.

    `ack_within` is how long, `retry_after` the seconds before each further attempt. While no
    socket is open, the attempt waits for one, and then counts as a repetition.
    """

    def __init__(self, ack_within: float, retry_after: tuple[float, ...]) -> None:
        self.ack_within = ack_within
        self.retry_after = retry_after
        self.sockets: list[web.WebSocketResponse] = []
        self.changed = ChangeSignal()
        self.given_up: list[dict[str, object]] = []
        self.attempts: deque[Attempt] = deque(maxlen=MAX_ATTEMPTS)
        self.unresponsive: set[web.WebSocketResponse] = set()
        self._waiting: dict[str, tuple[web.WebSocketResponse, asyncio.Future[bool]]] = {}
        self._turn = 0

    async def serve(self, socket: web.WebSocketResponse, hello: dict[str, object]) -> None:
        """Hold one socket until it closes."""
        if len(self.sockets) >= MAX_SOCKETS:
            await socket.send_json({"type": "disconnect", "reason": "too_many_websockets"})
            return
        await socket.send_json(hello | {"num_connections": len(self.sockets) + 1})
        self.sockets.append(socket)
        self.changed.notify()
        try:
            async for message in socket:
                if message.type == aiohttp.WSMsgType.TEXT and socket not in self.unresponsive:
                    self._acknowledge(message.data)
        finally:
            self.unresponsive.discard(socket)
            self.lost(socket)

    def lost(self, socket: web.WebSocketResponse) -> None:
        """The socket is gone, and with it the acknowledgements that were to come through it."""
        if socket in self.sockets:
            self.sockets.remove(socket)
        for held, answer in list(self._waiting.values()):
            if held is socket and not answer.done():
                answer.set_result(False)

    def _acknowledge(self, text: str) -> None:
        answer = json.loads(text)
        waiting = self._waiting.get(str(answer.get("envelope_id")))
        if waiting is not None and not waiting[1].done():
            waiting[1].set_result(True)

    async def bring(self, kind: Kind, lane: str, payload: dict[str, object]) -> None:
        """Deliver one payload; the lane needs no care, one socket keeps the order."""
        attempts = (0.0, *self.retry_after) if kind == "events_api" else (0.0,)
        late, clock = 0, asyncio.get_running_loop().time
        for number, pause in enumerate(attempts):
            if pause:
                await asyncio.sleep(pause)
            while not self.sockets:
                late = 1
                await self.changed.wait_until(lambda: bool(self.sockets), 60.0)
            began = clock()
            acknowledged = await self._attempt(kind, payload, max(number, late))
            self.attempts.append(Attempt(payload, acknowledged, began, clock()))
            if acknowledged:
                return
        self.given_up.append(payload)

    async def _attempt(self, kind: Kind, payload: dict[str, object], number: int) -> bool:
        envelope: dict[str, object] = {
            "envelope_id": str(uuid.uuid4()),
            "payload": payload,
            "type": kind,
            "accepts_response_payload": kind == "slash_commands",
        }
        if kind == "events_api":
            envelope |= {"retry_attempt": number, "retry_reason": "timeout" if number else ""}
        self._turn += 1
        socket = self.sockets[self._turn % len(self.sockets)]
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[str(envelope["envelope_id"])] = (socket, answer)
        try:
            if socket not in self.unresponsive:
                await socket.send_json(envelope)
            async with asyncio.timeout(self.ack_within):  # `wait_for` can lose a cancellation
                return await answer
        except ConnectionError:
            self.lost(socket)
            return False
        except TimeoutError:
            return False
        finally:
            del self._waiting[str(envelope["envelope_id"])]

    async def disconnect(self, reason: str) -> None:
        """Ask every client to reconnect, as Slack does every few hours."""
        for socket in list(self.sockets):
            await socket.send_json({"type": "disconnect", "reason": reason})

    async def stop(self) -> None:
        for socket in list(self.sockets):
            await socket.close()


class HttpCourier:
    """HTTP mode: every payload is a signed request to the app's address."""

    def __init__(
        self,
        signing_secret: str,
        ack_within: float,
        retry_after: tuple[float, ...],
        path: str,
    ) -> None:
        self.signing_secret = signing_secret
        self.ack_within = ack_within
        self.retry_after = retry_after
        self.path = path
        self.base_url = ""
        self.statuses: list[int] = []
        self.given_up: list[dict[str, object]] = []
        self.now: Callable[[], float] = time.time
        self._lanes: dict[str, asyncio.Lock] = {}
        self._session: aiohttp.ClientSession | None = None

    async def bring(self, kind: Kind, lane: str, payload: dict[str, object]) -> None:
        """Deliver one payload; first attempts of one lane follow each other."""
        body, content_type = encoded(kind, payload)
        async with self._lanes.setdefault(lane, asyncio.Lock()):
            reason = await self._attempt(body, content_type, 0, "")
        if not reason:
            return
        for number, pause in enumerate(self.retry_after if kind == "events_api" else (), 1):
            await asyncio.sleep(pause)
            reason = await self._attempt(body, content_type, number, reason)
            if not reason:
                return
        self.given_up.append(payload)

    async def _attempt(self, body: bytes, content_type: str, number: int, reason: str) -> str:
        """One request; what went wrong in Slack's words, empty for success."""
        headers = {"Content-Type": content_type}
        if number:
            headers |= {"X-Slack-Retry-Num": str(number), "X-Slack-Retry-Reason": reason}
        try:
            status, _ = await self.post(body, headers)
        except TimeoutError:
            return "http_timeout"
        except aiohttp.ClientError:
            return "connection_failed"
        return "" if status == 200 else "http_error"

    async def post(
        self, body: bytes, headers: dict[str, str], within: float = 0.0
    ) -> tuple[int, str]:
        """A signed request, `within` seconds (0: `ack_within`); status and body of the answer.

        Raises what aiohttp raises.
        """
        stamp = str(int(self.now()))
        base = b"v0:" + stamp.encode() + b":" + body
        digest = hmac.new(self.signing_secret.encode(), base, hashlib.sha256).hexdigest()
        signed = {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}
        if self._session is None:
            self._session = aiohttp.ClientSession()
        timeout = aiohttp.ClientTimeout(total=within or self.ack_within)
        url = self.base_url + self.path
        async with self._session.post(
            url, data=body, headers=signed | headers, timeout=timeout, allow_redirects=False
        ) as response:
            self.statuses.append(response.status)
            return response.status, await response.text()

    async def verify(self) -> None:
        """Send the verification of a new address in Slack's settings. Raises RuntimeError."""
        challenge = uuid.uuid4().hex
        body = json.dumps({"type": "url_verification", "token": "x", "challenge": challenge})
        headers = {"Content-Type": "application/json"}
        within = max(self.ack_within, VERIFY_SECONDS)
        status, text = await self.post(body.encode(), headers, within)
        if status != 200 or challenge not in text:
            raise RuntimeError(f"the address did not answer the challenge: {status} {text[:200]}")

    async def stop(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


def encoded(kind: Kind, payload: dict[str, object]) -> tuple[bytes, str]:
    """The body of a request, and its content type."""
    if kind == "events_api":
        return json.dumps(payload).encode(), "application/json"
    form = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
    return urlencode(form).encode(), "application/x-www-form-urlencoded"
