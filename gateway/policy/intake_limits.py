"""How many events of one sender are stored at all, in this process's memory.

Limits decide what is answered; this decides what leaves a row. Both are bounded: a sender who sends
more than several times the limit leaves no more rows than this, and the senders that are known are
at most `MAX_SENDERS`, the one seen least recently forgotten first.
"""

from collections import OrderedDict
from typing import Final

from gateway.policy.rate_limits import Bucket, BucketRule, take

MAX_SENDERS: Final = 10_000
LEAST: Final = 20
"""Events at once, and at least, from a sender: what becomes one turn (`gateway/lanes.py`)."""
LEAST_PER_MINUTE: Final = 10
TIMES: Final = 2
"""Events a minute that are stored, as a multiple of the messages a minute that are answered."""
EDITS: Final = 10
"""Edits and presses, as a multiple of new messages: a lost edit would leave the old words."""
TOLD_PER_MINUTE: Final = 4
"""Refusals of one sender a minute that are written down."""


class IntakeLimits:
    """Counts the events of each sender. `per_minute`: answers to one person; 0 is no limit."""

    def __init__(self, per_minute: int) -> None:
        self._rate = max(LEAST_PER_MINUTE, TIMES * per_minute) if per_minute else 0
        self._burst = max(LEAST, 2 * self._rate)
        self._held: OrderedDict[tuple[str, str], Bucket] = OrderedDict()

    def stored(self, sender: str, now: float, *, edit: bool = False) -> bool:
        """Whether one more event of this sender is stored at `now` (monotonic seconds)."""
        if not self._rate:
            return True
        times = EDITS if edit else 1
        kind = "edit" if edit else "new"
        return self._take(kind, sender, now, self._burst * times, self._rate * times)

    def asked_inline(self, sender: str, now: float, per_minute: int) -> bool:
        """Whether one more inline query of this sender is looked at."""
        return self._take("inline", sender, now, per_minute, per_minute)

    def told(self, sender: str, now: float) -> bool:
        """Whether one more refusal of this sender is written down."""
        return self._take("told", sender, now, TOLD_PER_MINUTE, TOLD_PER_MINUTE)

    def _take(self, kind: str, sender: str, now: float, most: int, per_minute: int) -> bool:
        key = (kind, sender)
        held = self._held.get(key)
        # A bucket regains what it holds within a minute: it is scaled to hold more than that.
        rule, scale = BucketRule("user", sender, most), per_minute / most
        taken = take((rule,), (held,), now * scale)
        self._held[key] = taken.buckets[0]
        self._held.move_to_end(key)
        while len(self._held) > MAX_SENDERS:
            self._held.popitem(last=False)
        return taken.allowed
