"""Data that strangers can make the program store: bounded, and listed in reference/limits.md."""

import sqlite3
from datetime import timedelta
from functools import partial

import pytest

from gateway.immutable import replace
from gateway.inbound.conversation_queues import CROWDED, MAX_OF_ONE, ConversationQueues
from gateway.message import InlineQueried, MessageAuthor, MessageEdited, MessageReceived
from gateway.people import Audience, PersonId
from gateway.policy.access import AccessPolicy
from gateway.policy.rate_limits import (
    INLINE_PER_MINUTE,
    LEAST,
    LOGGED_PER_MINUTE,
    MAX_SENDERS,
    IntakeLimits,
    RateLimits,
)
from gateway.ports.queues import InboxEntry
from gateway.ports.traces import RING_EACH, RING_SENDERS, ring_slot
from gateway.turn.admission import check_limits, identify
from gateway.turn.pipeline import Pipeline
from gateway.turn.services import Policies
from gateway.turn.slots import Slots
from tests.support.gateway import Gateway, gateway
from tests.support.messages import conversation, direct, message, place, received

BLOCKED = Policies(access=AccessPolicy(blocked_users=frozenset({"eve"})))
TABLES = (
    *("inbox", "outbox", "buckets", "claimed_keys", "adapter_state"),
    *("turns", "usage", "spent", "traces"),
)
MANY = 10_000


def _first(asked: str, db: sqlite3.Connection) -> tuple[int]:
    row: tuple[int] = db.execute(asked).fetchone()
    return row


async def rows(g: Gateway) -> dict[str, int]:
    """Rows of each table, but for empty ones."""
    counts = {}
    for table in TABLES:
        statement = f"SELECT COUNT(*) FROM {table}"
        (result,) = await g.database.run_job(partial(_first, statement))
        counts[table] = int(result)
    return {table: count for table, count in counts.items() if count}


async def test_many_messages_of_a_blocked_person_store_four_rows() -> None:
    async with gateway(policies=BLOCKED) as g:
        before = await rows(g)
        for number in range(MANY):
            await g.intake(received("let me in", message_id=f"m{number}", author="eve"))
            await g.clock.advance(0.01)
        await g.rest()
        after = await rows(g)
        assert before == {}
        assert set(after) == {"traces"}
        assert after["traces"] <= RING_EACH
        assert g.texts == []
        assert g.counts["turn", "refused:access"] == MANY


@pytest.mark.parametrize(
    "lists",
    [
        AccessPolicy(blocked_workspaces=frozenset({"test:evil"})),
        AccessPolicy(allowed_workspaces=frozenset({"test:ours"})),
    ],
)
async def test_messages_of_an_excluded_workspace_store_few_rows(
    lists: AccessPolicy,
) -> None:
    there = place(workspace="evil")
    async with gateway(policies=Policies(access=lists)) as g:
        for number in range(50):
            event = received("let me in", message_id=f"m{number}", at=there, mentions_bot=True)
            await g.intake(event)
        await g.rest()
        after = await rows(g)
        assert set(after) == {"traces"}
        assert after["traces"] <= RING_EACH
        assert g.texts == []


async def test_a_person_who_is_blocked_by_a_former_id_stores_no_message() -> None:
    event = received("let me in", message_id="m1", author="renamed")
    author = replace(event.author, former=("eve",))
    event = replace(event, message=replace(event.message, author=author))
    async with gateway(policies=BLOCKED) as g:
        await g.take(event)
        assert set(await rows(g)) == {"traces"}
        assert g.counts["turn", "refused:access"] == 1


async def test_many_messages_over_the_limit_store_few_rows() -> None:
    async with gateway(policies=Policies(limits=RateLimits()), overlap="queue") as g:
        for number in range(MANY):
            await g.intake(received("again", message_id=f"m{number}", author="eve"))
            if number % 1000 == 0:
                await g.rest()
        await g.rest()
        after = await rows(g)
        assert after["inbox"] <= LEAST + 1
        assert after["traces"] <= 5 + RING_EACH
        assert after["usage"] == 5
        assert sum(after.values()) <= 60
        await g.clock.advance(120.0)
        await g.take(received("and now?", message_id="later", author="eve"))
        assert g.texts[-1] == "answer"


async def test_a_recent_refusal_can_be_explained() -> None:
    async with gateway(policies=BLOCKED) as g:
        await g.take(received("let me in", message_id="m1", author="eve"))
        (trace,) = await g.services.stores.traces.find("m1")
        assert trace.outcome == "refused:access"
        assert [d.reason for d in trace.decisions] == ["user_blocked"]
        later = g.clock.now() + timedelta(seconds=1)
        assert await g.services.stores.traces.prune(g.clock.now() - timedelta(days=30), later) == 1


async def test_a_refused_message_is_refused_again_when_repeated() -> None:
    async with gateway(policies=BLOCKED) as g:
        for _ in range(3):
            await g.take(received("let me in", message_id="m1", author="eve"))
        assert await rows(g) == {"traces": 1}
        assert g.texts == []


async def test_others_are_answered_while_one_person_sends_too_much() -> None:
    async with gateway(overlap="queue") as g:
        for number in range(500):
            await g.intake(received("again", message_id=f"m{number}", author="eve"))
        await g.take(received("hello", message_id="b1", author="ben"))
        assert g.texts.count("answer") == 6


async def test_edits_are_accepted_beyond_the_limit_of_messages() -> None:
    async with gateway() as g:
        await g.take(received("one", message_id="m1"))
        for number in range(LEAST + 10):
            edited = message(f"version {number}", message_id="m1", at=direct())
            await g.take(MessageEdited(f"e{number}", edited))
        latest = await g.services.stores.conversations.latest(
            g.intake.key_for(received("one", message_id="m1")), 10
        )
        assert latest[0].text == f"version {LEAST + 9}"


async def test_inline_queries_are_limited_per_person_and_refused_to_blocked_people() -> None:
    at = direct("eve")
    async with gateway(policies=BLOCKED) as g:
        await g.take(InlineQueried("q", at, MessageAuthor("eve"), "what"))
        assert g.counts["inline_refused", "user_blocked"] == 1
        for number in range(INLINE_PER_MINUTE + 5):
            await g.take(InlineQueried(f"q{number}", direct(), MessageAuthor("ada"), "what"))
        assert g.counts["inline_refused", "too_many_queries"] == 5


def test_senders_are_counted_separately_and_their_number_is_limited() -> None:
    arrivals = IntakeLimits()
    assert sum(arrivals.stored("eve", 0.0, 5) for _ in range(100)) == LEAST
    assert arrivals.stored("ben", 0.0, 5)
    assert sum(arrivals.stored("eve", 60.0, 5) for _ in range(100)) == 10
    assert sum(arrivals.may_log("eve", 0.0) for _ in range(100)) == LOGGED_PER_MINUTE
    for number in range(MAX_SENDERS + 100):
        arrivals.stored(str(number), 61.0, 5)
    assert len(arrivals._held) == MAX_SENDERS
    assert all(IntakeLimits().stored("eve", 0.0, 0) for _ in range(1000))


def test_the_stored_refusals_are_limited_per_sender_and_in_total() -> None:
    assert len({ring_slot("eve", str(n)) for n in range(1000)}) == RING_EACH
    slots = {ring_slot(f"p{n}", str(n)) for n in range(20_000)}
    assert len(slots) <= RING_SENDERS * RING_EACH
    assert max(slots) < RING_SENDERS * RING_EACH


async def test_one_person_cannot_fill_the_waiting_queue() -> None:
    async def handle(entries: object) -> None:
        raise AssertionError("nothing begins")

    lanes = ConversationQueues(handle, handle, slots=Slots(0))
    at = place()
    event: MessageReceived = received("hello", author="eve")
    crowd = received("hello", author="ben")
    now = message("x").timestamp
    for number in range(MAX_OF_ONE):
        lanes.submit(InboxEntry(f"e{number}", f"eve{number}", event, now))
    assert not lanes.is_crowded_by(event.message.person), "there is much room"
    for number in range(CROWDED):
        lanes.submit(InboxEntry(f"b{number}", f"ben{number}", crowd, now))
    assert lanes.is_crowded_by(event.message.person)
    assert not lanes.is_crowded_by(message("x", author="cyd", at=at).person)


@pytest.mark.parametrize("author", ["ada", "eve"])
async def test_a_message_to_others_stores_nothing(author: str) -> None:
    async with gateway(policies=BLOCKED) as g:
        await g.take(received("to all", message_id="m1", author=author, at=place()))
        assert await rows(g) == {}


class OneHuman:
    """Everybody is one human."""

    async def human(self, tenant: str, person: PersonId) -> str:
        return "the human"


async def test_linked_identities_share_one_bucket() -> None:
    async with gateway(
        policies=Policies(
            limits=RateLimits(user_per_minute=3, channel_per_minute=0, workspace_per_minute=0)
        )
    ) as g:
        services = replace(g.services, identities=OneHuman())
        pipeline = Pipeline(services)
        allowed = []
        for number, author in enumerate(("ada", "ben", "cyd", "dan")):
            event = received("hello", message_id=f"m{number}", author=author)
            turn = pipeline.open(
                InboxEntry(f"e{number}", conversation("lane"), event, g.clock.now())
            )
            await identify(turn, services)
            allowed.append((await check_limits(turn, services)).allowed)
        assert allowed == [True, True, True, False]


async def test_chats_in_which_one_person_can_write_share_one_bucket_and_budget() -> None:
    at = place(audience=Audience.PRIVATE_ROOM, workspace="")
    async with gateway(overlap="queue") as g:
        for number in range(12):
            author = MessageAuthor(f"-100{number}", "Channel", is_chat=True)
            sent_message = replace(message("hello", message_id=f"m{number}", at=at), author=author)
            sent_message = replace(sent_message, mentions_bot=True)
            await g.take(MessageReceived(f"e{number}", sent_message))
        assert g.texts.count("answer") == RateLimits().user_per_minute
