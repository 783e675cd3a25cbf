"""One text that a client sent as several messages is one question with one answer."""

from datetime import timedelta
from pathlib import Path

import pytest

from gateway.immutable import replace
from gateway.inbound.conversation_queues import MAX_COLLECTED
from gateway.inbound.cut_texts import OPEN_SECONDS
from gateway.message import (
    CommandInvoked,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Place,
    TextCut,
)
from gateway.policy.cut_text import WAIT_SECONDS
from gateway.policy.rate_limits import RateLimits
from gateway.ports import Capabilities, TextBlock
from gateway.turn.services import Policies
from tests.support.databases import sqlite_database
from tests.support.gateway import Gateway, gateway
from tests.support.messages import AT, direct, message, place, received

CUT = TextCut((4_096,), shortest=0.5)
HEAD = ("The whale swims in the sea. " * 150)[:4_096]
TAIL = ("The whale swims in the sea. " * 150)[4_096:] + "Please summarise all of it."
STOP = CommandInvoked("stop", direct(), MessageAuthor("ada", "Ada"), "stop")


def head(at: Place | None = None, **rest: object) -> MessageReceived:
    return received(HEAD, message_id="m1", at=at, mentions_bot=at is not None, **rest)


def tail(text: str = TAIL, message_id: str = "m2", **rest: object) -> MessageReceived:
    return received(text, message_id=message_id, **rest)


def asked(g: Gateway) -> list[str]:
    """The last text of each request."""
    last = [request.messages[-1].content[-1] for request in g.model.requests]
    return [block.text for block in last if isinstance(block, TextBlock)]


async def after_wait(g: Gateway) -> None:
    await g.clock.advance(WAIT_SECONDS)
    await g.rest()


async def test_both_pieces_are_one_question_with_one_answer() -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(head())
        assert g.model.requests == []
        await g.take(tail())
        assert g.texts == ["answer"]
        assert asked(g) == [HEAD + TAIL]
        assert await g.stored_words() == [HEAD, TAIL]
        assert g.adapter.sent[0].reply_to_id == "m2"
        assert await g.services.stores.inbox.unfinished(10) == []


async def test_the_last_of_many_pieces_ends_the_wait() -> None:
    async with gateway(text_cut=CUT) as g:
        for number in range(4):
            await g.take(received(HEAD, message_id=f"p{number}"))
            await g.clock.advance(WAIT_SECONDS / 2)
        await g.take(tail())
        assert asked(g) == [HEAD * 4 + TAIL]


async def test_a_full_message_without_a_rest_is_answered_after_the_wait() -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(head())
        await g.clock.advance(WAIT_SECONDS - 0.01)
        assert g.texts == []
        await after_wait(g)
        assert g.texts == ["answer"]


async def test_an_ordinary_message_never_waits() -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(received("x" * 3_000))
        assert g.texts == ["answer"]
        assert g.clock.monotonic() == 0


async def test_a_piece_that_was_cut_early_is_joined_without_a_wait() -> None:
    async with gateway(text_cut=CUT) as g:
        g.model.open.clear()
        await g.take(received("x" * 2_500, message_id="m1"))
        assert len(g.model.requests) == 1
        await g.take(tail("The tuna too."))
        g.model.open.set()
        await g.rest()
        assert asked(g)[-1] == "x" * 2_500 + "\nThe tuna too."
        assert g.texts == ["answer"]


async def test_a_rest_that_comes_late_joins_an_answer_that_nobody_saw() -> None:
    async with gateway(text_cut=CUT) as g:
        g.model.open.clear()
        await g.take(head())
        await after_wait(g)
        assert len(g.model.requests) == 1
        await g.take(tail())
        g.model.open.set()
        await g.rest()
        assert asked(g)[-1] == HEAD + TAIL
        assert g.texts == ["answer"]


async def test_an_answered_message_and_its_late_rest_are_two_questions() -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(head())
        await after_wait(g)
        await g.take(tail())
        assert asked(g) == [HEAD, TAIL]
        assert g.texts == ["answer", "answer"]


@pytest.mark.parametrize(
    "other",
    [
        replace(tail(), message=replace(tail().message, reply_to_id="m0")),
        tail(timestamp=AT + timedelta(seconds=30)),
    ],
)
async def test_another_message_of_the_author_is_a_text_of_its_own(other: MessageReceived) -> None:
    async with gateway(text_cut=CUT, overlap="queue") as g:
        await g.take(head())
        await g.take(other)
        assert asked(g) == [HEAD, TAIL]


@pytest.mark.parametrize("overlap", ["collect", "queue", "drop"])
async def test_pieces_are_joined_with_every_overlap(overlap: str) -> None:
    async with gateway(text_cut=CUT, overlap=overlap) as g:  # type: ignore[arg-type]  # one of Overlap
        await g.take(head(), tail())
        assert asked(g) == [HEAD + TAIL]


async def test_in_a_room_the_rest_needs_no_mention() -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(head(place()), tail(at=place()))
        assert asked(g)[0].endswith(HEAD + TAIL)
        assert g.texts == ["answer"]
        (trace,) = [trace for trace in g.traces if trace.outcome == "answered"]
        assert "rest_of_text" in [decision.reason for decision in trace.decisions]


async def test_a_rest_without_the_thread_that_the_answer_opens_is_found() -> None:
    async with gateway(text_cut=CUT, capabilities=Capabilities(answers_open_threads=True)) as g:
        g.model.open.clear()
        await g.take(head(place()), tail("The tuna to.", at=place()))
        changed = message("The tuna too.", message_id="m2", at=place())
        await g.take(MessageEdited("e9", changed))
        g.model.open.set()
        await g.clock.advance(5)
        await g.rest()
        assert asked(g)[-1].endswith(HEAD + "The tuna too.")
        assert [one.place.thread_id for one in g.adapter.sent] == ["m1"]


@pytest.mark.parametrize(
    "other",
    [
        tail(at=place(), author="eve"),
        tail(at=place("C2")),
        tail(at=place(thread="t1")),
        tail(at=place(), timestamp=AT + timedelta(seconds=30)),
        tail(at=place(), is_bot=True),
    ],
)
async def test_nothing_else_of_the_room_is_stored(other: MessageReceived) -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(head(place()), other)
        assert await g.rows("inbox") == 1
        await after_wait(g)
        assert asked(g)[0].endswith(HEAD)


async def test_after_its_rest_a_text_has_no_further_pieces() -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(head(place()), tail(at=place()), tail("Lunch?", "m3", at=place()))
        assert await g.rows("inbox") == 2


async def test_a_rest_that_arrives_much_later_is_not_stored() -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(head(place()))
        await g.clock.advance(OPEN_SECONDS + 1)
        await g.take(tail(at=place()))
        assert await g.rows("inbox") == 1


async def test_a_message_of_somebody_else_does_not_wait() -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(head(place()))
        eve = received("hi", message_id="m9", at=place(), author="eve", mentions_bot=True)
        await g.take(eve)
        assert [text[-2:] for text in asked(g)] == [HEAD[-2:], "hi"]
        assert g.clock.monotonic() == 0


async def test_a_piece_is_joined_across_a_message_of_somebody_else() -> None:
    async with gateway(text_cut=CUT) as g:
        g.model.open.clear()
        eve = received("hi", message_id="m9", at=place(), author="eve", mentions_bot=True)
        for event in (head(place()), eve, tail(at=place())):
            await g.take(event)
        g.model.open.set()
        await g.rest()
        assert [text.endswith(TAIL) for text in asked(g)] == [False, True, False]
        assert asked(g)[1].endswith(HEAD + TAIL)
        assert g.texts == ["answer", "answer"]


async def test_duplicates_of_a_piece_change_nothing() -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(head(), head(), tail(), tail())
        assert asked(g) == [HEAD + TAIL]
        assert g.texts == ["answer"]


async def test_an_edit_of_a_waiting_piece_is_part_of_the_question() -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(head())
        new = HEAD.replace("whale", "shark")
        await g.take(MessageEdited("e9", message(new, message_id="m1")), tail())
        assert asked(g) == [new + TAIL]


async def test_a_deleted_piece_is_left_out() -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(head(), MessageDeleted("e9", direct(), ("m1",)), tail())
        await after_wait(g)
        assert asked(g) == [TAIL]


async def test_a_stop_does_not_wait_and_drops_the_text() -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(head(), STOP)
        assert g.texts == ["Stopped."]
        await after_wait(g)
        assert g.texts == ["Stopped."]
        assert await g.services.stores.inbox.unfinished(10) == []
        assert g.dispatcher.idle


async def test_a_text_counts_once_for_the_limits() -> None:
    policies = Policies(limits=RateLimits(user_per_minute=1))
    async with gateway(text_cut=CUT, policies=policies) as g:
        await g.take(head(), tail())
        assert asked(g) == [HEAD + TAIL]
        await g.take(received("again", message_id="m3"))
        assert len(g.model.requests) == 1


async def test_a_text_counts_once_also_if_its_answer_began_before_its_rest() -> None:
    policies = Policies(limits=RateLimits(user_per_minute=1))
    async with gateway(text_cut=CUT, policies=policies) as g:
        g.model.open.clear()
        await g.take(head())
        await after_wait(g)
        await g.take(tail())
        g.model.open.set()
        await g.rest()
        assert g.texts == ["answer"]
        assert asked(g)[-1] == HEAD + TAIL


async def test_a_refused_text_gets_one_notice() -> None:
    policies = Policies(limits=RateLimits(user_per_minute=1))
    async with gateway(text_cut=CUT, policies=policies) as g:
        await g.take(received("hi", message_id="m0", timestamp=AT - timedelta(seconds=9)))
        await g.take(head(), tail())
        assert len(g.model.requests) == 1
        assert len(g.texts) == 2
        assert await g.services.stores.inbox.unfinished(10) == []


@pytest.mark.parametrize("room", [False, True])
async def test_the_end_of_the_process_during_the_wait_loses_nothing(
    tmp_path: Path, room: bool
) -> None:
    at = place() if room else None
    database = sqlite_database(str(tmp_path / "parley.db"))
    await database.start()
    async with gateway(text_cut=CUT, database=database) as g:
        await g.take(head(at))
    async with gateway(text_cut=CUT, database=database) as g:
        for entry in await g.services.stores.inbox.unfinished(10):
            g.dispatcher.dispatch(entry)
        await g.take(tail(at=at))
        assert len(g.model.requests) == 1
        assert asked(g)[0].endswith(HEAD + TAIL)
        assert g.texts[-1:] == ["answer"]
    await database.stop()


async def test_a_thousand_texts_wait_without_a_slot() -> None:
    async with gateway(text_cut=CUT, concurrency=1) as g:
        for number in range(1_000):
            someone = f"person{number}"
            await g.intake(received(HEAD, message_id=f"m{number}", author=someone))
        assert g.dispatcher.queues.running == 0
        await g.take(received("hi", message_id="m", author="ada"))
        assert g.texts == ["answer"]


async def test_endless_full_messages_are_answered() -> None:
    async with gateway(text_cut=CUT) as g:
        for number in range(3 * MAX_COLLECTED):
            await g.take(received(HEAD, message_id=f"m{number}"))
            await g.clock.advance(0.1)
        assert g.texts
        await g.clock.advance(60)
        await g.rest()
        assert await g.services.stores.inbox.unfinished(100) == []


async def test_a_shutdown_leaves_the_pieces_to_the_next_start() -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(head())
        assert await g.dispatcher.drain(1)
        await g.take(tail())
        assert len(await g.services.stores.inbox.unfinished(10)) == 2
