"""Stores the progress of event webhooks."""

from datetime import datetime
from typing import Final

from db import Database, Row, Statement, Work, execute, fetch
from db.values import micros, storable
from memory.agents.values import WebhookState

MAX_ERROR: Final = 200
COLUMNS: Final = "name, number, attempts, dead, error"
BEGIN: Final = Statement("""
    INSERT INTO agent_webhooks (name, number, attempts, dead, error, due)
    SELECT :name, COALESCE(max(number), 0), 0, 0, '', 0 FROM agent_events WHERE true
    ON CONFLICT (name) DO NOTHING
""")
CLAIM: Final = Statement(f"""
    UPDATE agent_webhooks SET due = :until WHERE name = :name AND due <= :now RETURNING {COLUMNS}
""")
RELEASE: Final = Statement("""
    UPDATE agent_webhooks SET number = :number, attempts = :attempts, dead = :dead, error = :error,
        due = :due
    WHERE name = :name
""")
STATES: Final = Statement(f"SELECT {COLUMNS} FROM agent_webhooks ORDER BY name")


class SqlWebhooks:
    """Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, name: str, now: datetime, until: datetime) -> WebhookState | None:
        """Take a webhook that is due, for this process until then; None if it is not due. A new
        webhook begins with the events after the newest."""
        params = {"name": name, "now": micros(now), "until": micros(until)}

        def work() -> Work[list[Row]]:
            yield from execute(BEGIN, {"name": name})
            return (yield from fetch(CLAIM, params))

        rows = await self._database.run(work)
        return WebhookState(*rows[0]) if rows else None

    async def release(self, state: WebhookState, due: datetime) -> None:
        """Store the progress of a claimed webhook; it is due again at that time."""
        params = {
            "name": state.name,
            "number": state.number,
            "attempts": state.attempts,
            "dead": state.dead,
            "error": storable(state.error)[:MAX_ERROR],
            "due": micros(due),
        }
        await self._database.change(RELEASE, params)

    async def states(self) -> list[WebhookState]:
        """Return the progress of all webhooks."""
        return [WebhookState(*row) for row in await self._database.fetch(STATES)]
