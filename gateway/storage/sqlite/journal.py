"""The end of an exchange in SQLite: one transaction when one file holds everything."""

import sqlite3

from gateway.ports import Clock
from gateway.storage.sqlite.database import Database
from gateway.storage.sqlite.inbox import finish_events
from gateway.storage.sqlite.keeper import keep_exchange
from gateway.stores import Completed


class SqliteJournal:
    """Implements `gateway.stores.Journal` over the long-lived and the hot database."""

    def __init__(self, long_lived: Database, hot: Database, clock: Clock) -> None:
        self._long_lived = long_lived
        self._hot = hot
        self._clock = clock

    async def complete(self, done: Completed) -> None:
        """Keep everything of an exchange."""
        now = self._clock.now().timestamp()

        def finish(db: sqlite3.Connection) -> None:
            finish_events(db, done.inbox_ids, done.outbound, now)

        def everything(db: sqlite3.Connection) -> None:
            keep_exchange(db, done)
            finish(db)

        if self._hot is self._long_lived:
            await self._hot.run(everything)
            return
        await self._long_lived.run(lambda db: keep_exchange(db, done))
        await self._hot.run(finish)
