"""The input of the model: the conversation, files, names; and the stored part of its answer."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from gateway.errors import BadInput, ModelUnavailable, Permanent
from gateway.immutable import replace
from gateway.llm.tokens import estimate
from gateway.message import MAX_CONTENT, Attachment, MessageReceived
from gateway.people import Audience
from gateway.policy.rate_limits import RateLimits
from gateway.ports import ModelEvent, ModelMessage, ModelRequest, TextBlock, TextDelta
from gateway.ports.conversations import StoredTurn
from gateway.ports.prompt_blocks import ContextParts
from gateway.turn.assemble import MAX_GAPS, dialogue, gaps_of
from gateway.turn.attachments import FILE_LIMITS
from gateway.turn.context.assembler import assemble
from gateway.turn.context.token_budgets import budget_for
from gateway.turn.history_and_summary import dialogue_turns
from gateway.turn.model_turn import TurnLimits
from gateway.turn.services import Policies
from tests.support.adapter import RecordingAdapter
from tests.support.gateway import Gateway, Model, gateway
from tests.support.immutable import force
from tests.support.messages import AT, message, received
from tests.support.patience import PATIENCE


def user(text: str) -> StoredTurn:
    return StoredTurn("m", "user", text, AT, "test:main:ada", "Ada")


def assistant(text: str) -> StoredTurn:
    return StoredTurn("m", "assistant", text, AT)


def shape(dialogue: tuple[ModelMessage, ...]) -> list[tuple[str, list[str]]]:
    return [
        (step.role, [b.text for b in step.content if isinstance(b, TextBlock)]) for step in dialogue
    ]


def as_dialogue(turns: tuple[StoredTurn, ...], audience: Audience) -> tuple[ModelMessage, ...]:
    parts = ContextParts("You are Parley.", turns=dialogue_turns(turns, audience))
    return dialogue(assemble(parts, budget_for(8_192), estimate))


def test_a_dialogue_begins_with_a_person_and_alternates() -> None:
    turns = (assistant("cut off"), user("a"), user("b"), assistant(""), assistant("c"), user("d"))
    assert shape(as_dialogue(turns, Audience.DIRECT)) == [
        ("user", ["a", "b"]),
        ("assistant", ["c"]),
        ("user", ["d"]),
    ]


def test_every_text_of_a_person_in_a_room_has_a_name() -> None:
    shown = shape(as_dialogue((user("a"), assistant("b")), Audience.PRIVATE_ROOM))
    assert shown == [("user", ["[Ada] a"]), ("assistant", ["b"])]


class Files(RecordingAdapter):
    """Gives every file, but those named after a trouble."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        self.fetched.append(attachment.name)
        if attachment.name == "large.txt":
            raise BadInput("larger than it said")
        if attachment.name == "gone.txt":
            raise Permanent("not there any more")
        return b"words of the file"


def text_file(name: str) -> Attachment:
    return Attachment("document", name, name, "text/plain", 10)


def with_files(*names: str) -> MessageReceived:
    files = tuple(text_file(name) for name in names)
    return MessageReceived("e1", replace(message("look"), attachments=files))


async def test_files_are_read_and_unreadable_ones_are_named() -> None:
    adapter = Files()
    async with gateway(adapter=adapter) as g:
        await g.take(with_files("good.txt", "large.txt", "gone.txt"))
        reply = g.model.last_words()
        assert "words of the file" in reply
        assert "large.txt" in reply
        assert "gone.txt" in reply
        detail = next(d.detail for d in g.traces[0].decisions if d.stage == "attachments")
        assert detail == "1 of 3"


async def test_no_more_files_are_fetched_than_are_read() -> None:
    adapter = Files()
    async with gateway(adapter=adapter) as g:
        await g.take(with_files(*(f"{n}.txt" for n in range(FILE_LIMITS.files + 3))))
        assert len(adapter.fetched) == FILE_LIMITS.files


async def test_a_message_answered_again_is_not_in_its_own_history() -> None:
    async with gateway() as g:
        await g.take(received("hello", message_id="m1"))
        await g.database.run_job(lambda db: db.execute("UPDATE inbox SET id = 'other'"))
        await g.take(received("hello", message_id="m1"))
        assert len(g.model.requests) == 2
        ((who, (_, words)),) = shape(g.model.requests[1].messages)
        assert (who, words) == ("user", "hello")


async def test_a_failed_turn_stores_the_question_and_no_answer() -> None:
    class Unreachable(Model):
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            if not request.messages:
                yield TextDelta("")
            raise ModelUnavailable("down")

    async with gateway() as g:
        force(g.services, "provider", Unreachable())
        await g.take(received("hello"))
        await g.clock.advance(TurnLimits().seconds)
        await g.rest()
        assert await g.stored_words() == ["hello"]
        assert await g.rows("turns") == 1


async def test_the_stored_text_has_a_limit() -> None:
    async with gateway() as g:
        await g.take(received("x" * (MAX_CONTENT + 10)))
        async with asyncio.timeout(PATIENCE):
            while not await g.stored_words():
                await g.rest()  # a long text is redacted in a thread
        assert [len(words) for words in await g.stored_words()] == [MAX_CONTENT]


async def test_collected_messages_stay_in_the_inbox_until_their_answer_is_stored() -> None:
    async with gateway(
        policies=Policies(
            limits=RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0)
        )
    ) as g:
        g.model.open.clear()
        await g.take(*(received(f"line {n}", message_id=f"m{n}") for n in range(3)))
        g.model.open.set()
        hold_second(g)
        await g.rest()
        left = await g.services.stores.inbox.unfinished(10)
        assert [entry.event.event_id for entry in left] == ["e-m1", "e-m2"]
        assert g.outcomes() == ["answered"]


def hold_second(g: Gateway) -> None:
    """The model answers what it was asked, and nothing after it."""

    def answer(request: ModelRequest) -> str:
        g.model.open.clear()
        return "answer"

    g.model.reply = answer


@pytest.mark.parametrize("content", ["", "   "])
async def test_a_file_without_text_is_a_question(content: str) -> None:
    async with gateway(adapter=Files()) as g:
        files = (text_file("good.txt"),)
        await g.take(MessageReceived("e1", replace(message(content), attachments=files)))
        assert len(g.texts) == 1


def test_the_gaps_of_a_conversation_are_those_between_its_questions() -> None:
    turns = [
        user("one")._replace(at=AT),
        assistant("yes")._replace(at=AT + timedelta(seconds=5)),
        user("two")._replace(at=AT + timedelta(minutes=20)),
    ]

    now = AT + timedelta(minutes=50)
    assert gaps_of(turns, now) == (1_200.0, 1_800.0)
    assert gaps_of((), now) == ()
    assert len(gaps_of(turns * 50, now)) <= MAX_GAPS


async def test_the_model_gets_the_gaps_of_the_conversation() -> None:
    async with gateway() as g:
        for number in range(3):
            await g.take(received(f"question {number}", message_id=f"m{number}"))
            g.clock.skip(1_200)

        assert [len(request.gaps) for request in g.model.requests] == [0, 1, 2]
