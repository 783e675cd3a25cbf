"""The projects that channels are bound to."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from db import Database, Statement, Work, change, fetch_first, lock
from db.values import micros, storable, time_of

MAX_BINDINGS: Final = 10_000
"""Bound channels of one tenant."""
PROJECT: Final = Statement("""
    SELECT project FROM room_bindings WHERE tenant = :tenant AND channel = :channel
""")
COUNT: Final = Statement("""
    SELECT count(*) FROM room_bindings WHERE tenant = :tenant AND channel <> :channel
""")
BIND: Final = Statement("""
    INSERT INTO room_bindings (tenant, channel, project, at)
    VALUES (:tenant, :channel, :project, :at)
    ON CONFLICT (tenant, channel) DO UPDATE SET project = excluded.project, at = excluded.at
""")
UNBIND: Final = Statement("""
    DELETE FROM room_bindings WHERE tenant = :tenant AND channel = :channel RETURNING project
""")
ALL: Final = Statement(f"""
    SELECT channel, project, at FROM room_bindings WHERE tenant = :tenant
    ORDER BY channel LIMIT {MAX_BINDINGS}
""")


class RoomBinding(Struct, frozen=True):
    """A channel, as `memory.knowledge.access.channel_name`, and its project."""

    channel: str
    project: str
    at: datetime


class RoomBindingStore:
    """One project for a channel. Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def project(self, tenant: str, channel: str) -> str:
        """Return the project of a channel, empty for none."""
        params = {"tenant": storable(tenant), "channel": storable(channel)}
        rows = await self._database.fetch(PROJECT, params)
        return str(rows[0][0]) if rows else ""

    async def bind(self, tenant: str, channel: str, project: str, at: datetime) -> bool:
        """Bind a channel; False if the tenant has too many bound channels."""
        params = {
            "tenant": storable(tenant),
            "channel": storable(channel),
            "project": storable(project),
            "at": micros(at),
        }

        def work() -> Work[bool]:
            yield from lock(f"room bindings {tenant}")
            others = yield from fetch_first(COUNT, params)
            if others is not None and others[0] >= MAX_BINDINGS:
                return False
            yield from change(BIND, params)
            return True

        return await self._database.run(work)

    async def unbind(self, tenant: str, channel: str) -> str:
        """Unbind a channel; return its project, empty if it had none."""
        params = {"tenant": storable(tenant), "channel": storable(channel)}
        gone = await self._database.fetch(UNBIND, params)
        return str(gone[0][0]) if gone else ""

    async def all(self, tenant: str) -> Sequence[RoomBinding]:
        """Return the bindings of a tenant by channel."""
        rows = await self._database.fetch(ALL, {"tenant": storable(tenant)})
        return [RoomBinding(channel, project, time_of(at)) for channel, project, at in rows]
