"""Requests to link, and links: the contract on both engines."""

import asyncio
from datetime import timedelta
from itertools import pairwise

import pytest

from db import Statement
from gateway.message import Place
from gateway.people import Audience
from memory.ports.people import Linked, LinkOutcome, LinkSide, LinkStep
from memory.stores.links import STORED_PLACE, LinkStore, obstacle
from memory.stores.people import PeopleStore
from tests.memory.stores.arrivals import known
from tests.memory.stores.linking import LATER, link
from tests.memory.stores.records import ADA, AT, BOB
from tests.support.databases import Engine

EVE = "other:main:eve"
PLACE = Place("test", "main", "D1", Audience.DIRECT)


async def redeem(links: LinkStore, who: str, code: str = "code", id_: str = "r1") -> LinkStep:
    return await links.redeem("t", LinkSide(who, who.title()), code, id_, AT, LATER)


async def confirm(links: LinkStore, who: str, turn_id: str = "", id_: str = "r1") -> LinkOutcome:
    return (await links.confirm("t", who, id_, turn_id or f"by {who}", AT)).outcome


async def linked(people: PeopleStore, person: str) -> tuple[str, ...]:
    return (await known(people, "t", person)).persons


async def test_a_code_alone_links_nobody(links: LinkStore, people: PeopleStore) -> None:
    await links.offer("t", LinkSide(ADA, "Ada", PLACE), "code", LATER)
    step = await redeem(links, BOB)
    assert (step.outcome, step.request and step.request.state) == ("redeemed", "redeemed")
    assert await linked(people, ADA) == (ADA,)
    assert await confirm(links, BOB) == "agreed"
    assert await linked(people, ADA) == (ADA,)
    assert await linked(people, BOB) == (BOB,)


async def test_after_both_confirmations_the_accounts_are_linked(
    links: LinkStore, people: PeopleStore
) -> None:
    await links.offer("t", LinkSide(ADA, "Ada", PLACE), "code", LATER)
    await redeem(links, BOB)
    await confirm(links, BOB)
    step = await links.confirm("t", ADA, "r1", "by ada", AT)
    assert step.outcome == "linked"
    assert await linked(people, ADA) == (ADA, BOB)
    assert await links.linked("t", BOB) == [Linked(LinkSide(ADA, "Ada", PLACE), AT)]
    assert await links.active("t", ADA, AT) is None
    assert await links.expire(LATER) == []


async def test_the_account_that_created_the_code_cannot_confirm_first(
    links: LinkStore, people: PeopleStore
) -> None:
    await links.offer("t", LinkSide(ADA), "code", LATER)
    await redeem(links, BOB)
    assert await confirm(links, ADA) == "early"
    assert await linked(people, ADA) == (ADA,)


async def test_other_people_cannot_confirm_or_cancel(links: LinkStore, people: PeopleStore) -> None:
    await links.offer("t", LinkSide(ADA), "code", LATER)
    await redeem(links, BOB)
    assert await confirm(links, EVE) == "unknown"
    assert await confirm(links, "test:main:bob") == "unknown"
    assert (await links.confirm("u", BOB, "r1", "x", AT)).outcome == "unknown"
    assert await links.cancel("t", EVE, AT, "r1") is None
    await confirm(links, BOB)
    assert await confirm(links, EVE) == "unknown"
    assert await confirm(links, BOB, "again") == "waiting"
    assert await linked(people, ADA) == (ADA,)


async def test_a_confirmation_is_valid_once_for_its_request(
    links: LinkStore, people: PeopleStore
) -> None:
    assert await link(links, ADA, BOB) == "linked"
    await links.unlink("t", ADA)
    for who in (ADA, BOB):
        assert await confirm(links, who, "replay", f"{ADA} and {BOB}") == "unknown"
    assert await linked(people, ADA) == (ADA,)
    await links.offer("t", LinkSide(ADA), "code", LATER)
    await redeem(links, BOB, id_="r2")
    assert await confirm(links, BOB, id_="r1") == "unknown"
    assert await confirm(links, BOB, id_="") == "unknown"
    assert await confirm(links, BOB, id_="r2") == "agreed"


async def test_the_same_step_repeated_has_the_same_result(links: LinkStore) -> None:
    await links.offer("t", LinkSide(ADA), "code", LATER)
    assert (await redeem(links, BOB)).outcome == "redeemed"
    again = await redeem(links, BOB, id_="another")
    assert again.request is not None
    assert (again.outcome, again.request.id) == ("redeemed", "r1")
    assert [await confirm(links, BOB, "e1") for _ in range(2)] == ["agreed"] * 2
    assert [await confirm(links, ADA, "e2") for _ in range(2)] == ["linked"] * 2
    assert await confirm(links, ADA, "e3") == "unknown"


async def test_a_code_is_valid_for_others_of_the_tenant_until_it_expires(
    links: LinkStore,
) -> None:
    await links.offer("t", LinkSide(ADA), "first", LATER)
    await links.offer("t", LinkSide(ADA), "code", LATER)
    assert (await redeem(links, BOB, "first")).outcome == "unknown"
    other = await links.redeem("u", LinkSide(BOB), "code", "r", AT, LATER)
    late = await links.redeem("t", LinkSide(BOB), "code", "r", LATER, LATER)
    assert (other.outcome, late.outcome) == ("unknown", "unknown")
    assert (await redeem(links, ADA)).outcome == "own"
    assert (await redeem(links, BOB)).outcome == "redeemed"
    assert (await redeem(links, EVE)).outcome == "unknown"


async def test_confirmations_have_a_time_limit(links: LinkStore, people: PeopleStore) -> None:
    await links.offer("t", LinkSide(ADA), "code", LATER)
    await redeem(links, BOB)
    assert (await links.confirm("t", BOB, "r1", "e", LATER)).outcome == "unknown"
    assert await confirm(links, BOB) == "agreed"
    assert (await links.confirm("t", ADA, "r1", "e", LATER)).outcome == "unknown"
    assert await links.active("t", ADA, LATER) is None
    assert await linked(people, ADA) == (ADA,)


async def test_of_several_accounts_that_enter_a_code_at_once_one_can_confirm(
    links: LinkStore,
) -> None:
    await links.offer("t", LinkSide(ADA), "code", LATER)
    others = [f"p{number}:main:x" for number in range(8)]
    steps = await asyncio.gather(*(redeem(links, one, id_=one) for one in others))
    assert sorted(step.outcome for step in steps) == ["redeemed"] + ["unknown"] * 7


async def test_a_person_is_in_one_request_at_a_time(links: LinkStore) -> None:
    for maker in (ADA, EVE):
        await links.offer("t", LinkSide(maker), f"of {maker}", LATER)
    assert (await redeem(links, BOB, f"of {ADA}")).outcome == "redeemed"
    assert (await redeem(links, BOB, f"of {EVE}", "r2")).outcome == "busy"
    assert (await redeem(links, ADA, f"of {EVE}", "r2")).outcome == "busy"
    active = await links.active("t", ADA, AT)
    assert active is not None
    assert active == await links.active("t", BOB, AT)
    assert await links.active("t", EVE, AT) is None


async def test_either_side_can_end_a_request(links: LinkStore) -> None:
    for who in (ADA, BOB):
        await links.offer("t", LinkSide(ADA), "code", LATER)
        await redeem(links, BOB)
        await confirm(links, BOB)
        assert await links.cancel("t", who, AT, "another") is None
        ended = await links.cancel("t", who, AT, "r1" if who == ADA else "")
        assert ended is not None
        assert ended.state == "confirmed"
        assert await links.cancel("t", who, AT) is None
        assert await confirm(links, ADA) == "unknown"


async def test_a_code_can_be_withdrawn(links: LinkStore) -> None:
    await links.offer("t", LinkSide(ADA), "code", LATER)
    ended = await links.cancel("t", ADA, AT)
    assert ended is not None
    assert ended.redeemer is None
    assert (await redeem(links, BOB)).outcome == "unknown"


async def test_two_identities_of_one_bot_are_never_linked(
    links: LinkStore, people: PeopleStore
) -> None:
    neighbour = "test:main:neighbour"
    assert await link(links, ADA, neighbour) == "same_account"
    assert (await redeem(links, BOB, f"code of {ADA}")).outcome == "unknown"
    assert await link(links, ADA, BOB) == "linked"
    assert await link(links, EVE, neighbour) == "linked"
    assert await link(links, BOB, EVE) == "same_account"
    assert await link(links, EVE, BOB) == "same_account"
    assert await linked(people, ADA) == (ADA, BOB)


async def test_a_link_created_meanwhile_counts_at_the_last_confirmation(
    engine: Engine, links: LinkStore, people: PeopleStore
) -> None:
    neighbour = "test:main:neighbour"
    await links.offer("t", LinkSide(ADA), "code", LATER)
    await redeem(links, BOB)
    await confirm(links, BOB)
    assert await link(links, EVE, neighbour) == "linked"
    joined = await links.redeem("t", LinkSide(BOB), "none", "r", AT, LATER)
    assert joined.outcome == "unknown"
    assert await force(engine, links, EVE, BOB) == 2
    assert await confirm(links, ADA) == "same_account"
    assert await linked(people, ADA) == (ADA,)
    assert await links.active("t", BOB, AT) is None


async def force(engine: Engine, links: LinkStore, one: str, other: str) -> int:
    """Put an identity into the links of another one, past all rules."""
    sql = Statement("""
        INSERT INTO people_links (tenant, person, link_group)
        SELECT tenant, :other, link_group FROM people_links WHERE person = :one
    """)
    await engine.change(sql, {"one": one, "other": other})
    return len(await links.linked("t", other))


async def test_at_most_ten_identities_are_linked(links: LinkStore, people: PeopleStore) -> None:
    names = [f"p{number}:main:x" for number in range(11)]
    for one, other in pairwise(names[:10]):
        assert await link(links, one, other) == "linked"
    assert await link(links, names[0], names[10]) == "too_many"
    assert len(await linked(people, names[5])) == 10
    assert await linked(people, names[10]) == (names[10],)
    assert await link(links, names[3], names[7]) == "already"


async def test_an_identity_that_leaves_is_single_again(
    links: LinkStore, people: PeopleStore
) -> None:
    await link(links, ADA, BOB)
    await link(links, BOB, EVE)
    assert [one.side.person for one in await links.unlink("t", ADA)] == [EVE, BOB]
    assert await linked(people, ADA) == (ADA,)
    assert await linked(people, BOB) == (EVE, BOB)
    assert [one.side.person for one in await links.unlink("t", EVE)] == [BOB]
    assert await links.unlink("t", BOB) == []
    assert await links.linked("u", BOB) == []


async def test_requests_expire_once(links: LinkStore) -> None:
    await links.offer("t", LinkSide(ADA, "Ada", PLACE), "code", LATER)
    await redeem(links, BOB)
    await links.offer("t", LinkSide(EVE), "another", LATER)
    assert await links.expire(AT) == []
    ended = await links.expire(LATER + timedelta(seconds=1))
    assert {(one.maker.person, one.state) for one in ended} == {
        (ADA, "redeemed"),
        (EVE, "offered"),
    }
    assert next(one.maker for one in ended if one.redeemer) == LinkSide(ADA, "Ada", PLACE)
    assert await links.expire(LATER + timedelta(seconds=1)) == []


def test_a_place_is_stored_completely() -> None:
    place = Place("a", "b", "c", Audience.PRIVATE_ROOM, "w", "t", True)
    assert STORED_PLACE.validate_json(STORED_PLACE.dump_json(place)) == place


@pytest.mark.parametrize(
    ("persons", "reason"),
    [
        ({"a:main:1", "a:main:2"}, "same_account"),
        ({"a:main:1", "a:second:1"}, None),
        ({"a:main:x:1", "a:main:y:1"}, "same_account"),
        ({f"p{n}:main:1" for n in range(11)}, "too_many"),
        ({f"p{n}:main:1" for n in range(10)}, None),
    ],
)
def test_a_link_contains_one_identity_of_each_account(
    persons: set[str], reason: str | None
) -> None:
    assert obstacle(persons) == reason


async def test_a_confirmation_does_not_cover_accounts_that_joined_the_other_side_later(
    links: LinkStore, people: PeopleStore
) -> None:
    bobs_other, mallory = "other:main:bob", "fourth:main:mallory"
    assert await link(links, BOB, bobs_other) == "linked"
    await links.offer("t", LinkSide(BOB), "code", LATER)
    await redeem(links, ADA)
    assert await confirm(links, ADA) == "agreed"
    assert await link(links, mallory, bobs_other) == "linked"
    assert await confirm(links, BOB) == "unknown"
    assert await linked(people, ADA) == (ADA,)
    assert await links.active("t", ADA, AT) is None
