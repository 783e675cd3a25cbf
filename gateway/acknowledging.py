"""A reaction under the message that is being answered, there for as long as that takes."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

import structlog

from gateway.background_tasks import BackgroundTasks
from gateway.errors import DeliveryError
from gateway.message import Place
from gateway.ports import AlarmClock, CanReact

AFTER: Final = 1.0
"""Seconds: an answer that is ready sooner needs no sign, which would cost two requests."""
LONGEST: Final = 600.0
"""Seconds after which it goes in any case; no turn takes as long."""

log = structlog.get_logger(__name__)


class Acknowledgement:
    """One sign, from `begin` to `end`; neither waits for the platform, and neither fails.

    `refused`: the platform wants nothing for this chat at the moment.
    """

    def __init__(
        self,
        reactions: CanReact,
        clock: AlarmClock,
        tasks: BackgroundTasks,
        *,
        place: Place,
        message_id: str,
        emoji: str,
        refused: Callable[[], bool],
    ) -> None:
        self._reactions = reactions
        self._clock = clock
        self._tasks = tasks
        self._place = place
        self._message_id = message_id
        self._emoji = emoji
        self._refused = refused
        self._over = asyncio.Event()
        self._not_yet: Callable[[], object] | None = None

    def begin(self) -> None:
        """Show it in a while, unless the work is over by then."""
        self._not_yet = self._clock.after(AFTER, partial(self._tasks.begin, self._show))

    def end(self) -> None:
        """Take it away, or leave it where it was not shown yet."""
        if self._not_yet is not None:
            self._not_yet()
        self._over.set()

    async def _show(self) -> None:
        if self._refused():
            return
        try:
            await self._reactions.react(self._place, self._message_id, self._emoji)
            try:
                async with asyncio.timeout(LONGEST):
                    await self._over.wait()
            finally:
                await self._reactions.unreact(self._place, self._message_id, self._emoji)
        except (DeliveryError, TimeoutError) as error:
            log.debug("acknowledgement_failed", platform=self._place.platform, error=str(error))
