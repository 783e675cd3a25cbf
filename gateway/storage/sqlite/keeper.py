"""The end of an exchange in SQLite, where the hot state lives elsewhere."""

import sqlite3

from db.sqlite import SqliteDatabase
from gateway.storage.sqlite.conversations import insert_turns
from gateway.storage.sqlite.traces import insert_trace
from gateway.storage.sqlite.usage import settle_usage
from gateway.storage.sqlite.waiting_turns import insert_waiting_turn
from gateway.stores import Completed


def keep_exchange(db: sqlite3.Connection, done: Completed) -> None:
    """Keep turns, usage and trace, inside the caller's transaction."""
    if done.turns:
        insert_turns(db, done.key, done.turns)
    if done.usage or done.accounts:
        settle_usage(db, done.trace.id, done.usage, done.accounts)
    if done.traced:
        insert_trace(db, done.trace)
    if done.waiting is not None:
        insert_waiting_turn(db, done.waiting)


class SqliteKeeper:
    """Implements `gateway.stores.Keeper`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def keep(self, done: Completed) -> None:
        """Keep turns, usage and trace of an exchange; the same exchange again changes nothing."""
        await self._database.run_job(lambda db: keep_exchange(db, done))
