"""The database's side of the hot state: which state it saw last, the losses of the hot state, and
which turns were answered.

The hot state and the database each know a mark of the other, so that either notices if the other
one returns to an earlier state. `docs/how-to/back-up-and-restore.md` describes what follows.
"""

from datetime import datetime
from typing import Final

from msgspec import Struct

from db import Database, Row, Statement, Work, either, execute
from db.database import delete_some, deleting_some
from db.statements import BY_KEY
from db.transaction import fetch
from db.values import micros, time_of
from gateway.ports.losses import KEEP_LOSSES, REPEATABLE_FOR, DataLoss
from gateway.ports.traces import Trace

MAX_LOSSES: Final = 100
"""Losses that are read at once."""
HERE: Final = either(
    sqlite="''", postgres="CAST(CAST(CAST('hot_state' AS regclass) AS oid) AS text)"
)
"""Changes when the table is restored from a dump: PostgreSQL then creates it anew."""
ELSEWHERE: Final = "elsewhere"
"""Instead of `HERE` after `parley restore`."""
SCHEMA: Final = (
    """CREATE TABLE hot_state (
        one integer PRIMARY KEY CHECK (one = 1), epoch text NOT NULL, mark bigint NOT NULL,
        at bigint NOT NULL, home text NOT NULL, events integer NOT NULL, sends integer NOT NULL
    )""",
    f"""CREATE TABLE hot_losses (
        id text PRIMARY KEY, kind text NOT NULL, at bigint NOT NULL, since bigint NOT NULL,
        events integer NOT NULL, sends integer NOT NULL
    ) {BY_KEY}""",
    f"""CREATE TABLE answered_turns (
        turn text PRIMARY KEY, attempt text NOT NULL, epoch text NOT NULL, at bigint NOT NULL
    ) {BY_KEY}""",
    "CREATE INDEX answered_turns_at ON answered_turns (at)",
)
READ: Final = Statement(
    f"SELECT epoch, mark, at, events, sends, home <> {HERE} FROM hot_state WHERE one = 1"
)
WRITE: Final = Statement(f"""
    INSERT INTO hot_state (one, epoch, mark, at, home, events, sends)
    VALUES (1, :epoch, :mark, :at, {HERE}, :events, :sends)
    ON CONFLICT (one) DO UPDATE SET epoch = excluded.epoch, home = excluded.home,
        mark = CASE WHEN hot_state.epoch = excluded.epoch AND hot_state.mark > excluded.mark
            THEN hot_state.mark ELSE excluded.mark END,
        at = CASE WHEN hot_state.at > excluded.at THEN hot_state.at ELSE excluded.at END,
        events = excluded.events, sends = excluded.sends
""")
ADD: Final = Statement("""
    INSERT INTO hot_losses (id, kind, at, since, events, sends)
    VALUES (:id, :kind, :at, :since, :events, :sends)
    ON CONFLICT (id) DO NOTHING
""")
RECENT: Final = Statement("""
    SELECT id, kind, at, since, events, sends FROM hot_losses WHERE at >= :after
    ORDER BY at DESC LIMIT :limit
""")
PRUNE_LOSSES: Final = deleting_some("hot_losses", "id", "at < :before", "at")
ANSWERED: Final = Statement("SELECT attempt, epoch, at FROM answered_turns WHERE turn = :turn")
ANSWER: Final = Statement("""
    INSERT INTO answered_turns (turn, attempt, epoch, at) VALUES (:turn, :attempt, :epoch, :at)
    ON CONFLICT (turn) DO NOTHING
""")
PRUNE_ANSWERED: Final = deleting_some("answered_turns", "turn", "at < :before", "at")


class KnownHotState(Struct, frozen=True):
    """The hot state that the database saw last: its epoch and mark, the time, and what waited.
    `moved`: the database was restored from a copy since."""

    epoch: str
    mark: int
    at: datetime
    events: int
    sends: int
    moved: bool


class AnsweredTurn(Struct, frozen=True):
    """A turn whose answer an attempt stored, in an epoch of the hot state."""

    attempt: str
    epoch: str
    at: datetime


class HotLosses(Struct, frozen=True):
    """The hot state as the database knows it, and its losses."""

    database: Database

    async def read(self) -> KnownHotState | None:
        """Return the hot state that was seen last; None before the first."""
        rows = await self.database.fetch(READ)
        return known_hot_state(rows[0]) if rows else None

    async def write(self, epoch: str, mark: int, at: datetime, events: int, sends: int) -> None:
        """Record what is seen now. A mark and a time never decrease within an epoch."""
        params = {"epoch": epoch, "mark": mark, "at": micros(at), "events": events, "sends": sends}
        await self.database.change(WRITE, params)

    async def add(self, loss: DataLoss) -> None:
        """Record a loss; a known id is left unchanged."""
        params = {
            "id": loss.id,
            "kind": loss.kind,
            "at": micros(loss.at),
            "since": 0 if loss.since is None else micros(loss.since),
            "events": loss.events,
            "sends": loss.sends,
        }
        await self.database.change(ADD, params)

    async def since(self, after: datetime) -> tuple[DataLoss, ...]:
        """Return the losses that were noticed since then, the latest first."""
        params = {"after": micros(after), "limit": MAX_LOSSES}
        return tuple(_loss(row) for row in await self.database.fetch(RECENT, params))

    async def answered(self, turn: str) -> AnsweredTurn | None:
        """Return who stored the answer of a turn; None if nobody did in the last days."""
        rows = await self.database.fetch(ANSWERED, {"turn": turn})
        return _answered(rows[0]) if rows else None

    async def prune(self, now: datetime) -> int:
        """Delete some old losses and answered turns; returns how many, 0 at the end."""
        losses = {"before": micros(now - KEEP_LOSSES)}
        turns = {"before": micros(now - REPEATABLE_FOR)}
        gone = await delete_some(self.database, PRUNE_LOSSES, losses)
        return gone + await delete_some(self.database, PRUNE_ANSWERED, turns)


def known_hot_state(row: Row) -> KnownHotState:
    """Return the state of a row of `READ`."""
    epoch, mark, at, events, sends, moved = row
    return KnownHotState(epoch, int(mark), time_of(at), int(events), int(sends), bool(moved))


def record_answered(trace: Trace, attempt: str, epoch: str) -> Work[AnsweredTurn | None]:
    """Record that an attempt stored the answer of a turn; return the attempt that did so before,
    None if this one is the first."""
    turn, at = trace.id, micros(trace.at)
    params = {"turn": turn, "attempt": attempt, "epoch": epoch, "at": at}
    yield from execute(ANSWER, params)  # waits for another attempt that stores it just now
    stored = _answered((yield from fetch(ANSWERED, {"turn": turn}))[0])
    return None if stored.attempt == attempt else stored


def _answered(row: Row) -> AnsweredTurn:
    attempt, epoch, at = row
    return AnsweredTurn(str(attempt), str(epoch), time_of(at))


def _loss(row: Row) -> DataLoss:
    id_, kind, at, since, events, sends = row
    seen = time_of(since) if since else None
    return DataLoss(str(id_), kind, time_of(at), seen, int(events), int(sends))
