"""Security events are recorded at any log level, and a flood of them leaves few entries."""

import asyncio
import io
import json
import logging
from datetime import timedelta

import pytest

from db.errors import StoreUnavailable
from gateway.observe.logs import configure_logs
from gateway.observe.security_log import (
    FLUSH_SECONDS,
    MAX_NAMED,
    MAX_QUEUED,
    OTHERS,
    WINDOW,
    SecurityLog,
)
from gateway.policy.access import AccessPolicy
from gateway.policy.rate_limits import RateLimits
from gateway.ports.observer import SecurityEvent
from gateway.turn.services import Policies
from tests.support.clock import FakeClock, settle
from tests.support.gateway import gateway
from tests.support.messages import received


class Kept:
    """A sink that remembers, or is away."""

    def __init__(self) -> None:
        self.entries: list[tuple[SecurityEvent, int]] = []
        self.away = False
        self.open = asyncio.Event()
        self.open.set()

    async def keep(self, event: SecurityEvent, times: int) -> None:
        if self.away:
            raise StoreUnavailable("down")
        self.entries.append((event, times))
        await self.open.wait()


def denied(number: int = 0, event: str = "api_denied") -> SecurityEvent:
    return SecurityEvent(event, "token_wrong", "", address=f"192.0.2.{number}")


@pytest.mark.parametrize("level", [logging.ERROR, logging.CRITICAL])
async def test_no_log_level_suppresses_denials_and_limits(level: int) -> None:
    log = io.StringIO()
    configure_logs("json", level, stream=log)
    blocked = AccessPolicy(blocked_users=frozenset({"eve"}))
    async with gateway(
        policies=Policies(
            access=blocked,
            limits=RateLimits(user_per_minute=1, channel_per_minute=20, workspace_per_minute=100),
        )
    ) as g:
        await g.take(received("let me in: hunter2", message_id="m1", author="eve"))
        for number in (2, 3):
            await g.take(received("psst: hunter2", message_id=f"m{number}"))
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [(one["event"], one["event_name"], one["reason"]) for one in lines] == [
        ("audit", "access_denied", "user_blocked"),
        ("audit", "limits_denied", "user_limit"),
    ]
    assert [one["person"] for one in lines] == ["test:main:eve", "test:main:ada"]
    assert "hunter2" not in log.getvalue()


async def test_repeated_events_are_counted_for_an_hour() -> None:
    clock, kept = FakeClock(), Kept()
    security = SecurityLog(clock, kept.keep)
    for _ in range(1_000):
        security.note(denied())
    await security.flush()
    assert kept.entries == [(denied(), 1)]
    await clock.advance(WINDOW.total_seconds())
    security.note(denied())
    await security.flush()
    again = SecurityEvent("api_denied_again", "token_wrong", "", address="192.0.2.0")
    assert kept.entries[1:] == [(again, 999), (denied(), 1)]


async def test_events_from_many_addresses_are_limited_and_hide_no_other_event() -> None:
    clock, kept = FakeClock(), Kept()
    security = SecurityLog(clock, kept.keep)
    for number in range(10_000):
        security.note(denied(number))
    security.note(denied(1, "webhook_denied"))
    await clock.advance(WINDOW.total_seconds())
    security.note(denied(2, "webhook_denied"))
    await security.flush()
    api = [entry for entry in kept.entries if entry[0].event == "api_denied"]
    assert len(api) == MAX_NAMED + 1
    assert api[-1][0].reason == OTHERS
    assert sum(times for _, times in api) == 10_000
    assert [times for event, times in kept.entries if event.event == "webhook_denied"] == [1, 1]


async def test_an_entry_is_hidden_neither_by_another_reason_nor_by_another_tenant() -> None:
    clock, kept = FakeClock(), Kept()
    security = SecurityLog(clock, kept.keep)
    for number in range(10_000):
        security.note(denied(number))
        security.note(SecurityEvent("tool_used", "memory_store", "one", f"test:main:p{number}"))
    hidden = (
        SecurityEvent("api_denied", "not_found", "one", "test:main:eve", address="192.0.2.7"),
        SecurityEvent("tool_used", "delete_everything", "one", "test:main:eve"),
        SecurityEvent("tool_used", "memory_store", "two", "test:main:bob"),
    )
    for event in hidden:
        security.note(event)
    await security.flush()
    assert [event for event, _ in kept.entries if event in hidden] == list(hidden)
    assert len(kept.entries) <= 2 * MAX_NAMED + len(hidden)


async def test_kinds_of_events_are_limited() -> None:
    clock, kept = FakeClock(), Kept()
    security = SecurityLog(clock, kept.keep)
    for number in range(1_000):
        security.note(denied(event=f"event_{number}"))
    await clock.advance(WINDOW.total_seconds())
    security.note(denied())
    await security.flush()
    assert len(kept.entries) < 20
    assert sum(times for _, times in kept.entries) == 1_001


async def test_entries_wait_while_the_database_is_unavailable() -> None:
    clock, kept = FakeClock(), Kept()
    security = SecurityLog(clock, kept.keep)
    kept.away = True
    security.note(denied(1))
    await security.flush()
    for number in range(3 * MAX_QUEUED):
        if number % MAX_NAMED == 0:
            await clock.advance(WINDOW.total_seconds())
        security.note(denied(number))
    kept.away = False
    await security.flush()
    assert 1 <= len(kept.entries) <= MAX_QUEUED


async def test_stop_writes_the_counted_events() -> None:
    kept = Kept()
    security = SecurityLog(sink=kept.keep)
    security.start()
    for _ in range(5):
        security.note(denied())
    await security.stop()
    assert [times for _, times in kept.entries] == [1, 4]
    await security.stop()
    assert timedelta(0) < WINDOW


async def test_concurrent_flushes_write_each_entry_once() -> None:
    kept = Kept()
    security = SecurityLog(FakeClock(), kept.keep)
    kept.open.clear()
    for number in range(3):
        security.note(denied(number))
    flushing = [asyncio.create_task(security.flush()) for _ in range(2)]
    await settle()
    kept.open.set()
    await asyncio.gather(*flushing)
    assert kept.entries == [(denied(number), 1) for number in range(3)]


async def test_a_stop_during_a_write_writes_the_entry_once() -> None:
    clock, kept = FakeClock(), Kept()
    security = SecurityLog(clock, kept.keep)
    kept.open.clear()
    security.start()
    security.note(denied())
    await clock.advance(FLUSH_SECONDS)
    stopping = asyncio.create_task(security.stop())
    await settle()
    kept.open.set()
    await stopping
    assert kept.entries == [(denied(), 1)]
