"""Answers that grow on Slack: a stream in the agent view, updates everywhere else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from adapters.slack.manifest import STREAM, UPDATE
from gateway.message import MessageReceived, Outbound, Part, Place
from gateway.ports import LiveView
from tests.adapters.slack.conftest import Rig, connected
from tests.support.patience import PATIENCE


@asynccontextmanager
async def in_agent_view() -> AsyncIterator[Rig]:
    async with connected("socket", more={"agent_view": True}) as rig:
        yield rig


async def received_question(rig: Rig, thread_id: str = "") -> MessageReceived:
    ada = rig.slack.person("Ada")
    room = rig.slack.direct(ada)
    await rig.slack.say(ada, room, "what is a whale?", reply_to=thread_id)
    return await rig.sink.first(MessageReceived, len(rig.sink.of(MessageReceived)) + 1)


def view(place: Place, said: str, added: str, handle: str = "") -> LiveView:
    return LiveView("live:1", place, Part(said, said), added, handle)


def methods(rig: Rig) -> list[str]:
    return [call.method for call in rig.slack.calls if call.method.startswith(("chat", "assist"))]


async def test_each_direct_message_begins_a_new_conversation() -> None:
    async with in_agent_view() as rig:
        event = await received_question(rig)
        assert event.message.place.thread_id == event.message.id
        assert event.message.reply_to_id is None
        below = await received_question(rig, event.message.id)
        assert below.message.place == event.message.place


async def test_an_answer_there_is_streamed_and_finally_formatted() -> None:
    async with in_agent_view() as rig:
        place = (await received_question(rig)).message.place
        assert rig.adapter.live_style(place) == STREAM
        handle = await rig.adapter.show_live(view(place, "one", "one"))
        await rig.adapter.show_live(view(place, "one two", " two", handle))
        final = Outbound("r:0", place, Part("one two three", "one two three"), replaces=handle)
        assert (await rig.adapter.end_live(final)).message_id == handle
        assert methods(rig) == [
            "chat.startStream",
            "chat.appendStream",
            "chat.stopStream",
            "chat.update",
        ]


async def test_a_stream_that_ended_is_updated_to_the_final_answer() -> None:
    async with in_agent_view() as rig:
        rig.slack.world.stream_seconds = 0.0
        place = (await received_question(rig)).message.place
        handle = await rig.adapter.show_live(view(place, "one", "one"))
        assert await rig.adapter.show_live(view(place, "one two", " two", handle)) == handle
        final = Outbound("r:0", place, Part("one two three", "one two three"), replaces=handle)
        await rig.adapter.end_live(final)
        shown = [m.text for m in rig.slack.shown(rig.slack.direct(rig.slack.person("Ada")))]
        assert shown[-1] == "one two three"


async def test_the_typing_status_is_shown_in_those_threads_only() -> None:
    async with in_agent_view() as rig:
        message = (await received_question(rig)).message
        await rig.adapter.typing(message.place, message.id)
        assert methods(rig) == ["assistant.threads.setStatus"]
    async with connected("socket") as rig:
        message = (await received_question(rig)).message
        await rig.adapter.typing(message.place, message.id)
        assert methods(rig) == []


async def test_without_the_agent_view_a_direct_message_is_updated_in_place() -> None:
    async with connected("socket") as rig:
        place = (await received_question(rig)).message.place
        assert (place.thread_id, rig.adapter.live_style(place)) == ("", UPDATE)
        handle = await rig.adapter.show_live(view(place, "one", "one"))
        await rig.adapter.show_live(view(place, "one two", " two", handle))
        assert methods(rig) == ["chat.postMessage", "chat.update"]


@pytest.mark.parametrize("agent_view", [True, False])
async def test_in_channels_the_message_is_updated_for_everybody(agent_view: bool) -> None:
    async with connected("socket", more={"agent_view": agent_view}) as rig:
        ada, room = rig.slack.person("Ada"), rig.slack.room("general")
        await rig.slack.say(ada, room, "what is a whale?", mention=True)
        place = (await rig.sink.first(MessageReceived)).message.place
        assert rig.adapter.live_style(place) == UPDATE
        async with asyncio.timeout(PATIENCE):
            await rig.adapter.show_live(view(place, "one", "one"))
        assert methods(rig) == ["chat.postMessage"]
