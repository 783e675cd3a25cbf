"""Completion of a turn: the long-lived rows, then the finished events and the queued answer."""

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog

from db import Database, Statement, Work, execute
from db.sqlite import SqliteDatabase, drive
from db.values import json_list, micros, storable
from gateway.immutable import replace
from gateway.ports import AdapterState, Clock
from gateway.ports.losses import REPEATABLE_FOR, DataLoss
from gateway.ports.memory import WaitingTurn
from gateway.ports.queues import Finished, Inbox
from gateway.ports.traces import NO_CONVERSATION
from gateway.ports.unit_of_work import CompletedTurn
from gateway.stores.conversations import add_turns, remove_turns
from gateway.stores.hot_losses import AnsweredTurn, record_answered
from gateway.stores.people_names import forget_names
from gateway.stores.sqlite.queues import finish_events
from gateway.stores.takeovers import require_silence
from gateway.stores.traces import add_trace
from gateway.stores.turn_index import DEFAULT, TurnWords
from gateway.stores.usage import settle_usage

PUT: Final = Statement("""
    INSERT INTO waiting_turns (id, tenant, person, room, channel, message_ids, at, body)
    VALUES (:id, :tenant, :person, :room, :channel, :message_ids, :at, :body)
    ON CONFLICT (id) DO UPDATE SET body = excluded.body, message_ids = excluded.message_ids
""")


DROP: Final = Statement("DELETE FROM waiting_turns WHERE id = :id")
SHORTEST_HOLD: Final = timedelta(hours=1)
"""The shortest time for which the inbox knows an event that is finished."""
NAMELESS: Final = Statement("UPDATE usage SET person = '' WHERE turn = :turn")

log = structlog.get_logger(__name__)


class SqliteUnitOfWork:
    """Implements `UnitOfWork` in one transaction, where one file holds everything."""

    def __init__(
        self,
        database: SqliteDatabase,
        clock: Clock,
        words: TurnWords = DEFAULT,
        doubts: "Doubts | None" = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._words = words
        self._doubts = doubts or Doubts(clock)

    async def complete(self, done: CompletedTurn) -> bool:
        now = self._clock.now().timestamp()

        def job(db: sqlite3.Connection) -> bool:
            first = bool(finish_events(db, done.inbox_ids, done.outbound, now, done.begun))
            drive(db, write_turn(done if first else _without_person(done), self._words))
            return first

        return await self._database.run_job(job)

    async def may_repeat(self, turn_id: str, received_at: datetime) -> bool:
        """One file holds everything, so only a restored copy returns to an earlier state."""
        return self._doubts.restored_after(received_at)


class LongLivedTurns:
    """The long-lived half of a `UnitOfWork`."""

    def __init__(self, database: Database, words: TurnWords = DEFAULT) -> None:
        self._database = database
        self._words = words

    async def keep(self, done: CompletedTurn, epoch: str = "") -> AnsweredTurn | None:
        """Store turns, usage and trace of a turn in one transaction; harmless to repeat. Return the
        attempt that did so before, None if this one is the first. Raises `TakenOver`."""

        def work() -> Work[AnsweredTurn | None]:
            yield from write_turn(done, self._words)
            if not (done.inbox_ids and done.attempt):
                return None
            return (yield from record_answered(done.trace, done.attempt, epoch))

        return await self._database.run(work)

    async def withdraw(self, done: CompletedTurn) -> None:
        """Reduce a stored turn, whose person was erased meanwhile, to its cost."""
        await self._database.run(lambda: withdraw_turn(done))


class Doubts:
    """A turn that may have been answered before, although the inbox does not know it."""

    def __init__(
        self,
        clock: Clock,
        losses: Callable[[], Sequence[DataLoss]] = tuple,
        epoch: Callable[[], str] = str,
        answered: Callable[[str], Awaitable[AnsweredTurn | None]] | None = None,
    ) -> None:
        """`losses` returns the latest losses, `epoch` the name of the inbox's present state, and
        `answered` the attempt that stored the answer of a turn."""
        self._clock = clock
        self._losses = losses
        self._epoch = epoch
        self._answered = answered

    @property
    def epoch(self) -> str:
        """The name of the inbox's present state; empty where it has only one."""
        return self._epoch()

    @property
    def now(self) -> datetime:
        """The time."""
        return self._clock.now()

    def restored_after(self, received_at: datetime) -> bool:
        """Return True if the inbox was restored from a copy since then, with the database."""
        recent = self._recent()
        return any(loss.kind == "restored" and received_at <= loss.at for loss in recent)

    async def may_repeat(self, turn_id: str, received_at: datetime) -> bool:
        """Return True if the answer to an event may have been sent before a loss."""
        if self.restored_after(received_at):
            return True
        if self._answered is None or not self._recent():
            return False
        before = await self._answered(turn_id)
        return before is not None and before.epoch != self.epoch

    def _recent(self) -> Sequence[DataLoss]:
        after = self._clock.now() - REPEATABLE_FOR
        return [loss for loss in self._losses() if loss.at >= after]


class TwoStepUnitOfWork:
    """Implements `UnitOfWork` over two databases: the long-lived rows come first, because repeating
    that is harmless. `erased` names the turns whose person was erased while they ran."""

    def __init__(
        self, writer: LongLivedTurns, inbox: Inbox, erased: AdapterState, doubts: Doubts
    ) -> None:
        self._writer = writer
        self._inbox = inbox
        self._erased = erased
        self._doubts = doubts

    async def complete(self, done: CompletedTurn) -> bool:
        before = await self._writer.keep(done, self._doubts.epoch)
        ended = await self._inbox.finish(done.inbox_ids, done.outbound, done.begun)
        # Another worker may have finished the events as well: its rows are the same ones and stay.
        if not ended and await self._erased.get(done.trace.id):
            await self._writer.withdraw(done)
        elif ended is Finished.UNKNOWN and not self._is_forgotten(before):
            ended = await self._finish_lost(done, before)
        return bool(ended)

    async def may_repeat(self, turn_id: str, received_at: datetime) -> bool:
        return await self._doubts.may_repeat(turn_id, received_at)

    def _is_forgotten(self, before: AnsweredTurn | None) -> bool:
        """Return True if another worker finished the events so long ago that their ids expired."""
        if before is None or before.epoch != self._doubts.epoch:
            return False
        return self._doubts.now - before.at >= SHORTEST_HOLD

    async def _finish_lost(self, done: CompletedTurn, before: AnsweredTurn | None) -> Finished:
        """Queue the answer to events that the inbox lost. Without an earlier attempt it is
        certainly the first one."""
        note = done.repeat_note if before is not None else None
        sends = done.outbound if note is None else (note, *done.outbound)
        log.warning("answer_restored", turn=done.trace.id, noted=note is not None)
        return await self._inbox.finish(done.inbox_ids, sends, done.begun, lost=True)


def write_turn(done: CompletedTurn, words: TurnWords) -> Work[None]:
    """Store turns, usage and trace; repeating it changes nothing. Raises `TakenOver`."""
    if done.silent_since is not None:
        yield from require_silence(str(done.key), done.silent_since)
    if done.usage or done.accounts:
        yield from settle_usage(done.trace.id, done.usage, done.accounts)
    if done.turns:
        yield from add_turns(done.key, done.turns, done.trace.audience, words, done.answers)
    if done.traced:
        yield from add_trace(done.trace)
    if done.waiting is not None:
        yield from put_waiting_turn(done.waiting)


def withdraw_turn(done: CompletedTurn) -> Work[None]:
    """Reduce a stored turn, whose person was erased meanwhile, to its cost."""
    if done.waiting is not None:
        yield from execute(DROP, {"id": done.waiting.id})
    yield from execute(NAMELESS, {"turn": done.trace.id})
    if done.traced:
        yield from add_trace(_without_person(done).trace)
    if done.turns:
        yield from forget_names(done.key.tenant, done.turns)
        yield from remove_turns(done.key, done.turns)


def put_waiting_turn(turn: WaitingTurn) -> Work[None]:
    """Store a turn for memory; the same turn replaces itself."""
    params = {
        "id": turn.id,
        "tenant": storable(turn.tenant),
        "person": storable(turn.person),
        "room": storable(turn.room),
        "channel": storable(turn.channel),
        "message_ids": json_list(turn.message_ids),
        "at": micros(turn.at),
        "body": turn.body,
    }
    yield from execute(PUT, params)


def _without_person(done: CompletedTurn) -> CompletedTurn:
    """Reduce a turn whose events were finished meanwhile, because its person was erased, to its
    cost."""
    return replace(
        done,
        turns=(),
        waiting=None,
        usage=tuple(replace(row, person="") for row in done.usage),
        trace=replace(done.trace, message_id="", conversation=NO_CONVERSATION),
    )
