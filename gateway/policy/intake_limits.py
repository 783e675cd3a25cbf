"""Limits on how many events of one sender are stored. The state is in this process's memory.

Rate limits decide what is answered; these limits decide what is written to the inbox. Both the rows
of one sender and the number of remembered senders are bounded.
"""

from collections import OrderedDict
from typing import Final

from gateway.policy.rate_limits import Bucket, BucketRule, take

MAX_SENDERS: Final = 10_000
LEAST: Final = 20
"""The smallest burst of stored events of one sender; as many as one turn collects."""
LEAST_PER_MINUTE: Final = 10
TIMES: Final = 2
"""Stored events per minute, as a multiple of the answered messages per minute."""
EDITS: Final = 10
"""Edits and button presses, as a multiple of new messages: a lost edit would leave the old text."""
TOLD_PER_MINUTE: Final = 4
"""Refusals of one sender that are logged per minute."""


class IntakeLimits:
    """Token buckets for the events of each sender. `per_minute` is the rate of answers to one
    person; 0 means no limit."""

    def __init__(self, per_minute: int) -> None:
        self._rate = max(LEAST_PER_MINUTE, TIMES * per_minute) if per_minute else 0
        self._burst = max(LEAST, 2 * self._rate)
        self._held: OrderedDict[tuple[str, str], Bucket] = OrderedDict()

    def stored(self, sender: str, now: float, *, edit: bool = False) -> bool:
        """Return True if one more event of this sender may be stored at `now` (monotonic
        seconds)."""
        if not self._rate:
            return True
        times = EDITS if edit else 1
        kind = "edit" if edit else "new"
        return self._take(kind, sender, now, self._burst * times, self._rate * times)

    def asked_inline(self, sender: str, now: float, per_minute: int) -> bool:
        """Return True if one more inline query of this sender is processed."""
        return self._take("inline", sender, now, per_minute, per_minute)

    def told(self, sender: str, now: float) -> bool:
        """Return True if one more refusal of this sender is logged."""
        return self._take("told", sender, now, TOLD_PER_MINUTE, TOLD_PER_MINUTE)

    def _take(self, kind: str, sender: str, now: float, most: int, per_minute: int) -> bool:
        key = (kind, sender)
        held = self._held.get(key)
        # A bucket is full again after a minute; scaling the time allows larger bursts.
        rule, scale = BucketRule("user", sender, most), per_minute / most
        taken = take((rule,), (held,), now * scale)
        self._held[key] = taken.buckets[0]
        self._held.move_to_end(key)
        while len(self._held) > MAX_SENDERS:
            self._held.popitem(last=False)
        return taken.allowed
