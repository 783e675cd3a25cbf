"""Traces: the decisions about every message."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias
from zlib import crc32

from msgspec import Struct

from gateway.policy.decision import Decision

NO_CONVERSATION: Final = '["", "", "", "", "", ""]'
"""The conversation of a trace without one, because its person was erased."""
GAVE_UP: Final = "gave_up"
"""The outcome of a message that repeatedly crashed processes."""
FAILED: Final = (
    *("failed", GAVE_UP, "unavailable", "broken", "too_long", "refused"),
    *("empty", "reasoning"),
)
"""Outcomes of messages without an answer, for a reason that is not the person's."""
RING_SENDERS: Final = 256
RING_EACH: Final = 4
"""Traces of refusals that are kept per sender; in total `RING_SENDERS` times as many."""


class CallFigures(NamedTuple):
    """The tokens of one model call, and its cost in millionths of a dollar (0 without a price)."""

    input_tokens: int
    """Tokens of the prompt outside of the cache."""
    output_tokens: int
    """Tokens of the answer."""
    cache_read_tokens: int
    """Tokens that were read from the cache."""
    cache_write_tokens: int
    """Tokens that were written to the cache."""
    micros: int
    """The cost in millionths of a dollar; 0 without a price."""


Duration: TypeAlias = (
    tuple[str, str, int, int, str] | tuple[str, str, int, int, str, tuple[int, ...]]
)
"""The duration of a stage ("stage", its name), of a model call ("model", the model's name), or of
the time in the queue ("queue", "waited"); then the time from the start of the turn, negative before
it, and the duration, both in microseconds; a reason code, for a failed model call with its status
and kind behind it; and for an answered one the fields of `CallFigures`. A plain tuple: twenty of
them are written for every message, and a class takes five times as long."""


@dataclass(frozen=True, slots=True)
class Trace:
    """All decisions about one message, and the duration in milliseconds. `durations` are in the
    order in which they ended; the stage that stores the trace is not among them. `audience` is the
    `Audience` of the place, empty where it is unknown.

    A refusal has a `slot` in a ring, see `ring_slot`: its trace replaces the earlier one in that
    slot.
    """

    id: str
    """The id of the turn."""
    message_id: str
    """The platform's id of the message; empty for an event without one."""
    platform: str
    """The platform's name, in lower case."""
    account: str
    """The account of this bot."""
    conversation: str
    """The `str(ConversationKey)`, or `NO_CONVERSATION`."""
    kind: str
    """The kind of the event."""
    at: datetime
    """The start of the attempt to answer, in UTC."""
    decisions: tuple[Decision, ...]
    outcome: str
    """The outcome: "answered", "refused:" and a reason, one of `FAILED`, and others."""
    milliseconds: float
    slot: int | None = field(default=None, compare=False)
    durations: tuple[Duration, ...] = ()
    audience: str = ""


class HandledMessages(Struct, frozen=True):
    """Messages whose handling began in one hour and ended alike."""

    hour: int
    """The hour, from 0 for the first one of the period."""
    outcome: str
    """The outcome of their traces."""
    number: int
    took: tuple[int, ...]
    """The number of answers by their duration, between the bounds of `LATENCIES`."""


def ring_slot(sender: str, trace_id: str) -> int:
    """Return the slot of a refusal's trace; the same trace always has the same slot."""
    mine = crc32(sender.encode("utf-8", "replace")) % RING_SENDERS
    return mine * RING_EACH + crc32(trace_id.encode("utf-8", "replace")) % RING_EACH
