"""Linked identities, and requests to link them, in SQLite."""

import sqlite3
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from db.sqlite import SqliteDatabase
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
from memory.store.sqlite.rows import moment

SELECT: Final = "SELECT tenant, id, state, sides, until, settled FROM link_requests"
PUT: Final = "INSERT OR REPLACE INTO link_requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
DELETE: Final = "DELETE FROM link_requests WHERE tenant = ? AND maker = ?"
DROP_OPEN: Final = """
    DELETE FROM link_requests WHERE tenant = ? AND (maker = ? OR redeemer = ?)
        AND state IN ('redeemed', 'confirmed') AND maker <> ?
"""
OF_PERSON: Final = """
    tenant = ? AND (maker = ? OR redeemer = ?) AND state <> 'linked' AND until > ?
    ORDER BY state = 'offered'
"""
GROUP: Final = """
    SELECT other.person, other.name, other.place, other.since FROM people_links own
    JOIN people_links other ON other.tenant = own.tenant AND other.human = own.human
    WHERE own.tenant = ? AND own.person = ? AND other.person <> own.person ORDER BY other.person
"""
JOIN: Final = """
    INSERT INTO people_links (tenant, person, human, name, place, since) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, person) DO UPDATE SET human = excluded.human,
        name = CASE WHEN excluded.place = '' THEN name ELSE excluded.name END,
        place = CASE WHEN excluded.place = '' THEN place ELSE excluded.place END
"""


class SqliteLinks:
    """Implements `memory.store.ports.LinkStore`."""

    def __init__(self, engine: SqliteDatabase) -> None:
        self._engine = engine

    async def offer(self, tenant: str, maker: Side, code: str, until: datetime) -> None:
        """Keep the hash of a one-time code in place of the maker's last one."""
        kept = KeptRequest(LinkRequest("", tenant, "offered", maker, None, until), "")
        await self._engine.run_job(lambda db: _put(db, kept, code))

    async def redeem(
        self, tenant: str, redeemer: Side, code: str, request_id: str, now: datetime,
        until: datetime,
    ) -> LinkStep:  # fmt: skip
        """Use a code up; both sides have to confirm until then."""

        def job(db: sqlite3.Connection) -> LinkStep:
            where = "tenant = ? AND code = ? AND until > ?"
            found = _one(db, where, (tenant, code, now.timestamp()))
            if found is None:
                return LinkStep("unknown")
            maker, person = found.request.maker.person, redeemer.person
            if maker == person:
                return LinkStep("own")
            if found.request.state != "offered":
                entered = found.request.redeemer
                again = found.active and entered is not None and entered.person == person
                return LinkStep("redeemed", found.request) if again else LinkStep("unknown")
            if _active(db, tenant, person, now) is not None:
                return LinkStep("busy")
            ours, theirs = _group(db, tenant, person), _group(db, tenant, maker)
            if maker in ours:
                return LinkStep("already")
            problem = obstacle({*ours, *theirs})
            if problem == "same_account":
                db.execute(DELETE, (tenant, maker))
            if problem is not None:
                return LinkStep(problem, found.request)
            db.execute(
                "DELETE FROM link_requests WHERE tenant = ? AND (maker = ? OR redeemer = ?)",
                (tenant, person, person),
            )
            kept = redeemed(found, redeemer, request_id, until)
            _put(db, kept, code)
            return LinkStep("redeemed", kept.request)

        return await self._engine.run_job(job)

    async def active(self, tenant: str, person: str, now: datetime) -> LinkRequest | None:
        """The request that this person takes part in, once its code was entered."""
        return await self._engine.run_job(lambda db: _active(db, tenant, person, now))

    async def confirm(
        self, tenant: str, person: str, request_id: str, exchange: str, now: datetime
    ) -> LinkStep:
        """One side confirms: the redeemer first, then the maker, which links both."""

        def job(db: sqlite3.Connection) -> LinkStep:
            where = "tenant = ? AND id = ? AND id <> ''"
            kept = _one(db, where, (tenant, request_id))
            outcome = confirming(kept, person, exchange, now)
            if kept is None or outcome == "unknown":
                return LinkStep("unknown")
            if outcome == "agreed":
                kept = KeptRequest(replace(kept.request, state="confirmed"), exchange)
                _change(db, kept)
            elif outcome == "linked" and kept.request.state == "confirmed":
                kept = KeptRequest(replace(kept.request, state="linked"), exchange)
                if (problem := _join(db, kept.request, now)) is not None:
                    db.execute(DELETE, (tenant, kept.request.maker.person))
                    return LinkStep(problem, kept.request)
                _change(db, kept)
            return LinkStep(outcome, kept.request)

        return await self._engine.run_job(job)

    async def cancel(
        self, tenant: str, person: str, now: datetime, request_id: str = ""
    ) -> LinkRequest | None:
        """End the request that this person takes part in."""

        def job(db: sqlite3.Connection) -> LinkRequest | None:
            found = _one(db, OF_PERSON, (tenant, person, person, now.timestamp()))
            if found is None or request_id not in ("", found.request.id):
                return None
            db.execute(DELETE, (tenant, found.request.maker.person))
            return found.request

        return await self._engine.run_job(job)

    async def expire(self, now: datetime) -> list[LinkRequest]:
        """End requests whose time is over; those that were not completed."""

        def job(db: sqlite3.Connection) -> list[LinkRequest]:
            found = _all(db, "until <= ? LIMIT ?", (now.timestamp(), EXPIRE_AT_ONCE))
            keys = [(kept.request.tenant, kept.request.maker.person) for kept in found]
            db.executemany(DELETE, keys)
            return [kept.request for kept in found if kept.request.state != "linked"]

        return await self._engine.run_job(job)

    async def linked(self, tenant: str, person: str) -> list[Linked]:
        """The identities that are linked with this one, without itself."""
        return await self._engine.run_job(lambda db: _others(db, tenant, person))

    async def unlink(self, tenant: str, person: str) -> list[Linked]:
        """Take an identity out of its links; the identities it was linked with."""
        return await self._engine.run_job(lambda db: leave(db, tenant, person))


def leave(db: sqlite3.Connection, tenant: str, person: str) -> list[Linked]:
    """Take an identity out of its links; one that stays behind alone is linked no more."""
    others = _others(db, tenant, person)
    gone = [person] if len(others) > 1 else [person, *(one.side.person for one in others)]
    db.executemany(
        "DELETE FROM people_links WHERE tenant = ? AND person = ?",
        [(tenant, one) for one in gone],
    )
    return others


def _others(db: sqlite3.Connection, tenant: str, person: str) -> list[Linked]:
    return [
        Linked(Side(one, name, place_of(place)), None if since is None else moment(since))
        for one, name, place, since in db.execute(GROUP, (tenant, person))
    ]


def _group(db: sqlite3.Connection, tenant: str, person: str) -> set[str]:
    return {person, *(one.side.person for one in _others(db, tenant, person))}


def _join(db: sqlite3.Connection, request: LinkRequest, now: datetime) -> LinkOutcome | None:
    """Link both sides and all that are linked with them already; the reason why not. Other open
    requests of these end: what their sides were shown is true no longer."""
    tenant, sides = request.tenant, [s for s in (request.maker, request.redeemer) if s is not None]
    everybody = set[str]().union(*(_group(db, tenant, side.person) for side in sides))
    problem = obstacle(everybody)
    if problem is not None:
        return problem
    known = {side.person: side for side in sides}
    human, at = uuid.uuid4().hex, now.timestamp()
    rows = [known.get(person, Side(person)) for person in sorted(everybody)]
    db.executemany(JOIN, [(tenant, s.person, human, s.name, place_text(s.place), at) for s in rows])
    maker = request.maker.person
    db.executemany(DROP_OPEN, [(tenant, s.person, s.person, maker) for s in rows])
    return None


def _active(db: sqlite3.Connection, tenant: str, person: str, now: datetime) -> LinkRequest | None:
    found = _one(db, OF_PERSON, (tenant, person, person, now.timestamp()))
    return found.request if found is not None and found.active else None


def _put(db: sqlite3.Connection, kept: KeptRequest, code: str) -> None:
    one = kept.request
    redeemer = "" if one.redeemer is None else one.redeemer.person
    row = (one.tenant, one.maker.person, code, one.id, one.state, redeemer, sides_text(one))
    db.execute(PUT, (*row, one.until.timestamp(), kept.settled))


def _change(db: sqlite3.Connection, kept: KeptRequest) -> None:
    one = kept.request
    db.execute(
        "UPDATE link_requests SET state = ?, settled = ? WHERE tenant = ? AND maker = ?",
        (one.state, kept.settled, one.tenant, one.maker.person),
    )


def _one(db: sqlite3.Connection, where: str, values: Sequence[object]) -> KeptRequest | None:
    return next(iter(_all(db, where, values)), None)


def _all(db: sqlite3.Connection, where: str, values: Sequence[object]) -> list[KeptRequest]:
    found: Iterable[tuple[str, str, str, str, float, str]] = db.execute(
        f"{SELECT} WHERE {where}",
        tuple(values),
    )
    return [
        KeptRequest(request_of(tenant, id_, state, sides, moment(until)), settled)
        for tenant, id_, state, sides, until, settled in found
    ]
