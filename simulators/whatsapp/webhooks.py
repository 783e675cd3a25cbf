"""Meta's side of the webhook: the handshake, signed deliveries, and their repetition.

A delivery that is not answered with 200 comes again, after growing pauses; Meta goes on for days,
here the pauses are a setting. First attempts go out one after another, repetitions in between.
"""

import asyncio
import contextlib
import hashlib
import hmac
import json
import secrets
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import aiohttp

from simulators.base import ChangeSignal

PAUSES: Final = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
MAX_WAITING: Final = 10_000
_NO_ANSWER: Final = 0


class Unsigned:
    """Asks `deliver` to leave the signature out."""


UNSIGNED: Final = Unsigned()


@dataclass(frozen=True, slots=True)
class Delivery:
    """One attempt and its outcome; `status` 0 when no answer came, `reached` False when nobody
    listened. `began` and `ended` are the loop's time in seconds."""

    payload: Mapping[str, object]
    status: int
    attempt: int
    began: float
    ended: float
    reached: bool


class WebhookCaller:
    """Posts payloads to one callback URL."""

    def __init__(
        self, app_secret: str, verify_token: str, path: str, pauses: Sequence[float] = PAUSES
    ) -> None:
        self._app_secret = app_secret
        self._verify_token = verify_token
        self._path = path
        self._pauses = tuple(pauses)
        self._url = ""
        self._session: aiohttp.ClientSession | None = None
        self._queue: asyncio.Queue[Mapping[str, object]] = asyncio.Queue(MAX_WAITING)
        self._worker: asyncio.Task[None] | None = None
        self._repeats: set[asyncio.Task[None]] = set()
        self._under_way = False
        self.changed = ChangeSignal()
        self.deliveries: deque[Delivery] = deque(maxlen=20_000)
        self.given_up: deque[Mapping[str, object]] = deque(maxlen=1_000)

    def attach(self, base_url: str) -> None:
        """From now on deliver to this listener; what waits goes out."""
        self._url = base_url.rstrip("/") + self._path
        if self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._work())
        self.changed.notify()

    @property
    def attached(self) -> bool:
        """True once the callback URL is known."""
        return bool(self._url)

    def enqueue(self, payload: Mapping[str, object]) -> None:
        """Deliver soon. Raises `asyncio.QueueFull` when too much waits."""
        self._queue.put_nowait(payload)

    @property
    def idle(self) -> bool:
        """True when nothing waits for its first attempt and nothing is to be repeated."""
        return self._queue.empty() and not self._under_way and not self._repeats

    async def handshake(self, verify_token: str | None = None) -> bool:
        """Meta's check of the callback URL: true when the challenge came back."""
        challenge = str(secrets.randbelow(10**10))
        query = {
            "hub.mode": "subscribe",
            "hub.challenge": challenge,
            "hub.verify_token": self._verify_token if verify_token is None else verify_token,
        }
        try:
            async with self._client().get(self._url, params=query) as answer:
                return answer.status == 200 and await answer.text() == challenge
        except (aiohttp.ClientError, TimeoutError):
            return False

    async def answering(self) -> None:
        """Return once a handshake succeeds; the caller sets the time limit."""
        answered = await self.handshake()
        while not answered:
            await asyncio.sleep(0.02)
            answered = await self.handshake()

    async def deliver(
        self, payload: Mapping[str, object], signature: str | Unsigned | None = None
    ) -> int:
        """Post once and return the status, 0 when there was no answer.

        `signature` None signs as Meta does, `UNSIGNED` leaves the header out, a text is sent as is.
        """
        status, _ = await self._post(payload, signature)
        return status

    async def _post(
        self, payload: Mapping[str, object], signature: str | Unsigned | None
    ) -> tuple[int, bool]:
        """The status, and whether there was anybody to give one."""
        # Meta escapes slashes and everything beyond ASCII: only the raw body has this signature.
        body = json.dumps(payload).replace("/", "\\/").encode()
        headers = {"Content-Type": "application/json", "User-Agent": "facebookexternalua"}
        if signature is None:
            signature = "sha256=" + self.sign(body)
        if isinstance(signature, str):
            headers["X-Hub-Signature-256"] = signature
        try:
            async with self._client().post(self._url, data=body, headers=headers) as answer:
                await answer.read()
                return answer.status, True
        except aiohttp.ClientConnectorError:
            return _NO_ANSWER, False
        except (aiohttp.ClientError, TimeoutError):
            return _NO_ANSWER, True

    def sign(self, body: bytes) -> str:
        """The hexadecimal HMAC-SHA256 of a body under the app secret."""
        return hmac.new(self._app_secret.encode(), body, hashlib.sha256).hexdigest()

    async def cut(self) -> None:
        """Close every open connection."""
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    async def stop(self) -> None:
        """Stop delivering."""
        tasks = [*self._repeats, *([self._worker] if self._worker else [])]
        self._worker = None
        for task in tasks:
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self.cut()

    async def _work(self) -> None:
        while True:
            payload = await self._queue.get()
            self._under_way = True
            if not await self._attempt(payload, 1):
                task = asyncio.get_running_loop().create_task(self._repeat(payload))
                self._repeats.add(task)
                task.add_done_callback(self._repeated)
            self._under_way = False
            self.changed.notify()

    async def _repeat(self, payload: Mapping[str, object]) -> None:
        for attempt, pause in enumerate(self._pauses, start=2):
            await asyncio.sleep(pause)
            if await self._attempt(payload, attempt):
                return
        self.given_up.append(payload)

    def _repeated(self, task: asyncio.Task[None]) -> None:
        self._repeats.discard(task)
        self.changed.notify()

    async def _attempt(self, payload: Mapping[str, object], attempt: int) -> bool:
        clock = asyncio.get_running_loop().time
        began = clock()
        status, reached = await self._post(payload, None)
        self.deliveries.append(Delivery(payload, status, attempt, began, clock(), reached))
        self.changed.notify()
        return status == 200

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20))
        return self._session
