"""Completion of a turn in one unit of work."""

from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct

from gateway.conversation import ConversationKey
from gateway.message import Outbound
from gateway.policy.budgets import BudgetAccount
from gateway.ports.conversations import StoredTurn
from gateway.ports.memory import WaitingTurn
from gateway.ports.traces import Trace
from gateway.ports.usage import UsageRow

ERASED_TURNS: Final = ("parley", "erased")
"""The adapter state that names the turns of erased people which may still run, by their ids."""


class CompletedTurn(Struct, frozen=True):
    """A finished turn: the rows to store and the sends to queue."""

    key: ConversationKey
    """The conversation."""
    turns: tuple[StoredTurn, ...]
    """The messages to store, in order."""
    usage: tuple[UsageRow, ...]
    """The model calls with their cost."""
    accounts: tuple[BudgetAccount, ...]
    """The budget accounts to which the cost is added."""
    trace: Trace
    """The decisions about the message."""
    inbox_ids: tuple[str, ...]
    """The events that are finished."""
    outbound: tuple[Outbound, ...]
    """The sends to queue, in order."""
    waiting: WaitingTurn | None = None
    """The turn for memory to process later."""
    begun: str = ""
    """The key of the send that starts as soon as this is stored."""
    traced: bool = True
    """True if the trace is stored."""
    answers: StoredTurn | None = None
    """The stored message that `turns` answer, if it is not among them."""
    attempt: str = ""
    """A name of this attempt to answer, by which a second one notices the first; empty for what
    answers no event."""
    repeat_note: Outbound | None = None
    """The note above the sends if another attempt may have sent them."""
    silent_since: datetime | None = None
    """The turn is stored only if no operator of the conversation took part after this moment; None
    stores it in any case."""


class UnitOfWork(Protocol):
    """Completes a turn."""

    async def complete(self, done: CompletedTurn) -> bool:
        """Store everything of a turn, in one transaction where one database holds all of it.

        Otherwise the long-lived rows come first, which is harmless to repeat, and then the events
        are finished and the answer is queued in one step. False if another worker finished them
        before: nothing may be sent. Raises `TakenOver`, then nothing is stored.

        An answer whose events the inbox lost meanwhile is queued all the same, below the repeat
        note if another attempt may have sent it.
        """

    async def may_repeat(self, turn_id: str, received_at: datetime) -> bool:
        """Return True if the answer to an event of that time may have been sent before, because
        the stores returned to an earlier state since."""
