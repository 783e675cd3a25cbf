"""What the assistant did for a project, from traces and usage in SQLite."""

import sqlite3
from datetime import datetime
from typing import Final

from db.sqlite import SqliteDatabase
from gateway.ports import Activity
from gateway.storage.activity import beginnings

SUMS: Final = """
    SELECT count(DISTINCT traces.id), count(DISTINCT usage.person),
        COALESCE(SUM(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens), 0),
        COALESCE(SUM(micros), 0)
    FROM traces JOIN usage ON usage.turn = traces.id
    WHERE traces.at >= :since AND usage.tenant = :tenant AND (
        substr(conversation, 1, length(:in_workspace)) = :in_workspace
        OR substr(conversation, 1, length(:in_channel)) = :in_channel)
"""
"""A question that was answered is one that cost something: its trace and usage have one id."""


class SqliteActivity:
    """Implements `gateway.ports.ActivityLog`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def of_project(self, tenant: str, project: str, since: datetime) -> Activity:
        """What was done in a project since then."""
        in_workspace, in_channel = beginnings(tenant, project)
        asked = {
            "since": since.timestamp(),
            "tenant": tenant,
            "in_workspace": in_workspace,
            "in_channel": in_channel,
        }

        def job(db: sqlite3.Connection) -> tuple[int, int, int, int]:
            found: tuple[int, int, int, int] = db.execute(SUMS, asked).fetchone()
            return found

        return Activity(*await self._database.run_job(job))
