"""That the message was read and an answer is being written, shown while a turn runs: first a sign,
then, where the platform can, the answer itself as it grows."""

import asyncio
from types import TracebackType
from typing import Self

import structlog

from gateway.errors import DeliveryError
from gateway.exchange import Exchange
from gateway.services import Services

FIRST_AFTER = 0.3
"""Seconds: an answer that is ready sooner needs no sign, which would cost a request."""
AGAIN_AFTER = 4.5
"""Seconds: Telegram shows typing for 5, Discord for 10, WhatsApp for 25."""
MAX_SIGNS = 60

log = structlog.get_logger(__name__)


class Presence:
    """While entered, shows signs of life; none of them may fail the turn."""

    def __init__(self, exchange: Exchange, services: Services) -> None:
        self._exchange = exchange
        self._clock = services.clock
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        connected = self._exchange.connected
        shows = (connected.typing, connected.read_marks, self._exchange.live)
        if any(one is not None for one in shows):
            self._task = asyncio.create_task(self._show())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._task.cancel()
        if self._exchange.live is not None:
            await self._exchange.live.close()

    async def _show(self) -> None:
        connected, place = self._exchange.connected, self._exchange.place
        message_id, live = self._exchange.last.id, self._exchange.live
        try:
            if connected.read_marks is not None:
                await connected.read_marks.mark_read(place, message_id)
            await self._clock.sleep(FIRST_AFTER)
            if live is not None:
                live.begin()
            if connected.typing is None:
                return
            for _ in range(MAX_SIGNS):
                if live is None or not live.visible:
                    await connected.typing.typing(place, message_id)
                await self._clock.sleep(AGAIN_AFTER)
        except DeliveryError as error:
            log.debug("presence_failed", platform=place.platform, error=str(error))
        except Exception:
            log.exception("presence_failed", platform=place.platform)
