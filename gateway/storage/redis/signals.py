"""Signals that reach every worker at once: `/stop`.

A signal is not kept: whoever is cut off from Redis at that moment does not hear it, and the turn
that was to be stopped goes on to its end.
"""

import asyncio
from collections.abc import Callable

import structlog

from gateway.errors import StoreUnavailable
from gateway.storage.redis.client import LONGEST_WAIT, RedisClient, next_message
from gateway.storage.redis.feed import FIRST_PAUSE, LONGEST_PAUSE
from gateway.storage.redis.keys import Keys

log = structlog.get_logger(__name__)


class RedisSignals:
    """Sends and hears signals."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client
        self._channel = Keys(client).stop
        self.listening = asyncio.Event()

    async def publish_stop(self, lane: str) -> int:
        """Ask for the turn that runs in a lane to end; returns how many processes heard it."""
        return int(await self._client.command("PUBLISH", self._channel, lane))

    async def listen(self, on_stop: Callable[[str], object]) -> None:
        """Call `on_stop(lane)` for every signal until cancelled; outlives Redis being gone.
        `listening` is set while signals are heard."""
        pause = FIRST_PAUSE
        while True:
            try:
                async with self._client.subscription(self._channel) as subscription:
                    self.listening.set()
                    pause = FIRST_PAUSE
                    while True:
                        lane = await next_message(subscription, LONGEST_WAIT)
                        if lane is not None:
                            _tell(on_stop, lane.decode())
            except StoreUnavailable as error:
                log.warning("signals_not_heard", error=str(error))
            finally:
                self.listening.clear()
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


def _tell(on_stop: Callable[[str], object], lane: str) -> None:
    try:
        on_stop(lane)
    except Exception:  # a listener must hear the next signal whatever became of this one
        log.exception("signal_failed")
