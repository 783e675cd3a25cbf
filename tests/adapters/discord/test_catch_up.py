"""Messages that were written while no session was open are fetched once, in order, before live
ones."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.discord import catch_up, read_positions
from adapters.discord.read_positions import ChannelRef, ReadPositions
from db.errors import StoreUnavailable
from gateway.message import MessageReceived, Place
from gateway.people import Audience
from gateway.ports import AdapterState
from gateway.ports.clock import SystemClock
from gateway.stores.sqlite.hot_state import SqliteAdapterStates
from simulators.base import Fault, FaultKind, SimRoom
from simulators.discord import DiscordSimulator
from tests.adapters.discord.rig import Rig, begun_anew, connected, text
from tests.support.databases import sqlite_database

HISTORY = "GET /channels/{id}/messages"


@pytest.fixture
async def state() -> AsyncIterator[AdapterState]:
    database = sqlite_database(":memory:")
    await database.start()
    yield SqliteAdapterStates(database, SystemClock()).of("discord", "main")
    await database.stop()


def contents(rig: Rig) -> list[str]:
    """Return the events that arrived, each once, in order of arrival."""
    results: dict[str, str] = {}
    for event in rig.inbox.events:
        if isinstance(event, MessageReceived):
            results.setdefault(event.event_id, event.message.content)
    return list(results.values())


async def written(sim: DiscordSimulator, room: SimRoom, *lines: str, mention: bool = False) -> None:
    for line in lines:
        await sim.say(sim.person("Ann"), room, line, mention=mention)


async def test_after_a_restart_missed_messages_come_first_and_in_order(
    sim: DiscordSimulator, state: AdapterState
) -> None:
    room = sim.direct(sim.person("Ann"))
    async with connected(sim, state=state) as rig:
        await written(sim, room, "0")
        await rig.inbox.wait(1)
    await written(sim, room, *(str(n) for n in range(1, 250)))
    async with connected(sim, state=state) as rig:
        await written(sim, room, "live")
        await rig.inbox.wait(250)
        assert contents(rig) == [*(str(n) for n in range(1, 250)), "live"]
        assert {e.event_id for e in rig.inbox.events} <= set(sim.world.channels[room.id].messages)
        message = (await rig.inbox.first(MessageReceived)).message
        assert message.place == Place("discord", "main", room.id, Audience.DIRECT)
    async with connected(sim, state=state) as rig:
        await written(sim, room, "later")
        await rig.inbox.wait(1)
        assert contents(rig) == ["later"], "what was fetched is not fetched again"


@pytest.mark.usefixtures("identifying_at_once")
async def test_also_after_a_lost_session_missed_messages_come_first(
    sim: DiscordSimulator, state: AdapterState
) -> None:
    room = sim.direct(sim.person("Ann"))
    async with connected(sim, state=state) as rig:
        await written(sim, room, "0")
        await rig.inbox.wait(1)
        (gone,) = sim.gateway.sessions
        sim.forget_sessions()
        await sim.drop_connections()
        await written(sim, room, "1", "2", "3")
        await begun_anew(sim, gone)
        await written(sim, room, "4")
        await rig.inbox.wait(5)
        assert contents(rig) == list("01234")


async def test_channels_and_threads_keep_their_positions(
    sim: DiscordSimulator, state: AdapterState
) -> None:
    ann, staff = sim.person("Ann"), sim.room("staff", "private")
    thread = await sim.open_thread(ann, staff, "topic")
    async with connected(sim, state=state) as rig:
        await written(sim, thread, "hello", mention=True)
        before = (await rig.inbox.first(MessageReceived)).message
    await written(sim, thread, "and then?", mention=True)
    async with connected(sim, state=state) as rig:
        after = (await rig.inbox.first(MessageReceived)).message
        assert (after.content, after.mentions_bot) == ("and then?", True)
        assert after.place == before.place
        assert after.place.audience is Audience.PRIVATE_ROOM


async def test_an_archived_thread_is_a_thread(sim: DiscordSimulator, state: AdapterState) -> None:
    """Discord describes active threads only."""
    ann = sim.person("Ann")
    thread = await sim.open_thread(ann, sim.room("general"), "topic")
    async with connected(sim, state=state) as rig:
        await written(sim, thread, "hello", mention=True)
        before = (await rig.inbox.first(MessageReceived)).message
    await written(sim, thread, "and then?", mention=True)
    channel = sim.world.channels.pop(thread.thread_id)
    sim.faults.add(Fault(HISTORY, "slow", delay=3.0))
    async with connected(sim, state=state) as rig:
        sim.world.channels[thread.thread_id] = channel
        assert (await rig.inbox.first(MessageReceived)).message.place == before.place


async def test_a_room_in_which_the_bot_wrote_is_caught_up(
    sim: DiscordSimulator, state: AdapterState
) -> None:
    room = sim.room("general")
    async with connected(sim, state=state) as rig:
        await rig.adapter.send(text("k", rig.place(room), "good morning"))
    await written(sim, room, "morning!")
    async with connected(sim, state=state) as rig:
        await rig.inbox.wait(1)
        assert contents(rig) == ["morning!"]


async def test_the_first_mention_in_a_channel_is_found(
    sim: DiscordSimulator, state: AdapterState
) -> None:
    quiet, busy = sim.room("quiet"), sim.room("busy")
    async with connected(sim, state=state) as rig:
        await written(sim, busy, "not for the bot")
        await rig.inbox.wait(1)
    await written(sim, quiet, "are you there?", mention=True)
    async with connected(sim, state=state) as rig:
        await rig.inbox.wait(1)
        assert "are you there?" in contents(rig)


async def test_the_first_direct_message_of_a_person_is_not_found(
    sim: DiscordSimulator, state: AdapterState
) -> None:
    """Discord lists no direct conversation that a bot has not seen before."""
    ann, ben = sim.person("Ann"), sim.person("Ben")
    async with connected(sim, state=state) as rig:
        await sim.say(ann, sim.direct(ann), "0")
        await rig.inbox.wait(1)
    await sim.say(ben, sim.direct(ben), "my first words")
    await sim.say(ann, sim.direct(ann), "1")
    async with connected(sim, state=state) as rig:
        await sim.say(ben, sim.direct(ben), "my second words")
        await rig.inbox.wait(2)
        assert sorted(contents(rig)) == ["1", "my second words"]


async def test_a_slow_channel_does_not_delay_others(
    sim: DiscordSimulator, state: AdapterState
) -> None:
    ann, ben = sim.person("Ann"), sim.person("Ben")
    async with connected(sim, state=state) as rig:
        await sim.say(ann, sim.direct(ann), "0")
        await rig.inbox.wait(1)
    await sim.say(ann, sim.direct(ann), "1")
    sim.faults.add(Fault(HISTORY, "slow", delay=4.0))
    async with connected(sim, state=state) as rig:
        await sim.say(ann, sim.direct(ann), "2")
        await sim.say(ben, sim.direct(ben), "quick")
        await rig.inbox.wait(3)
        assert contents(rig) == ["quick", "1", "2"]


@pytest.mark.parametrize("kind", ["rate_limit", "server_error", "drop_before", "drop_after"])
async def test_a_failed_read_is_repeated(
    sim: DiscordSimulator, state: AdapterState, kind: FaultKind
) -> None:
    room = sim.direct(sim.person("Ann"))
    async with connected(sim, state=state) as rig:
        await written(sim, room, "0")
        await rig.inbox.wait(1)
    await written(sim, room, "1")
    sim.faults.add(Fault(HISTORY, kind, times=2, retry_after=0.05))
    async with connected(sim, state=state) as rig:
        await written(sim, room, "2")
        await rig.inbox.wait(2)
        assert contents(rig) == ["1", "2"]


async def test_a_deleted_channel_is_dropped(sim: DiscordSimulator, state: AdapterState) -> None:
    room = sim.direct(sim.person("Ann"))
    async with connected(sim, state=state) as rig:
        await written(sim, room, "0")
        await rig.inbox.wait(1)
    gone = sim.world.channels.pop(room.id)
    async with connected(sim, state=state) as rig:
        await sim.wait_until(lambda: any(c.status == 404 for c in sim.calls))
    sim.world.channels[room.id] = gone
    memory = ReadPositions(state)
    await memory.open()
    assert memory.channels() == []
    await memory.close()


async def test_messages_beyond_the_limit_are_dropped_and_counted(
    sim: DiscordSimulator, state: AdapterState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catch_up, "MAX_PAGES", 2)
    room = sim.direct(sim.person("Ann"))
    async with connected(sim, state=state) as rig:
        await written(sim, room, "0")
        await rig.inbox.wait(1)
    await written(sim, room, *(str(n) for n in range(1, 302)))
    async with connected(sim, state=state) as rig:
        await rig.inbox.wait(200)
        await written(sim, room, "live")
        await rig.inbox.wait(201)
        assert contents(rig) == [*(str(n) for n in range(1, 201)), "live"]
        assert rig.counted["lost", "catch_up_messages"] == 1


async def test_an_unavailable_store_does_not_change_the_order(
    sim: DiscordSimulator, state: AdapterState
) -> None:
    room = sim.direct(sim.person("Ann"))
    async with connected(sim, state=state) as rig:
        await written(sim, room, "0")
        await rig.inbox.wait(1)
    await written(sim, room, "1", "2")
    rig = Rig(sim, state=state)
    rig.inbox.failures = [StoreUnavailable("down"), StoreUnavailable("still down")]
    await rig.adapter.connect(rig.inbox)
    await written(sim, room, "3")
    await rig.inbox.wait(3)
    assert contents(rig) == ["1", "2", "3"]
    await rig.adapter.disconnect()


class CountingState:
    """Keeps values and counts the writes."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.writes = 0
        self.down = False

    async def get(self, key: str) -> str | None:
        return self.values.get(key)

    async def put(self, key: str, value: str, ttl: object) -> None:
        if self.down:
            raise StoreUnavailable("down")
        assert len(key) <= 200
        assert len(value) <= 4000
        self.writes += 1
        self.values[key] = value


async def test_many_messages_cause_few_writes() -> None:
    state = CountingState()
    memory = ReadPositions(state)
    await memory.open()
    place = Place("discord", "main", "5", Audience.DIRECT)
    for number in range(1, 5_000):
        memory.advance(place, str(number), addressed=True)
        if not number % 100:
            await asyncio.sleep(0)
    await memory.close()
    assert state.writes <= 4
    again = ReadPositions(state)
    await again.open()
    assert again.channels() == [(ChannelRef("5"), 4_999)]
    assert again.latest == 4_999
    await again.close()


async def test_the_latest_positions_are_kept_within_the_size_limit() -> None:
    state = CountingState()
    memory = ReadPositions(state)
    await memory.open()
    base = 10**19
    for number in range(read_positions.MAX_CHANNELS + 100):
        place = Place(
            "discord", "main", str(base), Audience.PRIVATE_ROOM, str(base), str(base + number)
        )
        memory.advance(place, str(base + number), addressed=True)
    await memory.close()
    again = ReadPositions(state)
    await again.open()
    kept = [where.channel_id for where, _ in again.channels()]
    assert kept == [
        str(base + number) for number in reversed(range(100, read_positions.MAX_CHANNELS + 100))
    ]
    await again.close()


async def test_a_failed_write_is_repeated_later() -> None:
    state = CountingState()
    memory = ReadPositions(state)
    await memory.open()
    memory.advance(Place("discord", "main", "5", Audience.DIRECT), "7", addressed=True)
    state.down = True
    await memory._flush()
    assert not state.writes
    state.down = False
    await memory.close()
    assert set(state.values) == {"read:12", "read:latest"}


@pytest.mark.parametrize("value", ["", "{", "[1]", '[["a"]]', '[["5","","",0,"x"]]', "null"])
async def test_a_damaged_state_is_an_empty_one(value: str) -> None:
    state = CountingState()
    state.values = {"read:0": value, "read:latest": "nonsense"}
    memory = ReadPositions(state)
    await memory.open()
    assert memory.channels() == []
    assert memory.latest == 0
    await memory.close()
