"""That the message was read and an answer is being written, shown while a turn runs: first a sign,
then, where the platform can, the answer itself as it grows."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import Self

import structlog

from gateway.acknowledging import Acknowledgement
from gateway.errors import DeliveryError
from gateway.exchange import Exchange
from gateway.ports import CanMarkRead
from gateway.services import Services

FIRST_AFTER = 0.3
"""Seconds: an answer that is ready sooner needs no sign, which would cost a request."""
AGAIN_AFTER = 4.5
"""Seconds: Telegram shows typing for 5, Discord for 10, WhatsApp for 25."""
MAX_SIGNS = 60

Signs = Callable[[], Awaitable[None]]

log = structlog.get_logger(__name__)


class ProgressIndicator:
    """While entered, shows signs of life; none of them may fail the turn."""

    def __init__(self, exchange: Exchange, services: Services) -> None:
        self._exchange = exchange
        self._clock = services.clock
        self._deliverer = services.deliverer
        self._tasks: list[asyncio.Task[None]] = []
        self._not_yet: Callable[[], object] | None = None
        self._acknowledgement = _acknowledgement(exchange, services, self._refused)

    async def __aenter__(self) -> Self:
        connected = self._exchange.connected
        if connected.read_marks is not None:
            self._begin(partial(self._mark, connected.read_marks))
        if connected.typing is not None or self._exchange.live is not None:
            # No task before it is due: most answers come sooner.
            self._not_yet = self._clock.after(FIRST_AFTER, partial(self._begin, self._show))
        if self._acknowledgement is not None:
            self._acknowledgement.begin()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._not_yet is not None:
            self._not_yet()
        for task in self._tasks:
            task.cancel()
        if self._acknowledgement is not None:
            self._acknowledgement.end()
        if self._exchange.live is not None:
            await self._exchange.live.close()

    def _begin(self, signs: Signs) -> None:
        self._tasks.append(asyncio.create_task(self._unfailing(signs)))

    async def _mark(self, marks: CanMarkRead) -> None:
        await marks.mark_read(self._exchange.place, self._exchange.last.id)

    async def _show(self) -> None:
        typing, place = self._exchange.connected.typing, self._exchange.place
        message_id, live = self._exchange.last.id, self._exchange.live
        if live is not None:
            live.begin()
        if typing is None:
            return
        for _ in range(MAX_SIGNS):
            if not (self._refused() or (live is not None and live.visible)):
                await typing.typing(place, message_id)
            await self._clock.sleep(AGAIN_AFTER)

    def _refused(self) -> bool:
        """Whether the platform wants nothing for this chat at the moment, signs included."""
        line = self._deliverer.sender_for(self._exchange.place)
        return line is not None and line.pacer.penalised(self._exchange.place)

    async def _unfailing(self, signs: Signs) -> None:
        platform = self._exchange.place.platform
        try:
            await signs()
        except DeliveryError as error:
            log.debug("presence_failed", platform=platform, error=str(error))
        except Exception:
            log.exception("presence_failed", platform=platform)


def _acknowledgement(
    exchange: Exchange, services: Services, refused: Callable[[], bool]
) -> Acknowledgement | None:
    """The reaction under what is answered; None where nobody wants one, or it is no message."""
    emoji, reactions = services.policies.acknowledge, exchange.connected.reactions
    if not emoji or reactions is None or exchange.kind not in ("message", "edit"):
        return None
    return Acknowledgement(
        reactions,
        services.clock,
        services.signs,
        place=exchange.last.place,
        message_id=exchange.last.id,
        emoji=emoji,
        refused=refused,
    )
