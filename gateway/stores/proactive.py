"""Messages that the assistant writes first: their counts of a day, those that wait, quiet hours of
places. The quiet hours of people are stored with their time zone (`people_languages`)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct, json

from db import Database, Row, Statement, Work, among, change, execute, fetch, lock
from db.database import delete_some, deleting_some
from db.statements import BY_KEY
from db.values import micros, storable, time_of
from gateway.policy.proactive import WINDOW
from gateway.ports.proactive import PendingNotice, WaitingNotice

MAX_WAITING: Final = 100
"""Messages that wait for one person."""
MAX_BODY: Final = 32_000
"""Characters of a stored message."""
KEYS_KEPT: Final = timedelta(days=2)
"""The time for which the key of a sent message is known."""
MAX_PLACES: Final = 10_000
"""Places of one tenant with quiet hours of their own."""

SCHEMA: Final = (
    f"""CREATE TABLE proactive_sent (
        tenant text NOT NULL, reader text NOT NULL, day text NOT NULL, key text NOT NULL,
        at bigint NOT NULL, PRIMARY KEY (tenant, reader, day, key)
    ) {BY_KEY}""",
    "CREATE INDEX proactive_sent_at ON proactive_sent (at)",
    """CREATE TABLE proactive_waiting (
        tenant text NOT NULL, key text NOT NULL, person text NOT NULL, due bigint NOT NULL,
        reason text NOT NULL, body text NOT NULL, at bigint NOT NULL,
        batch text NOT NULL DEFAULT '', PRIMARY KEY (tenant, key)
    )""",
    "CREATE INDEX proactive_waiting_due ON proactive_waiting (due)",
    "CREATE INDEX proactive_waiting_person ON proactive_waiting (tenant, person)",
    f"""CREATE INDEX proactive_waiting_blocked ON proactive_waiting (tenant, person)
    WHERE reason = '{WINDOW}'""",
    f"""CREATE TABLE quiet_places (
        tenant text NOT NULL, place text NOT NULL, hours text NOT NULL, at bigint NOT NULL,
        PRIMARY KEY (tenant, place)
    ) {BY_KEY}""",
)
COUNT: Final = Statement("""
    SELECT count(*), COALESCE(sum(CASE WHEN key = :key THEN 1 ELSE 0 END), 0) FROM proactive_sent
    WHERE tenant = :tenant AND reader = :reader AND day = :day
""")
SEND: Final = Statement("""
    INSERT INTO proactive_sent (tenant, reader, day, key, at)
    VALUES (:tenant, :reader, :day, :key, :at)
""")
PRUNE_SENT: Final = deleting_some(
    "proactive_sent", "tenant, reader, day, key", "at < :before", "at"
)
COLUMNS: Final = "tenant, key, person, due, reason, body, at"
WAITING: Final = Statement("""
    SELECT count(*) FROM proactive_waiting
    WHERE tenant = :tenant AND person = :person AND key <> :key AND body <> ''
""")
HELD: Final = Statement("SELECT 1 FROM proactive_waiting WHERE tenant = :tenant AND key = :key")
HOLD: Final = Statement(f"""
    INSERT INTO proactive_waiting ({COLUMNS})
    VALUES (:tenant, :key, :person, :due, :reason, :body, :at)
    ON CONFLICT (tenant, key) DO NOTHING
""")
DUE: Final = Statement("""
    SELECT body, reason, at, batch FROM proactive_waiting WHERE due <= :now AND body <> ''
    ORDER BY due, at, tenant, key LIMIT :limit
""")
IN_BATCH: Final = Statement("""
    SELECT body, reason, at, batch FROM proactive_waiting
    WHERE tenant = :tenant AND batch = :batch AND body <> '' ORDER BY at, key
""")
CHOOSE: Final = Statement(f"""
    UPDATE proactive_waiting SET batch = :batch
    WHERE tenant = :tenant AND {among("key", "keys")} AND batch = ''
""")
DELAY: Final = Statement("""
    UPDATE proactive_waiting SET due = :due, reason = :reason, batch = ''
    WHERE tenant = :tenant AND key = :key
""")
DELAY_BATCH: Final = Statement("""
    UPDATE proactive_waiting SET due = :due, reason = :reason
    WHERE tenant = :tenant AND batch = :batch
""")
DROP: Final = Statement("DELETE FROM proactive_waiting WHERE tenant = :tenant AND key = :key")
FORGET: Final = Statement("""
    DELETE FROM proactive_waiting
    WHERE tenant = :tenant AND person = :person AND key LIKE :beginning AND body <> ''
    RETURNING key, batch
""")
END_BATCH: Final = Statement("""
    UPDATE proactive_waiting SET body = '', reason = '', due = :due
    WHERE tenant = :tenant AND batch = :batch
""")
PRUNE_ENDED: Final = deleting_some(
    "proactive_waiting", "tenant, key", "due < :now AND body = ''", "due"
)
BLOCKED: Final = Statement(f"""
    SELECT DISTINCT tenant, person FROM proactive_waiting WHERE reason = '{WINDOW}' LIMIT :limit
""")
UNBLOCK: Final = Statement(f"""
    UPDATE proactive_waiting SET due = :now
    WHERE tenant = :tenant AND person = :person AND reason = '{WINDOW}' AND due > :now
""")
OF_PLACE: Final = Statement(
    "SELECT hours FROM quiet_places WHERE tenant = :tenant AND place = :place"
)
PLACES: Final = Statement(
    "SELECT count(*) FROM quiet_places WHERE tenant = :tenant AND place <> :place"
)
PUT_PLACE: Final = Statement("""
    INSERT INTO quiet_places (tenant, place, hours, at) VALUES (:tenant, :place, :hours, :at)
    ON CONFLICT (tenant, place) DO UPDATE SET hours = excluded.hours, at = excluded.at
""")
DROP_PLACE: Final = Statement("DELETE FROM quiet_places WHERE tenant = :tenant AND place = :place")


class DayCount(Struct, frozen=True):
    """The messages of one day that answer nothing: how many were `sent`, and if this one is among
    them."""

    sent: int
    counted: bool


class ProactiveStore:
    """Every method raises `StoreUnavailable`. `reader` is the `str(PersonId)` under which a human
    is counted, or the name of a room; `day` a day of the reader, as 2026-11-28."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def counted(self, tenant: str, reader: str, day: str, key: str) -> DayCount:
        """Return the count of a day."""
        rows = await self._database.fetch(COUNT, _count_of(tenant, reader, day, key))
        return _day_count(rows)

    async def count(
        self, tenant: str, reader: str, day: str, key: str, most: int, now: datetime
    ) -> int:
        """Count a message, once for each key; returns the count of the day with it, 0 if `most` of
        the day were counted before (0 for no limit). Exact for several processes."""
        params = _count_of(tenant, reader, day, key)

        def work() -> Work[int]:
            yield from lock(f"proactive {params['tenant']} {params['reader']}")
            before = _day_count((yield from fetch(COUNT, params)))
            if before.counted:
                return before.sent
            if most and before.sent >= most:
                return 0
            yield from execute(SEND, {**params, "at": micros(now)})
            return before.sent + 1

        return await self._database.run(work)

    async def hold(self, pending: PendingNotice, due: datetime, reason: str, now: datetime) -> bool:
        """Store a message until `due`, once for each key; False if too many wait for its person, or
        its text is too long."""
        body = storable(json.encode(pending).decode())
        params = {
            **_key_of(pending),
            "person": storable(pending.notice.person),
            "due": micros(due),
            "reason": reason,
            "body": body,
            "at": micros(now),
        }
        if len(body) > MAX_BODY:
            return False

        def work() -> Work[bool]:
            yield from lock(f"proactive {params['tenant']} {params['person']}")
            ((waiting,),) = yield from fetch(WAITING, params)
            if int(waiting) >= MAX_WAITING:
                return False
            yield from change(HOLD, params)
            return True

        return await self._database.run(work)

    async def due(self, now: datetime, limit: int) -> list[WaitingNotice]:
        """Return messages whose time has come, the earliest first."""
        rows = await self._database.fetch(DUE, {"now": micros(now), "limit": limit})
        return [_waiting(row) for row in rows]

    async def choose(self, tenant: str, keys: Sequence[str], batch: str) -> Sequence[WaitingNotice]:
        """Put messages in a batch that is sent as one, as far as they are in none; returns those
        that are in it."""
        params = {"tenant": storable(tenant), "batch": batch}

        def work() -> Work[list[Row]]:
            yield from change(CHOOSE, {**params, "keys": [storable(key) for key in keys]})
            return (yield from fetch(IN_BATCH, params))

        return [_waiting(row) for row in await self._database.run(work)]

    async def batch(self, tenant: str, batch: str) -> Sequence[WaitingNotice]:
        """Return the messages of a batch."""
        params = {"tenant": storable(tenant), "batch": batch}
        return [_waiting(row) for row in await self._database.fetch(IN_BATCH, params)]

    async def delay(self, pending: PendingNotice, due: datetime, reason: str) -> None:
        """Let a stored message wait longer, outside of its batch."""
        params = {**_key_of(pending), "due": micros(due), "reason": reason}
        await self._database.change(DELAY, params)

    async def drop(self, pending: PendingNotice) -> None:
        """Delete a stored message."""
        await self._database.change(DROP, _key_of(pending))

    async def end_batch(self, tenant: str, batch: str, now: datetime) -> None:
        """Delete the content of a batch that was queued. The keys stay for some days, so that its
        messages are not stored again."""
        params = {"tenant": storable(tenant), "batch": batch, "due": micros(now + KEYS_KEPT)}
        await self._database.change(END_BATCH, params)

    async def is_held(self, pending: PendingNotice) -> bool:
        """Return True if a message waits, or waited in the last days."""
        return bool(await self._database.fetch(HELD, _key_of(pending)))

    async def delay_batch(self, tenant: str, batch: str, due: datetime, reason: str) -> None:
        """Keep the messages of a batch that was queued until `due`."""
        params = {"tenant": storable(tenant), "batch": batch, "due": micros(due), "reason": reason}
        await self._database.change(DELAY_BATCH, params)

    async def blocked(self, limit: int) -> list[tuple[str, str]]:
        """Return the tenants and people who have to write first."""
        rows = await self._database.fetch(BLOCKED, {"limit": limit})
        return [(str(tenant), str(person)) for tenant, person in rows]

    async def unblock(self, tenant: str, person: str, now: datetime) -> None:
        """Make the messages due that waited until this person wrote."""
        params = {"tenant": tenant, "person": person, "now": micros(now)}
        await self._database.change(UNBLOCK, params)

    async def prune(self, now: datetime) -> int:
        """Delete some keys of messages that were sent days ago; returns how many, 0 at the end."""
        return await delete_some(self._database, PRUNE_ENDED, {"now": micros(now)})

    async def prune_sent(self, before: datetime) -> int:
        """Delete some counts that are older; returns how many, 0 at the end."""
        return await delete_some(self._database, PRUNE_SENT, {"before": micros(before)})

    async def quiet_hours_of(self, tenant: str, place: str) -> str:
        """Return the quiet hours of a place (`channel_name`); empty if it has none of its own."""
        params = {"tenant": storable(tenant), "place": storable(place)}
        rows = await self._database.fetch(OF_PLACE, params)
        return str(rows[0][0]) if rows else ""

    async def set_quiet_hours(self, tenant: str, place: str, hours: str, now: datetime) -> bool:
        """Store the quiet hours of a place, an empty text for none of its own; False if too many
        places have some."""
        params = {"tenant": storable(tenant), "place": storable(place)}

        def work() -> Work[bool]:
            if not hours:
                yield from change(DROP_PLACE, params)
                return True
            yield from lock(f"quiet places {params['tenant']}")
            ((others,),) = yield from fetch(PLACES, params)
            if int(others) >= MAX_PLACES:
                return False
            yield from change(PUT_PLACE, {**params, "hours": hours, "at": micros(now)})
            return True

        return await self._database.run(work)


def forgotten(tenant: str, person: str, beginning: str) -> Work[list[str]]:
    """Delete what waits for a person under keys with this beginning, which has no sign of a
    pattern; returns the keys of those that were not being sent."""
    params = {"tenant": storable(tenant), "person": storable(person), "beginning": f"{beginning}%"}
    rows = yield from fetch(FORGET, params)
    return sorted(str(key) for key, batch in rows if not batch)


def _count_of(tenant: str, reader: str, day: str, key: str) -> dict[str, object]:
    return {
        "tenant": storable(tenant),
        "reader": storable(reader),
        "day": day,
        "key": storable(key),
    }


def _day_count(rows: Sequence[Row]) -> DayCount:
    ((sent, counted),) = rows
    return DayCount(int(sent), bool(counted))


def _key_of(pending: PendingNotice) -> dict[str, object]:
    return {"tenant": storable(pending.tenant), "key": storable(pending.key)}


def _waiting(row: Row) -> WaitingNotice:
    body, reason, at, batch = row
    return WaitingNotice(json.decode(body, type=PendingNotice), reason, time_of(at), batch)
