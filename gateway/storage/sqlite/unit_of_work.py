"""The end of an exchange in SQLite: one transaction when one file holds everything."""

import sqlite3
from dataclasses import replace

from db.sqlite import SqliteDatabase, drive
from gateway.ports import Clock
from gateway.ports.stores import NO_CONVERSATION, CompletedTurn
from gateway.storage.sqlite.inbox import finish_events
from gateway.storage.turn_writer import write_turn


class SqliteUnitOfWork:
    """Implements `gateway.ports.stores.UnitOfWork` over the long-lived and the hot database."""

    def __init__(self, long_lived: SqliteDatabase, hot: SqliteDatabase, clock: Clock) -> None:
        self._long_lived = long_lived
        self._hot = hot
        self._clock = clock

    async def complete(self, done: CompletedTurn) -> bool:
        """Keep everything of an exchange; False when its events were finished before."""
        now = self._clock.now().timestamp()

        def finish(db: sqlite3.Connection) -> bool:
            return finish_events(db, done.inbox_ids, done.outbound, now, done.begun)

        def everything(db: sqlite3.Connection) -> bool:
            first = finish(db)
            drive(db, write_turn(done if first else _without_person(done)))
            return first

        if self._hot is self._long_lived:
            return await self._hot.run_job(everything)
        await self._long_lived.run(lambda: write_turn(done))
        return await self._hot.run_job(finish)


def _without_person(done: CompletedTurn) -> CompletedTurn:
    """What is kept of an exchange whose events were finished meanwhile, because its person was
    erased: what it cost."""
    return replace(
        done,
        turns=(),
        waiting=None,
        usage=tuple(replace(row, person="") for row in done.usage),
        trace=replace(done.trace, message_id="", conversation=NO_CONVERSATION),
    )
