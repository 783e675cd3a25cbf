"""The end of an exchange: turns, usage, trace and what memory takes up, in one transaction."""

from db import Database, Work
from gateway.ports.stores import CompletedTurn
from gateway.storage.conversations import add_turns
from gateway.storage.traces import add_trace
from gateway.storage.usage import settle_usage
from gateway.storage.waiting_turns import put_waiting_turn


def write_turn(done: CompletedTurn) -> Work[None]:
    """Keep turns, usage and trace; the same exchange again changes nothing."""
    if done.usage or done.accounts:
        yield from settle_usage(done.trace.id, done.usage, done.accounts)
    if done.turns:
        yield from add_turns(done.key, done.turns)
    if done.traced:
        yield from add_trace(done.trace)
    if done.waiting is not None:
        yield from put_waiting_turn(done.waiting)


class SqlTurnWriter:
    """Implements `gateway.ports.stores.TurnWriter`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, done: CompletedTurn) -> None:
        """Keep turns, usage and trace of an exchange; the same exchange again changes nothing."""
        await self._database.run(lambda: write_turn(done))
