"""Admissions, requests for admission, and the owner code. Writers take turns."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from pydantic import TypeAdapter

from db import Database, Row, Statement, Work, among, change, execute, fetch, fetch_first, lock
from db.values import micros, storable, time_of
from gateway.message import Place
from gateway.people import Role
from gateway.policy.decision import Decision
from gateway.policy.pairing_codes import (
    CODE_VALID,
    MAX_WRONG_OWNER_CODES,
    REFUSED_FOR,
    EarlierRequest,
    decide_request,
    matches_hash,
)
from gateway.ports.admissions import Admission, Applicant, OwnerCode, OwnershipClaim, PairingRequest

NOTIFIED_FOR: Final = timedelta(days=1)
"""The time for which the approvers are notified of a person once."""
MAX_NOTICES: Final = 30
"""Requests of which the approvers are notified within `NOTIFIED_FOR`."""
MAX_READ: Final = 1_000
"""Rows of one list."""
BY_OWNER_CODE: Final = "owner code"
PLACE: Final = TypeAdapter(Place)

REQUEST: Final = "tenant, person, id, code_hash, name, place, made_at, until"
ADMISSION: Final = "tenant, person, role, name, place, by_person, at"
LIVE: Final = "state = 'waiting' AND until > :now"
ADMITTED: Final = Statement(f"""
    SELECT 1 FROM admissions WHERE tenant = :tenant AND {among("person", "persons")} LIMIT 1
""")
OWNERS: Final = Statement(
    f"SELECT tenant, person FROM admissions WHERE role = 'owner' LIMIT {MAX_READ}"
)
LISTED: Final = Statement(f"""
    SELECT {ADMISSION} FROM admissions WHERE :all = 1 OR tenant = :tenant
    ORDER BY at DESC, person LIMIT :limit
""")
OF_PEOPLE: Final = Statement(f"""
    SELECT {ADMISSION} FROM admissions WHERE tenant = :tenant AND {among("person", "persons")}
    ORDER BY person LIMIT {MAX_READ}
""")
ADMIT: Final = Statement("""
    INSERT INTO admissions AS kept (tenant, person, role, name, place, by_person, at, notified)
    VALUES (:tenant, :person, :role, :name, :place, :by, :at, :notified)
    ON CONFLICT (tenant, person) DO UPDATE SET
        role = CASE WHEN kept.role = 'owner' THEN kept.role ELSE excluded.role END,
        name = excluded.name, place = excluded.place, by_person = excluded.by_person,
        at = excluded.at, notified = excluded.notified
""")
OF_PERSON: Final = Statement("""
    SELECT state, made_at, until, codes, counted_since FROM pairing_requests
    WHERE tenant = :tenant AND person = :person
""")
NUMBERS: Final = Statement(f"""
    SELECT count(*), coalesce(sum(CASE WHEN account = :account THEN 1 ELSE 0 END), 0)
    FROM pairing_requests WHERE {LIVE} AND tenant = :tenant AND person <> :person
""")
ASK: Final = Statement("""
    INSERT INTO pairing_requests (tenant, person, id, code_hash, account, name, place, state,
        made_at, until, codes, counted_since)
    VALUES (:tenant, :person, :id, :code_hash, :account, :name, :place, 'waiting', :made_at, :until,
        :codes, :counted_since)
    ON CONFLICT (tenant, person) DO UPDATE SET id = excluded.id, code_hash = excluded.code_hash,
        account = excluded.account, name = excluded.name, place = excluded.place,
        state = excluded.state, made_at = excluded.made_at, until = excluded.until,
        codes = excluded.codes, counted_since = excluded.counted_since
""")
WAITING: Final = Statement(f"""
    SELECT {REQUEST} FROM pairing_requests
    WHERE {LIVE} AND (:all = 1 OR tenant = :tenant) ORDER BY made_at, id LIMIT {MAX_READ}
""")
TAKE: Final = Statement(f"""
    DELETE FROM pairing_requests WHERE id = :id AND {LIVE} RETURNING {REQUEST}
""")
REJECT: Final = Statement(f"""
    UPDATE pairing_requests SET state = 'rejected', until = :refused_until
    WHERE id = :id AND {LIVE} RETURNING {REQUEST}
""")
FORGET_REQUEST: Final = Statement(
    "DELETE FROM pairing_requests WHERE tenant = :tenant AND person = :person"
)
REVOKE: Final = Statement(f"""
    DELETE FROM admissions
    WHERE tenant = :tenant AND {among("person", "persons")}
        AND (:owners = 1 OR role <> 'owner') RETURNING {ADMISSION}
""")
REFUSE: Final = Statement("""
    INSERT INTO pairing_requests (tenant, person, id, code_hash, account, name, place, state,
        made_at, until, codes, counted_since)
    VALUES (:tenant, :person, :id, '', '', '', :place, 'rejected', :now, :until, 0, :now)
    ON CONFLICT (tenant, person) DO UPDATE SET code_hash = '', state = 'rejected',
        until = excluded.until
""")
END_CONSOLE: Final = tuple(
    Statement(f"DELETE FROM {table} WHERE tenant = :tenant AND person = :person")
    for table in ("console_sessions", "console_links")
)
"""A revoked person is signed out of the console."""
UNNOTIFIED_ADMISSIONS: Final = Statement(
    f"SELECT {ADMISSION} FROM admissions WHERE notified = 0 ORDER BY at, person LIMIT :limit"
)
NOTIFY_ADMISSION: Final = Statement(
    "UPDATE admissions SET notified = 1 WHERE tenant = :tenant AND person = :person AND at = :at"
)
NOTICES: Final = Statement("SELECT count(*) FROM pairing_requests WHERE notified_at > :since")
UNNOTIFIED_REQUESTS: Final = Statement(f"""
    SELECT {REQUEST} FROM pairing_requests WHERE {LIVE} AND notified_at <= :since
    ORDER BY made_at, id LIMIT :limit
""")
NOTIFY_REQUEST: Final = Statement("""
    UPDATE pairing_requests SET notified_at = :now WHERE tenant = :tenant AND person = :person
""")
APPROVER: Final = Statement("""
    INSERT INTO approvers (tenant, person, place, at) VALUES (:tenant, :person, :place, :at)
    ON CONFLICT (tenant, person) DO UPDATE SET place = excluded.place, at = excluded.at
""")
APPROVERS: Final = Statement(
    "SELECT tenant, person, place FROM approvers ORDER BY at DESC, person LIMIT :limit"
)
DROP_CODES: Final = Statement("DELETE FROM owner_codes")
PUT_CODE: Final = Statement(
    "INSERT INTO owner_codes (id, code_hash, until) VALUES (:id, :code_hash, :until)"
)
CODE: Final = Statement(
    "SELECT id, code_hash, until, wrong_codes, tenant, person FROM owner_codes LIMIT 1"
)
COUNT_WRONG: Final = Statement(
    "UPDATE owner_codes SET wrong_codes = wrong_codes + 1 WHERE id = :id"
)
USE_CODE: Final = Statement(
    "UPDATE owner_codes SET tenant = :tenant, person = :person WHERE id = :id"
)
WAITING_CODE: Final = Statement(f"""
    SELECT 1 FROM owner_codes
    WHERE until > :now AND person = '' AND wrong_codes < {MAX_WRONG_OWNER_CODES} LIMIT 1
""")
CLAIMED: Final = Statement("SELECT person, wrong_codes FROM owner_codes WHERE id = :id")
PRUNE: Final = Statement(
    "DELETE FROM pairing_requests WHERE until <= :ended AND notified_at <= :ended"
)
PRUNE_CODES: Final = Statement("DELETE FROM owner_codes WHERE until <= :ended")


class SqlAdmissions:
    """Implements `gateway.ports.admissions.AdmissionStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def admitted(self, tenant: str, persons: Sequence[str]) -> bool:
        params = {"tenant": tenant, "persons": list(persons)}
        return bool(await self._database.fetch(ADMITTED, params))

    async def owners(self) -> frozenset[tuple[str, str]]:
        rows = await self._database.fetch(OWNERS)
        return frozenset((tenant, person) for tenant, person in rows)

    async def admissions(self, limit: int, tenant: str | None = None) -> list[Admission]:
        params = {"all": int(tenant is None), "tenant": tenant or "", "limit": limit}
        return [_admission(row) for row in await self._database.fetch(LISTED, params)]

    async def admissions_of(self, tenant: str, persons: Sequence[str]) -> list[Admission]:
        params = {"tenant": tenant, "persons": [storable(person) for person in persons]}
        return [_admission(row) for row in await self._database.fetch(OF_PEOPLE, params)]

    async def request(
        self, applicant: Applicant, request_id: str, code_hash: str, now: datetime
    ) -> Decision:
        return await self._database.run(lambda: _request(applicant, request_id, code_hash, now))

    async def waiting(self, tenant: str | None, now: datetime) -> list[PairingRequest]:
        params = {"all": int(tenant is None), "tenant": tenant or "", "now": micros(now)}
        return [_request_of(row) for row in await self._database.fetch(WAITING, params)]

    async def approve(self, request_id: str, by: str, now: datetime) -> Admission | None:
        return await self._database.run(lambda: _approve(request_id, by, now))

    async def reject(self, request_id: str, now: datetime) -> PairingRequest | None:
        params = {"id": request_id, "now": micros(now), "refused_until": micros(now + REFUSED_FOR)}
        rows = await self._database.fetch(REJECT, params)
        return _request_of(rows[0]) if rows else None

    async def revoke(
        self, tenant: str, persons: Collection[str], now: datetime, *, owners: bool = True
    ) -> list[Admission]:
        return await self._database.run(lambda: _revoke(tenant, sorted(persons), now, owners))

    async def unnotified_admissions(self, limit: int) -> list[Admission]:
        return [
            _admission(row)
            for row in await self._database.fetch(UNNOTIFIED_ADMISSIONS, {"limit": limit})
        ]

    async def admissions_notified(self, admissions: Sequence[Admission]) -> None:
        items = [
            {"tenant": a.applicant.tenant, "person": a.applicant.person, "at": micros(a.at)}
            for a in admissions
        ]
        await self._database.run(lambda: execute(NOTIFY_ADMISSION, *items))

    async def unnotified_requests(self, now: datetime, limit: int) -> list[PairingRequest]:
        return await self._database.run(lambda: _unnotified_requests(now, limit))

    async def requests_notified(self, requests: Sequence[PairingRequest], now: datetime) -> None:
        items = [
            {"tenant": r.applicant.tenant, "person": r.applicant.person, "now": micros(now)}
            for r in requests
        ]
        await self._database.run(lambda: execute(NOTIFY_REQUEST, *items))

    async def remember_approver(
        self, tenant: str, person: str, place: Place, now: datetime
    ) -> None:
        await self._database.change(APPROVER, _approver(tenant, person, place, now))

    async def approvers(self, limit: int) -> list[tuple[str, str, Place]]:
        rows = await self._database.fetch(APPROVERS, {"limit": limit})
        return [(tenant, person, PLACE.validate_json(place)) for tenant, person, place in rows]

    async def put_owner_code(self, code: OwnerCode, code_hash: str) -> None:
        def work() -> Work[None]:
            yield from lock("owner code")
            yield from execute(DROP_CODES, {})
            yield from execute(
                PUT_CODE, {"id": code.id, "code_hash": code_hash, "until": micros(code.until)}
            )

        await self._database.run(work)

    async def owner_code_waits(self, now: datetime) -> bool:
        return bool(await self._database.fetch(WAITING_CODE, {"now": micros(now)}))

    async def claim(self, applicant: Applicant, code: str, now: datetime) -> OwnershipClaim:
        return await self._database.run(lambda: _claim(applicant, code, now))

    async def void_owner_code(self, code: str) -> bool:
        def work() -> Work[bool]:
            yield from lock("owner code")
            row = yield from fetch_first(CODE)
            if row is None or row[5] or not matches_hash(code, row[1]):
                return False
            yield from execute(DROP_CODES, {})
            return True

        return await self._database.run(work)

    async def claimed_by(self, code_id: str) -> str | None:
        rows = await self._database.fetch(CLAIMED, {"id": code_id})
        if not rows or (rows[0][1] >= MAX_WRONG_OWNER_CODES and not rows[0][0]):
            return None
        return str(rows[0][0])

    async def prune(self, now: datetime) -> int:
        params = {"ended": micros(now - NOTIFIED_FOR)}
        requests = await self._database.change(PRUNE, params)
        return requests + await self._database.change(PRUNE_CODES, params)


def _request(
    applicant: Applicant, request_id: str, code_hash: str, now: datetime
) -> Work[Decision]:
    yield from _turns(applicant.tenant)
    who = {"tenant": applicant.tenant, "person": storable(applicant.person)}
    row = yield from fetch_first(OF_PERSON, who)
    account = f"{applicant.place.platform}:{applicant.place.account}"
    numbers = yield from fetch_first(NUMBERS, {**who, "account": account, "now": micros(now)})
    waiting, here = numbers or (0, 0)
    earlier = None if row is None else _earlier(row)
    decision = decide_request(earlier, waiting, here, now)
    if not decision.allowed:
        return decision
    recent = earlier is not None and earlier.counted_since > now - timedelta(hours=1)
    codes, since = (earlier.codes, earlier.counted_since) if earlier and recent else (0, now)
    params = {
        **_applicant(applicant),
        "id": request_id,
        "code_hash": code_hash,
        "account": storable(account),
        "made_at": micros(now),
        "until": micros(now + CODE_VALID),
        "codes": codes + 1,
        "counted_since": micros(since),
    }
    yield from execute(ASK, params)
    return decision


def _approve(request_id: str, by: str, now: datetime) -> Work[Admission | None]:
    rows = yield from fetch(TAKE, {"id": request_id, "now": micros(now)})
    if not rows:
        return None
    admission = Admission(_request_of(rows[0]).applicant, Role.MEMBER, by, now)
    yield from execute(ADMIT, _admit(admission, notified=False))
    return admission


def _revoke(tenant: str, persons: list[str], now: datetime, owners: bool) -> Work[list[Admission]]:
    params = {"tenant": tenant, "persons": persons, "owners": int(owners)}
    rows = yield from fetch(REVOKE, params)
    gone = [_admission(row) for row in rows]
    until = micros(now + REFUSED_FOR)
    for admission in gone:
        one = _applicant(admission.applicant)
        params = {
            "tenant": one["tenant"],
            "person": one["person"],
            "place": one["place"],
            "id": f"revoked-{one['tenant']}-{one['person']}",
            "now": micros(now),
            "until": until,
        }
        yield from execute(REFUSE, params)
        for end in END_CONSOLE:
            yield from execute(end, {"tenant": one["tenant"], "person": one["person"]})
    return gone


def _unnotified_requests(now: datetime, limit: int) -> Work[list[PairingRequest]]:
    since = micros(now - NOTIFIED_FOR)
    row = yield from fetch_first(NOTICES, {"since": since})
    left = MAX_NOTICES - (row[0] if row else 0)
    if left <= 0:
        return []
    params = {"since": since, "now": micros(now), "limit": min(limit, left)}
    return [_request_of(one) for one in (yield from fetch(UNNOTIFIED_REQUESTS, params))]


def _claim(applicant: Applicant, code: str, now: datetime) -> Work[OwnershipClaim]:
    yield from lock("owner code")
    row = yield from fetch_first(CODE)
    if row is None:
        return OwnershipClaim("none")
    code_id, code_hash, until, wrong_codes, tenant, person = row
    if not matches_hash(code, code_hash):
        yield from change(COUNT_WRONG, {"id": code_id})
        return OwnershipClaim("wrong", code_id)
    if person:
        same = (tenant, person) == (applicant.tenant, applicant.person)
        return OwnershipClaim("again" if same else "used", code_id)
    if wrong_codes >= MAX_WRONG_OWNER_CODES:
        return OwnershipClaim("void", code_id)
    if time_of(until) <= now:
        return OwnershipClaim("expired", code_id)
    admission = Admission(applicant, Role.OWNER, BY_OWNER_CODE, now)
    yield from execute(ADMIT, _admit(admission, notified=True))
    own = _approver(applicant.tenant, applicant.person, applicant.place, now)
    yield from execute(APPROVER, own)
    who = {"tenant": applicant.tenant, "person": storable(applicant.person)}
    yield from execute(FORGET_REQUEST, who)
    yield from execute(USE_CODE, {**who, "id": code_id})
    return OwnershipClaim("claimed", code_id)


def _turns(tenant: str) -> Work[None]:
    yield from lock(f"pairing {tenant}")


def _earlier(row: Row) -> EarlierRequest:
    state, made_at, until, codes, since = row
    return EarlierRequest(state, time_of(made_at), time_of(until), codes, time_of(since))


def _request_of(row: Row) -> PairingRequest:
    tenant, person, id_, code_hash, name, place, made_at, until = row
    applicant = Applicant(tenant, person, name, PLACE.validate_json(place))
    return PairingRequest(id_, applicant, code_hash, time_of(made_at), time_of(until))


def _admission(row: Row) -> Admission:
    tenant, person, role, name, place, by, at = row
    applicant = Applicant(tenant, person, name, PLACE.validate_json(place))
    return Admission(applicant, Role(role), by, time_of(at))


def _applicant(applicant: Applicant) -> dict[str, object]:
    return {
        "tenant": applicant.tenant,
        "person": storable(applicant.person),
        "name": storable(applicant.name),
        "place": PLACE.dump_json(applicant.place).decode(),
    }


def _admit(admission: Admission, *, notified: bool) -> dict[str, object]:
    return {
        **_applicant(admission.applicant),
        "role": admission.role.value,
        "by": storable(admission.by),
        "at": micros(admission.at),
        "notified": int(notified),
    }


def _approver(tenant: str, person: str, place: Place, now: datetime) -> dict[str, object]:
    return {
        "tenant": tenant,
        "person": storable(person),
        "place": PLACE.dump_json(place).decode(),
        "at": micros(now),
    }
