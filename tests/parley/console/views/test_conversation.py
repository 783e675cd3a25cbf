"""One conversation and the handling of one message, for each kind of person, on both databases."""

import re
from datetime import UTC, datetime

import pytest

from gateway.authorship import Material
from gateway.immutable import replace
from gateway.message import Outbound, Part
from gateway.people import PersonId, Principal, Role
from gateway.policy.decision import Decision
from gateway.ports.conversation_views import StoredExchange
from gateway.ports.traces import NO_CONVERSATION, Trace
from parley.console.viewer import Viewer
from parley.console.views.conversation import MOST_OF_PAGE, PAGE, words_of
from tests.parley.console.kit import (
    OPERATOR,
    OTHER,
    OWNER,
    PERSON,
    Console,
    page_of,
)
from tests.parley.console.talk import HANDLED, LASTED, ROOM, World, direct, world_in
from tests.parley.http.api.kit import ApiResponse

NOW = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \u202egarden\u202c "


@pytest.fixture
def console(either_console: Console) -> Console:
    return either_console


async def api(console: Console, name: str, path: str) -> ApiResponse:
    return await console.program.api_client(name)("GET", f"/console/conversations/{path}")


async def test_people_read_their_own_conversation(console: Console, world: World) -> None:
    page = await page_of(console, PERSON, world.adas)
    assert page.status == 200
    assert "my secret garden" in page.text
    assert "roses in the garden" in page.text
    assert (await page_of(console, OTHER, world.adas)).status == 404
    assert (await api(console, OTHER, world.adas)).status == 404


@pytest.mark.parametrize("path", ["", "/message"])
async def test_operators_see_a_direct_message_without_its_text(
    console: Console, world: World, path: str
) -> None:
    for name in (OPERATOR, OWNER):
        page = await page_of(console, name, world.adas + path)
        assert page.status == 200
        assert "Only the person can see the text" in page.text
        answer = await api(console, name, world.adas + path)
        assert not [word for word in ("secret", "roses") if word in page.text + str(answer.json)]
        shown = answer.json["message"] if path else answer.json["messages"][0]
        assert (shown["words"], shown["person"]) == ("private", f"web:main:{PERSON}")


@pytest.mark.parametrize("audience", ["direct", "public_room", ""])
@pytest.mark.parametrize(("kind", "outcome"), [("command", "answered"), ("message", "refused:x")])
def test_a_text_that_nobody_stored_is_not_called_private(
    audience: str, kind: str, outcome: str
) -> None:
    trace = Trace("t1", "m1", "web", "main", NO_CONVERSATION, kind, NOW, (), outcome, 1.0)
    trace = replace(trace, audience=audience)
    viewer = Viewer(Principal("default", PersonId("web", "main", OWNER), Role.OWNER), frozenset())
    assert words_of(viewer, StoredExchange(trace), ()) == "none"
    taken_over = replace(trace, outcome="handed_over", audience="direct")
    assert words_of(viewer, StoredExchange(taken_over), ()) == "private"


async def test_in_a_room_a_person_sees_own_messages_and_operators_all(
    console: Console, world: World
) -> None:
    mine = (await api(console, PERSON, world.room_ada)).json
    assert [one["id"] for one in mine["messages"]] == [world.room_ada]
    assert (mine["everything"], mine["messages"][0]["person"]) == (False, "")
    assert (
        "Operators see the messages of everybody"
        in (await page_of(console, PERSON, world.room_ada)).text
    )
    everything = (await api(console, OPERATOR, world.room_ada)).json
    assert [one["id"] for one in everything["messages"]] == [world.room_ada, world.room_eve]
    assert [one["question"]["text"] for one in everything["messages"]] == [
        "the garden of the office",
        "who waters the garden",
    ]
    assert (await page_of(console, PERSON, world.room_eve)).status == 404


async def test_nothing_of_another_tenant_is_seen(console: Console, world: World) -> None:
    hidden = await world.talk(direct(PERSON), PERSON, "elsewhere", tenant="other")
    for name in (PERSON, OPERATOR, OWNER):
        for path in (hidden, f"{hidden}/message"):
            assert (await page_of(console, name, path)).status == 404
            assert (await api(console, name, path)).status == 404


async def test_earlier_messages_follow_on_pages(console: Console) -> None:
    world = await world_in(console.app)
    for number in range(PAGE):
        last = await world.talk(ROOM, PERSON, f"garden {number}")
    first = (await api(console, OPERATOR, last)).json
    assert (len(first["messages"]), first["newest"]) == (PAGE, True)
    assert first["messages"][-1]["id"] == last
    page = await page_of(console, OPERATOR, last)
    assert f"before={first['before']}" in page.text
    earlier = (await api(console, OPERATOR, f"{last}?before={first['before']}")).json
    assert [one["id"] for one in earlier["messages"]] == [world.room_ada, world.room_eve]
    assert (earlier["newest"], earlier["before"]) == (False, "")
    none = await page_of(console, OPERATOR, f"{last}?before=1-x")
    assert 'class="empty"' in none.text
    assert (await page_of(console, OPERATOR, f"{last}?before=x")).status == 400


async def test_hostile_and_huge_texts_stay_texts_within_the_bound(
    console: Console, world: World
) -> None:
    pieces = (Material("forwarded", HOSTILE, "<b>Eve</b>"),)
    for _ in range(5):
        last = await world.talk(ROOM, PERSON, HOSTILE + "w" * 1_000_000, HOSTILE, material=pieces)
    for path in (last, f"{last}/message"):
        page = await page_of(console, OPERATOR, path)
        assert "alert(1)" in page.text
        assert "<script>alert" not in page.text
        assert "<img" not in page.text.partition("<main")[2]
        assert "<b>Eve" not in page.text
        assert "The page shows the first" in page.text
        assert len(page.text.encode()) < 150_000
    texts = (await api(console, OPERATOR, last)).json["messages"]
    shown = [one[name]["text"] for one in texts for name in ("question", "answer")]
    assert sum(len(text.encode()) for text in shown) <= MOST_OF_PAGE
    assert texts[-1]["question"]["characters"] > 1_000_000
    assert texts[-1]["pieces"][0]["by"] == "<b>Eve</b>"


async def test_the_handling_of_a_message_is_shown(console: Console, world: World) -> None:
    turn = await world.talk(
        *(direct(PERSON), PERSON, "a question"),
        decisions=HANDLED,
        durations=LASTED,
        outbound=(Outbound("", direct(PERSON), Part("private text", "private text")),),
    )
    for name in (PERSON, OPERATOR):
        page = await page_of(console, name, f"{turn}/message")
        for shown in (
            "Access",
            "Preference",
            "words 2 · meaning 1",
            "<meter",
            "left out, because it did not fit",
            "web_get",
            "timed out",
            "30.0 s",
            "900 ms",
            "Delivery",
        ):
            assert shown in re.sub(r"</?bdi[^>]*>", "", page.text), shown
        assert "private text" not in page.text
    answer = (await api(console, PERSON, f"{turn}/message")).json
    assert answer["timeline"]["calls"][0]["cache_read_tokens"] == 30
    assert [one["state"] for one in answer["sends"]] in (["waiting"], ["sent"], ["dead"])


async def test_a_refusal_names_the_next_step(console: Console, world: World) -> None:
    refused = Decision("limits", False, "user_limit", "10 per minute")
    turn = await world.talk(
        *(direct(PERSON), PERSON, "x"), outcome="refused:limits", decisions=(refused,)
    )
    page = await page_of(console, PERSON, f"{turn}/message")
    assert "<code>limits</code>" in page.text
    assert "The text of a message that was refused is not stored." in page.text
    assert "context.ttl_hours" not in page.text


async def test_lists_and_hits_lead_to_the_pages(console: Console, world: World) -> None:
    ada = await console.visitor(PERSON)
    assert f"/console/conversations/{world.adas}" in (await ada.get("/conversations")).text
    hits = await ada.get("/conversations?q=secret")
    assert f"/console/conversations/{world.adas}/message" in hits.text
