"""An unresponsive Slack socket is detected by its pings, and replaced."""

import time
from collections.abc import AsyncIterator
from itertools import pairwise
from unittest.mock import Mock, patch

import pytest

from adapters.slack.socket import SocketConnection
from gateway.message import MessageReceived
from gateway.ports import CanCheckLiveness
from simulators.base import Fault
from tests.adapters.slack.conftest import Rig, connected
from tests.support.waiting import eventually

PING_SECONDS = 0.8


@pytest.fixture
async def rig(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Rig]:
    monkeypatch.setattr("adapters.slack.socket.PING_SECONDS", PING_SECONDS)
    async with connected("socket") as made:
        yield made


async def test_a_connection_without_messages_is_not_unresponsive(rig: Rig) -> None:
    assert isinstance(rig.adapter, CanCheckLiveness)
    seen = list[float]()

    def a_while_passed() -> bool:
        result = rig.adapter.alive()
        assert result.ok, result
        seen.append(result.seconds_since)
        return sum(later < earlier for earlier, later in pairwise(seen)) >= 4

    await eventually(a_while_passed)
    assert rig.sink.events == []


async def test_an_unresponsive_socket_is_detected_and_replaced(rig: Rig) -> None:
    rig.slack.faults.add(Fault("apps.connections.open", "server_error", times=1_000))
    rig.slack.stop_responding()
    ada = rig.slack.person("Ada")
    await eventually(lambda: not rig.adapter.alive().ok)
    assert rig.adapter.alive().seconds_since > PING_SECONDS
    rig.slack.faults.clear()
    await rig.slack.say(ada, rig.slack.direct(ada), "can you hear me?")
    event = await rig.sink.first(MessageReceived)
    assert event.message.content == "can you hear me?"
    await eventually(lambda: rig.adapter.alive().ok)


async def test_unanswered_pings_make_the_connection_unresponsive_while_the_socket_is_open(
    rig: Rig,
) -> None:
    """The library's own heartbeat closes such a socket sooner; were it off, we would notice."""
    connection = rig.adapter._connection
    assert isinstance(connection, SocketConnection)
    client = Mock(last_ping_pong_time=time.time() - 29.0, ping_interval=10.0, stale=False)
    client.current_session.closed = False
    with patch.object(connection, "_client", client):
        assert rig.adapter.alive().ok
        client.last_ping_pong_time -= 2.0
        overdue = rig.adapter.alive()
    assert not overdue.ok
    assert "no ping was answered for 31 seconds" in str(overdue.detail)


async def test_requests_to_the_own_listener_need_no_proof() -> None:
    async with connected("http") as made:
        assert made.adapter.alive().ok


async def test_without_a_connection_there_is_no_proof(rig: Rig) -> None:
    await rig.adapter.disconnect()
    assert not rig.adapter.alive().ok
