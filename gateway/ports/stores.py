"""The stores of the gateway as small Protocols, and their rows.

Hot state (inbox, outbox, buckets, adapter state) and long-lived state (conversations, usage,
traces) are separate, because they may live in two databases. Every method raises `StoreUnavailable`
if the database does not answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple, Protocol
from zlib import crc32

from gateway.authorship import Material, text_of
from gateway.conversation import ConversationKey
from gateway.message import InboundEvent, Outbound, Place, Receipt
from gateway.policy.budgets import Account, BudgetDecision
from gateway.policy.decision import Decision
from gateway.policy.rate_limits import BucketRule, Taken
from gateway.ports import AdapterState, Usage
from gateway.ports.conversation_notes import ConversationNotes
from gateway.ports.work_guard import Owner, WorkKind
from gateway.remembering import WaitingTurn

# --- hot state ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """An accepted event that waits for its answer. `lane` is its conversation."""

    id: str
    lane: str
    event: InboundEvent
    received_at: datetime


class Inbox(Protocol):
    """Accepted events, each stored once."""

    async def add(self, entry: InboxEntry, hold: timedelta) -> bool:
        """Store an event; False if its id is known. The id is known for `hold` from now on."""

    async def unfinished(self, limit: int) -> list[InboxEntry]:
        """Return unfinished events, oldest first, to continue with after a restart."""

    async def finish(
        self, ids: Sequence[str], outbound: Sequence[Outbound], begun: str = ""
    ) -> bool:
        """Mark events as answered by these sends, both in one step. The send with the key `begun`
        is stored as begun, see `Outbox.begin`.

        False if another worker finished all of them before: nothing is queued then, and nothing may
        be sent.
        """

    async def prune(self) -> int:
        """Delete some expired events; returns how many, 0 at the end."""


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """A queued send. `seq` orders the sends; `attempts` counts the attempts that ended.

    `begun`: the last attempt may have reached the platform, because its result was not recorded or
    not told. The platform wants no further attempt before `not_before`.
    """

    seq: int
    outbound: Outbound
    attempts: int
    created_at: datetime
    begun: bool = False
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A send that was given up at `at`, with the reason."""

    entry: OutboxEntry
    reason: str
    at: datetime


class Outbox(Protocol):
    """Answers that wait to be sent. Every entry is sent, or reported as dead."""

    async def add(self, outbound: Sequence[Outbound]) -> None:
        """Queue sends; a known key is left unchanged."""

    async def waiting(self, limit: int) -> list[OutboxEntry]:
        """Return unsent entries, oldest first."""

    async def begin(self, key: str) -> None:
        """Record that an attempt starts; without a later result it is unknown if it happened."""

    async def tried(
        self, key: str, reason: str, *, unsure: bool = False, not_before: datetime | None = None
    ) -> None:
        """Record a failed attempt, or one with an unknown result (`unsure`); it is repeated, not
        before the time that the platform named."""

    async def sent(self, key: str, receipt: Receipt, stands_at: str = "") -> None:
        """Record the platform's confirmation. `stands_at` is `gateway.ports.feedback.stands_at` of
        the message."""

    async def reply_at(self, stands_at: str) -> str:
        """Return the key of the send at this address while its receipt is kept; empty if
        unknown."""

    async def dead(self, keys: Sequence[str], reason: str) -> None:
        """Give these sends up."""


class DeadLetters(Protocol):
    """Operations on sends that were given up."""

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """Return the latest, newest first."""

    async def requeue(self, keys: Sequence[str]) -> int:
        """Queue these again with a new lifetime; returns how many. A single process finds them
        within seconds; other processes are notified."""

    async def drop(self, keys: Sequence[str]) -> int:
        """Delete these with their content; returns how many."""


class OutboxReader(Protocol):
    """Reads an outbox in which other processes queue sends too."""

    async def waiting_keys(self, limit: int) -> list[str]:
        """Return the keys of unsent entries, oldest first."""

    async def entries(self, keys: Sequence[str]) -> list[OutboxEntry]:
        """Return the unsent entries among these, oldest first."""


class Buckets(Protocol):
    """Token buckets, shared by everything that limits the same person, channel or workspace."""

    async def take(self, rules: Sequence[BucketRule], now: float) -> Taken:
        """Take a token from all of them or from none, atomically."""

    async def once(self, key: str, ttl: timedelta) -> bool:
        """Return True for the first caller with this key within `ttl`."""


class AdapterStates(Protocol):
    """The durable states of all adapters."""

    def of(self, platform: str, account: str) -> AdapterState:
        """Return the state of this account."""


# --- long-lived state ---------------------------------------------------------------------------


class StoredTurn(NamedTuple):
    """One message of a stored conversation. `speaker` is a person's name, empty for the assistant.
    `text` is the writer's own, `material` is text of others that a person showed. A tuple, because
    a message reads many of them."""

    message_id: str
    role: Literal["user", "assistant"]
    text: str
    at: datetime
    person: str = ""
    speaker: str = ""
    material: tuple[Material, ...] = ()

    @property
    def whole(self) -> str:
        """Text and material together, to count tokens."""
        return f"{self.text}\n{text_of(self.material)}" if self.material else self.text


class Conversations(Protocol):
    """Messages to the assistant and its answers, by conversation."""

    async def append(self, key: ConversationKey, turns: Sequence[StoredTurn]) -> None:
        """Add the messages of one turn and their answer; a known message id is replaced."""

    async def latest(self, key: ConversationKey, limit: int) -> list[StoredTurn]:
        """Return the last turns, oldest first."""

    async def opened(
        self, key: ConversationKey, limit: int
    ) -> tuple[list[StoredTurn], ConversationNotes]:
        """Return the last turns, oldest first, with the notes of the conversation. Turns that the
        summary replaces may be missing, except the last of them."""

    async def knows(self, tenant: str, place: Place, message_ids: Sequence[str]) -> bool:
        """Return True if one of these messages is stored."""

    async def edit(self, tenant: str, place: Place, message_id: str, text: str) -> bool:
        """Replace the text of a stored message, in any conversation of the tenant's channel."""

    async def delete(self, tenant: str, place: Place, message_ids: Sequence[str]) -> int:
        """Delete these messages and the answers to them; returns the number of turns. Notes that
        derive from them are deleted too, also when a message is edited."""

    async def clear(self, key: ConversationKey) -> int:
        """Delete a whole conversation with its notes; returns the number of turns."""

    async def takes_part(self, key: ConversationKey) -> bool:
        """Return True if the assistant has written there."""

    async def prune(self, before: datetime) -> int:
        """Delete some turns from before then; returns how many, 0 at the end."""


@dataclass(frozen=True, slots=True)
class UsageRow:
    """The cost of one turn. `micros` is in millionths of a dollar."""

    tenant: str
    person: str
    workspace: str
    model: str
    usage: Usage
    micros: int
    at: datetime


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """The total cost of the calls of one model, in millionths of a dollar."""

    model: str
    calls: int
    usage: Usage
    micros: int


class UsageLedger(Protocol):
    """Tokens and money."""

    async def reserve(
        self, turn: str, accounts: Sequence[Account], estimate: int
    ) -> BudgetDecision:
        """Reserve `estimate` in every account, or in none; atomic. It replaces the turn's earlier
        reservation, which stays if the answer is no."""

    async def settle(
        self, turn: str, rows: Sequence[UsageRow], accounts: Sequence[Account]
    ) -> None:
        """Replace the reservation of an ended turn by its cost. If the turn is repeated later, both
        count."""

    async def spent(self, accounts: Sequence[Account]) -> list[int]:
        """Return settled plus reserved amounts, in the order of the accounts."""

    async def totals(
        self, tenant: str, since: datetime, persons: Sequence[str] | None
    ) -> list[UsageTotal]:
        """Return sums by model since then, most expensive first: of these people (`str(PersonId)`),
        or with None of the tenant, including the program's own calls."""

    async def prune(self, before: datetime) -> int:
        """Delete some rows from before then, and sums that started before then; returns how many, 0
        at the end. `before` is further back than the longest period."""


NO_CONVERSATION: Final = '["", "", "", "", "", ""]'
"""The conversation of a trace without one, because its person was erased."""


@dataclass(frozen=True, slots=True)
class Trace:
    """All decisions about one message, and the duration in milliseconds.

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


RING_SENDERS: Final = 256
RING_EACH: Final = 4
"""Traces of refusals that are kept per sender; in total `RING_SENDERS` times as many."""


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

    async def ended(self, outcome: str, limit: int) -> list[Trace]:
        """Return the latest traces with this outcome, newest first; searches all that are kept."""

    async def prune(self, before: datetime, refused: datetime) -> int:
        """Delete some traces from before then, and of refusals from before `refused`; returns how
        many, 0 at the end."""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Work that crashed several processes and is not started any more. No content; `deaths` is its
    weight, see `gateway.crash_loop.deaths`."""

    kind: WorkKind
    id: str
    owner: Owner
    deaths: int
    at: datetime


class QuarantineStore(Protocol):
    """Quarantined work of every kind. Everything raises `StoreUnavailable`."""

    async def add(self, entry: Quarantined) -> None:
        """Store an entry; a known one stays unchanged."""

    async def listed(self, limit: int) -> list[Quarantined]:
        """Return the latest, newest first."""

    async def remove(self, kind: WorkKind, item_id: str, *, discard: bool) -> bool:
        """Remove an entry, so that its work starts again, or with `discard` delete the work too.
        False if there is no such entry."""

    async def prune(
        self, before: datetime, recurring_before: datetime, recurring: Sequence[WorkKind], most: int
    ) -> int:
        """Discard entries from before then, and the oldest beyond `most`; those of the kinds
        `recurring` from before `recurring_before`. Returns how many."""


# --- both ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CompletedTurn:
    """A finished turn: the rows to store and the sends to queue."""

    key: ConversationKey
    turns: tuple[StoredTurn, ...]
    usage: tuple[UsageRow, ...]
    accounts: tuple[Account, ...]
    trace: Trace
    inbox_ids: tuple[str, ...]
    outbound: tuple[Outbound, ...]
    waiting: WaitingTurn | None = None
    """The turn for memory to process later."""
    begun: str = ""
    """The key of the send that starts as soon as this is stored."""
    traced: bool = True
    """True if the trace is stored."""


class UnitOfWork(Protocol):
    """Completes a turn."""

    async def complete(self, done: CompletedTurn) -> bool:
        """Store everything of a turn, in one transaction where one database holds all of it.

        Otherwise the long-lived rows come first, which is harmless to repeat, and then the events
        are finished and the answer is queued in one step. False if another worker finished them
        before: nothing may be sent.
        """


# --- several processes --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QueueDepths:
    """The load of a shared store: accepted events, sends, dead letters, and living workers."""

    events: int
    sends: int
    dead: int
    workers: int


class WorkSource(Protocol):
    """Passes accepted events to a worker process.

    Events of one conversation come in order, and one worker at a time processes a conversation. The
    work of a dead worker passes to another one when its lease expires.
    """

    async def run(self, take: Callable[[InboxEntry], None], has_room: Callable[[], bool]) -> None:
        """Call `take` for every event while `has_room()`; until cancelled. Continues after outages
        of the store."""

    async def release(self) -> None:
        """After `run` ended: let another process continue at once. Never raises."""


class SendSource(Protocol):
    """Passes queued sends to the process that is connected to their account.

    One process at a time handles the sends of an account, oldest first.
    """

    async def run(
        self,
        accounts: Sequence[tuple[str, str]],
        take: Callable[[Sequence[OutboxEntry]], None],
        has_room: Callable[[], bool],
    ) -> None:
        """Call `take` for the sends of these (platform, account) pairs while `has_room()`; until
        cancelled. Continues after outages of the store."""

    async def release(self) -> None:
        """After `run` ended: let another process continue at once. Never raises."""


class TurnWriter(Protocol):
    """The long-lived half of a `UnitOfWork`."""

    async def keep(self, done: CompletedTurn) -> None:
        """Store turns, usage and trace of a turn in one transaction; harmless to repeat."""
