"""Codes that are entered, guessed and repeated."""

import pytest

from gateway.errors import BadInput
from gateway.message import Place
from gateway.people import Audience
from memory.service.links import ALL_TRIES, LINK_TRIES, LINK_VALID, Guesses
from tests.memory.rig import memory_rig
from tests.support.clock import FakeClock

AT_HOME = Place("discord", "main", "dm", Audience.DIRECT)


async def test_a_code_is_accepted_with_spaces_and_in_any_case() -> None:
    async with memory_rig() as rig:
        code = await rig.links.offer(rig.caller())
        spoken = code.replace("-", " ").lower()
        step = await rig.links.redeem(rig.caller("ada2", at=AT_HOME), spoken)
        assert step.outcome == "redeemed"
        with pytest.raises(BadInput, match="not valid"):
            await rig.links.redeem(rig.caller("eve", at=AT_HOME), code)


async def test_a_code_is_valid_for_ten_minutes() -> None:
    async with memory_rig() as rig:
        code = await rig.links.offer(rig.caller())
        await rig.clock.advance(LINK_VALID.total_seconds())
        with pytest.raises(BadInput, match="not valid"):
            await rig.links.redeem(rig.caller("ada2", at=AT_HOME), code)


async def test_a_person_has_a_limited_number_of_wrong_codes() -> None:
    async with memory_rig() as rig:
        eve = rig.caller("eve", at=AT_HOME)
        for _ in range(LINK_TRIES):
            with pytest.raises(BadInput, match="not valid"):
                await rig.links.redeem(eve, "0000-0000-0000")
        code = await rig.links.offer(rig.caller())
        with pytest.raises(BadInput, match="Too many"):
            await rig.links.redeem(eve, code)
        await rig.clock.advance(LINK_VALID.total_seconds() + 1)
        fresh = await rig.links.offer(rig.caller())
        assert (await rig.links.redeem(eve, fresh)).outcome == "redeemed"


async def test_a_code_of_the_same_account_counts_as_a_wrong_one() -> None:
    async with memory_rig() as rig:
        for _ in range(LINK_TRIES):
            code = await rig.links.offer(rig.caller())
            assert (await rig.links.redeem(rig.caller("eve"), code)).outcome == "same_account"
        with pytest.raises(BadInput, match="Too many"):
            await rig.links.redeem(rig.caller("eve"), code)


def test_all_people_together_have_a_limited_number_of_wrong_codes() -> None:
    clock, guesses = FakeClock(), Guesses()
    for number in range(ALL_TRIES):
        assert not guesses.exhausted("ada", clock.now())
        guesses.note(f"eve {number}", clock.now())
    assert guesses.exhausted("ada", clock.now())
    assert not guesses.exhausted("ada", clock.now() + LINK_VALID)


async def test_linked_identities_are_one_person_immediately() -> None:
    async with memory_rig() as rig:
        ada, away = rig.caller(), rig.caller("ada2", at=AT_HOME)
        who = [(caller.principal.tenant, caller.principal.person) for caller in (ada, away)]
        apart = [await rig.links.human(*one) for one in who]
        assert apart == [str(person) for _, person in who]
        step = await rig.links.redeem(away, await rig.links.offer(ada))
        assert step.request is not None
        await rig.links.confirm(away, step.request.id)
        assert [await rig.links.human(*one) for one in who] == apart
        await rig.links.confirm(ada, step.request.id)
        assert len({await rig.links.human(*one) for one in who}) == 1
        assert await rig.links.human("another", who[1][1]) == apart[1]


async def test_every_step_is_audited_without_names() -> None:
    async with memory_rig() as rig:
        ada, bob = rig.caller("ada"), rig.caller("bob", at=AT_HOME)
        await rig.link(ada, bob)
        await rig.links.unlink("default", str(bob.principal.person))
        await rig.links.redeem(bob, await rig.links.offer(ada))
        await rig.links.cancel(ada)
        await rig.links.redeem(bob, await rig.links.offer(ada))
        await rig.clock.advance(LINK_VALID.total_seconds())
        await rig.links.expire()
        noted = [dict(e.details) for e in rig.noted.entries if e.action == "people_link"]
        assert [one["what"] for one in noted] == [
            *("offered", "redeemed", "confirmed", "confirmed", "linked", "unlinked"),
            *("offered", "redeemed", "refused", "offered", "redeemed", "expired"),
        ]
        assert {value for one in noted for name, value in one.items() if name != "what"} == {
            str(ada.principal.person),
            str(bob.principal.person),
        }
        assert not any("Ada" in str(one) for one in noted)
