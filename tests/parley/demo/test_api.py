"""The page's API: the view and the actions of each person, validated and limited."""

import asyncio
import base64
import json
from typing import Any

import pytest

from gateway.policy.decision import Decision
from tests.parley.demo.conftest import Served
from tests.support.patience import PATIENCE


def messages_of(room: dict[str, Any]) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = room["messages"]
    return result


async def test_the_page_loads_nothing_from_other_hosts(served: Served) -> None:
    async with served.client.get(served.url) as response:
        page = await response.text()
        policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for foreign in ("http://", "https://", "<script>", " style=", " onclick="):
        assert foreign not in page


@pytest.mark.parametrize(
    "name",
    ["demo.css", "looks.css", "main.js", "messages.js", "composer.js", "why.js", "dom.js",
     "richtext.js", "icon.svg"],
)  # fmt: skip
async def test_assets_are_served_and_load_nothing_else(served: Served, name: str) -> None:
    async with served.client.get(f"{served.url}/demo/assets/{name}") as response:
        assert response.status == 200
        text = (await response.text()).replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text
    assert "http://" not in text


async def test_other_files_are_not_served(served: Served) -> None:
    for name in ("demo.html", "..%2Fapi.py", "nothing.js"):
        async with served.client.get(f"{served.url}/demo/assets/{name}") as response:
            assert response.status == 404


async def test_the_state_names_platforms_rooms_and_people(served: Served) -> None:
    async with served.client.get(f"{served.url}/demo/api/world") as response:
        world = await response.json()
    rooms = {one["id"]: [room["key"] for room in one["rooms"]] for one in world["platforms"]}
    assert rooms == {
        "discord": ["direct", "general", "team"],
        "slack": ["direct", "general", "team"],
        "telegram": ["direct", "general", "team"],
        "whatsapp": ["direct"],
    }
    assert world["people"] == ["Ada", "Ben", "Cleo"]


async def test_a_message_is_answered_and_traced(served: Served) -> None:
    status, response = await served.act(do="say", text="Hello")
    assert status == 200
    room: dict[str, Any] = await served.room("telegram", "direct")
    question, answer = room["messages"]
    assert question["id"] == response["id"]
    assert (question["author"], answer["by_bot"]) == ("Ada", True)
    [trace] = room["traces"]
    assert trace["message_id"] == response["id"]
    assert trace["decisions"][0] == {
        "stage": "invocation",
        "allowed": True,
        "reason": "mention",
        "detail": "",
        "skipped": "",
    }
    assert room["calls"][0]["method"] == "sendMessage"


async def test_a_check_that_was_not_made_says_why(served: Served) -> None:
    gateway = served.demo.gateway
    gateway.more = (Decision("budget", True, "no_budget"), Decision("budget", False, "no_budget"))
    await served.act(do="say", text="Hello")
    room: dict[str, Any] = await served.room("telegram", "direct")
    skipped = [decision["skipped"] for decision in room["traces"][0]["decisions"]]
    assert skipped == ["", "", "no budget is set", ""]


async def test_commands_and_presses_are_shown_where_the_platform_shows_none(served: Served) -> None:
    for platform, count in (("discord", 2), ("slack", 2), ("telegram", 1), ("whatsapp", 0)):
        await served.act(platform=platform, do="command", name="clear")
        room: dict[str, Any] = await served.room(platform, "direct")
        below = next(one["id"] for one in room["messages"] if one.get("buttons"))
        await served.act(platform=platform, do="press", message_id=below, label="Delete history")
        after: dict[str, Any] = await served.room(platform, "direct")
        interactions = [
            (one["interaction"], one["text"]) for one in after["messages"] if "interaction" in one
        ]
        assert interactions == [("used", "/clear"), ("pressed", "Delete history")][2 - count :]
        other: dict[str, Any] = await served.room(platform, "direct", "Ben")
        assert other["messages"] == []


async def test_reactions_are_shown_with_their_people(served: Served) -> None:
    await served.act(room="general", do="say", text="Hello")
    [reply, *_] = messages_of(await served.room("telegram", "general"))
    for person in ("Ada", "Ben", "Ben"):
        await served.act(
            room="general", person=person, do="react", message_id=reply["id"], emoji="👍"
        )
    [reply, *_] = messages_of(await served.room("telegram", "general"))
    assert reply["reactions"] == [{"emoji": "👍", "people": ["Ada", "Ben"]}]


async def test_the_page_opens_at_the_story(served: Served) -> None:
    async def start() -> object:
        async with served.client.get(f"{served.url}/demo/api/world") as response:
            return (await response.json())["start"]

    assert await start() == {"platform": "telegram", "room": "direct", "person": "Ada"}
    await served.act(platform="discord", room="general", person="Ben", do="say", text="lunch?")
    assert await start() == {"platform": "discord", "room": "general", "person": "Ben"}


async def test_a_private_message_is_not_shown_to_others(served: Served) -> None:
    simulator = served.demo.simulators["slack"]
    room = simulator.room("general")
    simulator.post(room, "psst", only_for=simulator.person("Ben").id)
    for person, count in (("Ada", 0), ("Ben", 1)):
        seen: dict[str, Any] = await served.room("slack", "general", person)
        assert len(seen["messages"]) == count


async def test_a_thread_is_a_separate_room(served: Served) -> None:
    place = {"platform": "discord", "room": "general"}
    status, answer = await served.act(do="thread", title="Plans", **place)
    assert status == 200
    await served.act(do="say", text="inside", **{**place, "room": answer["room"]})
    inside: dict[str, Any] = await served.room("discord", str(answer["room"]))
    above: dict[str, Any] = await served.room("discord", "general")
    assert [m["text"] for m in inside["messages"]] == ["inside", "You said: inside"]
    assert above["messages"] == []


async def test_a_slack_thread_is_shown_below_its_message(served: Served) -> None:
    place = {"platform": "slack", "room": "general"}
    _, answer = await served.act(do="say", text="question", mention=True, **place)
    await served.act(do="say", text="more", thread=answer["id"], **place)
    seen: dict[str, Any] = await served.room("slack", "general")
    assert [(m["text"], m["root"]) for m in seen["messages"]] == [
        ("question", ""),
        ("You said: question", answer["id"]),
        ("more", answer["id"]),
        ("You said: more", answer["id"]),
    ]


async def test_own_messages_can_be_edited_and_deleted(served: Served) -> None:
    _, response = await served.act(do="say", text="helo")
    assert (await served.act(do="edit", message_id=response["id"], text="hello"))[0] == 200
    assert (await served.act(do="delete", message_id=response["id"]))[0] == 200
    room: dict[str, Any] = await served.room("telegram", "direct")
    assert room["messages"][0]["deleted"]
    answer = room["messages"][1]["id"]
    assert (await served.act(do="edit", message_id=answer, text="forged"))[0] == 404
    assert (await served.act(do="delete", message_id=answer))[0] == 404


async def test_commands_buttons_and_reactions_reach_the_platform(served: Served) -> None:
    await served.act(do="command", name="clear", arguments="now")
    room: dict[str, Any] = await served.room("telegram", "direct")
    question = room["messages"][-1]
    assert question["buttons"] == ["Delete history", "Keep"]
    assert (await served.act(do="press", message_id=question["id"], label="Delete history"))[
        0
    ] == 200
    assert (await served.act(do="react", message_id=question["id"], emoji="👍"))[0] == 200
    assert served.demo.simulators["telegram"].log[-3:] == [
        ("command", "clear", "now"),
        ("press", question["id"], "Delete history"),
        ("react", question["id"], "👍"),
    ]
    assert (await served.act(do="press", message_id=question["id"], label="Forged"))[0] == 404


@pytest.mark.parametrize(
    "action",
    [
        {"do": "press", "label": "Delete history"},
        {"do": "react", "emoji": "👍"},
        {"do": "edit", "text": "x"},
        {"do": "delete"},
    ],
)
async def test_missing_messages_are_reported(served: Served, action: dict[str, object]) -> None:
    assert (await served.act(message_id="nowhere", **action))[0] == 404
    assert (await served.act(do="say", text="x", reply_to="nowhere"))[0] == 404
    place = {"platform": "slack", "room": "general"}
    assert (await served.act(do="say", text="x", thread="nowhere", **place))[0] == 404


async def test_faults_can_be_simulated(served: Served) -> None:
    telegram = served.demo.simulators["telegram"]
    await served.act(do="fault", kind="rate_limit")
    await served.act(do="fault", kind="disconnect")
    fault = telegram.faults.take("sendMessage")
    assert fault is not None
    assert fault.kind == "rate_limit"
    assert telegram.log[-1] == ("dropped",)


async def test_a_file_is_sent_and_returned(served: Served) -> None:
    data = base64.b64encode(b"hello").decode()
    upload = {"name": "n.txt", "mime": "text/plain", "data": data}
    _, answer = await served.act(do="say", files=[upload])
    query = {
        "platform": "telegram",
        "room": "direct",
        "person": "Ada",
        "message": str(answer["id"]),
    }
    async with served.client.get(f"{served.url}/demo/api/file", params=query) as response:
        assert await response.read() == b"hello"
        assert response.headers["Content-Disposition"].startswith("attachment")
    for index in ("1", "-1", "x"):
        async with served.client.get(
            f"{served.url}/demo/api/file", params={**query, "index": index}
        ) as response:
            assert response.status == 404


@pytest.mark.parametrize(
    ("action", "status"),
    [
        ({"do": "say"}, 404),
        ({"do": "say", "text": "x" * 4_001}, 422),
        ({"do": "say", "text": "x", "author": "Ben"}, 422),
        ({"do": "say", "text": "x", "person": "Mallory"}, 404),
        ({"do": "say", "text": "x", "platform": "irc"}, 404),
        ({"do": "say", "text": "x", "room": "cellar"}, 404),
        ({"do": "say", "files": [{"name": "../x", "mime": "text/plain", "data": ""}]}, 422),
        ({"do": "say", "files": [{"name": "x", "mime": "text/plain", "data": "%"}]}, 422),
        ({"do": "say", "files": [{"name": "x", "mime": "a/b", "data": ""}] * 5}, 422),
        ({"do": "command", "name": "Not A Command"}, 422),
        ({"do": "react", "message_id": "m", "emoji": "x" * 40}, 422),
        ({"do": "fault", "kind": "fire"}, 422),
        ({"do": "thread", "title": "in a direct message"}, 409),
        ({"do": "dance"}, 422),
        ({}, 422),
    ],
)
async def test_an_impossible_action_is_reported(
    served: Served, action: dict[str, object], status: int
) -> None:
    answer = await served.act(**action)
    assert answer[0] == status
    assert answer[1]["error"]


async def test_only_the_page_itself_can_act(served: Served) -> None:
    body = {"do": "say", "platform": "telegram", "room": "direct", "person": "Ada", "text": "x"}
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": served.url, "Host": "evil.example"},
    ):
        async with served.client.post(
            f"{served.url}/demo/api/act", json=body, headers=headers
        ) as response:
            assert response.status == 403
    async with served.client.post(
        f"{served.url}/demo/api/act",
        data=json.dumps(body),
        headers={"Origin": served.url, "Content-Type": "text/plain"},
    ) as response:
        assert response.status == 415
    assert (await served.room("telegram", "direct"))["messages"] == []


async def test_the_stream_contains_every_change(served: Served) -> None:
    query = {"platform": "telegram", "room": "direct", "person": "Ada"}
    async with served.client.get(f"{served.url}/demo/api/events", params=query) as stream:
        async with asyncio.timeout(PATIENCE):
            first = json.loads((await stream.content.readline())[6:])
            assert first["messages"] == []
            await served.act(do="say", text="Hello")
            texts: list[str] = []
            while len(texts) < 2:
                line = await stream.content.readline()
                if line.startswith(b"data: "):
                    texts = [m["text"] for m in json.loads(line[6:])["messages"]]
    assert texts == ["Hello", "You said: Hello"]


async def test_a_stream_of_a_missing_room_is_refused(served: Served) -> None:
    query = {"platform": "telegram", "room": "cellar", "person": "Ada"}
    async with served.client.get(f"{served.url}/demo/api/events", params=query) as response:
        assert response.status == 404


async def test_the_number_of_threads_is_limited(served: Served) -> None:
    place = {"platform": "discord", "room": "general"}
    statuses = [(await served.act(do="thread", title="t", **place))[0] for _ in range(41)]
    assert statuses == [200] * 40 + [409]


async def test_text_for_slack_is_escaped_as_by_its_app(served: Served) -> None:
    for platform, stands in (("slack", "a &lt; b &amp;&amp; c"), ("discord", "a < b && c")):
        await served.act(do="say", text="a < b && c", platform=platform)
        room: dict[str, Any] = await served.room(platform, "direct")
        assert room["messages"][0]["text"] == stands


async def test_the_page_leads_to_the_console_signed_in_and_pages_of_others_do_not(
    served: Served,
) -> None:
    url = f"{served.url}/demo/console"
    own = {"Origin": served.url}
    async with served.client.post(url, headers=own, allow_redirects=False) as response:
        assert (response.status, "/console/sign-in#" in response.headers["Location"]) == (303, True)
    other = {"Origin": "https://evil.example"}
    async with served.client.post(url, headers=other, allow_redirects=False) as refused:
        assert refused.status == 403
    async with served.client.get(url, allow_redirects=False) as refused:
        assert refused.status == 405
