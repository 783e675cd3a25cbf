"""Completion of a turn: the long-lived rows, then the finished events and the queued answer."""

import sqlite3
from typing import Final

from db import Database, Statement, Work, execute
from db.sqlite import SqliteDatabase, drive
from db.values import json_list, micros, storable
from gateway.immutable import replace
from gateway.ports import AdapterState, Clock
from gateway.ports.inbox import Inbox
from gateway.ports.memory import WaitingTurn
from gateway.ports.traces import NO_CONVERSATION
from gateway.ports.unit_of_work import CompletedTurn
from gateway.stores.conversations import add_turns, remove_turns
from gateway.stores.sqlite.inbox import finish_events
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
NAMELESS: Final = Statement("UPDATE usage SET person = '' WHERE turn = :turn")


class SqliteUnitOfWork:
    """Implements `UnitOfWork` in one transaction, where one file holds everything."""

    def __init__(self, database: SqliteDatabase, clock: Clock, words: TurnWords = DEFAULT) -> None:
        self._database = database
        self._clock = clock
        self._words = words

    async def complete(self, done: CompletedTurn) -> bool:
        now = self._clock.now().timestamp()

        def job(db: sqlite3.Connection) -> bool:
            first = finish_events(db, done.inbox_ids, done.outbound, now, done.begun)
            drive(db, write_turn(done if first else _without_person(done), self._words))
            return first

        return await self._database.run_job(job)


class TurnWriter:
    """The long-lived half of a `UnitOfWork`."""

    def __init__(self, database: Database, words: TurnWords = DEFAULT) -> None:
        self._database = database
        self._words = words

    async def keep(self, done: CompletedTurn) -> None:
        """Store turns, usage and trace of a turn in one transaction; harmless to repeat. Raises
        `TakenOver`."""
        await self._database.run(lambda: write_turn(done, self._words))

    async def withdraw(self, done: CompletedTurn) -> None:
        """Reduce a stored turn, whose person was erased meanwhile, to its cost."""
        await self._database.run(lambda: withdraw_turn(done))


class TwoStepUnitOfWork:
    """Implements `UnitOfWork` over two databases: the long-lived rows come first, because repeating
    that is harmless. `erased` names the turns whose person was erased while they ran."""

    def __init__(self, writer: TurnWriter, inbox: Inbox, erased: AdapterState) -> None:
        self._writer = writer
        self._inbox = inbox
        self._erased = erased

    async def complete(self, done: CompletedTurn) -> bool:
        await self._writer.keep(done)
        first = await self._inbox.finish(done.inbox_ids, done.outbound, done.begun)
        # Another worker may have finished the events as well: its rows are the same ones and stay.
        if not first and await self._erased.get(done.trace.id):
            await self._writer.withdraw(done)
        return first


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
