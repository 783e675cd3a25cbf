"""Linked identities, and requests to link them. Writers in a tenant take turns."""

import uuid
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final, cast

from msgspec import Struct
from pydantic import TypeAdapter

from db import (
    SKIP_LOCKED,
    Database,
    Params,
    Row,
    Statement,
    Work,
    among,
    execute,
    fetch,
    fetch_first,
    lock,
    together,
)
from db.statements import within
from db.transaction import Fetch
from db.values import micros, time_of, time_or_none
from gateway.immutable import replace
from gateway.message import Place
from memory.ports.people import Linked, LinkOutcome, LinkRequest, LinkSide, LinkState, LinkStep
from memory.stores.limits import MAX_LINKED

EXPIRE_AT_ONCE: Final = 100
_SIDES: Final = TypeAdapter(tuple[LinkSide, LinkSide | None])
STORED_PLACE: Final = TypeAdapter(Place)
ACTIVE: Final[tuple[LinkState, ...]] = ("redeemed", "confirmed")


class KeptRequest(Struct, frozen=True):
    """A row of `link_requests`. `turn_id` is the turn that changed it last."""

    request: LinkRequest
    turn_id: str

    @property
    def active(self) -> bool:
        """True when the code was entered and a confirmation is missing."""
        return self.request.state in ACTIVE


def account_of(person: str) -> str:
    """The "platform:account" of a `str(PersonId)`."""
    platform, _, rest = person.partition(":")
    return f"{platform}:{rest.partition(':')[0]}"


def obstacle(persons: Collection[str]) -> LinkOutcome | None:
    """The reason why these identities cannot be linked with one another, None where they can."""
    if len({account_of(person) for person in persons}) < len(persons):
        return "same_account"
    return "too_many" if len(persons) > MAX_LINKED else None


def redeemed(
    kept: KeptRequest, redeemer: LinkSide, request_id: str, until: datetime
) -> KeptRequest:
    """The request after its code was entered."""
    request = replace(kept.request, id=request_id, state="redeemed", redeemer=redeemer, until=until)
    return KeptRequest(request, "")


def confirming(kept: KeptRequest | None, person: str, turn_id: str, now: datetime) -> LinkOutcome:
    """The outcome of a confirmation; `linked` still depends on `obstacle`."""
    if kept is None or kept.request.own(person) is None or kept.request.until <= now:
        return "unknown"
    again, state = kept.turn_id == turn_id, kept.request.state
    if state == "linked":
        return "linked" if again else "unknown"
    if state not in ACTIVE:
        return "unknown"
    if person == kept.request.maker.person:
        return "linked" if state == "confirmed" else "early"
    return "agreed" if state == "redeemed" or again else "waiting"


COLUMNS: Final = "tenant, id, state, sides, until, turn_id"
SELECT: Final = f"SELECT {COLUMNS} FROM link_requests"
OF_CODE: Final = Statement(f"{SELECT} WHERE tenant = :tenant AND code = :code AND until > :now")
OF_ID: Final = Statement(f"{SELECT} WHERE tenant = :tenant AND id = :id AND id <> ''")
OF_PERSON: Final = Statement(f"""
    {SELECT} WHERE tenant = :tenant AND (maker = :person OR redeemer = :person)
        AND state <> 'linked' AND until > :now
    ORDER BY state = 'offered' LIMIT 1
""")
PUT: Final = Statement("""
    INSERT INTO link_requests (tenant, maker, code, id, state, redeemer, sides, until, turn_id)
    VALUES (:tenant, :maker, :code, :id, :state, :redeemer, :sides, :until, :turn_id)
    ON CONFLICT (tenant, maker) DO UPDATE SET code = excluded.code, id = excluded.id,
        state = excluded.state, redeemer = excluded.redeemer, sides = excluded.sides,
        until = excluded.until, turn_id = excluded.turn_id
""")
CHANGE: Final = Statement("""
    UPDATE link_requests SET state = :state, turn_id = :turn_id
    WHERE tenant = :tenant AND maker = :maker
""")
DELETE: Final = Statement("DELETE FROM link_requests WHERE tenant = :tenant AND maker = :maker")
DROP_OWN: Final = Statement("""
    DELETE FROM link_requests WHERE tenant = :tenant AND (maker = :person OR redeemer = :person)
""")
DROP_OPEN: Final = Statement(f"""
    DELETE FROM link_requests
    WHERE tenant = :tenant AND ({among("maker", "group")} OR {among("redeemer", "group")})
        AND state IN ('redeemed', 'confirmed') AND maker <> :maker
""")
EXPIRE: Final = Statement(f"""
    DELETE FROM link_requests WHERE (tenant, maker) IN (
        SELECT tenant, maker FROM link_requests WHERE until <= :now
        ORDER BY until LIMIT {EXPIRE_AT_ONCE} {SKIP_LOCKED})
    RETURNING {COLUMNS}
""")
LINKED: Final = """
    SELECT CAST(:person AS text) AS person UNION ALL
    SELECT other.person FROM people_links own
    JOIN people_links other ON other.tenant = own.tenant AND other.link_group = own.link_group
    WHERE own.tenant = :tenant AND own.person = :person AND other.person <> own.person
"""
"""This identity and those that are linked with it, for statements of other stores."""


def of_same_person(column: str, parameter: str = "person") -> str:
    """True where the column holds this identity or one that is linked with it, so that a limit of
    one person is the same for all their accounts. The statement has the parameter `tenant`."""
    return within(column, LINKED.replace(":person", f":{parameter}"))


GROUP: Final = Statement("""
    SELECT other.person, other.name, other.place, other.since FROM people_links own
    JOIN people_links other ON other.tenant = own.tenant AND other.link_group = own.link_group
    WHERE own.tenant = :tenant AND own.person = :person AND other.person <> own.person
    ORDER BY other.person
""")
JOIN: Final = Statement("""
    INSERT INTO people_links AS kept (tenant, person, link_group, name, place, since)
    VALUES (:tenant, :person, :link_group, :name, :place, :since)
    ON CONFLICT (tenant, person) DO UPDATE SET link_group = excluded.link_group,
        name = CASE WHEN excluded.place = '' THEN kept.name ELSE excluded.name END,
        place = CASE WHEN excluded.place = '' THEN kept.place ELSE excluded.place END
""")
LEAVE: Final = Statement(f"""
    DELETE FROM people_links WHERE tenant = :tenant AND {among("person", "gone")}
""")


class LinkStore:
    """Requests to link, and links. A person takes part in one request at a time.

    `person` is the `str(PersonId)` of the caller; only `memory/service/links.py` uses this store.
    Up to 10 identities are linked, never two of one account (`platform:account`).
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def offer(self, tenant: str, maker: LinkSide, code: str, until: datetime) -> None:
        """Store the hash of a one-time code, replacing the maker's last one."""
        request = LinkRequest("", tenant, "offered", maker, None, until)
        await self._database.change(PUT, _params(KeptRequest(request, ""), code))

    async def redeem(
        self, tenant: str, redeemer: LinkSide, code: str, request_id: str, now: datetime,
        until: datetime,
    ) -> LinkStep:  # fmt: skip
        """Enter a code. Nothing is linked: both sides have to confirm before `until`.

        The outcome is `redeemed`, `unknown`, `own`, `busy`, `already`, `same_account` (the code is
        used up) or `too_many`. Entering it again by the same person is `redeemed` again.
        """
        return await self._database.run(
            lambda: _redeem(tenant, redeemer, code, request_id, now, until)
        )

    async def active(self, tenant: str, person: str, now: datetime) -> LinkRequest | None:
        """Return this person's request if its code was entered."""
        return _active(await self._database.fetch(OF_PERSON, _of_person(tenant, person, now)))

    async def confirm(
        self, tenant: str, person: str, request_id: str, turn_id: str, now: datetime
    ) -> LinkStep:
        """Confirm one side: first the redeemer's, then the maker's, which links both.

        Linking ends the other open requests of all linked identities. The same `turn_id` again has
        the same outcome: `agreed`, `waiting`, `early`, `linked`, `unknown`, or `same_account` or
        `too_many`, which end the request.
        """
        return await self._database.run(lambda: _confirm(tenant, person, request_id, turn_id, now))

    async def cancel(
        self, tenant: str, person: str, now: datetime, request_id: str = ""
    ) -> LinkRequest | None:
        """End this person's request (only `request_id` if given), its code entered or not; return
        it as it was."""

        def work() -> Work[LinkRequest | None]:
            yield from _turns(tenant)
            row = yield from fetch_first(OF_PERSON, _of_person(tenant, person, now))
            if row is None:
                return None
            request = _kept(row).request
            if request_id not in ("", request.id):
                return None
            yield from execute(DELETE, {"tenant": tenant, "maker": request.maker.person})
            return request

        return await self._database.run(work)

    async def expire(self, now: datetime) -> list[LinkRequest]:
        """End up to 100 expired requests; return those that were not completed."""
        rows = await self._database.fetch(EXPIRE, {"now": micros(now)})
        ended = [_kept(row).request for row in rows]
        return [request for request in ended if request.state != "linked"]

    async def linked(self, tenant: str, person: str) -> list[Linked]:
        """Return the other identities that are linked with this one."""
        rows = await self._database.fetch(GROUP, {"tenant": tenant, "person": person})
        return [_linked(row) for row in rows]

    async def unlink(self, tenant: str, person: str) -> list[Linked]:
        """Unlink an identity; return those it was linked with."""
        return await self._database.run(lambda: leave(tenant, person))


def leave(tenant: str, person: str) -> Work[list[Linked]]:
    """Remove an identity from its links; a single remaining identity is no longer linked."""
    yield from _turns(tenant)
    rows = yield from fetch(GROUP, {"tenant": tenant, "person": person})
    others = [_linked(row) for row in rows]
    gone = [person] if len(others) > 1 else [person, *(one.side.person for one in others)]
    yield from execute(LEAVE, {"tenant": tenant, "gone": gone})
    return others


def _redeem(
    tenant: str, redeemer: LinkSide, code: str, request_id: str, now: datetime, until: datetime
) -> Work[LinkStep]:
    yield from _turns(tenant)
    params = {"tenant": tenant, "code": code, "now": micros(now)}
    row = yield from fetch_first(OF_CODE, params)
    if row is None:
        return LinkStep("unknown")
    stored = _kept(row)
    maker, person = stored.request.maker.person, redeemer.person
    if maker == person:
        return LinkStep("own")
    if stored.request.state != "offered":
        entered = stored.request.redeemer
        again = stored.active and entered is not None and entered.person == person
        return LinkStep("redeemed", stored.request) if again else LinkStep("unknown")
    taking_part, ours, theirs = yield from together(
        Fetch(OF_PERSON, _of_person(tenant, person, now)),
        Fetch(GROUP, {"tenant": tenant, "person": person}),
        Fetch(GROUP, {"tenant": tenant, "person": maker}),
    )
    if _active(taking_part) is not None:
        return LinkStep("busy")
    group = {person, *_persons(ours)}
    if maker in group:
        return LinkStep("already")
    problem = obstacle({*group, maker, *_persons(theirs)})
    if problem == "same_account":
        yield from execute(DELETE, {"tenant": tenant, "maker": maker})
    if problem is not None:
        return LinkStep(problem, stored.request)
    yield from execute(DROP_OWN, {"tenant": tenant, "person": person})
    kept = redeemed(stored, redeemer, request_id, until)
    yield from execute(PUT, _params(kept, code))
    return LinkStep("redeemed", kept.request)


def _confirm(
    tenant: str, person: str, request_id: str, turn_id: str, now: datetime
) -> Work[LinkStep]:
    yield from _turns(tenant)
    row = yield from fetch_first(OF_ID, {"tenant": tenant, "id": request_id})
    kept = None if row is None else _kept(row)
    outcome = confirming(kept, person, turn_id, now)
    if kept is None or outcome == "unknown":
        return LinkStep("unknown")
    if outcome == "agreed":
        kept = KeptRequest(replace(kept.request, state="confirmed"), turn_id)
        yield from execute(CHANGE, _params(kept))
    elif outcome == "linked" and kept.request.state == "confirmed":
        kept = KeptRequest(replace(kept.request, state="linked"), turn_id)
        problem = yield from _join(kept.request, now)
        if problem is not None:
            yield from execute(DELETE, _params(kept))
            return LinkStep(problem, kept.request)
        yield from execute(CHANGE, _params(kept))
    return LinkStep(outcome, kept.request)


def _join(request: LinkRequest, now: datetime) -> Work[LinkOutcome | None]:
    """Link both sides and all that are linked with them already; the reason why not. Other open
    requests of these end: what their sides were shown is true no longer."""
    tenant = request.tenant
    known = {side.person: side for side in (request.maker, request.redeemer) if side is not None}
    groups = yield from together(
        *(Fetch(GROUP, {"tenant": tenant, "person": person}) for person in known)
    )
    everybody = sorted(set(known).union(*map(_persons, groups)))
    problem = obstacle(everybody)
    if problem is not None:
        return problem
    link_group = uuid.uuid4().hex
    sides = (known.get(person, LinkSide(person)) for person in everybody)
    yield from execute(JOIN, *(_joined(tenant, side, link_group, now) for side in sides))
    of_others = {"tenant": tenant, "group": everybody, "maker": request.maker.person}
    yield from execute(DROP_OPEN, of_others)
    return None


def _turns(tenant: str) -> Work[None]:
    yield from lock(f"links {tenant}")


def _active(rows: Sequence[Row]) -> LinkRequest | None:
    """The request in what `OF_PERSON` gave, once its code was entered."""
    stored = _kept(rows[0]) if rows else None
    return stored.request if stored is not None and stored.active else None


def _persons(rows: Iterable[Row]) -> set[str]:
    return {str(row[0]) for row in rows}


def _linked(row: Row) -> Linked:
    person, name, place, since = row
    return Linked(
        LinkSide(person, name, STORED_PLACE.validate_json(place) if place else None),
        time_or_none(since),
    )


def _kept(row: Row) -> KeptRequest:
    tenant, id_, state, sides, until, turn_id = row
    maker, redeemer = _SIDES.validate_json(sides)
    request = LinkRequest(id_, tenant, cast("LinkState", state), maker, redeemer, time_of(until))
    return KeptRequest(request, turn_id)


def _of_person(tenant: str, person: str, now: datetime) -> Params:
    return {"tenant": tenant, "person": person, "now": micros(now)}


def _joined(tenant: str, side: LinkSide, link_group: str, now: datetime) -> Params:
    return {
        "tenant": tenant,
        "person": side.person,
        "link_group": link_group,
        "name": side.name,
        "place": "" if side.place is None else STORED_PLACE.dump_json(side.place).decode(),
        "since": micros(now),
    }


def _params(kept: KeptRequest, code: str = "") -> Params:
    one = kept.request
    return {
        "tenant": one.tenant,
        "maker": one.maker.person,
        "code": code,
        "id": one.id,
        "state": one.state,
        "redeemer": "" if one.redeemer is None else one.redeemer.person,
        "sides": _SIDES.dump_json((one.maker, one.redeemer)).decode(),
        "until": micros(one.until),
        "turn_id": kept.turn_id,
    }
