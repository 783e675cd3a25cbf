"""What the assistant did for a project, from traces and usage in PostgreSQL."""

from datetime import datetime
from typing import Final

from db.postgres import PostgresDatabase
from gateway.ports import Activity
from gateway.storage.activity import beginnings

SUMS: Final = """
    SELECT count(DISTINCT traces.id), count(DISTINCT usage.person),
        COALESCE(SUM(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens), 0),
        COALESCE(SUM(micros), 0)
    FROM traces JOIN usage ON usage.turn = traces.id
    WHERE traces.at >= %(since)s AND usage.tenant = %(tenant)s AND (
        starts_with(conversation, %(in_workspace)s) OR starts_with(conversation, %(in_channel)s))
"""
"""A question that was answered is one that cost something: its trace and usage have one id."""


class PostgresActivity:
    """Implements `gateway.ports.ActivityLog`."""

    def __init__(self, pool: PostgresDatabase) -> None:
        self._pool = pool

    async def of_project(self, tenant: str, project: str, since: datetime) -> Activity:
        """What was done in a project since then."""
        in_workspace, in_channel = beginnings(tenant, project)
        asked = {
            "since": since,
            "tenant": tenant,
            "in_workspace": in_workspace,
            "in_channel": in_channel,
        }
        (row,) = await self._pool.fetch_raw(SUMS, asked)
        return Activity(*(int(value) for value in row))
