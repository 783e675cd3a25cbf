"""A lost socket is replaced at its end, and not at the next check."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import pytest

from adapters.slack.socket import (
    FLAPPING,
    LONGEST_PAUSE,
    QUICK_PAUSE,
    SLOW_PAUSE,
    pause_before,
)
from gateway.message import MessageReceived
from simulators.base import Fault
from simulators.slack import SlackSimulator
from tests.adapters.slack.conftest import Rig, connected
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually

NEVER = 36_000.0
DROPS = 20


@pytest.fixture
async def rig(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Rig]:
    """An adapter that would look after its socket in ten hours for the first time."""
    monkeypatch.setattr("adapters.slack.socket.PING_SECONDS", NEVER)
    slack = SlackSimulator("socket", ack_within=3.0, retry_after=(0.0,) * (DROPS + 2))
    await slack.start()
    try:
        async with connected("socket", slack=slack) as made:
            yield made
    finally:
        await slack.stop()


def opened(rig: Rig) -> int:
    return len([call for call in rig.slack.calls if call.method == "apps.connections.open"])


async def test_the_end_of_a_socket_is_detected_immediately(rig: Rig) -> None:
    ada = rig.slack.person("Ada")
    await rig.slack.drop_connections()
    await rig.slack.say(ada, rig.slack.direct(ada), "while away")
    assert (await rig.sink.first(MessageReceived)).message.content == "while away"
    assert opened(rig) == 2


async def test_many_interruptions_lose_nothing(
    rig: Rig, record_property: Callable[[str, object], None]
) -> None:
    ada = rig.slack.person("Ada")
    room = rig.slack.direct(ada)
    unresponsive: list[float] = []
    for number in range(DROPS):
        await eventually(lambda: bool(rig.slack.sockets.sockets))
        await rig.slack.say(ada, room, f"before {number}")
        await rig.slack.drop_connections()
        dropped = time.monotonic()
        await rig.slack.say(ada, room, f"after {number}")
        await eventually(lambda: bool(rig.slack.sockets.sockets))
        unresponsive.append(time.monotonic() - dropped)
    expected = {f"{when} {number}" for number in range(DROPS) for when in ("before", "after")}
    await rig.sink.until(
        lambda: {e.message.content for e in rig.sink.of(MessageReceived)} == expected
    )
    await rig.slack.deliveries.settled(PATIENCE)
    assert rig.slack.sockets.given_up == []
    answers = {(e.event_id, e.message.content) for e in rig.sink.of(MessageReceived)}
    assert len(answers) == len(expected), "a repetition has the id of the first"
    assert rig.adapter.alive().ok
    record_property("unresponsive_seconds", [round(seconds, 3) for seconds in unresponsive])


async def test_many_interruptions_at_once_open_few_sockets(rig: Rig) -> None:
    for _ in range(DROPS):
        await rig.slack.drop_connections()
    ada = rig.slack.person("Ada")
    await rig.slack.say(ada, rig.slack.direct(ada), "still there?")
    await rig.sink.first(MessageReceived)
    assert opened(rig) == 2


async def test_a_failed_attempt_does_not_reuse_an_address(rig: Rig) -> None:
    rig.slack.faults.add(Fault("apps.connections.open", "server_error", times=2))
    ada = rig.slack.person("Ada")
    await rig.slack.drop_connections()
    await rig.slack.say(ada, rig.slack.direct(ada), "third time lucky")
    await rig.sink.first(MessageReceived)
    assert opened(rig) == 4


async def test_a_wait_requested_by_slack_is_respected(rig: Rig) -> None:
    rig.slack.faults.add(Fault("apps.connections.open", "rate_limit", retry_after=1.0))
    await rig.slack.drop_connections()
    await eventually(lambda: bool(rig.slack.sockets.sockets))
    _, refused, granted = [c for c in rig.slack.calls if c.method == "apps.connections.open"]
    assert refused.status == 429
    assert granted.at - refused.at >= 1.0


async def test_an_acknowledgement_is_sent_on_the_next_socket(rig: Rig) -> None:
    """The event was stored while its socket was dropped; a command does not come again."""
    rig.sink.hold = asyncio.Event()
    ada = rig.slack.person("Ada")
    await rig.slack.say(ada, rig.slack.direct(ada), "slow")
    await eventually(lambda: bool([c for c in rig.slack.calls if c.method == "users.info"]))
    await rig.slack.drop_connections()
    rig.sink.hold.set()
    await rig.sink.first(MessageReceived)
    await rig.slack.deliveries.settled(PATIENCE)
    assert rig.slack.sockets.given_up == []


async def test_a_socket_that_slack_closes_is_replaced_before_it_ends(rig: Rig) -> None:
    open_at_once: list[int] = []
    serve = rig.slack.sockets.serve

    async def watched(socket: object, hello: dict[str, object]) -> None:
        open_at_once.append(len(rig.slack.sockets.sockets))
        await serve(socket, hello)  # type: ignore[arg-type]  # passed through as it came

    rig.slack.sockets.serve = watched  # type: ignore[method-assign]  # a test's ear
    await rig.slack.request_reconnect()
    await eventually(lambda: bool(open_at_once) and len(rig.slack.sockets.sockets) == 1)
    assert open_at_once == [1], "the old one was still there when the new one came"


@pytest.mark.parametrize(
    ("failures", "losses", "pause"),
    [
        (0, 1, 0.0),
        (0, 2, QUICK_PAUSE),
        (0, FLAPPING, QUICK_PAUSE),
        (0, FLAPPING + 1, SLOW_PAUSE),
        (1, 1, 2 * QUICK_PAUSE),
        (3, 1, 8 * QUICK_PAUSE),
        (10_000, 1, LONGEST_PAUSE),
    ],
)
def test_pauses_grow_after_failures_and_stay_short_after_interruptions(
    failures: int, losses: int, pause: float
) -> None:
    assert pause_before(failures, losses) == pause
    assert pause_before(0, FLAPPING) < 1.0
