"""Losses of the hot state: it came back without a part of what was written to it."""

from datetime import datetime, timedelta
from typing import Final, Literal

from msgspec import Struct

LossKind = Literal["empty", "replaced", "older", "restored", "database", "evicted"]
"""The hot state was empty; was another one; was an earlier state of itself; was restored together
with the database; the database was older than the hot state; or the hot state lost single keys."""

KEEP_LOSSES: Final = timedelta(days=30)
"""As long as traces are kept, which a loss explains."""
SHOWN_FOR: Final = timedelta(hours=24)
"""The time for which a loss needs the attention of an operator."""
REPEATABLE_FOR: Final = timedelta(days=8)
"""The time for which an event from before a loss may come again; platforms send for 7 days."""

STEPS: Final[dict[LossKind, str]] = {
    "empty": (
        "Redis lost its data. Answers that running processes hold are sent. Messages and answers"
        " that waited in Redis alone are lost: ask the people to write again. Set appendonly yes"
        " and maxmemory-policy noeviction"
    ),
    "replaced": (
        "Redis is another one than before: its data belongs to an earlier installation. If"
        " storage.url is wrong, correct it and restart; otherwise messages and answers that waited"
        " in the other Redis stay there"
    ),
    "older": (
        "Redis returned to an earlier state: a copy, or a replica that was behind. Answers that may"
        " come twice have a note above them. Messages of the missing time may be lost"
    ),
    "restored": (
        "The data was restored from a copy. Answers that may come twice have a note above them."
        " Messages that arrived after the copy are not answered"
    ),
    "database": (
        "The database is older than Redis: it was restored from a copy, or database.url is another"
        " one. Conversations after the copy are missing; no answer is sent twice"
    ),
    "evicted": (
        "The memory of Redis was full, and it deleted keys. Messages, answers and the ids that show"
        " repetitions may be among them. Set maxmemory-policy noeviction, and give Redis more"
        " memory or a server of its own"
    ),
}
"""The sentence and the next step for each kind of loss."""
LOST_WITHIN: Final = timedelta(hours=24)
"""The age at the loss from which on an answer was sent, or given up, before it."""
COUNTED_WITHIN: Final = timedelta(seconds=30)
"""The time before the last sight of the earlier state in which a send may not be counted."""
UNSENT: Final = (
    "delivery unknown: data was lost at {at}, and no receipt of this answer is left. It may not"
    " have been sent. Look into the chat, and answer again if it is missing."
)


class DataLoss(Struct, frozen=True):
    """A loss. `at` is when it was noticed, `since` when the earlier state was last seen (None if
    unknown); `events` and `sends` waited at that moment, by the last count."""

    id: str
    """The id of the loss, unique."""
    kind: LossKind
    """The kind of loss, see `LossKind`."""
    at: datetime
    since: datetime | None = None
    events: int = 0
    sends: int = 0

    @property
    def sentence(self) -> str:
        """The loss, its time, and the next step, for people."""
        waited = (
            f" By the last count before, {self.events:,} messages and {self.sends:,} sends waited."
            if self.events or self.sends
            else ""
        )
        seen = f", last seen before at {_time(self.since)}" if self.since else ""
        return f"{STEPS[self.kind]} (noticed at {_time(self.at)}{seen}).{waited}"

    def may_concern(self, answered_at: datetime) -> bool:
        """Return True if an answer of this time may have been lost before it was sent."""
        if self.kind == "database":
            return False
        begin = self.at - LOST_WITHIN
        if self.since is not None and not self.sends:
            begin = max(begin, self.since - COUNTED_WITHIN)
        return begin <= answered_at <= self.at

    @property
    def of_an_answer(self) -> str:
        """The state of an answer that the loss may concern, and the next step."""
        return UNSENT.format(at=_time(self.at))


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")
