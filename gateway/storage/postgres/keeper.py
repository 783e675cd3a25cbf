"""The end of an exchange in PostgreSQL: one statement, which is one transaction."""

from typing import Final

from db.postgres import PostgresDatabase
from gateway.storage.postgres.conversations import INSERT_TURNS, turn_parameters
from gateway.storage.postgres.traces import INSERT_TRACE, LEAVE_SLOT, trace_parameters
from gateway.storage.postgres.usage import COUNT, OWE, RELEASE, SETTLE, usage_parameters
from gateway.storage.postgres.waiting_turns import PUT_WAITING, waiting_parameters
from gateway.stores import Completed

KEEP: Final = f"""
    WITH said AS ({INSERT_TURNS}), counted AS ({COUNT}), released AS ({RELEASE}), owed AS ({OWE}),
        waiting AS ({PUT_WAITING}), left_slot AS ({LEAVE_SLOT})
    {INSERT_TRACE}
"""


class PostgresKeeper:
    """Implements `gateway.stores.Keeper`."""

    def __init__(self, pool: PostgresDatabase) -> None:
        self._pool = pool

    async def keep(self, done: Completed) -> None:
        """Keep turns, usage and trace of an exchange; the same exchange again changes nothing."""
        parameters = turn_parameters(done.key, done.turns)
        parameters |= usage_parameters(done.trace.id, done.usage, done.accounts)
        parameters |= trace_parameters(done.trace) | waiting_parameters(done.waiting)
        await self._pool.change_raw(KEEP if done.traced else SETTLE, parameters)
