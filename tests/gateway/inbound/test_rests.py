"""The rest of a text: commands in it, its edits and deletions, and what becomes of it alone."""

import pytest

from gateway.inbound.cut_texts import OPEN_SECONDS
from gateway.message import CommandInvoked, MessageAuthor, MessageDeleted, MessageEdited
from gateway.policy.cut_text import WAIT_SECONDS
from gateway.ports import Capabilities
from tests.gateway.inbound.test_cut_texts import CUT, HEAD, TAIL, after_wait, asked, head, tail
from tests.support.gateway import gateway
from tests.support.messages import direct, message, place, received


@pytest.mark.parametrize("length", [4_096, 2_500])
async def test_a_rest_that_begins_like_a_command_is_text(length: int) -> None:
    written = received("/clear", message_id="m2")
    typed = CommandInvoked(
        "m2", direct(), MessageAuthor("ada", "Ada"), "clear", "", written.message
    )
    for rest in (written, typed):
        async with gateway(text_cut=CUT) as g:
            await g.take(received("x" * length, message_id="m1"))
            await g.take(rest)
            assert asked(g)[-1].endswith("/clear")
            assert len(await g.stored_words()) == 2


async def test_a_rest_that_is_delivered_again_is_no_command() -> None:
    async with gateway(text_cut=CUT) as g:
        await g.take(head())
        rest = received("/clear", message_id="m2")
        await g.take(rest)
        await g.clock.advance(OPEN_SECONDS * 2)
        await g.take(rest)
        assert asked(g) == [f"{HEAD}/clear"]
        assert g.texts == ["answer"]


@pytest.mark.parametrize("kind", ["waiting", "answering"])
async def test_a_rest_goes_with_the_first_piece_that_asked(kind: str) -> None:
    room = place()
    async with gateway(text_cut=CUT) as g:
        g.model.open.clear()
        await g.take(head(room))
        if kind == "answering":
            await g.take(tail(at=room))
        gone = MessageDeleted("gone", room, ("m1",))
        await g.take(gone)
        await g.take(tail(at=room))
        await after_wait(g)
        g.model.open.set()
        await g.rest()
        assert g.texts == []
        assert await g.stored_words() == []


@pytest.mark.parametrize("known", ["here", "to the next process"])
@pytest.mark.parametrize("kind", ["edit", "deletion"])
async def test_a_rest_is_changed_where_each_message_begins_a_conversation(
    kind: str, known: str
) -> None:
    room, threads = place(), Capabilities(answers_open_threads=True)
    async with gateway(text_cut=CUT, capabilities=threads) as g:
        g.model.open.clear()
        await g.take(head(room))
        await g.take(tail(at=room))
        if known != "here":
            g.intake._texts._moved.clear()
        edited = MessageEdited("e", message("Other words.", message_id="m2", at=room))
        await g.take(edited if kind == "edit" else MessageDeleted("d", room, ("m2",)))
        g.model.open.set()
        await g.clock.advance(WAIT_SECONDS)
        await g.rest()
        assert TAIL not in asked(g)[-1]
        assert await g.stored_words() == [HEAD, "Other words."][: 2 if kind == "edit" else 1]
