"""An unresponsive Discord connection is detected by its heartbeats, and resumed."""

from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from gateway.message import MessageReceived
from gateway.ports import CanCheckLiveness, CanReconnect
from simulators.discord import DiscordSimulator
from tests.adapters.discord.rig import Rig, connected
from tests.support.waiting import eventually

HEARTBEAT_MS = 400
"""Discord takes 120 commands a minute, heartbeats included."""


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    sim = DiscordSimulator()
    sim.gateway.heartbeat_ms = HEARTBEAT_MS
    await sim.start()
    async with connected(sim) as made:
        yield made
    await sim.stop()


def test_it_reports_its_liveness_and_can_be_revived(rig: Rig) -> None:
    assert isinstance(rig.adapter, CanCheckLiveness)
    assert isinstance(rig.adapter, CanReconnect)


async def test_a_connection_without_messages_is_not_unresponsive(rig: Rig) -> None:
    seen = list[float]()

    def a_while_passed() -> bool:
        result = rig.adapter.alive()
        assert result.ok, result
        seen.append(result.seconds_since)
        return sum(later < earlier for earlier, later in pairwise(seen)) >= 6

    await eventually(a_while_passed)
    assert rig.inbox.events == []


async def test_an_unresponsive_socket_is_detected_and_resumed_with_the_missed_events(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.discord.socket.ACK_SECONDS", 1.0)
    session = next(iter(rig.sim.gateway.sessions))
    rig.sim.stop_responding()
    ada = rig.sim.person("Ada")
    await rig.sim.say(ada, rig.sim.direct(ada), "can you hear me?")
    await eventually(lambda: not rig.adapter.alive().ok)
    result = rig.adapter.alive()
    assert "no heartbeat was answered" in str(result.detail)
    assert result.seconds_since > HEARTBEAT_MS / 1000
    assert rig.inbox.events == []
    await rig.adapter.reconnect()
    event = await rig.inbox.first(MessageReceived)
    assert event.message.content == "can you hear me?"
    await eventually(lambda: rig.adapter.alive().ok)
    assert list(rig.sim.gateway.sessions) == [session]


async def test_there_is_no_proof_during_a_reconnection(rig: Rig) -> None:
    rig.sim.forget_sessions()
    await rig.sim.drop_connections()
    await eventually(lambda: not rig.adapter.alive().ok)
    await eventually(lambda: rig.adapter.alive().ok)


async def test_without_a_connection_there_is_nothing_to_revive(rig: Rig) -> None:
    await rig.adapter.disconnect()
    assert str(rig.adapter.alive().detail) == "not connected"
    await rig.adapter.reconnect()
