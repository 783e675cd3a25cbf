"""The end of an exchange: turns, usage, trace and what memory takes up, in one transaction."""

from db import Database, Work
from gateway.ports.stores import CompletedTurn
from gateway.stores.conversations import add_turns
from gateway.stores.traces import add_trace
from gateway.stores.usage import settle_usage
from gateway.stores.waiting_turns import put_waiting_turn


def write_turn(done: CompletedTurn) -> Work[None]:
    """Store turns, usage and trace; repeating it changes nothing."""
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
        await self._database.run(lambda: write_turn(done))
