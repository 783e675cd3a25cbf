"""The simulated REST API refuses what Discord refuses, in Discord's words."""

import asyncio
import io
from typing import Any

import aiohttp
import pytest

from simulators.base import Fault, SimFile, SimRoom
from simulators.discord import DiscordSimulator, RateLimit
from tests.simulators.discord.client import Client


@pytest.fixture
def room(sim: DiscordSimulator) -> SimRoom:
    return sim.room("general")


def button(label: str = "ok", custom_id: str = "v", **more: object) -> dict[str, object]:
    return {"type": 2, "style": 1, "label": label, "custom_id": custom_id, **more}


def row(*buttons: dict[str, object]) -> dict[str, object]:
    return {"type": 1, "components": list(buttons)}


def where(errors: Any) -> list[str]:
    """The dotted paths at which a 50035 found something."""
    if "_errors" in errors:
        return [""]
    return [f"{key}.{rest}".rstrip(".") for key in errors for rest in where(errors[key])]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"content": "x" * 2001}, "content"),
        ({"content": 5}, "content"),
        ({"content": "x", "nonce": "n" * 26}, "nonce"),
        ({"content": "x", "nonce": 1.5}, "nonce"),
        ({"content": "x", "enforce_nonce": True}, "nonce"),
        ({"content": "x", "embeds": [{}] * 11}, "embeds"),
        ({"content": "x", "allowed_mentions": {"parse": ["nobody"]}}, "allowed_mentions.parse.0"),
        (
            {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
            "allowed_mentions",
        ),
        ({"content": "x", "message_reference": {}}, "message_reference.message_id"),
        ({"content": "x", "message_reference": {"message_id": "1"}}, "message_reference"),
        ({"content": "x", "components": [row(button())] * 6}, "components"),
        ({"content": "x", "components": [row()]}, "components.0.components"),
        (
            {"content": "x", "components": [row(*[button(custom_id=str(n)) for n in range(6)])]},
            "components.0.components",
        ),
        (
            {"content": "x", "components": [row(button(label="l" * 81))]},
            "components.0.components.0.label",
        ),
        (
            {"content": "x", "components": [row(button(custom_id="c" * 101))]},
            "components.0.components.0.custom_id",
        ),
        (
            {"content": "x", "components": [row(button(custom_id=""))]},
            "components.0.components.0.custom_id",
        ),
        (
            {"content": "x", "components": [row(button(), button())]},
            "components.0.components.1.custom_id",
        ),
        ({"content": "x", "components": [button()]}, "components.0.type"),
        ({"content": "x", "attachments": [{"id": "nope"}]}, "attachments.0.id"),
    ],
)
async def test_an_invalid_field_is_reported_with_its_path(
    client: Client, room: SimRoom, body: dict[str, object], path: str
) -> None:
    status, data = await client.post(room.id, **body)
    assert (status, data["code"], data["message"]) == (400, 50035, "Invalid Form Body")
    assert where(data["errors"]) == [path]
    assert client.sim.shown(room) == []


async def test_the_largest_valid_message_is_accepted(client: Client, room: SimRoom) -> None:
    rows = [
        row(*[button("l" * 80, f"{r}:{b}".ljust(100, "c")) for b in range(5)]) for r in range(5)
    ]
    status, data = await client.post(room.id, content="x" * 2000, components=rows)
    assert status == 200
    assert len(client.sim.shown(room)[0].buttons) == 25
    assert len(data["content"]) == 2000


@pytest.mark.parametrize("body", [{}, {"content": ""}, {"content": " \n "}, {"components": []}])
async def test_an_empty_message_is_refused(
    client: Client, room: SimRoom, body: dict[str, object]
) -> None:
    status, data = await client.post(room.id, **body)
    assert (status, data["code"]) == (400, 50006)


async def test_refusals_have_the_codes_of_discord(client: Client, room: SimRoom) -> None:
    sim, ann = client.sim, client.sim.person("Ann")
    hers = await sim.say(ann, room, "hers")
    messages = f"/channels/{room.id}/messages"
    hidden = sim.room("hidden")
    sim.revoke_access(hidden)
    text = {"content": "x"}
    expected: list[tuple[str, str, object, str | None, int, int]] = [
        ("GET", "/users/@me", None, "wrong", 401, 0),
        ("POST", "/channels/1/messages", text, None, 404, 10003),
        ("POST", f"/channels/{hidden.id}/messages", text, None, 403, 50001),
        ("PATCH", f"{messages}/1", text, None, 404, 10008),
        ("PATCH", f"{messages}/{hers}", text, None, 403, 50005),
        ("DELETE", f"{messages}/{hers}", None, None, 403, 50013),
        ("PUT", f"{messages}/{hers}/reactions/nonsense/@me", None, None, 400, 10014),
        ("PUT", "/applications/1/commands", [], None, 404, 10002),
        ("POST", "/webhooks/1/token", text, None, 404, 10015),
        ("POST", f"/webhooks/{sim.world.application_id}/token", text, None, 401, 50027),
        ("POST", "/interactions/1/token/callback", {"type": 5}, None, 404, 10062),
        ("POST", "/users/@me/channels", {"recipient_id": "1"}, None, 404, 10013),
        ("GET", "/nothing/here", None, None, 404, 0),
    ]
    for method, path, body, token, status, code in expected:
        result = await client.call(method, path, body, token=token)
        assert (result[0], result[1]["code"]) == (status, code), path


async def test_an_enforced_nonce_creates_one_message(client: Client, room: SimRoom) -> None:
    once = {"content": "x", "nonce": "n", "enforce_nonce": True}
    first, second = await client.post(room.id, **once), await client.post(room.id, **once)
    assert first[1]["id"] == second[1]["id"]
    assert first[1]["nonce"] == "n"
    other = await client.post(client.sim.room("other").id, **once)
    assert other[1]["id"] != first[1]["id"], "a nonce belongs to its channel"
    await client.post(room.id, content="y", nonce="n")
    assert len(client.sim.shown(room)) == 2, "without enforce_nonce it is only an echo"


async def test_files_are_multipart_and_served_by_the_cdn(client: Client, room: SimRoom) -> None:
    form = aiohttp.FormData(quote_fields=False)
    form.add_field("payload_json", '{"content": "see"}')
    form.add_field("files[0]", b"\x00\x01", filename="a.bin", content_type="application/x-any")
    status, data, _ = await client.call("POST", f"/channels/{room.id}/messages", data=form)
    assert status == 200
    (attachment,) = data["attachments"]
    assert (attachment["filename"], attachment["size"]) == ("a.bin", 2)
    assert await client.get(attachment["url"]) == (200, b"\x00\x01")
    assert (await client.get(attachment["url"].replace("attachments/", "attachments/9")))[0] == 404


async def test_a_file_that_is_too_large_is_refused(client: Client, room: SimRoom) -> None:
    form = aiohttp.FormData(quote_fields=False)
    form.add_field("files[0]", io.BytesIO(b"x" * (10 * 1024 * 1024 + 1)), filename="big")
    status, data, _ = await client.call("POST", f"/channels/{room.id}/messages", data=form)
    assert (status, data["code"]) == (413, 40005)


async def test_commands_are_validated_and_keep_their_ids(client: Client) -> None:
    path = f"/applications/{client.sim.world.application_id}/commands"
    for bad in (
        [{"name": "Ask", "description": "d"}],
        [{"name": "ask", "description": ""}],
        [{"name": "ask", "description": "d" * 101}],
        [{"name": "ask", "description": "d"}, {"name": "ask", "description": "d"}],
        [{"name": "ask", "description": "d", "options": [{"type": 3, "name": "N N"}]}],
        {"name": "ask"},
    ):
        status, data, _ = await client.call("PUT", path, bad)
        assert (status, data["code"]) == (400, 50035), bad
    first = (await client.call("PUT", path, [{"name": "ask", "description": "one"}]))[1]
    again = (await client.call("PUT", path, [{"name": "ask", "description": "two"}]))[1]
    assert first[0]["id"] == again[0]["id"]
    assert (await client.call("GET", path))[1][0]["description"] == "two"


async def test_every_response_has_rate_limit_headers(client: Client) -> None:
    _, _, headers = await client.call("GET", "/users/@me")
    for name in ("Limit", "Remaining", "Reset", "Reset-After", "Bucket"):
        assert f"X-RateLimit-{name}" in headers


async def test_the_limit_is_enforced_per_channel() -> None:
    sim = DiscordSimulator(rate_limit=RateLimit(2, 2.0))
    await sim.start()
    try:
        async with Client(sim) as client:
            one, two = sim.room("one").id, sim.room("two").id
            statuses = [(await client.post(one, content="x"))[0] for _ in range(3)]
            assert statuses == [200, 200, 429]
            assert (await client.post(two, content="x"))[0] == 200
            status, data, headers = await client.call(
                "POST", f"/channels/{one}/messages", {"content": "x"}
            )
            assert status == 429
            assert 0 < data["retry_after"] <= 2.0
            assert headers["X-RateLimit-Scope"] == "user"
            await asyncio.sleep(data["retry_after"])
            assert (await client.post(one, content="x"))[0] == 200
    finally:
        await sim.stop()


async def test_faults_occur_as_often_as_requested(client: Client, room: SimRoom) -> None:
    sim, name = client.sim, "POST /channels/{id}/messages"
    sim.faults.add(Fault(name, "rate_limit", retry_after=1.5))
    sim.faults.add(Fault(name, "server_error", times=2))
    path = f"/channels/{room.id}/messages"
    status, data, headers = await client.call("POST", path, {"content": "x"})
    assert (status, data["retry_after"], data["global"]) == (429, 1.5, False)
    assert headers["Retry-After"] == "2"
    assert [(await client.post(room.id, content="x"))[0] for _ in range(3)] == [500, 500, 200]
    sim.faults.add(Fault("*", "rate_limit"))
    assert (await client.call("GET", "/users/@me"))[1]["global"] is True
    assert [call.status for call in sim.calls] == [429, 500, 500, 200, 429]


async def test_a_cut_connection_distinguishes_before_and_after(
    client: Client, room: SimRoom
) -> None:
    name = "POST /channels/{id}/messages"
    for kind, there in (("drop_before", 0), ("drop_after", 1)):
        client.sim.faults.add(Fault(name, kind))  # type: ignore[arg-type]  # one of the kinds
        with pytest.raises((aiohttp.ClientError, OSError)):
            await client.post(room.id, content="x")
        assert len(client.sim.shown(room)) == there


async def test_a_slow_response_is_delayed(client: Client, room: SimRoom) -> None:
    client.sim.faults.add(Fault("POST /channels/{id}/messages", "slow", delay=0.1))
    began = asyncio.get_running_loop().time()
    assert (await client.post(room.id, content="x"))[0] == 200
    assert asyncio.get_running_loop().time() - began >= 0.1


# --- interactions ---------------------------------------------------------------------------------


async def interaction(client: Client, room: SimRoom) -> tuple[str, str]:
    """The paths of an interaction's callback and webhook."""
    path = f"/applications/{client.sim.world.application_id}/commands"
    await client.call("PUT", path, [{"name": "ping", "description": "Ping"}])
    await client.sim.command(client.sim.person("Ann"), room, "ping")
    results = list(client.sim.world.interactions.values())[-1]
    webhook = f"/webhooks/{client.sim.world.application_id}/{results.token}"
    return f"/interactions/{results.id}/{results.token}/callback", webhook


async def test_the_first_response_has_three_seconds(client: Client, room: SimRoom) -> None:
    callback, _ = await interaction(client, room)
    client.sim.set_interaction_deadline(0.0)
    status, data, _ = await client.call("POST", callback, {"type": 5})
    assert (status, data["code"]) == (404, 10062)


async def test_an_interaction_is_acknowledged_once(client: Client, room: SimRoom) -> None:
    callback, webhook = await interaction(client, room)
    early = await client.call("POST", webhook, {"content": "too early"})
    assert (early[0], early[1]["code"]) == (404, 10015)
    assert (await client.call("POST", callback, {"type": 5}))[0] == 204
    again = await client.call("POST", callback, {"type": 5})
    assert (again[0], again[1]["code"]) == (400, 40060)


async def test_the_first_follow_up_completes_the_deferred_response(
    client: Client, room: SimRoom
) -> None:
    callback, webhook = await interaction(client, room)
    await client.call("POST", callback, {"type": 5, "data": {"flags": 64}})
    assert client.sim.shown(room) == [], "people see that it thinks, not a message"
    original = f"{webhook}/messages/@original"
    assert (await client.call("GET", original))[1]["flags"] == 64 | 128
    await client.call("POST", webhook, {"content": "one"})
    await client.call("POST", webhook, {"content": "two"})
    shown = client.sim.shown(room)
    assert [(message.text, bool(message.only_for)) for message in shown] == [
        ("one", True),
        ("two", False),
    ]
    await client.call("PATCH", original, {"content": "one!"})
    await client.call("DELETE", original)
    assert client.sim.shown(room)[0].deleted
    assert (await client.call("GET", original))[0] == 404


async def test_an_ephemeral_message_is_not_in_the_channel(client: Client, room: SimRoom) -> None:
    callback, _ = await interaction(client, room)
    answer = {"type": 4, "data": {"content": "psst", "flags": 64, "components": [row(button())]}}
    await client.call("POST", callback, answer)
    (shown,) = client.sim.shown(room)
    assert shown.only_for == client.sim.person("Ann").id
    status, _, _ = await client.call("GET", f"/channels/{room.id}/messages/{shown.id}")
    assert status == 404
    with pytest.raises(LookupError, match="does not see"):
        await client.sim.press(client.sim.person("Ben"), room, shown.id, "ok")


async def test_people_can_use_existing_elements_only(client: Client, room: SimRoom) -> None:
    sim, ann = client.sim, client.sim.person("Ann")
    with pytest.raises(LookupError, match="no command /ask"):
        await sim.command(ann, room, "ask", "why")
    path = f"/applications/{sim.world.application_id}/commands"
    option = {"type": 3, "name": "question", "description": "Question", "required": True}
    await client.call("PUT", path, [{"name": "ask", "description": "Ask", "options": [option]}])
    with pytest.raises(LookupError, match="needs an argument"):
        await sim.command(ann, room, "ask")
    message_id = await sim.say(ann, room, "x")
    with pytest.raises(LookupError, match="no button"):
        await sim.press(ann, room, message_id, "ok")
    with pytest.raises(LookupError, match="somebody else"):
        await sim.edit(sim.person("Ben"), room, message_id, "y")


def test_people_and_rooms_are_deterministic(sim: DiscordSimulator) -> None:
    assert sim.person("Ann") == sim.person("Ann")
    assert sim.room("a") == sim.room("a")
    assert sim.direct(sim.person("Ann")) == sim.direct(sim.person("Ann"))


async def test_waiting_returns_the_existing_messages(sim: DiscordSimulator, room: SimRoom) -> None:
    await sim.say(sim.person("Ann"), room, "alone", files=(SimFile("a", "text/plain", b"x"),))
    with pytest.raises(TimeoutError, match="alone"):
        await sim.wait_for(room, lambda shown: len(shown) > 1, timeout=0.05)
