"""`/approve list` and `/approve revoke`: approvals are seen and taken back in a direct message."""

import secrets

import pytest

from gateway.commands.approve_command import (
    MAX_APPROVED,
    NOBODY_APPROVED,
    NOT_HERE,
    OWN,
    OWNERSHIP,
    WHOM,
)
from gateway.commands.handler import NOT_ALLOWED
from gateway.immutable import replace
from gateway.pairing.requests import NOT_APPROVED, STILL_WAITING
from gateway.people import Role
from gateway.policy.pairing_codes import OWNER_CODE_VALID, hash_code, new_owner_code
from gateway.ports.admissions import Applicant, OwnerCode
from gateway.stores.admissions import SqlAdmissions
from tests.gateway.commands.test_approve_command import asked, is_served, plain, say
from tests.support.gateway import Gateway
from tests.support.messages import direct, place, received


async def claims(g: Gateway, applicant: Applicant) -> None:
    """Make a person an owner by an owner code."""
    store, code, now = SqlAdmissions(g.database), new_owner_code(), g.clock.now()
    made = OwnerCode(secrets.token_hex(4), code, now + OWNER_CODE_VALID)
    await store.put_owner_code(made, hash_code(code))
    assert (await store.claim(applicant, code, now)).outcome == "claimed"
    await g.services.admissions.refresh()


async def owns(g: Gateway, name: str) -> None:
    """Make a person of the tests' platform an owner."""
    await claims(g, Applicant("default", f"test:main:{name}", name.title(), direct(name)))


async def approved_ids(g: Gateway) -> list[str]:
    return sorted(one.applicant.person for one in await SqlAdmissions(g.database).admissions(100))


@pytest.mark.parametrize("approver", ["olga", "otto"])
@pytest.mark.parametrize("typed", ["eve", "test:main:eve", "`eve` "])
async def test_a_revoked_person_is_out_is_not_told_and_gets_no_code(
    approver: str, typed: str
) -> None:
    async with asked("eve") as (g, (code,)):
        await say(g, "olga", f"/approve {code}")
        assert await is_served(g, "eve")
        sent = len(g.adapter.sent)
        reply = await say(g, approver, f"/approve revoke {typed}")
        assert "eve" in reply
        assert "is no longer approved" in reply
        assert [one.place for one in g.adapter.sent[sent:]] == [direct(approver)]
        assert await say(g, "eve", "and now?") == ""
        assert g.changes.made[-1] == ("revoked", "test:main:eve", f"test:main:{approver}")
        assert await say(g, approver, f"/approve revoke {typed}") == plain(NOT_APPROVED)


async def test_the_list_shows_who_is_approved_since_when_and_by_whom() -> None:
    async with asked("eve", "mal") as (g, (code, _)):
        assert await say(g, "olga", "/approve list") == plain(NOBODY_APPROVED)
        await say(g, "olga", f"/approve {code}")
        await owns(g, "oona")
        text = await say(g, "otto", "/approve LIST")
        lines = text.splitlines()
        day = f"{g.clock.now():%Y-%m-%d}"
        assert any(f"id oona, owner, since {day}, by owner code" in line for line in lines)
        assert any(f"id eve, since {day}, by test:main:olga" in line for line in lines)
        assert "name not verified" in text
        assert "mal" not in text
        assert "/approve revoke ID" in text


async def test_a_long_list_is_cut() -> None:
    async with asked() as (g, _):
        for number in range(MAX_APPROVED + 1):
            await owns(g, f"oona{number}")
        text = await say(g, "olga", "/approve list")
        assert text.count("id oona") == MAX_APPROVED
        assert "parley access list" in text


@pytest.mark.parametrize("who", ["eve", "mal"])
async def test_other_people_neither_list_nor_revoke(who: str) -> None:
    async with asked("eve", "mal") as (g, (code, _)):
        await say(g, "olga", f"/approve {code}")
        for words in ("/approve list", "/approve revoke eve"):
            reply = await say(g, who, words)
            silent = ("", plain(STILL_WAITING))
            assert reply in ((plain(NOT_ALLOWED[Role.OPERATOR]),) if who == "eve" else silent)
        assert await approved_ids(g) == ["test:main:eve"]


@pytest.mark.parametrize("words", ["/approve list", "/approve revoke eve"])
async def test_in_a_room_nobody_is_listed_or_revoked(words: str) -> None:
    async with asked("eve") as (g, (code,)):
        await say(g, "olga", f"/approve {code}")
        assert await say(g, "olga", words, at=place("C1"), mentions_bot=True) == plain(NOT_HERE)
        assert await approved_ids(g) == ["test:main:eve"]


async def test_only_an_owner_takes_an_ownership_back() -> None:
    async with asked() as (g, _):
        await owns(g, "oona")
        assert await say(g, "otto", "/approve revoke oona") == OWNERSHIP.english
        assert await approved_ids(g) == ["test:main:oona"]
        assert "is no longer approved" in await say(g, "olga", "/approve revoke oona")
        assert await say(g, "oona", "/approve") == ""
        assert await approved_ids(g) == []


async def test_a_claim_of_ownership_just_before_survives_the_revocation_of_an_operator() -> None:
    async with asked("eve") as (g, (code,)):
        await say(g, "olga", f"/approve {code}")
        store, pairing = SqlAdmissions(g.database), g.services.pairing
        assert pairing is not None
        await owns(g, "eve")
        assert await pairing.revoke("default", "test:main:eve", "otto", owners=False) == []
        assert ("default", "test:main:eve") in await store.owners()


async def test_nobody_takes_back_their_own_approval() -> None:
    async with asked() as (g, _):
        await owns(g, "oona")
        assert await say(g, "oona", "/approve revoke oona") == plain(OWN)
        assert await approved_ids(g) == ["test:main:oona"]


async def test_an_id_that_several_people_have_revokes_nobody() -> None:
    async with asked("eve") as (g, (code,)):
        await say(g, "olga", f"/approve {code}")
        connected = g.services.connected
        assert isinstance(connected, dict)
        connected["other", "main"] = connected["test", "main"]
        there = replace(direct("eve"), platform="other")
        await claims(g, Applicant("default", "other:main:eve", "Eve", there))
        reply = await say(g, "olga", "/approve revoke eve")
        assert "Several people have this ID" in reply
        assert "other:main:eve or test:main:eve" in reply
        assert await approved_ids(g) == ["other:main:eve", "test:main:eve"]
        assert "no longer approved" in await say(g, "olga", "/approve revoke test:main:eve")
        assert await approved_ids(g) == ["other:main:eve"]


@pytest.mark.parametrize("typed", ["", "  ", "x" * 500])
async def test_without_a_usable_id_the_command_says_what_to_write(typed: str) -> None:
    async with asked() as (g, _):
        assert await say(g, "olga", f"/approve revoke {typed}") == plain(WHOM)


async def test_an_approval_of_another_tenant_is_neither_listed_nor_revoked() -> None:
    async with asked() as (g, _):
        await claims(g, Applicant("other", "test:main:eve", "Eve", direct("eve")))
        assert await say(g, "olga", "/approve list") == plain(NOBODY_APPROVED)
        assert await say(g, "olga", "/approve revoke eve") == plain(NOT_APPROVED)
        assert await approved_ids(g) == ["test:main:eve"]


async def test_a_message_that_waits_while_its_person_is_revoked_is_not_answered() -> None:
    async with asked("eve") as (g, (code,)):
        await say(g, "olga", f"/approve {code}")
        g.model.open.clear()
        await g.take(received("first", message_id="w1", author="eve"))
        await g.take(received("second", message_id="w2", author="eve"))
        assert "no longer approved" in await say(g, "olga", "/approve revoke eve")
        g.model.open.set()
        await g.rest()
        assert g.texts.count("answer") == 1
        assert len(g.model.requests) == 1
        assert "second" not in str(g.model.requests)
        (trace,) = await g.services.stores.traces.find("w2")
        assert trace.outcome == "refused:access"
