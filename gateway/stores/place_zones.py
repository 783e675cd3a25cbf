"""The time zones that administrators set for channels and groups."""

from datetime import datetime
from typing import Final

from db import Database, Statement
from db.statements import BY_KEY
from db.values import micros, storable
from gateway.message import Place

SCHEMA: Final = (
    f"""CREATE TABLE place_zones (
        tenant text NOT NULL, platform text NOT NULL, account text NOT NULL, channel text NOT NULL,
        zone text NOT NULL, at bigint NOT NULL, PRIMARY KEY (tenant, platform, account, channel)
    ) {BY_KEY}""",
)
_KEY: Final = (
    "tenant = :tenant AND platform = :platform AND account = :account AND channel = :channel"
)
OF: Final = Statement(f"SELECT zone FROM place_zones WHERE {_KEY}")
PUT: Final = Statement("""
    INSERT INTO place_zones (tenant, platform, account, channel, zone, at)
    VALUES (:tenant, :platform, :account, :channel, :zone, :at)
    ON CONFLICT (tenant, platform, account, channel)
    DO UPDATE SET zone = excluded.zone, at = excluded.at
""")
DELETE: Final = Statement(f"DELETE FROM place_zones WHERE {_KEY}")


class PlaceZones:
    """Every method raises `StoreUnavailable`. The threads of a channel have its zone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, tenant: str, place: Place) -> str:
        """Return the name of the zone that is set for a channel; "" for none."""
        rows = await self._database.fetch(OF, _key(tenant, place))
        return str(rows[0][0]) if rows else ""

    async def put(self, tenant: str, place: Place, zone: str, at: datetime) -> None:
        """Set the zone of a channel; an empty one takes the setting back."""
        if not zone:
            await self._database.change(DELETE, _key(tenant, place))
            return
        await self._database.change(PUT, {**_key(tenant, place), "zone": zone, "at": micros(at)})


def _key(tenant: str, place: Place) -> dict[str, str]:
    values = {
        "tenant": tenant,
        "platform": place.platform,
        "account": place.account,
        "channel": place.channel_id,
    }
    return {name: storable(value) for name, value in values.items()}
