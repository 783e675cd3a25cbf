"""Delivery to a webhook: one update of a chat at a time, again until the answer is 2xx."""

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from simulators.telegram.updates import UpdateQueue, Waiting

MAX_ATTEMPTS: Final = 50
MAX_DELAY: Final = 5.0


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """The arguments of setWebhook."""

    url: str
    secret: str = ""
    max_connections: int = 40


class WebhookSender:
    """Posts updates to the gateway while a webhook is set.

    The host of the registered URL belongs to the outside world; `base_url` is where its path is
    really served here.
    """

    def __init__(self, queue: UpdateQueue, retry_delay: float) -> None:
        self._queue = queue
        self._retry_delay = retry_delay
        self._lanes: dict[int, deque[Waiting]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._session: aiohttp.ClientSession | None = None
        self._room = asyncio.Semaphore(40)
        self.settings: WebhookSettings | None = None
        self.base_url = ""
        self.last_error = ""
        self.posted = 0

    def configure(self, settings: WebhookSettings | None) -> None:
        """Set or delete the webhook; what waits goes out now."""
        self.settings = settings
        if settings is None:
            for task in self._tasks:
                task.cancel()
            self._lanes.clear()
            return
        self._room = asyncio.Semaphore(settings.max_connections)
        self.kick()

    def kick(self) -> None:
        """Begin with everything that waits and is not on its way."""
        if self.settings is None or not self.base_url:
            return
        moving = {update.id for lane in self._lanes.values() for update in lane}
        for update in list(self._queue.waiting):
            if update.id not in moving:
                self.deliver(update)

    def deliver(self, update: Waiting) -> None:
        """Put an update behind the others of its chat."""
        if self.settings is None or not self.base_url:
            return
        lane = self._lanes.get(update.lane)
        if lane is not None:
            lane.append(update)
            return
        self._lanes[update.lane] = deque((update,))
        task = asyncio.get_running_loop().create_task(self._run(update.lane))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, lane: int) -> None:
        waiting = self._lanes[lane]
        try:
            while waiting:
                async with self._room:
                    await self._post(waiting[0])
                self._queue.forget(waiting[0])
                waiting.popleft()
        finally:
            if self._lanes.get(lane) is waiting:
                del self._lanes[lane]

    async def _post(self, update: Waiting) -> None:
        delay = self._retry_delay
        for _ in range(MAX_ATTEMPTS):
            if self.settings is None:
                return
            try:
                async with self._client().post(
                    self.base_url + urlsplit(self.settings.url).path,
                    data=update.text.encode(),
                    headers=self._headers(self.settings),
                ) as answer:
                    self.posted += 1
                    if answer.ok:
                        return
                    self.last_error = f"Wrong response from the webhook: {answer.status}"
            except (aiohttp.ClientError, TimeoutError) as problem:
                self.last_error = f"Connection failed: {type(problem).__name__}"
            await asyncio.sleep(delay)
            delay = min(delay * 2, MAX_DELAY)

    def _headers(self, settings: WebhookSettings) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        if settings.secret:
            headers["X-Telegram-Bot-Api-Secret-Token"] = settings.secret
        return headers

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            timeout = aiohttp.ClientTimeout(total=20)
            self._session = aiohttp.ClientSession(timeout=timeout, trust_env=False)
        return self._session

    async def drop_connections(self) -> None:
        """Close every connection to the webhook."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def stop(self) -> None:
        """End all deliveries."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.drop_connections()
