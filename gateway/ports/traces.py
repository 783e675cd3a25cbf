"""Traces: the decisions about every message."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol, TypeAlias
from zlib import crc32

from gateway.policy.decision import Decision

NO_CONVERSATION: Final = '["", "", "", "", "", ""]'
"""The conversation of a trace without one, because its person was erased."""
RING_SENDERS: Final = 256
RING_EACH: Final = 4
"""Traces of refusals that are kept per sender; in total `RING_SENDERS` times as many."""


Duration: TypeAlias = tuple[str, str, int, int, str]
"""The duration of a stage ("stage", its name), of a model call ("model", the model's name), or of
the time in the queue ("queue", "waited"); then the time from the start of the turn, negative before
it, and the duration, both in microseconds; and a reason code. A plain tuple: twenty of them are
written for every message, and a class takes five times as long."""


@dataclass(frozen=True, slots=True)
class Trace:
    """All decisions about one message, and the duration in milliseconds. `durations` are in the
    order in which they ended; the stage that stores the trace is not among them.

    A refusal has a `slot` in a ring, see `ring_slot`: its trace replaces the earlier one in that
    slot.
    """

    id: str
    message_id: str
    platform: str
    account: str
    conversation: str
    kind: str
    at: datetime
    decisions: tuple[Decision, ...]
    outcome: str
    milliseconds: float
    slot: int | None = field(default=None, compare=False)
    durations: tuple[Duration, ...] = ()


def ring_slot(sender: str, trace_id: str) -> int:
    """Return the slot of a refusal's trace; the same trace always has the same slot."""
    mine = crc32(sender.encode("utf-8", "replace")) % RING_SENDERS
    return mine * RING_EACH + crc32(trace_id.encode("utf-8", "replace")) % RING_EACH


class Traces(Protocol):
    """The decisions about every message. Ids only, no content."""

    async def add(self, trace: Trace) -> None: ...

    async def find(self, message_id: str, limit: int = 20) -> list[Trace]:
        """Return the traces of a platform's message id, newest first."""

    async def recent(self, limit: int = 50) -> list[Trace]:
        """Return the latest traces, newest first."""

    async def recent_in(self, channel: str, limit: int) -> list[Trace]:
        """Return the latest traces of a "platform:account:channel", newest first."""

    async def recent_of(self, tenant: str, person: str, limit: int) -> list[Trace]:
        """Return the latest traces of a person (`str(PersonId)`), newest first. A trace names
        nobody: a refusal in a room belongs to no person."""

    async def ended(self, outcome: str, limit: int) -> list[Trace]:
        """Return the latest traces with this outcome, newest first; searches all that are kept."""

    async def prune(self, before: datetime, refused: datetime) -> int:
        """Delete some traces from before then, and of refusals from before `refused`; returns how
        many, 0 at the end."""
