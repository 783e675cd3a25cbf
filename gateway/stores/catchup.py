"""Messages of places whose administrators let them be kept for a bounded time, and the people who
want none of theirs kept.

A person who opted out is a digest: the row outlives an erasure, and names nobody.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from db import Database, Row, Statement, Work, among, change, fetch, lock
from db.database import delete_some, deleting_some
from db.statements import BY_KEY, either
from db.values import micros, storable, time_of

MAX_PLACES: Final = 500
"""Places of an installation."""
MAX_EXPORTED: Final = 100_000
LOCK: Final = "catchup"

SCHEMA: Final = (
    f"""CREATE TABLE catchup_places (
        room text PRIMARY KEY, tenant text NOT NULL, channel text NOT NULL,
        person text NOT NULL, at bigint NOT NULL
    ) {BY_KEY}""",
    """CREATE TABLE catchup_messages (
        room text NOT NULL, message_id text NOT NULL, channel text NOT NULL,
        person text NOT NULL, who text NOT NULL, name text NOT NULL, at bigint NOT NULL,
        text text NOT NULL, link text NOT NULL, PRIMARY KEY (room, message_id)
    )""",
    "CREATE INDEX catchup_messages_room ON catchup_messages (room, at)",
    "CREATE INDEX catchup_messages_at ON catchup_messages (at)",
    "CREATE INDEX catchup_messages_channel ON catchup_messages (channel, message_id)",
    "CREATE INDEX catchup_messages_who ON catchup_messages (who)",
    f"""CREATE TABLE catchup_opt_outs (
        who text PRIMARY KEY, at bigint NOT NULL
    ) {BY_KEY}""",
)
PLACES: Final = Statement(f"SELECT room FROM catchup_places ORDER BY room LIMIT {MAX_PLACES}")
COUNT: Final = Statement("SELECT count(*) FROM catchup_places WHERE room <> :room")
SWITCH_ON: Final = Statement("""
    INSERT INTO catchup_places (room, tenant, channel, person, at)
    VALUES (:room, :tenant, :channel, :person, :at) ON CONFLICT (room) DO NOTHING
""")
SWITCH_OFF: Final = Statement("DELETE FROM catchup_places WHERE room = :room")
EMPTY: Final = Statement("DELETE FROM catchup_messages WHERE room = :room")
OPT_OUT: Final = Statement("""
    INSERT INTO catchup_opt_outs (who, at) VALUES (:who, :at) ON CONFLICT (who) DO NOTHING
""")
OPT_IN: Final = Statement(f"DELETE FROM catchup_opt_outs WHERE {among('who', 'whose')}")
OPTED_OUT: Final = Statement(f"SELECT 1 FROM catchup_opt_outs WHERE {among('who', 'whose')}")
DELETE_WHOSE: Final = Statement(f"DELETE FROM catchup_messages WHERE {among('who', 'whose')}")
KEEP: Final = Statement(f"""
    INSERT INTO catchup_messages
        (room, message_id, channel, person, who, name, at, text, link)
    SELECT room, :message_id, channel, :person, :who, :name, :at, :text, :link
    FROM catchup_places
    WHERE room = :room
        AND NOT EXISTS (SELECT 1 FROM catchup_opt_outs WHERE {among("who", "whose")})
    {either(sqlite="", postgres="FOR SHARE")}
    ON CONFLICT (room, message_id) DO NOTHING
""")
EDIT: Final = Statement(f"""
    UPDATE catchup_messages SET text = :text
    WHERE channel = :channel AND message_id = :message_id AND {among("who", "whose")}
""")
DELETE: Final = Statement(f"""
    DELETE FROM catchup_messages WHERE channel = :channel AND {among("message_id", "message_ids")}
""")
READABLE: Final = """
    room IN (SELECT room FROM catchup_places)
        AND NOT EXISTS (SELECT 1 FROM catchup_opt_outs AS gone WHERE gone.who = kept.who)
"""
READ: Final = Statement(f"""
    SELECT message_id, person, name, at, text, link FROM catchup_messages AS kept
    WHERE room = :room AND at >= :since AND at < :until AND {READABLE}
    ORDER BY at DESC, message_id DESC LIMIT :most
""")
TRIM: Final = Statement("""
    DELETE FROM catchup_messages WHERE room = :room AND at < (
        SELECT at FROM catchup_messages WHERE room = :room
        ORDER BY at DESC LIMIT 1 OFFSET :last)
""")
PRUNE: Final = deleting_some("catchup_messages", "room, message_id", "at < :before", "at")
OWN: Final = among("who", "whose")
EXPORT: Final = Statement(f"""
    SELECT room, message_id, name, at, text, link FROM catchup_messages
    WHERE {OWN} ORDER BY at LIMIT {MAX_EXPORTED}
""")
COUNT_OWN: Final = Statement(f"SELECT count(*) FROM catchup_messages WHERE {OWN}")
UNNAME: Final = Statement(f"""
    UPDATE catchup_places SET person = '' WHERE tenant = :tenant AND {among("person", "persons")}
""")


class KeptMessage(Struct, frozen=True):
    """A message of a place, without secrets. `person` is a `str(PersonId)`, `link` the address of
    the message, empty where the platform has none."""

    message_id: str
    person: str
    name: str
    """The name of the author at that time."""
    at: datetime
    text: str
    """The text, with its files by name."""
    link: str = ""


class CatchUpStore:
    """Places, messages and opt-outs. Every method raises `StoreUnavailable`. `persons` are the
    `str(PersonId)` of one human."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def places(self) -> frozenset[str]:
        """Return the rooms that are switched on."""
        return frozenset(str(row[0]) for row in await self._database.fetch(PLACES))

    async def switch_on(
        self, room: str, tenant: str, channel: str, person: str, at: datetime
    ) -> bool | None:
        """Switch a room on; False if it is on already, None if there are too many."""
        params = {
            "room": room,
            "tenant": tenant,
            "channel": channel,
            "person": person,
            "at": micros(at),
        }

        def work() -> Work[bool | None]:
            yield from lock(LOCK)
            ((others,),) = yield from fetch(COUNT, {"room": room})
            if others >= MAX_PLACES:
                return None
            return (yield from change(SWITCH_ON, params)) > 0

        return await self._database.run(work)

    async def switch_off(self, room: str) -> bool:
        """Switch a room off and delete its messages; False if it was off."""

        def work() -> Work[bool]:
            was_on = (yield from change(SWITCH_OFF, {"room": room})) > 0
            yield from change(EMPTY, {"room": room})
            return was_on

        return await self._database.run(work)

    async def opt_out(self, tenant: str, persons: Sequence[str], at: datetime) -> int:
        """Keep nothing of this human from now on, and delete what is kept; returns the number of
        messages."""
        whose = [digest(tenant, person) for person in persons]

        def work() -> Work[int]:
            yield from lock(*whose)
            for who in whose:
                yield from change(OPT_OUT, {"who": who, "at": micros(at)})
            return (yield from change(DELETE_WHOSE, {"whose": whose}))

        return await self._database.run(work)

    async def opt_in(self, tenant: str, persons: Sequence[str]) -> bool:
        """Take an opt-out back; False if there was none."""
        return await self._database.change(OPT_IN, _whose(tenant, persons)) > 0

    async def opted_out(self, tenant: str, persons: Sequence[str]) -> bool:
        """Return True if nothing of this human is kept."""
        return bool(await self._database.fetch(OPTED_OUT, _whose(tenant, persons)))

    async def keep(
        self, room: str, tenant: str, message: KeptMessage, persons: Sequence[str]
    ) -> bool:
        """Keep a message once; False if the room is off, its author opted out by one of `persons`,
        or it is kept already."""
        whose = [digest(tenant, person) for person in persons]
        params = {
            "room": room,
            "message_id": storable(message.message_id),
            "person": message.person,
            "who": digest(tenant, message.person),
            "whose": whose,
            "name": storable(message.name),
            "at": micros(message.at),
            "text": storable(message.text),
            "link": message.link,
        }

        def work() -> Work[bool]:
            yield from lock(*whose)  # an opt-out waits, and deletes this message
            return (yield from change(KEEP, params)) > 0

        return await self._database.run(work)

    async def edit(
        self, tenant: str, channel: str, message_id: str, persons: Sequence[str], text: str
    ) -> bool:
        """Replace the text of a kept message of this author; False if it is not kept."""
        params = {
            "channel": channel,
            "message_id": storable(message_id),
            "whose": [digest(tenant, person) for person in persons],
            "text": storable(text),
        }
        return await self._database.change(EDIT, params) > 0

    async def delete(self, channel: str, message_ids: Sequence[str]) -> int:
        """Delete messages of a channel; returns how many."""
        params = {"channel": channel, "message_ids": [storable(one) for one in message_ids]}
        return await self._database.change(DELETE, params)

    async def read(
        self, room: str, since: datetime, until: datetime, most: int
    ) -> list[KeptMessage]:
        """Return the latest messages of a room in a time, newest first."""
        params = {"room": room, "since": micros(since), "until": micros(until), "most": most}
        return [_message(row) for row in await self._database.fetch(READ, params)]

    async def trim(self, room: str, most: int) -> int:
        """Delete the oldest messages of a room beyond a number; returns how many."""
        return await self._database.change(TRIM, {"room": room, "last": most - 1})

    async def prune(self, before: datetime) -> int:
        """Delete some messages that are older; returns how many, 0 at the end."""
        return await delete_some(self._database, PRUNE, {"before": micros(before)})

    # --- the data of a person: implements `memory.ports.people.PersonalDataStore` ---------------

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Return the kept messages of these identities."""
        names = ("room", "message_id", "name", "at", "text", "link")
        rows = await self._database.fetch(EXPORT, _whose(tenant, persons))
        return [
            {"table": "catchup_messages", **dict(zip(names, row, strict=True))}
            | {"at": time_of(row[3]).timestamp()}
            for row in rows
        ]

    async def count(self, tenant: str, persons: Sequence[str]) -> list[tuple[str, int]]:
        """Return the number of kept messages of these identities."""
        ((number,),) = await self._database.fetch(COUNT_OWN, _whose(tenant, persons))
        return [("catchup_messages", int(number))] if number else []

    async def erase(self, tenant: str, persons: Sequence[str], turn_id: str = "") -> int:
        """Delete the kept messages of these identities; an opt-out stays, and names nobody."""
        params = {"tenant": tenant, "persons": list(persons)}

        def work() -> Work[int]:
            yield from change(UNNAME, params)
            return (yield from change(DELETE_WHOSE, _whose(tenant, persons)))

        return await self._database.run(work)


def digest(tenant: str, person: str) -> str:
    """Return the digest that stands for a person who opted out."""
    named = f"{tenant}\n{person}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(named, digest_size=16).hexdigest()


def _whose(tenant: str, persons: Sequence[str]) -> dict[str, list[str]]:
    return {"whose": [digest(tenant, person) for person in persons]}


def _message(row: Row) -> KeptMessage:
    message_id, person, name, at, text, link = row
    return KeptMessage(str(message_id), str(person), str(name), time_of(at), str(text), str(link))
