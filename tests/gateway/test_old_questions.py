"""Questions that are answered late say so, and those that are too old are named once."""

from datetime import timedelta

import pytest

from gateway.immutable import replace
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    InboundEvent,
    MessageAuthor,
    MessageReceived,
)
from gateway.policy.access import AccessPolicy
from gateway.policy.question_age import AgeLimits
from gateway.policy.rate_limits import RateLimits
from gateway.ports.queues import InboxEntry
from gateway.turn.services import Policies
from tests.support.gateway import Gateway, gateway
from tests.support.messages import AT, direct, message, place, received

LIFTED = Policies(
    limits=RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0)
)
ADA = MessageAuthor("ada", "Ada")
HOURS = timedelta(hours=1)


async def waited(g: Gateway, *events: InboundEvent, seconds: float) -> None:
    """Store events, and hand them over to a start that comes so many seconds later."""
    now = g.clock.now()
    for event in events:
        key = str(g.intake.key_for(event))
        entry = InboxEntry(f"test:main:{event.kind}:{event.event_id}", key, event, now)
        await g.services.stores.inbox.add(entry, timedelta(days=7))
    g.clock.skip(seconds)
    for entry in await g.services.stores.inbox.unfinished(100):
        g.dispatcher.dispatch(entry)
    await g.rest()
    await g.clock.advance(2)
    await g.rest()


def system(g: Gateway) -> str:
    request = g.model.requests[-1]
    return f"{request.system}\n{request.system_volatile}"


async def test_a_question_of_the_last_minutes_is_answered_as_usual() -> None:
    async with gateway() as g:
        await waited(g, received("why?"), seconds=14 * 60)
        assert g.texts == ["answer"]
        assert "was written" not in system(g)


async def test_an_old_question_is_answered_with_its_age() -> None:
    async with gateway() as g:
        await waited(g, received("what now?"), seconds=3 * 3600)
        (text,) = g.texts
        line, answer = text.split("\n\n")
        assert "3 hours ago, at 09:00 UTC" in line
        assert answer == "answer"
        assert "2026-11-21 09:00 (UTC); now it is 2026-11-21 12:00." in system(g)
        (trace,) = g.traces
        assert ("age", "asked_late") in [(d.stage, d.reason) for d in trace.decisions]
        rows = await g.database.run_job(
            lambda db: db.execute("SELECT text FROM turns WHERE role = 'assistant'").fetchall()
        )
        assert rows == [("answer",)]


@pytest.mark.parametrize(
    ("zone", "time"),
    [
        ("America/New_York", "at 2026-11-20 22:00 EST"),
        ("Asia/Tokyo", "at 12:00 JST"),
        ("UTC", "at 03:00 UTC"),
    ],
)
async def test_the_day_of_an_old_question_is_that_of_its_reader(zone: str, time: str) -> None:
    author = MessageAuthor("ada", "Ada", zone=zone)
    async with gateway() as g:
        asked = received("what now?", timestamp=AT - 6 * HOURS)
        asked = replace(asked, message=replace(asked.message, author=author))
        await g.take(asked)
        assert time in g.texts[0].splitlines()[0]


async def test_the_time_of_writing_counts_where_the_platform_was_away() -> None:
    async with gateway() as g:
        await g.take(received("what now?", timestamp=AT - 3 * HOURS))
        assert "3 hours ago" in g.texts[0]


@pytest.mark.parametrize("off", [timedelta(hours=5), timedelta(days=-20_000)])
async def test_an_unbelievable_time_of_the_platform_does_not_count(off: timedelta) -> None:
    """In the future, or decades ago."""
    async with gateway() as g:
        await g.take(received("what now?", timestamp=AT + off))
        assert g.texts == ["answer"]


async def test_the_oldest_of_collected_messages_counts() -> None:
    async with gateway(policies=LIFTED) as g:
        old = received("one", message_id="m1", timestamp=AT - 2 * HOURS)
        g.model.open.clear()
        await g.take(received("zero", message_id="m0"))
        await g.take(old, received("two", message_id="m2"))
        g.model.open.set()
        await g.rest()
        assert "oldest of these messages is from 2 hours ago" in g.texts[-1]
        assert len(g.texts) == 2


async def test_messages_that_are_too_old_are_named_once() -> None:
    async with gateway(policies=LIFTED) as g:
        events = [received(f"question {n}", message_id=f"m{n}") for n in range(30)]
        await waited(g, *events, seconds=25 * 3600)
        (text,) = g.texts
        assert "30 messages" in text
        assert "question 0" in text
        assert "20 more" in text
        assert g.model.requests == []
        assert await g.services.stores.inbox.unfinished(10) == []
        assert set(g.outcomes()) == {"expired"}
        assert len(g.traces) == 30
        assert all("too_old" in [d.reason for d in trace.decisions] for trace in g.traces)


async def test_a_notice_names_messages_of_all_people_of_a_room() -> None:
    async with gateway(policies=LIFTED) as g:
        at = place()
        events = [
            received(f"of {who}", message_id=who, author=who, at=at, mentions_bot=True)
            for who in ("ada", "ben", "eve")
        ]
        await waited(g, *events, seconds=25 * 3600)
        (text,) = g.texts
        assert all(name in text for name in ("Ada", "Ben", "Eve"))


async def test_new_messages_are_answered_after_the_notice() -> None:
    async with gateway(policies=LIFTED) as g:
        await waited(g, received("old one", message_id="m1"), seconds=25 * 3600)
        await g.take(received("new one", message_id="m2", timestamp=g.clock.now()))
        assert len(g.texts) == 2
        assert g.texts[1] == "answer"


async def test_who_lost_access_gets_no_notice() -> None:
    blocked = AccessPolicy(blocked_users=frozenset({"test:main:ada", "test:ada", "ada"}))
    async with gateway(policies=LIFTED) as g:
        g.services.current.value = replace(LIFTED, access=blocked)
        await waited(g, received("old one"), seconds=25 * 3600)
        assert g.texts == []
        assert await g.services.stores.inbox.unfinished(10) == []


async def test_a_notice_shows_no_secret_and_no_markup_of_the_message() -> None:
    async with gateway(policies=LIFTED) as g:
        text = "**bold** my key is AKIAIOSFODNN7EXAMPLE"
        await waited(g, received(text), seconds=25 * 3600)
        assert "AKIAIOSFODNN7EXAMPLE" not in g.texts[0]


async def test_a_command_that_is_too_old_is_not_run() -> None:
    async with gateway(policies=LIFTED) as g:
        command = CommandInvoked("c1", direct(), ADA, "task", "win the game")
        await waited(g, command, seconds=25 * 3600)
        (text,) = g.texts
        assert "/task win the game" in text
        _, notes = await g.services.stores.conversations.opened(g.intake.key_for(command), 10)
        assert notes.task is None
        assert g.outcomes() == ["expired"]


async def test_many_old_presses_get_one_notice() -> None:
    async with gateway(policies=LIFTED) as g:
        presses = [ButtonPressed(f"p{n}", direct(), ADA, f"confirm:x{n}:yes") for n in range(5)]
        await waited(g, *presses, seconds=25 * 3600)
        assert len(g.texts) <= 1
        assert await g.services.stores.inbox.unfinished(10) == []


async def test_an_old_stop_stops_nothing() -> None:
    async with gateway(policies=LIFTED) as g:
        g.model.open.clear()
        stop = CommandInvoked("c1", direct(), ADA, "stop")
        entry = InboxEntry("stop", str(g.intake.key_for(stop)), stop, g.clock.now() - HOURS)
        await g.take(received("a fresh question"))
        await g.services.stores.inbox.add(entry, timedelta(days=1))
        g.dispatcher.dispatch(entry)
        await g.rest()
        assert any("I stopped nothing" in text for text in g.texts)
        g.model.open.set()
        await g.rest()
        assert "answer" in g.texts


async def test_nothing_is_sent_where_the_platform_takes_nothing_any_more() -> None:
    async with gateway(policies=LIFTED, writes_within=timedelta(hours=24)) as g:
        await waited(g, received("old one"), seconds=25 * 3600)
        assert g.texts == []
        assert "too_late_to_write" in [d.reason for d in g.traces[0].decisions]
        assert await g.services.stores.inbox.unfinished(10) == []


async def test_the_limits_can_be_changed() -> None:
    ages = AgeLimits(timedelta(minutes=1), timedelta(minutes=30))
    async with gateway(policies=replace(LIFTED, ages=ages)) as g:
        await g.take(
            received("two minutes", message_id="m1", timestamp=AT - timedelta(minutes=2)),
            MessageReceived(
                "e9", replace(message("an hour", message_id="m9"), timestamp=AT - HOURS)
            ),
        )
        await g.clock.advance(2)
        await g.rest()
        assert "2 minutes ago" in g.texts[0]
        assert "could not answer this message" in g.texts[1]
