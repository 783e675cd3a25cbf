"""The list of conversations, the search and the archive, for each kind of person, on both
databases."""

from datetime import timedelta

import pytest

from gateway.conversation import key_of
from gateway.immutable import replace
from gateway.message import MessageReceived
from gateway.ports.clock import SystemClock
from gateway.ports.queues import InboxEntry
from parley.console.views.conversations import (
    PAGE,
    ConversationsQuery,
    query_of,
    span_of,
)
from parley.runtime.health import HealthMonitor
from tests.parley.console.kit import (
    OPERATOR,
    OTHER,
    OWNER,
    PERSON,
    Console,
    Page,
)
from tests.parley.console.talk import ROOM, World, direct, world_in
from tests.parley.http.api.kit import ApiResponse
from tests.support.messages import message

EVERYBODY = (PERSON, OTHER, OPERATOR, OWNER)
HOSTILE = "<script>alert(1)</script> \u202egarden\u202c " + "w" * 1_000_000


@pytest.fixture
def console(either_console: Console) -> Console:
    return either_console


async def listed(console: Console, name: str, query: str = "") -> ApiResponse:
    client = console.program.api_client(name, None if name else "")
    return await client("GET", f"/console/conversations{query}")


async def ids(console: Console, name: str, query: str = "") -> list[str]:
    return [row["id"] for row in (await listed(console, name, query)).json["rows"]]


async def texts(console: Console, name: str, words: str) -> list[str]:
    answer = await listed(console, name, f"?q={words}")
    return [hit["before"] + hit["match"] + hit["after"] for hit in answer.json["hits"]]


async def page_of(console: Console, name: str, query: str = "") -> Page:
    return await (await console.visitor(name)).get(f"/conversations{query}")


async def test_everybody_lists_their_own_and_operators_all(console: Console, world: World) -> None:
    assert (await listed(console, "")).status == 401
    seen = {name: await ids(console, name) for name in EVERYBODY}
    everything = [world.room_eve, world.eves, world.adas]
    assert seen == {
        PERSON: [world.room_ada, world.adas],
        OTHER: [world.room_eve, world.eves],
        OPERATOR: everything,
        OWNER: everything,
    }


async def test_a_search_finds_the_texts_that_one_may_read(console: Console, world: World) -> None:
    assert world.talk.number == 4
    rooms = ["who waters the garden", "the garden of the office"]
    assert {name: await texts(console, name, "garden") for name in EVERYBODY} == {
        PERSON: ["the garden of the office", "roses in the garden", "my secret garden"],
        OTHER: ["who waters the garden", "my garden is small"],
        OPERATOR: rooms,
        OWNER: rooms,
    }
    for name in (OTHER, OPERATOR, OWNER):
        page = await page_of(console, name, "?q=secret+garden")
        assert "No message that you may read" in page.text
        assert "my secret" not in page.text


async def test_a_search_for_a_reference_finds_its_message_for_who_may_see_it(
    console: Console, world: World
) -> None:
    async def found(name: str, turn: str) -> str:
        return str((await listed(console, name, f"?q={turn}")).json["turn"])

    assert await found(OPERATOR, world.room_eve) == world.room_eve
    assert await found(OTHER, world.eves) == world.eves
    assert await found(PERSON, world.eves) == ""
    assert await found(OPERATOR, "0" * 16) == ""
    page = await page_of(console, OPERATOR, f"?q={world.room_eve}")
    assert f"/conversations/{world.room_eve}/message" in page.text
    log = await (await console.visitor(OPERATOR)).get(f"/health?message={world.room_eve}")
    assert f"/conversations/{world.room_eve}/message" in log.text


async def test_a_list_shows_the_last_line_to_who_may_read_it(
    console: Console, world: World
) -> None:
    turn = await world.talk(ROOM, PERSON, "and the roof?", "It is **new**.\n\n# Roof")
    for name in (OPERATOR, OWNER):
        for page in (await page_of(console, name), await page_of(console, name, "?archived=yes")):
            assert page.status == 200
            assert not [word for word in ("secret", "roses", "tulips") if word in page.text]
        rows = {row["id"]: row for row in (await listed(console, name)).json["rows"]}
        assert rows[world.adas]["last"] is None
        assert rows[turn]["last"] == {"role": "assistant", "by": "", "text": "It is new. Roof"}
    assert "roses in the garden" in (await page_of(console, PERSON)).text
    page = await page_of(console, OTHER)
    assert "tulips" in page.text
    assert not [word for word in ("roses", "It is new") if word in page.text]


async def test_persons_are_named_to_operators_only(console: Console, world: World) -> None:
    rows = (await listed(console, PERSON)).json["rows"]
    assert {row["person"] + row["speaker"] for row in rows} == {""}
    rows = (await listed(console, OPERATOR)).json["rows"]
    assert {row["person"] for row in rows} == {f"web:main:{PERSON}", f"web:main:{OTHER}"}
    titles = {row["id"]: row["place"]["title"] for row in rows}
    assert (titles[world.adas], titles[world.eves]) == (PERSON.title(), OTHER.title())
    page = await page_of(console, OPERATOR)
    assert PERSON.title() in page.text


async def test_a_name_stays_known_after_the_messages_are_deleted_and_goes_with_its_person(
    console: Console, world: World
) -> None:
    storage = console.app.storage
    later = SystemClock().now() + timedelta(days=1)
    while await storage.stores.conversations.prune(later):
        pass
    ada, names = f"web:main:{PERSON}", storage.people_names
    assert await names.of("default", [ada, "web:main:nobody"]) == {ada: PERSON.title()}
    assert await names.of("other", [ada]) == {}
    rows = {row["id"]: row for row in (await listed(console, OPERATOR)).json["rows"]}
    assert rows[world.adas]["place"]["title"] == PERSON.title()
    assert rows[world.adas]["last"] is None
    while await names.prune(later):
        pass
    assert await names.of("default", [ada]) == {}


async def test_the_cost_of_a_conversation_is_that_of_all_its_messages(
    console: Console, world: World
) -> None:
    rows = {row["id"]: row for row in (await listed(console, OPERATOR)).json["rows"]}
    assert (rows[world.room_eve]["messages"], rows[world.room_eve]["micros"]) == (2, 20_005)
    own = {row["id"]: row for row in (await listed(console, PERSON)).json["rows"]}
    assert (own[world.room_ada]["messages"], own[world.room_ada]["micros"]) == (1, 5)


async def test_conversations_whose_latest_message_failed_come_first(
    console: Console, world: World
) -> None:
    failed = await world.talk(direct(PERSON), PERSON, "help", outcome="failed")
    await world.talk(ROOM, OTHER, "help", outcome="failed")
    mended = await world.talk(ROOM, OTHER, "again", "here")
    for name in (OPERATOR, PERSON):
        answer = (await listed(console, name)).json
        assert [row["id"] for row in answer["failing"]] == [failed]
        assert failed not in [row["id"] for row in answer["rows"]]
        assert len(answer["rows"]) == {OPERATOR: 2, PERSON: 1}[name]
    assert mended in await ids(console, OPERATOR)
    page = await page_of(console, OPERATOR)
    assert page.text.index(f"/conversations/{failed}") < page.text.index(f"/conversations/{mended}")
    filtered = (await listed(console, OPERATOR, "?platform=web")).json
    assert (filtered["failing"], filtered["rows"][1]["id"]) == ([], failed)


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("?platform=web", 3),
        ("?platform=telegram", 0),
        ("?channel=general", 1),
        (f"?person=web:main:{PERSON}", 2),
        ("?outcome=answered", 3),
        ("?outcome=failed", 0),
        ("?cost=0.02", 1),
        ("?cost=0.03", 0),
        ("?since=2020-01-01", 3),
        ("?until=2020-01-01", 0),
        ("?since=9999-12-31&until=0001-01-01", 3),
        ("?state=done", 3),
        ("?state=waiting", 0),
        ("?q=garden&cost=0.02", 1),
        ("?q=garden&outcome=failed", 0),
        ("?q=garden&channel=general&platform=web", 2),
        ("?q=garden&until=2020-01-01", 0),
    ],
)
async def test_filters_are_applied(console: Console, world: World, query: str, number: int) -> None:
    answer = (await listed(console, OPERATOR, query)).json
    assert len(answer["rows"]) + len(answer["hits"]) == number, world
    page = await page_of(console, OPERATOR, query)
    assert page.status == 200
    if not number:
        assert 'class="empty"' in page.text


@pytest.mark.parametrize(
    "query", ["?since=2026-02-31", "?since=x", "?cost=-1", "?after=x", "?state=x", "?x=1"]
)
async def test_an_invalid_filter_is_refused_with_the_reason(console: Console, query: str) -> None:
    page = await page_of(console, PERSON, query)
    assert page.status in (400, 422)
    assert 'role="alert"' in page.text


async def test_pages_follow_each_other(console: Console) -> None:
    world = await world_in(console.app)
    for number in range(PAGE):
        await world.talk(replace(ROOM, thread_id=f"t{number}"), PERSON, f"garden {number}")
    for query, name in (("?channel=general", "rows"), ("?q=garden", "hits")):
        first = (await listed(console, PERSON, query)).json
        assert (len(first[name]), bool(first["next"])) == (PAGE, True)
        page = await page_of(console, PERSON, query)
        assert f"after={first['next']}" in page.text
        second = (await listed(console, PERSON, f"{query}&after={first['next']}")).json
        assert 0 < len(second[name]) < PAGE
        assert not {str(row) for row in first[name]} & {str(row) for row in second[name]}


async def test_bulk_actions_archive_and_take_back(console: Console, world: World) -> None:
    ada = await console.visitor(PERSON)
    fields = {"ids": world.adas, "back": "platform=web&x=1"}
    done = await ada.post("/conversations/archive", fields)
    assert (done.status, done.location) == (
        303,
        "/console/conversations",
    )
    done = await ada.post("/conversations/archive", {**fields, "back": "platform=web"})
    assert done.location == "/console/conversations?platform=web"
    assert "in the archive until" in (await ada.get(done.location.removeprefix("/console"))).text
    assert await ids(console, PERSON) == [world.room_ada]
    assert await ids(console, PERSON, "?archived=yes") == [world.adas]
    assert len(await ids(console, OPERATOR)) == 3
    client = console.signed_in(PERSON)
    answer = await client("POST", "/console/conversations/take-back", {"ids": [world.adas]})
    assert (answer.status, answer.json) == (200, {"done": True})
    assert await ids(console, PERSON) == [world.room_ada, world.adas]
    assert (await ada.post("/conversations/archive")).status == 422
    trail = console.app.storage.memory.audit_on(b"k" * 32)
    kept = [link.entry for link in await trail.links(0, 50) if link.entry.action == "console"]
    assert [(one.person, dict(one.details)) for one in kept if "number" in dict(one.details)] == [
        (f"web:main:{PERSON}", {"number": 1, "what": f"conversations_{what}"})
        for what in ("archived", "archived", "taken_back")
    ]


async def test_nobody_archives_what_they_may_not_see(console: Console, world: World) -> None:
    client = console.signed_in(OTHER)
    await client("POST", "/console/conversations/archive", {"ids": [world.adas, world.room_ada]})
    assert await ids(console, PERSON) == [world.room_ada, world.adas]
    assert await ids(console, OTHER) == [world.room_eve, world.eves]
    refused = await (await console.visitor("")).post("/conversations/archive", {"ids": world.adas})
    assert refused.status == 401


async def test_a_message_that_waits_is_shown_to_its_person_and_operators(
    console: Console, world: World
) -> None:
    place = direct(PERSON)
    event = MessageReceived("e1", message("a waiting secret", author=PERSON, at=place))
    now = SystemClock().now()
    entry = InboxEntry("in1", str(key_of("default", place)), event, now)
    await console.app.storage.stores.inbox.add(entry, timedelta(hours=1))
    for name, number in ((PERSON, 1), (OTHER, 0), (OPERATOR, 1), (OWNER, 1)):
        active = (await listed(console, name)).json["active"]
        assert [(one["id"], one["state"]) for one in active] == [(world.adas, "waiting")] * number
        page = await page_of(console, name)
        assert ("Not answered yet" in page.text) == bool(number)
        assert "a waiting secret" not in page.text
    states = {row["id"]: row["state"] for row in (await listed(console, OPERATOR)).json["rows"]}
    assert (states[world.adas], states[world.eves]) == ("waiting", "done")
    assert world.adas not in await ids(console, OPERATOR, "?state=done")
    assert (await listed(console, OPERATOR, "?state=working")).json["active"] == []
    filtered = await listed(console, OPERATOR, "?channel=other")
    assert filtered.json["active"] == []


async def test_a_running_turn_is_shown_as_working(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = str(key_of("default", direct(PERSON)))
    event = MessageReceived("e2", message("hi", author=PERSON, at=direct(PERSON)))
    entry = InboxEntry("in2", key, event, SystemClock().now())
    await console.app.storage.stores.inbox.add(entry, timedelta(hours=1))
    monkeypatch.setattr(HealthMonitor, "works_on", lambda _, conversation: conversation == key)
    (one,) = (await listed(console, PERSON)).json["active"]
    assert (one["state"], one["id"], one["messages"]) == ("working", "", 1)


async def test_hostile_texts_stay_texts(console: Console, world: World) -> None:
    await world.talk(ROOM, PERSON, HOSTILE, "ok")
    page = await page_of(console, PERSON, "?q=garden&channel=%3Cscript%3E%22%27")
    assert "<script>&#34;" not in page.text
    page = await page_of(console, PERSON, "?q=garden")
    assert "alert(1)" in page.text
    assert "<script>alert" not in page.text
    assert len(page.text.encode()) < 150_000


async def test_nothing_of_another_tenant_is_seen(console: Console, world: World) -> None:
    hidden = await world.talk(direct(PERSON), PERSON, "garden elsewhere", tenant="other")
    for name in EVERYBODY:
        assert hidden not in await ids(console, name)
        assert "garden elsewhere" not in await texts(console, name, "elsewhere")


def test_a_link_to_a_list_has_the_filters_and_no_position() -> None:
    query = ConversationsQuery(q="a&b", platform="web", after="1-x")
    assert query_of(query) == "q=a%26b&platform=web"


@pytest.mark.parametrize(
    ("text", "question", "found"),
    [
        ("The Garden", "garden", "Garden"),
        ("nothing", "garden", ""),
        ("İstanbul garden", "garden", ""),
        ("a b", "zz b", "b"),
        ("", "x", ""),
    ],
)
def test_a_hit_shows_the_first_word_that_is_there(text: str, question: str, found: str) -> None:
    begin, end = span_of(text, question)
    assert text[begin:end] == found
