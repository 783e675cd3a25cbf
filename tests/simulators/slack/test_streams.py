"""A streamed message on the simulated Slack, by the real client library."""

from collections.abc import AsyncIterator

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from simulators.base import SimRoom
from simulators.slack import SlackSimulator


@pytest.fixture
async def slack() -> AsyncIterator[SlackSimulator]:
    simulator = SlackSimulator()
    await simulator.start()
    yield simulator
    await simulator.stop()


@pytest.fixture
def client(slack: SlackSimulator) -> AsyncWebClient:
    section = slack.settings()
    return AsyncWebClient(
        token=str(section["bot_token"]), base_url=str(section["base_url"]), retry_handlers=[]
    )


@pytest.fixture
def room(slack: SlackSimulator) -> SimRoom:
    return slack.direct(slack.person("Ada"))


async def asked(slack: SlackSimulator, room: SimRoom) -> str:
    return await slack.say(slack.person("Ada"), room, "what is a whale?")


async def test_the_library_streams_in_chunks(
    slack: SlackSimulator, client: AsyncWebClient, room: SimRoom
) -> None:
    question = await asked(slack, room)
    stream = await client.chat_stream(channel=room.id, thread_ts=question, buffer_size=1)
    await stream.append(markdown_text="A **whale** ")
    await stream.append(markdown_text="is a mammal.")
    assert [m.text for m in slack.shown(room) if m.by_bot] == ["A whale is a mammal."]
    await stream.stop()
    (shown,) = [m for m in slack.shown(room) if m.by_bot]
    assert (shown.thread_id, shown.text) == (question, "A whale is a mammal.")


async def test_after_its_end_a_stream_accepts_no_text(
    slack: SlackSimulator, client: AsyncWebClient, room: SimRoom
) -> None:
    slack.world.stream_seconds = 0.0
    question = await asked(slack, room)
    begun = await client.chat_startStream(
        channel=room.id, thread_ts=question, markdown_text="A whale"
    )
    for call in (client.chat_appendStream, client.chat_stopStream):
        with pytest.raises(SlackApiError, match="message_not_in_streaming_state"):
            await call(channel=room.id, ts=str(begun["ts"]), markdown_text=" is")
    await client.chat_update(channel=room.id, ts=str(begun["ts"]), text="A whale is", blocks=[])
    assert [m.text for m in slack.shown(room) if m.by_bot] == ["A whale is"]


async def test_a_running_stream_cannot_be_updated(
    slack: SlackSimulator, client: AsyncWebClient, room: SimRoom
) -> None:
    question = await asked(slack, room)
    begun = await client.chat_startStream(channel=room.id, thread_ts=question, markdown_text="A")
    with pytest.raises(SlackApiError, match="streaming_state_conflict"):
        await client.chat_update(channel=room.id, ts=str(begun["ts"]), text="no")


async def test_a_stream_in_a_direct_message_replies_to_a_message(
    client: AsyncWebClient, room: SimRoom
) -> None:
    with pytest.raises(SlackApiError, match="invalid_arguments"):
        await client.chat_startStream(channel=room.id, thread_ts="", markdown_text="A")


@pytest.mark.parametrize(
    ("named", "error"),
    [((), "missing_recipient_user_id"), (("user",), "missing_recipient_team_id")],
)
async def test_a_stream_in_a_channel_names_one_person(
    slack: SlackSimulator, client: AsyncWebClient, named: tuple[str, ...], error: str
) -> None:
    channel, ada = slack.room("general"), slack.person("Ada")
    question = await slack.say(ada, channel, "what is a whale?", mention=True)

    async def start(*named: str) -> object:
        begun = await client.chat_startStream(
            channel=channel.id,
            thread_ts=question,
            recipient_user_id=ada.id if "user" in named else None,
            recipient_team_id=slack.world.team if "team" in named else None,
        )
        return begun["ok"]

    with pytest.raises(SlackApiError, match=error):
        await start(*named)
    assert await start("user", "team")


async def test_a_chunk_has_at_most_12000_characters(
    slack: SlackSimulator, client: AsyncWebClient, room: SimRoom
) -> None:
    question = await asked(slack, room)
    with pytest.raises(SlackApiError, match="msg_too_long"):
        await client.chat_startStream(
            channel=room.id, thread_ts=question, markdown_text="x" * 12_001
        )
