"""Linked identities, and requests to link them, in PostgreSQL."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, LiteralString

from db.postgres import Connection, PostgresDatabase
from memory.store.linking import (
    EXPIRE_AT_ONCE,
    KeptRequest,
    confirming,
    obstacle,
    place_of,
    place_text,
    redeemed,
    request_of,
    sides_text,
)
from memory.store.ports import Linked, LinkOutcome, LinkRequest, LinkStep, Side
from memory.store.postgres.locks import LOCK, lock_numbers

SELECT: Final = "SELECT tenant, id, state, sides, until, settled FROM link_requests WHERE "
OF_CODE: Final = "tenant = %(tenant)s AND code = %(code)s AND until > %(now)s"
OF_ID: Final = "tenant = %(tenant)s AND id = %(id)s AND id <> ''"
OF_PERSON: Final = """
    tenant = %(tenant)s AND (maker = %(person)s OR redeemer = %(person)s) AND state <> 'linked'
    AND until > %(now)s ORDER BY state = 'offered'
"""
PUT: Final = """
    INSERT INTO link_requests (tenant, maker, code, id, state, redeemer, sides, until, settled)
    VALUES (%(tenant)s, %(maker)s, %(code)s, %(id)s, %(state)s, %(redeemer)s, %(sides)s, %(until)s,
        %(settled)s)
    ON CONFLICT (tenant, maker) DO UPDATE SET code = excluded.code, id = excluded.id,
        state = excluded.state, redeemer = excluded.redeemer, sides = excluded.sides,
        until = excluded.until, settled = excluded.settled
"""
CHANGE: Final = """
    UPDATE link_requests SET state = %(state)s, settled = %(settled)s
    WHERE tenant = %(tenant)s AND maker = %(maker)s
"""
DELETE: Final = "DELETE FROM link_requests WHERE tenant = %(tenant)s AND maker = %(maker)s"
DROP_OWN: Final = """
    DELETE FROM link_requests
    WHERE tenant = %(tenant)s AND (maker = %(person)s OR redeemer = %(person)s)
"""
DROP_OPEN: Final = """
    DELETE FROM link_requests
    WHERE tenant = %(tenant)s AND (maker = ANY(%(group)s) OR redeemer = ANY(%(group)s))
        AND state IN ('redeemed', 'confirmed') AND maker <> %(maker)s
"""
EXPIRE: Final = """
    DELETE FROM link_requests WHERE (tenant, maker) IN (
        SELECT tenant, maker FROM link_requests WHERE until <= %(now)s
        LIMIT %(most)s FOR UPDATE SKIP LOCKED)
    RETURNING tenant, id, state, sides, until, settled
"""
GROUP: Final = """
    SELECT other.person, other.name, other.place, other.since FROM people_links own
    JOIN people_links other ON other.tenant = own.tenant AND other.human = own.human
    WHERE own.tenant = %(tenant)s AND own.person = %(person)s AND other.person <> own.person
    ORDER BY other.person
"""
JOIN: Final = """
    INSERT INTO people_links AS kept (tenant, person, human, name, place, since)
    VALUES (%(tenant)s, %(person)s, %(human)s, %(name)s, %(place)s, %(since)s)
    ON CONFLICT (tenant, person) DO UPDATE SET human = excluded.human,
        name = CASE WHEN excluded.place = '' THEN kept.name ELSE excluded.name END,
        place = CASE WHEN excluded.place = '' THEN kept.place ELSE excluded.place END
"""


class PostgresLinks:
    """Implements `memory.store.ports.LinkStore`."""

    def __init__(self, engine: PostgresDatabase) -> None:
        self._engine = engine

    async def offer(self, tenant: str, maker: Side, code: str, until: datetime) -> None:
        """Keep the hash of a one-time code in place of the maker's last one."""
        request = LinkRequest("", tenant, "offered", maker, None, until)
        await self._engine.change_raw(PUT, _row(KeptRequest(request, ""), code))

    async def redeem(
        self, tenant: str, redeemer: Side, code: str, request_id: str, now: datetime,
        until: datetime,
    ) -> LinkStep:  # fmt: skip
        """Use a code up; both sides have to confirm until then."""

        async def work(connection: Connection) -> LinkStep:
            async with connection.transaction():
                await _lock(connection, tenant)
                asked = {"tenant": tenant, "code": code, "now": now}
                found = await _one(connection, OF_CODE, asked)
                if found is None:
                    return LinkStep("unknown")
                maker, person = found.request.maker.person, redeemer.person
                if maker == person:
                    return LinkStep("own")
                if found.request.state != "offered":
                    entered = found.request.redeemer
                    again = found.active and entered is not None and entered.person == person
                    return LinkStep("redeemed", found.request) if again else LinkStep("unknown")
                if await _active(connection, tenant, person, now) is not None:
                    return LinkStep("busy")
                ours = await _group(connection, tenant, person)
                if maker in ours:
                    return LinkStep("already")
                problem = obstacle(ours | await _group(connection, tenant, maker))
                if problem == "same_account":
                    await connection.execute(DELETE, {"tenant": tenant, "maker": maker})
                if problem is not None:
                    return LinkStep(problem, found.request)
                await connection.execute(DROP_OWN, {"tenant": tenant, "person": person})
                kept = redeemed(found, redeemer, request_id, until)
                await connection.execute(PUT, _row(kept, code))
                return LinkStep("redeemed", kept.request)

        return await self._engine.with_connection(work)

    async def active(self, tenant: str, person: str, now: datetime) -> LinkRequest | None:
        """The request that this person takes part in, once its code was entered."""
        return await self._engine.with_connection(lambda db: _active(db, tenant, person, now))

    async def confirm(
        self, tenant: str, person: str, request_id: str, exchange: str, now: datetime
    ) -> LinkStep:
        """One side confirms: the redeemer first, then the maker, which links both."""

        async def work(connection: Connection) -> LinkStep:
            async with connection.transaction():
                await _lock(connection, tenant)
                kept = await _one(connection, OF_ID, {"tenant": tenant, "id": request_id})
                outcome = confirming(kept, person, exchange, now)
                if kept is None or outcome == "unknown":
                    return LinkStep("unknown")
                if outcome == "agreed":
                    kept = KeptRequest(replace(kept.request, state="confirmed"), exchange)
                    await connection.execute(CHANGE, _row(kept))
                elif outcome == "linked" and kept.request.state == "confirmed":
                    kept = KeptRequest(replace(kept.request, state="linked"), exchange)
                    problem = await _join(connection, kept.request, now)
                    if problem is not None:
                        await connection.execute(DELETE, _row(kept))
                        return LinkStep(problem, kept.request)
                    await connection.execute(CHANGE, _row(kept))
                return LinkStep(outcome, kept.request)

        return await self._engine.with_connection(work)

    async def cancel(
        self, tenant: str, person: str, now: datetime, request_id: str = ""
    ) -> LinkRequest | None:
        """End the request that this person takes part in."""

        async def work(connection: Connection) -> LinkRequest | None:
            async with connection.transaction():
                await _lock(connection, tenant)
                asked = {"tenant": tenant, "person": person, "now": now}
                found = await _one(connection, OF_PERSON, asked)
                if found is None or request_id not in ("", found.request.id):
                    return None
                await connection.execute(DELETE, _row(found))
                return found.request

        return await self._engine.with_connection(work)

    async def expire(self, now: datetime) -> list[LinkRequest]:
        """End requests whose time is over; those that were not completed."""

        async def work(connection: Connection) -> list[LinkRequest]:
            rows = await connection.execute(EXPIRE, {"now": now, "most": EXPIRE_AT_ONCE})
            ended = [_kept(*row).request for row in await rows.fetchall()]
            return [request for request in ended if request.state != "linked"]

        return await self._engine.with_connection(work)

    async def linked(self, tenant: str, person: str) -> list[Linked]:
        """The identities that are linked with this one, without itself."""
        return await self._engine.with_connection(lambda db: _others(db, tenant, person))

    async def unlink(self, tenant: str, person: str) -> list[Linked]:
        """Take an identity out of its links; the identities it was linked with."""

        async def work(connection: Connection) -> list[Linked]:
            async with connection.transaction():
                return await leave(connection, tenant, person)

        return await self._engine.with_connection(work)


async def leave(connection: Connection, tenant: str, person: str) -> list[Linked]:
    """Take an identity out of its links; one that stays behind alone is linked no more."""
    await _lock(connection, tenant)
    others = await _others(connection, tenant, person)
    gone = [person] if len(others) > 1 else [person, *(one.side.person for one in others)]
    await connection.execute(
        "DELETE FROM people_links WHERE tenant = %s AND person = ANY (%s::text[])", (tenant, gone)
    )
    return others


async def _lock(connection: Connection, tenant: str) -> None:
    await connection.execute(LOCK, (lock_numbers((f"links {tenant}",)),))


async def _others(connection: Connection, tenant: str, person: str) -> list[Linked]:
    rows = await connection.execute(GROUP, {"tenant": tenant, "person": person})
    return [
        Linked(Side(one, name, place_of(place)), None if since is None else since.astimezone(UTC))
        for one, name, place, since in await rows.fetchall()
    ]


async def _group(connection: Connection, tenant: str, person: str) -> set[str]:
    return {person, *(one.side.person for one in await _others(connection, tenant, person))}


async def _join(connection: Connection, request: LinkRequest, now: datetime) -> LinkOutcome | None:
    """Link both sides and all that are linked with them already; the reason why not. Other open
    requests of these end: what their sides were shown is true no longer."""
    tenant = request.tenant
    known = {s.person: s for s in (request.maker, request.redeemer) if s is not None}
    everybody: set[str] = set()
    for person in known:
        everybody |= await _group(connection, tenant, person)
    problem = obstacle(everybody)
    if problem is not None:
        return problem
    human = uuid.uuid4().hex
    for side in (known.get(person, Side(person)) for person in sorted(everybody)):
        named = {"name": side.name, "place": place_text(side.place), "since": now}
        joined = {"tenant": tenant, "person": side.person, "human": human}
        await connection.execute(JOIN, joined | named)
    of_others = {"tenant": tenant, "group": sorted(everybody), "maker": request.maker.person}
    await connection.execute(DROP_OPEN, of_others)
    return None


async def _active(
    connection: Connection, tenant: str, person: str, now: datetime
) -> LinkRequest | None:
    asked = {"tenant": tenant, "person": person, "now": now}
    found = await _one(connection, OF_PERSON, asked)
    return found.request if found is not None and found.active else None


async def _one(
    connection: Connection, where: LiteralString, asked: Mapping[str, object]
) -> KeptRequest | None:
    row = await (await connection.execute(SELECT + where, asked)).fetchone()
    return None if row is None else _kept(*row)


def _kept(
    tenant: str, id_: str, state: str, sides: str, until: datetime, settled: str
) -> KeptRequest:
    return KeptRequest(request_of(tenant, id_, state, sides, until.astimezone(UTC)), settled)


def _row(kept: KeptRequest, code: str = "") -> dict[str, object]:
    one = kept.request
    return {
        "tenant": one.tenant,
        "maker": one.maker.person,
        "code": code,
        "id": one.id,
        "state": one.state,
        "redeemer": "" if one.redeemer is None else one.redeemer.person,
        "sides": sides_text(one),
        "until": one.until,
        "settled": kept.settled,
    }
