"""What the gateway keeps, as small Protocols, and the rows that go in and out.

`storage/` has the implementations. Hot state (inbox, outbox, buckets, adapter state) and
long-lived state (conversations, usage, traces) are apart, because they may live in two places.
Every method raises `StoreUnavailable` when the database does not take or give what was asked.
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
    """An accepted event that waits for its answer. `lane` is the conversation it belongs to."""

    id: str
    lane: str
    event: InboundEvent
    received_at: datetime


class Inbox(Protocol):
    """Accepted events, each of them once."""

    async def add(self, entry: InboxEntry, hold: timedelta) -> bool:
        """Store an event; False when its id is known already. Known for `hold` from now on."""
        ...

    async def unfinished(self, limit: int) -> list[InboxEntry]:
        """Events that no one finished, oldest first: what a restart has to go on with."""
        ...

    async def finish(
        self, ids: Sequence[str], outbound: Sequence[Outbound], begun: str = ""
    ) -> bool:
        """The events are answered by these sends: both become true at once, or neither. The send
        with the key `begun` counts as begun from now on, see `Outbox.begin`.

        False when somebody else has finished all of them before, as a worker that was held up may
        find: nothing is queued then, and nothing may be sent.
        """
        ...

    async def prune(self) -> int:
        """Forget some of the finished events whose time is over; returns how many, 0 in the end."""
        ...


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """A send that waits. `seq` orders the sends; `attempts` counts the tries that ended.

    `begun`: the last try may have happened, because nobody wrote down how it ended, or because the
    platform did not say. The platform wants no other try before `not_before`.
    """

    seq: int
    outbound: Outbound
    attempts: int
    created_at: datetime
    begun: bool = False
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A send that was given up at `at`, and why."""

    entry: OutboxEntry
    reason: str
    at: datetime


class Outbox(Protocol):
    """Answers on their way out. What is in here is sent, or reported as dead."""

    async def add(self, outbound: Sequence[Outbound]) -> None:
        """Queue sends; one whose key is known is left as it is."""
        ...

    async def waiting(self, limit: int) -> list[OutboxEntry]:
        """What is not sent yet, oldest first."""
        ...

    async def begin(self, key: str) -> None:
        """A try is about to be made; whoever finds the send like that later cannot know whether it
        happened."""
        ...

    async def tried(
        self, key: str, reason: str, *, unsure: bool = False, not_before: datetime | None = None
    ) -> None:
        """A try did not succeed, or nobody knows (`unsure`); it will be repeated, not before the
        moment that the platform named."""
        ...

    async def sent(self, key: str, receipt: Receipt, stands_at: str = "") -> None:
        """The platform confirmed it. `stands_at` is `gateway.ports.feedback.stands_at` of the
        message."""
        ...

    async def reply_at(self, stands_at: str) -> str:
        """The key of the send that stands there, as long as its receipt is kept; empty without."""
        ...

    async def dead(self, keys: Sequence[str], reason: str) -> None:
        """These are given up."""
        ...


class DeadLetters(Protocol):
    """What an operator can do with sends that were given up."""

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        """The latest, newest first."""
        ...

    async def requeue(self, keys: Sequence[str]) -> int:
        """Send these again, with a new lifetime; returns how many there were. Where one process
        does everything, it finds them within some seconds; otherwise whoever sends is told."""
        ...

    async def drop(self, keys: Sequence[str]) -> int:
        """Forget these, and what they say; returns how many there were."""
        ...


class OutboxReader(Protocol):
    """An outbox in which other processes, too, queue sends."""

    async def waiting_keys(self, limit: int) -> list[str]:
        """The keys of what is not sent yet, oldest first."""
        ...

    async def entries(self, keys: Sequence[str]) -> list[OutboxEntry]:
        """Those of these that are not sent yet, oldest first."""
        ...


class Buckets(Protocol):
    """Token buckets, shared by everything that limits the same person, channel or workspace."""

    async def take(self, rules: Sequence[BucketRule], now: float) -> Taken:
        """Take a token from all of them or from none, atomically."""
        ...

    async def once(self, key: str, ttl: timedelta) -> bool:
        """True for the first caller with this key within `ttl`, False for the others."""
        ...


class AdapterStates(Protocol):
    """The durable memories of all adapters."""

    def of(self, platform: str, account: str) -> AdapterState:
        """The one of this account."""
        ...


# --- long-lived state ---------------------------------------------------------------------------


class StoredTurn(NamedTuple):
    """One step of a conversation. `speaker` is a person's name, empty for the assistant. `text` is
    the writer's own, `material` what a person showed that somebody else wrote. A tuple, because a
    message reads many of them."""

    message_id: str
    role: Literal["user", "assistant"]
    text: str
    at: datetime
    person: str = ""
    speaker: str = ""
    material: tuple[Material, ...] = ()

    @property
    def whole(self) -> str:
        """All of it, to be counted."""
        return f"{self.text}\n{text_of(self.material)}" if self.material else self.text


class Conversations(Protocol):
    """What was said to the assistant and what it answered, by conversation."""

    async def append(self, key: ConversationKey, turns: Sequence[StoredTurn]) -> None:
        """Add the messages of one turn and their answer; a known message id is replaced."""
        ...

    async def latest(self, key: ConversationKey, limit: int) -> list[StoredTurn]:
        """The last turns, oldest first."""
        ...

    async def opened(
        self, key: ConversationKey, limit: int
    ) -> tuple[list[StoredTurn], ConversationNotes]:
        """The last turns, oldest first, with the notes of the conversation. What the summary
        stands for may be missing, but for the last of it."""
        ...

    async def knows(self, tenant: str, place: Place, message_ids: Sequence[str]) -> bool:
        """True when one of these messages is stored."""
        ...

    async def edit(self, tenant: str, place: Place, message_id: str, text: str) -> bool:
        """Replace the text of a stored message, wherever in the tenant's channel it stands."""
        ...

    async def delete(self, tenant: str, place: Place, message_ids: Sequence[str]) -> int:
        """Delete these messages and the answers to them; returns how many turns went. The notes
        that go back to them go too, also when a message is edited."""
        ...

    async def clear(self, key: ConversationKey) -> int:
        """Delete a whole conversation, notes and all; returns the number of turns."""
        ...

    async def takes_part(self, key: ConversationKey) -> bool:
        """True when the assistant has spoken there."""
        ...

    async def prune(self, before: datetime) -> int:
        """Delete some of the turns from before then; returns how many, 0 in the end."""
        ...


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What one turn cost. `micros` is in millionths of a dollar."""

    tenant: str
    person: str
    workspace: str
    model: str
    usage: Usage
    micros: int
    at: datetime


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """What the calls of one model cost together. `micros` is in millionths of a dollar."""

    model: str
    calls: int
    usage: Usage
    micros: int


class UsageLedger(Protocol):
    """Tokens and money."""

    async def reserve(
        self, turn: str, accounts: Sequence[Account], estimate: int
    ) -> BudgetDecision:
        """Set `estimate` aside in every account, or in none; atomic. It takes the place of what the
        same turn had set aside before, which stays when the answer is no."""
        ...

    async def settle(
        self, turn: str, rows: Sequence[UsageRow], accounts: Sequence[Account]
    ) -> None:
        """Replace the reservation of a turn that was ended by what it cost until then. Where it is
        begun anew later, both count."""
        ...

    async def spent(self, accounts: Sequence[Account]) -> list[int]:
        """What was settled and reserved, in the order of the accounts."""
        ...

    async def totals(
        self, tenant: str, since: datetime, persons: Sequence[str] | None
    ) -> list[UsageTotal]:
        """Sums by model since then, the dearest first: of these people (`str(PersonId)`), or
        with None of everything in the tenant, the program's own calls included."""
        ...

    async def prune(self, before: datetime) -> int:
        """Delete some of the rows from before then, and of the sums that were begun before then;
        returns how many, 0 in the end. `before` is further back than the longest period."""
        ...


NO_CONVERSATION: Final = '["", "", "", "", "", ""]'
"""The conversation of a trace that must not name one, because its person was erased."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that was decided about one message, and how long it took (milliseconds).

    A refusal has a `slot` in a ring, see `ring_slot`: its trace replaces the one that had it."""

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
"""Traces of refusals that are kept of one sender; of all together `RING_SENDERS` times as many."""


def ring_slot(sender: str, trace_id: str) -> int:
    """The place of a refusal's trace; the same for the same trace."""
    mine = crc32(sender.encode("utf-8", "replace")) % RING_SENDERS
    return mine * RING_EACH + crc32(trace_id.encode("utf-8", "replace")) % RING_EACH


class Traces(Protocol):
    """Why the assistant did what it did. No content, ids only."""

    async def add(self, trace: Trace) -> None: ...

    async def find(self, message_id: str, limit: int = 20) -> list[Trace]:
        """The traces of a platform's message id, newest first."""
        ...

    async def recent(self, limit: int = 50) -> list[Trace]:
        """The latest traces, newest first."""
        ...

    async def ended(self, outcome: str, limit: int) -> list[Trace]:
        """The latest traces with this outcome, newest first. Looks through all that are kept."""
        ...

    async def prune(self, before: datetime, refused: datetime) -> int:
        """Delete some of the traces from before then, and of those of refusals from before
        `refused`; returns how many, 0 in the end."""
        ...


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A piece of work that processes died of, and that is not begun any more. No content; `deaths`
    is their weight, see `gateway.crash_loop.deaths`."""

    kind: WorkKind
    id: str
    owner: Owner
    deaths: int
    at: datetime


class QuarantineStore(Protocol):
    """Dead letters of every kind of work. Everything raises `StoreUnavailable`."""

    async def add(self, entry: Quarantined) -> None:
        """Keep an entry; one that is known stays as it is."""
        ...

    async def listed(self, limit: int) -> list[Quarantined]:
        """The latest, newest first."""
        ...

    async def remove(self, kind: WorkKind, item_id: str, *, discard: bool) -> bool:
        """Take an entry off the list, so that its work is begun again, or, with `discard`, delete
        what was to be worked on as well. False when there is no such entry."""
        ...

    async def prune(
        self, before: datetime, recurring_before: datetime, recurring: Sequence[WorkKind], most: int
    ) -> int:
        """Discard entries from before then, and the oldest beyond `most`; those of the kinds
        `recurring` from before `recurring_before`. Returns how many went."""
        ...


# --- both ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CompletedTurn:
    """An exchange that is over: what is kept of it, and what is still to be sent."""

    key: ConversationKey
    turns: tuple[StoredTurn, ...]
    usage: tuple[UsageRow, ...]
    accounts: tuple[Account, ...]
    trace: Trace
    inbox_ids: tuple[str, ...]
    outbound: tuple[Outbound, ...]
    waiting: WaitingTurn | None = None
    """What memory is to take up later."""
    begun: str = ""
    """The key of the send that is begun as soon as this is kept."""
    traced: bool = True
    """Whether the trace is kept."""


class UnitOfWork(Protocol):
    """Ends an exchange."""

    async def complete(self, done: CompletedTurn) -> bool:
        """Keep everything of an exchange, in one step where one database holds all of it.

        Otherwise what lasts comes first, which is harmless to repeat, and then, in one step, the
        events are finished and their answer is on its way. False when somebody else had finished
        them before: nothing may be sent.
        """
        ...


# --- several processes --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QueueDepths:
    """What waits in a store that processes share: accepted events, sends, and dead letters; and how
    many workers are alive."""

    events: int
    sends: int
    dead: int
    workers: int


class WorkSource(Protocol):
    """Hands accepted events to a worker process.

    Events of one lane come in order, and a lane is in the hands of one worker at a time. What a
    worker that died had taken comes to another one, after its lease has run out.
    """

    async def run(self, take: Callable[[InboxEntry], None], has_room: Callable[[], bool]) -> None:
        """Call `take` for every event, while `has_room()`; until cancelled. Outlives outages of
        the store: it goes on when the store is back."""
        ...

    async def release(self) -> None:
        """After `run` was ended: let another process go on at once. Never raises."""
        ...


class SendSource(Protocol):
    """Hands queued sends to the process that is connected to their account.

    Sends of one account are in the hands of one process at a time, oldest first.
    """

    async def run(
        self,
        accounts: Sequence[tuple[str, str]],
        take: Callable[[Sequence[OutboxEntry]], None],
        has_room: Callable[[], bool],
    ) -> None:
        """Call `take` for the sends of these (platform, account) pairs, while `has_room()`; until
        cancelled. Outlives outages of the store."""
        ...

    async def release(self) -> None:
        """After `run` was ended: let another process go on at once. Never raises."""
        ...


class TurnWriter(Protocol):
    """The long-lived half of a `UnitOfWork`."""

    async def keep(self, done: CompletedTurn) -> None:
        """Keep turns, usage and trace of an exchange, in one step; harmless to repeat."""
        ...
