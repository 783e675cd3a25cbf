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
from gateway.ports.stores import Outbox

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
        self._named: dict[tuple[str, str, str, str], Outbound] = {}
        self._numbers = count()

    def shown(self, outbound: Outbound, receipt: Receipt) -> None:
        """A message with buttons stands there, if it is one."""
        until = outbound.buttons_until
        if until is None or not outbound.buttons or not receipt.message_id:
            return
        if len(self._shown) >= MAX_SHOWN:
            self._named.pop(_name(heapq.heappop(self._shown)[2]), None)
        clearing = replace(cleared(f"{outbound.key}:over", outbound), clears=receipt.message_id)
        self._named[_name(clearing)] = clearing
        heapq.heappush(self._shown, (until, next(self._numbers), clearing))

    def gone(self, outbound: Outbound) -> None:
        """Buttons were taken away already: those that this send `clears`."""
        self._named.pop(_name(outbound), None)

    def forget(self, person: str) -> None:
        """Remember nothing of what was shown to this person (a `str(PersonId)`)."""
        self._named = {key: one for key, one in self._named.items() if one.person != person}
        self._shown = [one for one in self._shown if one[2].person != person]
        heapq.heapify(self._shown)

    async def step(self) -> int:
        """Take away some of what is over; how many, 0 in the end. Raises `StoreUnavailable`."""
        due: list[Outbound] = []
        now = self._clock.now()
        while self._shown and self._shown[0][0] <= now and len(due) < AT_ONCE:
            clearing = self._named.pop(_name(heapq.heappop(self._shown)[2]), None)
            if clearing is not None:
                due.append(clearing)
        if due:
            await self._outbox.add(due)
            self._submit(due)
        return len(due)


def _name(clearing: Outbound) -> tuple[str, str, str, str]:
    place = clearing.place
    return place.platform, place.account, place.channel_id, clearing.clears


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
