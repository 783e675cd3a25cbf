"""Admissions, requests and owner codes, in both databases."""

import asyncio
from datetime import timedelta

import pytest

from gateway.people import Role
from gateway.policy.pairing_codes import (
    CODE_VALID,
    MAX_WAITING_IN_ACCOUNT,
    MAX_WRONG_OWNER_CODES,
    NEW_CODE_AFTER,
    OWNER_CODE_VALID,
    REFUSED_FOR,
    hash_code,
    new_owner_code,
    new_pairing_code,
)
from gateway.ports.admissions import Applicant, OwnerCode
from gateway.stores.admissions import MAX_NOTICES, NOTIFIED_FOR, SqlAdmissions
from gateway.stores.personal_data import SqlPersonalData
from tests.support.clock import FakeClock
from tests.support.databases import Engine
from tests.support.messages import AT, direct

ADA, BOB = (Applicant("t", f"test:main:{one}", one.title(), direct(one)) for one in ("ada", "bob"))
CODE = OwnerCode("c1", "OWNER-ACDE-ACDE-ACDE", AT + OWNER_CODE_VALID)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def store(engine: Engine) -> SqlAdmissions:
    return SqlAdmissions(engine)


async def request_access(store: SqlAdmissions, who: Applicant = ADA, id_: str = "r1") -> str:
    code = new_pairing_code()
    assert (await store.request(who, id_, hash_code(code), AT)).allowed
    return code


async def test_a_request_waits_until_it_expires(store: SqlAdmissions) -> None:
    code = await request_access(store)
    (waiting,) = await store.waiting("t", AT + MINUTE)
    assert (waiting.id, waiting.applicant, waiting.until) == ("r1", ADA, AT + CODE_VALID)
    assert code.replace("-", "") not in waiting.code_hash
    assert await store.waiting("u", AT) == []
    assert await store.waiting(None, AT) == [waiting]
    assert await store.waiting("t", AT + CODE_VALID) == []


async def test_a_new_code_replaces_the_one_before(store: SqlAdmissions) -> None:
    await request_access(store)
    again = await store.request(ADA, "r2", hash_code("x"), AT + MINUTE)
    assert again.reason == "code_sent"
    for number in (2, 3):
        at = AT + (number - 1) * NEW_CODE_AFTER
        assert (await store.request(ADA, f"r{number}", hash_code("x"), at)).allowed
    at = AT + 3 * NEW_CODE_AFTER
    assert (await store.request(ADA, "r4", hash_code("x"), at)).reason == "too_many_codes"
    assert [one.id for one in await store.waiting("t", at)] == ["r3"]
    assert await store.approve("r1", "o", at) is None


async def test_one_account_cannot_use_all_places(store: SqlAdmissions) -> None:
    for number in range(MAX_WAITING_IN_ACCOUNT):
        who = Applicant("t", f"test:main:{number}", "", direct(str(number)))
        await request_access(store, who, f"r{number}")
    full = await store.request(ADA, "x", hash_code("x"), AT)
    assert full.reason == "too_many_waiting_in_account"
    other = Applicant("t", "slack:main:ada", "", direct("ada", "slack"))
    assert (await store.request(other, "y", hash_code("y"), AT)).allowed
    elsewhere = Applicant("u", ADA.person, "", ADA.place)
    assert (await store.request(elsewhere, "z", hash_code("z"), AT)).allowed


async def test_an_approval_counts_once(store: SqlAdmissions) -> None:
    await request_access(store)
    both = await asyncio.gather(*(store.approve("r1", by, AT) for by in ("x", "y")))
    (admission,) = [one for one in both if one is not None]
    assert (admission.applicant, admission.role) == (ADA, Role.MEMBER)
    assert await store.admitted("t", [ADA.person])
    assert await store.admitted("t", ["x", ADA.person])
    assert not await store.admitted("t", [BOB.person])
    assert not await store.admitted("u", [ADA.person])
    assert not await store.admitted("t", [])
    assert await store.waiting("t", AT) == []
    assert await store.approve("r1", "z", AT) is None
    assert [one.by for one in await store.admissions(10)] == [admission.by]


async def test_an_expired_request_is_not_approved(store: SqlAdmissions) -> None:
    await request_access(store)
    assert await store.approve("r1", "o", AT + CODE_VALID) is None
    assert await store.reject("r1", AT + CODE_VALID) is None
    assert not await store.admitted("t", [ADA.person])


async def test_a_rejected_person_gets_no_code_for_a_day(store: SqlAdmissions) -> None:
    await request_access(store)
    rejected = await store.reject("r1", AT)
    assert rejected is not None
    assert rejected.applicant == ADA
    assert await store.approve("r1", "o", AT) is None
    assert await store.reject("r1", AT) is None
    late = AT + REFUSED_FOR - MINUTE
    assert (await store.request(ADA, "r2", hash_code("x"), late)).reason == "rejected"
    assert (await store.request(ADA, "r2", hash_code("x"), AT + REFUSED_FOR)).allowed


async def test_a_revoked_person_loses_access_and_gets_no_code_for_a_day(
    store: SqlAdmissions,
) -> None:
    await request_access(store)
    await store.approve("r1", "o", AT)
    assert await store.revoke("u", [ADA.person], AT) == []
    (gone,) = await store.revoke("t", [ADA.person, BOB.person], AT)
    assert gone.applicant == ADA
    assert not await store.admitted("t", [ADA.person])
    assert await store.revoke("t", [ADA.person], AT) == []
    assert (await store.request(ADA, "r2", hash_code("x"), AT)).reason == "rejected"
    assert await store.approve("r1", "o", AT) is None


async def test_a_revocation_can_leave_ownerships(store: SqlAdmissions) -> None:
    await request_access(store)
    await store.approve("r1", "o", AT)
    await store.put_owner_code(CODE, hash_code(CODE.code))
    assert (await store.claim(BOB, CODE.code, AT)).outcome == "claimed"
    both = [ADA.person, BOB.person]
    assert [one.applicant for one in await store.revoke("t", both, AT, owners=False)] == [ADA]
    assert await store.owners() == {("t", BOB.person)}
    assert [one.applicant for one in await store.revoke("t", both, AT)] == [BOB]


async def test_admissions_are_listed_by_tenant_and_found_by_person(store: SqlAdmissions) -> None:
    other = Applicant("u", ADA.person, "Ada", ADA.place)
    for number, who in enumerate((ADA, BOB, other)):
        await request_access(store, who, f"r{number}")
        await store.approve(f"r{number}", "o", AT + number * MINUTE)
    assert [one.applicant for one in await store.admissions(10)] == [other, BOB, ADA]
    assert [one.applicant for one in await store.admissions(10, "t")] == [BOB, ADA]
    assert [one.applicant for one in await store.admissions(1, "t")] == [BOB]
    assert await store.admissions(10, "") == []
    result = await store.admissions_of("t", [ADA.person, "nobody", "\x00"])
    assert [one.applicant for one in result] == [ADA]
    assert await store.admissions_of("t", []) == []


async def test_an_approved_person_is_told_once(store: SqlAdmissions) -> None:
    await request_access(store)
    await store.approve("r1", "o", AT)
    (admission,) = await store.unnotified_admissions(10)
    assert admission.applicant == ADA
    await store.admissions_notified([admission])
    assert await store.unnotified_admissions(10) == []


async def test_approvers_are_told_about_a_person_once_a_day(store: SqlAdmissions) -> None:
    await request_access(store)
    (request,) = await store.unnotified_requests(AT, 10)
    await store.requests_notified([request], AT)
    assert await store.unnotified_requests(AT, 10) == []
    later = AT + 2 * CODE_VALID
    assert (await store.request(ADA, "r2", hash_code("x"), later)).allowed
    assert await store.unnotified_requests(later, 10) == []
    tomorrow = AT + NOTIFIED_FOR
    assert (await store.request(ADA, "r3", hash_code("x"), tomorrow)).allowed
    assert [one.id for one in await store.unnotified_requests(tomorrow, 10)] == ["r3"]


async def test_the_notes_of_a_day_are_bounded(store: SqlAdmissions) -> None:
    for number in range(MAX_NOTICES + 1):
        who = Applicant("t", f"test:main:{number}", "", direct(str(number)))
        await request_access(store, who, f"r{number:03}")
    first = await store.unnotified_requests(AT, 1_000)
    assert len(first) == MAX_NOTICES
    await store.requests_notified(first, AT)
    assert await store.unnotified_requests(AT, 1_000) == []


async def test_the_latest_conversation_of_an_approver_is_known(store: SqlAdmissions) -> None:
    await store.remember_approver("t", ADA.person, direct("old"), AT)
    await store.remember_approver("t", BOB.person, BOB.place, AT + MINUTE)
    await store.remember_approver("t", ADA.person, ADA.place, AT + 2 * MINUTE)
    assert await store.approvers(10) == [
        ("t", ADA.person, ADA.place),
        ("t", BOB.person, BOB.place),
    ]
    assert len(await store.approvers(1)) == 1


async def test_the_sender_of_the_owner_code_becomes_owner(store: SqlAdmissions) -> None:
    await request_access(store)
    await store.put_owner_code(CODE, hash_code(CODE.code))
    assert await store.claimed_by("c1") == ""
    assert await store.owners() == frozenset()
    assert (await store.claim(ADA, CODE.code, AT)).outcome == "claimed"
    assert await store.owners() == {("t", ADA.person)}
    assert await store.claimed_by("c1") == ADA.person
    assert await store.admitted("t", [ADA.person])
    assert await store.waiting("t", AT) == []
    assert await store.approvers(10) == [("t", ADA.person, ADA.place)]
    assert await store.unnotified_admissions(10) == []


async def test_an_owner_code_waits_until_it_is_used_expired_or_void(store: SqlAdmissions) -> None:
    assert not await store.owner_code_waits(AT)
    await store.put_owner_code(CODE, hash_code(CODE.code))
    assert await store.owner_code_waits(AT)
    assert not await store.owner_code_waits(CODE.until)
    for _ in range(MAX_WRONG_OWNER_CODES):
        await store.claim(BOB, new_owner_code(), AT)
    assert not await store.owner_code_waits(AT)
    await store.put_owner_code(CODE, hash_code(CODE.code))
    await store.claim(ADA, CODE.code, AT)
    assert not await store.owner_code_waits(AT)


async def test_an_owner_code_is_used_once(store: SqlAdmissions) -> None:
    await store.put_owner_code(CODE, hash_code(CODE.code))
    claims = await asyncio.gather(*(store.claim(one, CODE.code, AT) for one in (ADA, BOB)))
    assert sorted(one.outcome for one in claims) == ["claimed", "used"]
    (owner,) = await store.owners()
    first = ADA if owner[1] == ADA.person else BOB
    assert (await store.claim(first, CODE.code, AT)).outcome == "again"


async def test_an_owner_code_expires_and_is_replaced(store: SqlAdmissions) -> None:
    assert (await store.claim(ADA, CODE.code, AT)).outcome == "none"
    await store.put_owner_code(CODE, hash_code(CODE.code))
    assert (await store.claim(ADA, CODE.code, CODE.until)).outcome == "expired"
    newer = OwnerCode("c2", new_owner_code(), CODE.until)
    await store.put_owner_code(newer, hash_code(newer.code))
    assert (await store.claim(ADA, CODE.code, AT)).outcome == "wrong"
    assert await store.claimed_by("c1") is None
    assert (await store.claim(ADA, newer.code, AT)).outcome == "claimed"


async def test_guessing_makes_an_owner_code_void(store: SqlAdmissions) -> None:
    await store.put_owner_code(CODE, hash_code(CODE.code))
    for _ in range(MAX_WRONG_OWNER_CODES):
        assert (await store.claim(BOB, new_owner_code(), AT)).outcome == "wrong"
    assert (await store.claim(ADA, CODE.code, AT)).outcome == "void"
    assert await store.claimed_by("c1") is None
    assert await store.owners() == frozenset()


async def test_an_owner_code_that_others_saw_is_deleted(store: SqlAdmissions) -> None:
    await store.put_owner_code(CODE, hash_code(CODE.code))
    assert not await store.void_owner_code(new_owner_code())
    assert await store.void_owner_code(CODE.code)
    assert (await store.claim(ADA, CODE.code, AT)).outcome == "none"
    assert not await store.void_owner_code(CODE.code)


async def test_an_approval_keeps_an_ownership(store: SqlAdmissions) -> None:
    await store.put_owner_code(CODE, hash_code(CODE.code))
    await store.claim(ADA, CODE.code, AT)
    await request_access(store)
    await store.approve("r1", "o", AT)
    assert await store.owners() == {("t", ADA.person)}


async def test_expired_entries_are_deleted_after_a_day(store: SqlAdmissions) -> None:
    await request_access(store)
    await store.put_owner_code(CODE, hash_code(CODE.code))
    assert await store.prune(AT + CODE_VALID + NOTIFIED_FOR - MINUTE) == 1
    assert await store.prune(AT + CODE_VALID + NOTIFIED_FOR) == 1


async def test_all_data_of_a_person_is_exported_and_erased(
    store: SqlAdmissions, engine: Engine, clock: FakeClock
) -> None:
    """An erased person has no admission: its row would name them."""
    personal = SqlPersonalData(engine, clock)
    await store.put_owner_code(CODE, hash_code(CODE.code))
    await store.claim(ADA, CODE.code, AT)
    await request_access(store)
    await request_access(store, BOB, "r2")
    rows = await personal.export("t", (ADA.person,))
    assert {row["table"] for row in rows} == {"admissions", "pairing_requests", "approvers"}
    assert not any("code_hash" in row for row in rows)
    assert await personal.erase("u", (ADA.person,)) == 0
    assert await personal.erase("t", (ADA.person,)) == 4
    assert not await store.admitted("t", [ADA.person])
    assert await store.owners() == frozenset()
    assert await store.approvers(10) == []
    assert [one.applicant for one in await store.waiting("t", AT)] == [BOB]
    assert await store.claimed_by("c1") is None
