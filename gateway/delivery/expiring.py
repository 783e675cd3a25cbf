"""Buttons that nobody answers any more go by themselves.

What was sent with such buttons is remembered in this process alone, where the account is connected:
after a restart they stay until somebody presses them, and go then.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count
from typing import Final

from gateway.message import Outbound, Receipt
from gateway.ports import Clock
from gateway.stores import Outbox

MAX_SHOWN: Final = 10_000
"""Messages with such buttons that are remembered; of more, those that are over first are left."""
AT_ONCE: Final = 50
EVERY: Final = 30.0
"""Seconds between two looks."""


class ExpiringButtons:
    """Remembers what is shown with buttons for a time, and takes them away when it is over."""

    def __init__(
        self, outbox: Outbox, submit: Callable[[Sequence[Outbound]], None], clock: Clock
    ) -> None:
        self._outbox = outbox
        self._submit = submit
        self._clock = clock
        self._shown: list[tuple[datetime, int, Outbound]] = []
        self._numbers = count()

    def shown(self, outbound: Outbound, receipt: Receipt) -> None:
        """A message with buttons stands there, if it is one."""
        until = outbound.buttons_until
        if until is None or not outbound.buttons or not receipt.message_id:
            return
        if len(self._shown) >= MAX_SHOWN:
            heapq.heappop(self._shown)
        clearing = replace(cleared(f"{outbound.key}:over", outbound), clears=receipt.message_id)
        heapq.heappush(self._shown, (until, next(self._numbers), clearing))

    async def step(self) -> int:
        """Take away some of what is over; how many, 0 in the end. Raises `StoreUnavailable`."""
        due: list[Outbound] = []
        now = self._clock.now()
        while self._shown and self._shown[0][0] <= now and len(due) < AT_ONCE:
            due.append(heapq.heappop(self._shown)[2])
        if due:
            await self._outbox.add(due)
            self._submit(due)
        return len(due)


def cleared(key: str, outbound: Outbound) -> Outbound:
    """The send that takes the buttons of an earlier one away."""
    return replace(
        outbound,
        key=f"{key}:0",
        file=None,
        buttons=(),
        buttons_until=None,
        reply_to_id="",
        replaces="",
    )
