"""That the message was read and an answer is being written, shown while a turn runs."""

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
        if connected.typing is not None or connected.read_marks is not None:
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

    async def _show(self) -> None:
        connected, place = self._exchange.connected, self._exchange.place
        message_id = self._exchange.last.id
        try:
            if connected.read_marks is not None:
                await connected.read_marks.mark_read(place, message_id)
            if connected.typing is None:
                return
            await self._clock.sleep(FIRST_AFTER)
            for _ in range(MAX_SIGNS):
                await connected.typing.typing(place, message_id)
                await self._clock.sleep(AGAIN_AFTER)
        except DeliveryError as error:
            log.debug("presence_failed", platform=place.platform, error=str(error))
        except Exception:
            log.exception("presence_failed", platform=place.platform)
