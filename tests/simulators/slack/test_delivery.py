"""An unchanged Bolt app works against the simulated Slack, and deliveries behave as Slack's do."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from simulators.slack import SlackSimulator
from tests.support.patience import PATIENCE


@pytest.fixture
async def slack() -> AsyncIterator[SlackSimulator]:
    simulator = SlackSimulator(ack_within=1.0, retry_after=(0.0, 0.05))
    await simulator.start()
    yield simulator
    await simulator.stop()


class RawClient:
    """A Socket Mode client that acknowledges when told to."""

    def __init__(self, slack: SlackSimulator) -> None:
        self.slack = slack
        self.session = aiohttp.ClientSession()
        self.sockets: list[aiohttp.ClientWebSocketResponse] = []

    async def connect(self) -> dict[str, Any]:
        client = AsyncWebClient(base_url=f"{self.slack.server.base}/api/", session=self.session)
        opened = await client.apps_connections_open(app_token=self.slack.server.app_token)
        self.sockets.append(await self.session.ws_connect(opened["url"]))
        return await self.next()

    async def next(self) -> dict[str, Any]:
        received: dict[str, Any] = await self.sockets[-1].receive_json(timeout=PATIENCE)
        return received

    async def ack(self, envelope: dict[str, Any]) -> None:
        await self.sockets[-1].send_json({"envelope_id": envelope["envelope_id"]})


@pytest.fixture
async def raw(slack: SlackSimulator) -> AsyncIterator[RawClient]:
    client = RawClient(slack)
    yield client
    await client.session.close()


async def test_an_unmodified_bolt_app_works(slack: SlackSimulator) -> None:
    section = slack.settings()
    client = AsyncWebClient(token=str(section["bot_token"]), base_url=str(section["base_url"]))
    app = AsyncApp(client=client, name="test")

    @app.event("app_mention")
    async def mentioned(event: dict[str, Any], say: Any) -> None:
        await say(text=f"hi <@{event['user']}>", thread_ts=event["ts"])

    @app.command("/ask")
    async def asked(ack: Any, respond: Any, command: dict[str, Any]) -> None:
        await ack()
        await respond(text=f"you asked {command['text']}")

    @app.event("message")
    async def said() -> None:
        """Mentions are messages as well."""

    @app.action("go")
    async def pressed(ack: Any, say: Any, action: dict[str, Any]) -> None:
        await ack()
        await say(text=f"pressed {action['value']}")

    handler = AsyncSocketModeHandler(app, str(section["app_token"]))
    await handler.connect_async()  # type: ignore[no-untyped-call]
    try:
        await slack.wait_connected()
        anna, room = slack.person("Anna"), slack.room("general")
        await slack.say(anna, room, "hello", mention=True)
        await slack.wait_for(room, lambda all_: any(m.text == "hi @Anna" for m in all_))
        await slack.command(anna, room, "ask", "why")
        await slack.wait_for(room, lambda all_: any(m.only_for == anna.id for m in all_))
        button = {"type": "button", "text": {"type": "plain_text", "text": "Go"}, "value": "7"}
        actions = {"type": "actions", "elements": [button | {"action_id": "go"}]}
        posted = await client.chat_postMessage(channel=room.id, text="x", blocks=[actions])
        await slack.press(anna, room, posted["ts"], "Go")
        await slack.wait_for(room, lambda all_: any(m.text == "pressed 7" for m in all_))
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]


async def test_an_unacknowledged_event_is_repeated(slack: SlackSimulator, raw: RawClient) -> None:
    hello = await raw.connect()
    assert (hello["type"], hello["num_connections"]) == ("hello", 1)
    anna = slack.person("Anna")
    await slack.say(anna, slack.direct(anna), "hi")
    first, second = await raw.next(), await raw.next()
    assert (first["retry_attempt"], second["retry_attempt"]) == (0, 1)
    assert second["retry_reason"] == "timeout"
    assert first["envelope_id"] != second["envelope_id"]
    assert first["payload"]["event_id"] == second["payload"]["event_id"]
    await raw.ack(second)
    await slack.deliveries.settled(PATIENCE)
    assert slack.sockets.given_up == []


async def test_after_the_last_attempt_an_event_is_dropped(
    slack: SlackSimulator, raw: RawClient
) -> None:
    await raw.connect()
    anna = slack.person("Anna")
    await slack.say(anna, slack.direct(anna), "hi")
    await slack.deliveries.settled(PATIENCE)
    assert len(slack.sockets.given_up) == 1


async def test_a_command_is_not_repeated(slack: SlackSimulator, raw: RawClient) -> None:
    await raw.connect()
    await slack.command(slack.person("Anna"), slack.room("general"), "ask")
    envelope = await raw.next()
    assert envelope["type"] == "slash_commands"
    assert "retry_attempt" not in envelope
    await slack.deliveries.settled(PATIENCE)
    assert len(slack.sockets.given_up) == 1


async def test_events_without_a_connection_arrive_as_repetitions(
    slack: SlackSimulator, raw: RawClient
) -> None:
    anna = slack.person("Anna")
    await slack.say(anna, slack.direct(anna), "hi")
    await raw.connect()
    envelope = await raw.next()
    assert envelope["retry_attempt"] == 1
    await raw.ack(envelope)


async def test_a_cut_socket_uses_no_attempt(slack: SlackSimulator, raw: RawClient) -> None:
    slack.sockets.retry_after = (0.0, 60.0)
    await raw.connect()
    await slack.drop_connections()
    anna = slack.person("Anna")
    await slack.say(anna, slack.direct(anna), "hi")
    await raw.connect()
    await raw.ack(await raw.next())
    await slack.deliveries.settled(PATIENCE)
    assert slack.sockets.given_up == []


async def test_an_address_opens_one_socket(slack: SlackSimulator, raw: RawClient) -> None:
    client = AsyncWebClient(base_url=f"{slack.server.base}/api/")
    opened = await client.apps_connections_open(app_token=slack.server.app_token)
    await raw.session.ws_connect(opened["url"])
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await raw.session.ws_connect(opened["url"])


async def test_an_eleventh_socket_is_refused(slack: SlackSimulator, raw: RawClient) -> None:
    for number in range(10):
        assert (await raw.connect())["num_connections"] == number + 1
    assert (await raw.connect())["reason"] == "too_many_websockets"


async def test_several_sockets_share_the_events(slack: SlackSimulator) -> None:
    clients = [RawClient(slack), RawClient(slack)]
    try:
        for client in clients:
            await client.connect()
        anna = slack.person("Anna")
        for number in range(2):
            await slack.say(anna, slack.direct(anna), str(number))
        for envelope, client in [(await c.next(), c) for c in clients]:
            await client.ack(envelope)
        await slack.deliveries.settled(PATIENCE)
    finally:
        for client in clients:
            await client.session.close()


async def test_waiting_for_a_connection_times_out(slack: SlackSimulator) -> None:
    with pytest.raises(TimeoutError, match="no Socket Mode client"):
        await slack.wait_connected(0.05)
    with pytest.raises(TimeoutError, match="there was"):
        await slack.wait_for(slack.room("general"), bool, 0.05)
    await asyncio.wait_for(slack.drop_connections(), PATIENCE)
