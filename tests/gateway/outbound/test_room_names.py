"""Asking a platform for the names of rooms."""

import asyncio
from dataclasses import dataclass, field

import pytest

from gateway.errors import Permanent, Transient
from gateway.outbound.room_names import DOUBTED_FOR, KEPT_FOR, MAX_NAME, MOST_AT_ONCE, RoomNames
from gateway.platforms import ConnectedAccount
from tests.support.adapter import MANIFEST, RecordingAdapter
from tests.support.clock import FakeClock

ROOM = "test:main:C1"


@dataclass
class Tells:
    """Names rooms, fails, or never answers."""

    names: dict[str, str] = field(default_factory=lambda: {"C1": "#general"})
    failure: Exception | None = None
    silent: bool = False
    asked: int = 0

    async def room_name(self, channel: str) -> str:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        if self.silent:
            await asyncio.Event().wait()
        return self.names.get(channel, "")


def names_from(tells: Tells | None, clock: FakeClock) -> RoomNames:
    connected = ConnectedAccount(MANIFEST, RecordingAdapter(), rooms=tells)
    return RoomNames({("test", "main"): connected}, clock)


async def test_a_name_is_kept_for_an_hour() -> None:
    tells, clock = Tells(), FakeClock()
    names = names_from(tells, clock)
    assert await names.of([ROOM, ROOM]) == {ROOM: "#general"}
    tells.names["C1"] = "#all"
    assert await names.of([ROOM]) == {ROOM: "#general"}
    assert tells.asked == 1
    await clock.advance(KEPT_FOR.total_seconds() + 1)
    assert await names.of([ROOM]) == {ROOM: "#all"}


@pytest.mark.parametrize("failure", [Transient("busy"), Permanent("no"), ValueError()])
async def test_a_failing_platform_gives_no_name_and_is_asked_again_soon(
    failure: Exception,
) -> None:
    tells, clock = Tells(failure=failure), FakeClock()
    names = names_from(tells, clock)
    assert await names.of([ROOM]) == {}
    tells.failure = None
    assert await names.of([ROOM]) == {}
    await clock.advance(DOUBTED_FOR.total_seconds() + 1)
    assert await names.of([ROOM]) == {ROOM: "#general"}


async def test_a_page_does_not_wait_for_a_silent_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.outbound.room_names.ASK_SECONDS", 0.01)
    names = names_from(Tells(silent=True), FakeClock())
    async with asyncio.timeout(5):
        assert await names.of([ROOM]) == {}


async def test_unknown_accounts_and_hostile_names_do_no_harm() -> None:
    assert await names_from(None, FakeClock()).of([ROOM, "other:main:C1", "odd", ""]) == {}
    tells = Tells({"C1": "a\n\u202eb" + "c" * 1_000_000})
    (name,) = (await names_from(tells, FakeClock()).of([ROOM])).values()
    assert len(name) <= MAX_NAME
    assert "\n" not in name
    assert "\u202e" not in name


async def test_a_page_asks_for_a_bounded_number_of_rooms() -> None:
    tells = Tells({})
    await names_from(tells, FakeClock()).of([f"test:main:{number}" for number in range(1_000)])
    assert tells.asked == MOST_AT_ONCE
