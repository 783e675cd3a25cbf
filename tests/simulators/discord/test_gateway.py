"""The simulated gateway: identification, intents, heartbeats, replay, and its close codes."""

import json

import pytest

from simulators.discord import DiscordSimulator
from tests.simulators.discord.client import Client, Socket

GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES, CONTENT = 1, 1 << 9, 1 << 12, 1 << 15


async def ready(client: Client, intents: int = 0, query: str = "v=10") -> tuple[Socket, str]:
    """An identified socket and its session."""
    socket = await client.gateway(query)
    assert (await socket.receive())["op"] == 10
    await socket.identify(intents or GUILDS | GUILD_MESSAGES | DIRECT_MESSAGES | CONTENT)
    hello = await socket.receive()
    assert hello["t"] == "READY"
    return socket, hello["d"]["session_id"]


async def test_ready_precedes_the_server(client: Client) -> None:
    client.sim.room("general")
    socket = await client.gateway()
    assert (await socket.receive())["d"]["heartbeat_interval"] > 0
    await socket.identify()
    first, second = await socket.receive(), await socket.receive()
    assert (first["t"], first["s"]) == ("READY", 1)
    assert first["d"]["guilds"] == [{"id": client.sim.world.guild_id, "unavailable": True}]
    assert first["d"]["resume_gateway_url"].startswith("ws://127.0.0.1:")
    assert (second["t"], second["s"]) == ("GUILD_CREATE", 2)
    assert [channel["name"] for channel in second["d"]["channels"]] == ["general"]
    await client.sim.wait_connected(1)


async def test_heartbeats_are_acknowledged(client: Client) -> None:
    socket = await client.gateway()
    await socket.receive()
    await socket.send(1, None)
    assert (await socket.receive())["op"] == 11


@pytest.mark.parametrize("compress", ["", "&compress=zlib-stream"])
async def test_compression_follows_the_request(client: Client, compress: str) -> None:
    socket, _ = await ready(client, query=f"v=10{compress}")
    assert (await socket.until("GUILD_CREATE"))["d"]["id"] == client.sim.world.guild_id


async def test_invalid_use_has_the_documented_close_codes(client: Client) -> None:
    async def closed_after(op: int, data: object, *, identified: bool = False) -> object:
        if identified:
            socket, _ = await ready(client)
        else:
            socket = await client.gateway()
            await socket.receive()
        await socket.send(op, data)
        return (await socket.until("nothing"))["closed"]

    token = client.sim.token
    assert await closed_after(2, {"token": "wrong", "intents": 0}) == 4004
    assert await closed_after(2, {"token": token}) == 4013
    assert await closed_after(2, {"token": token, "intents": 1 << 40}) == 4013
    assert await closed_after(3, {}) == 4003
    assert await closed_after(99, {}, identified=True) == 4001
    assert await closed_after(2, {"token": token, "intents": 1}, identified=True) == 4005
    assert await closed_after(6, {"token": "wrong", "session_id": "x", "seq": 1}) == 4004
    client.sim.message_content = False
    assert await closed_after(2, {"token": token, "intents": CONTENT}) == 4014


async def test_invalid_and_excessive_json_is_refused(client: Client) -> None:
    for text in ("nonsense", "[]", json.dumps({"op": 1, "d": "x" * 5000})):
        socket = await client.gateway()
        await socket.receive()
        await socket.ws.send_str(text)
        assert (await socket.receive())["closed"] == 4002
    socket = await client.gateway()
    await socket.receive()
    for _ in range(121):
        await socket.send(1, None)
    assert (await socket.until("nothing"))["closed"] == 4008


async def test_without_an_intent_there_are_no_events(client: Client) -> None:
    sim, ann = client.sim, client.sim.person("Ann")
    room = sim.room("general")
    socket, _ = await ready(client, GUILDS | DIRECT_MESSAGES)
    await sim.say(ann, room, "not for you")
    await sim.say(ann, sim.direct(ann), "for you")
    message = await socket.until("MESSAGE_CREATE")
    assert message["d"]["content"] == "for you"
    assert "guild_id" not in message["d"]


async def test_without_the_content_intent_text_is_hidden(client: Client) -> None:
    sim, ann = client.sim, client.sim.person("Ann")
    socket, _ = await ready(client, GUILDS | GUILD_MESSAGES | DIRECT_MESSAGES)
    room = sim.room("general")
    await sim.say(ann, room, "hidden")
    await sim.say(ann, room, "asked", mention=True)
    await sim.say(ann, sim.direct(ann), "direct")
    contents = [(await socket.until("MESSAGE_CREATE"))["d"]["content"] for _ in range(3)]
    assert contents == ["", f"<@{sim.world.bot.id}> asked", "direct"]


async def test_a_resumed_session_receives_the_missed_events(client: Client) -> None:
    sim, ann = client.sim, client.sim.person("Ann")
    room = sim.direct(ann)
    socket, session = await ready(client)
    await sim.say(ann, room, "seen")
    seen = await socket.until("MESSAGE_CREATE")
    await sim.drop_connections()
    assert "closed" in await socket.until("nothing")
    await sim.say(ann, room, "missed")
    again = await client.gateway()
    await again.receive()
    await again.send(6, {"token": sim.token, "session_id": session, "seq": seen["s"]})
    missed, resumed = await again.receive(), await again.receive()
    assert (missed["t"], missed["d"]["content"]) == ("MESSAGE_CREATE", "missed")
    assert missed["s"] == seen["s"] + 1
    assert resumed["t"] == "RESUMED"


@pytest.mark.parametrize(("session", "sequence"), [("unknown", 1), ("", 999)])
async def test_a_session_that_cannot_be_resumed_is_invalid(
    client: Client, session: str, sequence: int
) -> None:
    _, known = await ready(client)
    socket = await client.gateway()
    await socket.receive()
    data = {"token": client.sim.token, "session_id": session or known, "seq": sequence}
    await socket.send(6, data)
    assert await socket.receive() == {"op": 9, "d": False}


async def test_a_duplicate_has_the_same_sequence_number(client: Client) -> None:
    sim, ann = client.sim, client.sim.person("Ann")
    socket, _ = await ready(client)
    sim.duplicate_next(2)
    await sim.say(ann, sim.direct(ann), "thrice")
    await sim.say(ann, sim.direct(ann), "once")
    results = [await socket.until("MESSAGE_CREATE") for _ in range(4)]
    assert [each["s"] - results[0]["s"] for each in results] == [0, 0, 0, 1]
    assert len({each["d"]["id"] for each in results}) == 2


async def test_a_server_can_request_a_reconnection(client: Client) -> None:
    socket, _ = await ready(client)
    await socket.until("GUILD_CREATE")
    await client.sim.gateway.request_reconnect()
    assert (await socket.receive())["op"] == 7


async def test_a_missing_connection_is_reported(sim: DiscordSimulator) -> None:
    with pytest.raises(TimeoutError):
        await sim.wait_connected(0.05)
