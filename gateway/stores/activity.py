"""Activity of the assistant per project, summed up from traces and usage."""

import json
from datetime import datetime
from typing import Final

from db import Database, Statement
from db.times import micros
from gateway.errors import BadInput
from gateway.ports import Activity

SUMS: Final = Statement("""
    SELECT count(DISTINCT traces.id), count(DISTINCT usage.person),
        COALESCE(SUM(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens), 0),
        COALESCE(SUM(micros), 0)
    FROM traces JOIN usage ON usage.turn = traces.id
    WHERE traces.at >= :since AND usage.tenant = :tenant AND (
        substr(conversation, 1, length(:in_workspace)) = :in_workspace
        OR substr(conversation, 1, length(:in_channel)) = :in_channel)
""")
"""An answered question has a cost: its trace and its usage have the same id."""


class SqlActivity:
    """Implements `gateway.ports.ActivityLog`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of_project(self, tenant: str, project: str, since: datetime) -> Activity:
        in_workspace, in_channel = beginnings(tenant, project)
        params = {
            "since": micros(since),
            "tenant": tenant,
            "in_workspace": in_workspace,
            "in_channel": in_channel,
        }
        (row,) = await self._database.fetch(SUMS, params)
        return Activity(*map(int, row))


def beginnings(tenant: str, project: str) -> tuple[str, str]:
    """Return the beginnings of `str(ConversationKey)` for this workspace, and for this channel
    without a workspace.

    Raises `BadInput` unless the project is "platform:account:id".
    """
    platform, _, rest = project.partition(":")
    account, _, inside = rest.partition(":")
    if not (platform and account and inside):
        raise BadInput(f"{project[:80]!r} is not a project: write platform:account:id")
    whole = ([tenant, platform, account, inside], [tenant, platform, account, "", inside])
    in_workspace, in_channel = (json.dumps(parts)[:-1] + "," for parts in whole)
    return in_workspace, in_channel
