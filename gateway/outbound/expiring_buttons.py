"""Removes buttons whose question has expired.

Shown buttons are remembered in this process only, where the account is connected: after a restart
they stay until a person presses them.
"""

import heapq
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import count
from typing import Final

from gateway.immutable import replace
from gateway.message import Outbound, Receipt
from gateway.ports import Clock
from gateway.ports.queues import Outbox

MAX_SHOWN: Final = 10_000
"""Messages with buttons that are remembered; of more, the earliest to expire are dropped."""
AT_ONCE: Final = 50
EVERY: Final = 30.0
"""Seconds between two runs."""


class ExpiringButtons:
    """Remembers shown buttons with an expiry, and removes them when they expire."""

    def __init__(
        self, outbox: Outbox, submit: Callable[[Sequence[Outbound]], None], clock: Clock
    ) -> None:
        self._outbox = outbox
        self._submit = submit
        self._clock = clock
        self._shown: list[tuple[datetime, int, Outbound]] = []
        self._named: dict[tuple[str, str, str, str], Outbound] = {}
        self._numbers = count()

    def remember(self, outbound: Outbound, receipt: Receipt) -> None:
        """Remember a sent message, if it has buttons that expire."""
        until = outbound.buttons_until
        if until is None or not outbound.buttons or not receipt.message_id:
            return
        if len(self._shown) >= MAX_SHOWN:
            self._named.pop(_name(heapq.heappop(self._shown)[2]), None)
        clearing = replace(cleared(f"{outbound.key}:over", outbound), clears=receipt.message_id)
        self._named[_name(clearing)] = clearing
        heapq.heappush(self._shown, (until, next(self._numbers), clearing))

    def forget_removed(self, outbound: Outbound) -> None:
        """Forget buttons that this send has already removed."""
        self._named.pop(_name(outbound), None)

    def forget_person(self, person: str) -> None:
        """Forget everything that was shown to this person (a `str(PersonId)`)."""
        self._named = {key: one for key, one in self._named.items() if one.person != person}
        self._shown = [one for one in self._shown if one[2].person != person]
        heapq.heapify(self._shown)

    async def remove_expired(self) -> int:
        """Remove some expired buttons; returns how many, 0 at the end. Raises
        `StoreUnavailable`."""
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
    """Return the send that removes the buttons of an earlier one."""
    return replace(
        outbound,
        key=f"{key}:0",
        file=None,
        buttons=(),
        buttons_until=None,
        reply_to_id="",
        replaces="",
    )
