"""The page of a person, for each kind of viewer, on both databases."""

import pytest

from gateway.appointments.recurrence import Rule
from tests.gateway.appointments.values import appointment
from tests.parley.console.kit import OPERATOR, OTHER, OWNER, PERSON, Console, Page
from tests.parley.console.talk import ROOM, World, direct
from tests.parley.console.views.memory.kit import remember

ADA = f"web:main:{PERSON}"


@pytest.fixture
def console(either_console: Console) -> Console:
    return either_console


async def page_of(console: Console, name: str, person: str = "") -> Page:
    query = f"?person={person}" if person else ""
    return await (await console.visitor(name)).get(f"/person{query}")


async def test_operators_see_a_person_by_name_with_role_cost_and_conversations(
    console: Console, world: World
) -> None:
    client = console.program.api_client(OPERATOR)
    answer = (await client("GET", f"/console/person?person={ADA}")).json
    assert (answer["name"], answer["role"], answer["own"]) == (PERSON.title(), "member", False)
    assert answer["identities"] == [{"person": ADA, "name": PERSON.title()}]
    assert (answer["figures"]["messages"], answer["figures"]["micros"]) == (2, 10)
    assert [one["id"] for one in answer["conversations"]] == [world.room_ada, world.adas]
    assert answer["access"]["allowed"] is True
    page = await page_of(console, OPERATOR, ADA)
    assert page.status == 200
    for shown in (
        *(PERSON.title(), ADA, "$0.0000", f"/conversations/{world.adas}"),
        *("/console/configuration?page=limits", "Budgets and limits are the same for everybody"),
    ):
        assert shown in page.text, shown


async def test_a_persons_page_shows_operators_no_private_text(
    console: Console, world: World
) -> None:
    await remember(console, PERSON, "I grow a black orchid.")
    turn = await world.talk(ROOM, PERSON, "the fence", "is high")
    for name in (OPERATOR, OWNER):
        page = await page_of(console, name, ADA)
        assert "is high" in page.text
        assert not [word for word in ("secret", "roses", "orchid") if word in page.text]
        assert "Only this person can see their memories" in page.text
    own = await page_of(console, PERSON)
    assert "roses in the garden" in own.text
    assert f"/conversations/{turn}" in own.text


async def test_nobody_else_sees_the_page(console: Console, world: World) -> None:
    assert (await page_of(console, "")).status == 401
    assert (await page_of(console, OTHER, ADA)).status == 404
    assert (await page_of(console, OTHER, "web:main:unknown")).status == 404
    hidden = await world.talk(direct(PERSON), PERSON, "elsewhere", tenant="other")
    assert hidden not in (await page_of(console, OPERATOR, ADA)).text
    assert (await page_of(console, OPERATOR, "no person")).status == 400


async def test_people_are_named_on_the_pages_of_operators(console: Console, world: World) -> None:
    olga = await console.visitor(OPERATOR)
    for path in ("/usage?by=person", "/audit"):
        page = await olga.get(path)
        assert page.status == 200
    assert PERSON.title() in (await olga.get("/usage?by=person")).text
    rows = (await console.program.api_client(OPERATOR)("GET", "/console/usage?by=person")).json
    assert {(one["person"], one["name"]) for one in rows["rows"]} == {
        (ADA, PERSON.title()),
        (f"web:main:{OTHER}", OTHER.title()),
    }
    assert world.adas


async def test_operators_see_when_somebody_is_reminded_and_the_person_of_what(
    console: Console, world: World
) -> None:
    one = appointment(1, person=ADA, rule=Rule("day"), words="water the orchid")
    await console.program.app.storage.appointments.add(one, 50, 200)
    operator = (
        await console.program.api_client(OPERATOR)("GET", f"/console/person?person={ADA}")
    ).json
    (shown,) = operator["appointments"]
    assert (shown["number"], shown["repeats"], shown["text"]) == (1, True, "")
    page = await page_of(console, OPERATOR, ADA)
    assert "Only this person can see what they are about" in page.text
    assert "orchid" not in page.text
    own = await page_of(console, PERSON)
    assert "water the orchid" in own.text
    assert "repeats" in own.text
