"""Thumbs under answers, in both databases, and the receipts by which an answer is found."""

from datetime import timedelta

import pytest

from gateway.message import Receipt
from gateway.ports.queues import KEEP_RECEIPTS, Outbox, message_key
from gateway.stores.feedback import Feedback, FeedbackStore, Rating, Thumbs
from gateway.stores.personal_data import SqlPersonalData
from gateway.stores.sqlite.queues import SqliteOutbox
from tests.support.clock import FakeClock
from tests.support.databases import Engine
from tests.support.messages import AT, outbound, place

ADA, BOB = "test:main:ada", "test:main:bob"
HERE = message_key(place("C1"), "5")


@pytest.fixture
def feedback(engine: Engine) -> FeedbackStore:
    return FeedbackStore(engine)


def thumb(person: str, rating: Rating, at: str = HERE, turn_id: str = "x1") -> Feedback:
    return Feedback(at, person, "t", turn_id, rating, AT)


async def test_a_person_has_one_rating_per_message(feedback: FeedbackStore) -> None:
    await feedback.put(thumb(ADA, 1))
    await feedback.put(thumb(ADA, 1))
    await feedback.put(thumb(BOB, -1))
    assert await feedback.of(["x1", "x2"]) == {"x1": Thumbs(1, 1)}
    await feedback.put(thumb(ADA, -1))
    assert await feedback.of(["x1"]) == {"x1": Thumbs(0, 2)}
    assert await feedback.of([]) == {}


@pytest.mark.parametrize(("rating", "left"), [(1, {}), (None, {}), (-1, {"x1": Thumbs(1, 0)})])
async def test_only_the_current_rating_is_removed(
    feedback: FeedbackStore, rating: Rating | None, left: dict[str, Thumbs]
) -> None:
    await feedback.put(thumb(ADA, 1))
    await feedback.take_back(HERE, BOB, 1)
    await feedback.take_back(message_key(place("C2"), "5"), ADA, 1)
    await feedback.take_back(HERE, ADA, rating)
    assert await feedback.of(["x1"]) == left


async def test_ratings_expire(feedback: FeedbackStore) -> None:
    for number in range(3):
        await feedback.put(thumb(ADA, 1, at=message_key(place("C1"), str(number))))
    assert await feedback.prune(AT) == 0
    assert await feedback.prune(AT + timedelta(seconds=1)) == 3
    assert await feedback.of(["x1"]) == {}


async def test_ratings_are_exported_and_erased_with_their_person(
    feedback: FeedbackStore, engine: Engine, clock: FakeClock
) -> None:
    personal = SqlPersonalData(engine, clock)
    await feedback.put(thumb(ADA, 1))
    await feedback.put(thumb(BOB, -1))
    (row,) = await personal.export("t", (ADA,))
    assert (row["table"], row["person"], row["rating"]) == ("feedback", ADA, 1)
    assert await personal.export("u", (ADA,)) == []
    assert await personal.erase("u", (ADA,)) == 0
    assert await personal.erase("t", (ADA,)) == 1
    assert await feedback.of(["x1"]) == {"x1": Thumbs(0, 1)}


async def test_an_answer_is_found_by_its_place(outbox: Outbox, clock: FakeClock) -> None:
    """Two chats have a message 5 each; an unconfirmed send has no place."""
    there = message_key(place("C2"), "5")
    await outbox.add((outbound("x1:0"), outbound("x2:0"), outbound("x3:0")))
    await outbox.sent("x1:0", Receipt("5"), HERE)
    await outbox.sent("x2:0", Receipt("5"), there)
    assert await outbox.reply_at(HERE) == "x1:0"
    assert await outbox.reply_at(there) == "x2:0"
    assert await outbox.reply_at(message_key(place("C3"), "5")) == ""
    assert await outbox.reply_at("") == ""
    if isinstance(outbox, SqliteOutbox):  # in Redis receipts go by themselves
        await clock.advance((KEEP_RECEIPTS + timedelta(seconds=1)).total_seconds())
        await outbox.prune()
        assert await outbox.reply_at(HERE) == ""
