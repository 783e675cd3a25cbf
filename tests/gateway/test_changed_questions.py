"""A question that its author changes while the answer is written."""

import asyncio
from collections.abc import Mapping

import pytest

from gateway.immutable import replace
from gateway.inbound.conversation_queues import CHANGE_PAUSE
from gateway.llm.prices import Price
from gateway.message import (
    Attachment,
    CommandInvoked,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
)
from gateway.policy.budgets import Budgets
from gateway.policy.persona import Assistant
from gateway.policy.rate_limits import RateLimits
from gateway.ports import ModelMessage, ModelRequest, ToolCall
from gateway.tool_spec import ToolSpec
from gateway.turn.pipeline import MAX_AGAIN
from gateway.turn.render import OUTDATED
from gateway.turn.services import Policies
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, message, place, received

STOP = CommandInvoked("stop", direct(), MessageAuthor("ada", "Ada"), "stop")


def edit(text: str, number: int = 1, message_id: str = "m1", **rest: object) -> MessageEdited:
    return MessageEdited(f"edit-{number}", message(text, message_id=message_id, **rest))  # type: ignore[arg-type]


async def asked(g: Gateway, text: str = "sliver?") -> None:
    """A question whose answer the model has begun and not shown."""
    g.model.reply = lambda request: f"answer to {g.model.last_words()}"
    g.model.open.clear()
    await g.take(received(text, message_id="m1"))
    assert g.model.last_words() == text


async def finished(g: Gateway) -> None:
    g.model.open.set()
    await g.clock.advance(CHANGE_PAUSE)
    await g.rest()
    await g.clock.advance(10)
    await g.rest()
    assert await g.services.stores.inbox.unfinished(10) == []
    assert g.dispatcher.idle


async def test_a_question_edited_before_its_answer_is_answered_as_edited() -> None:
    async with gateway() as g:
        await asked(g)
        await g.take(edit("silver?"))
        await finished(g)
        assert g.texts == ["answer to silver?"]
        assert await g.stored_words() == ["silver?"]


async def test_the_ended_call_of_the_model_is_paid() -> None:
    spent = []
    for edits in (0, 1):
        budgets = Budgets(user_per_day=1e6)
        async with gateway(
            policies=Policies(budgets=budgets), prices={Assistant().default_model: Price(1, 5)}
        ) as g:
            await asked(g)
            for number in range(edits):
                await g.take(edit("silver?", number))
            await finished(g)
            sql = "SELECT sum(micros) FROM usage"
            spent += await g.database.run_job(lambda db: db.execute(sql).fetchone())  # noqa: B023
    assert spent[1] > spent[0] > 0


async def test_the_limits_count_an_edited_question_once() -> None:
    policies = Policies(limits=RateLimits(user_per_minute=2))
    async with gateway(policies=policies) as g:
        await asked(g)
        await g.take(edit("silver?"))
        await finished(g)
        await g.take(received("second", message_id="m2"))
        await g.take(received("third", message_id="m3"))
        assert len(g.model.requests) == 3
        assert g.outcomes().count("answered") == 2


async def test_only_the_last_of_many_edits_counts() -> None:
    async with gateway() as g:
        await asked(g)
        for number in range(20):
            await g.take(edit(f"silver {number}?", number))
        await finished(g)
        assert g.texts == ["answer to silver 19?"]
        assert len(g.model.requests) == 2


async def test_endless_edits_cost_a_limited_number_of_calls() -> None:
    async with gateway() as g:
        await asked(g)
        for number in range(10):
            await g.take(edit(f"silver {number}?", number))
            await g.clock.advance(CHANGE_PAUSE)
            await g.rest()
        await finished(g)
        assert len(g.model.requests) == 1 + MAX_AGAIN
        (text,) = g.texts
        assert OUTDATED.english.strip("_()") in text


async def test_an_edit_without_a_change_of_the_text_changes_nothing() -> None:
    async with gateway() as g:
        await asked(g)
        await g.take(edit("sliver?"))
        await finished(g)
        assert len(g.model.requests) == 1
        assert g.texts == ["answer to sliver?"]


async def test_an_edit_of_somebody_else_changes_no_question() -> None:
    async with gateway() as g:
        await asked(g)
        await g.take(edit("gold?", author="eve", at=direct("ada")))
        await finished(g)
        assert g.texts == ["answer to sliver?"]


async def test_an_edit_that_removes_the_mention_is_still_a_question() -> None:
    async with gateway() as g:
        g.model.open.clear()
        await g.take(received("sliver?", message_id="m1", at=place(), mentions_bot=True))
        await g.take(edit("silver?", at=place()))
        await finished(g)
        assert "silver?" in g.model.last_words()
        assert len(g.texts) == 1


async def test_an_edit_that_adds_a_mention_asks_nothing() -> None:
    async with gateway() as g:
        await g.take(received("sliver?", message_id="m1", at=place()))
        await g.take(edit("silver?", at=place(), mentions_bot=True))
        assert g.model.requests == []
        assert await g.rows("inbox") == 0


async def test_an_edit_after_the_answer_changes_the_conversation_only() -> None:
    async with gateway() as g:
        await g.take(received("sliver?", message_id="m1"))
        await g.take(edit("silver?"))
        assert g.texts == ["answer"]
        assert await g.stored_words() == ["silver?"]


async def test_an_edit_of_one_of_several_collected_messages_keeps_the_others() -> None:
    async with gateway() as g:
        await asked(g)
        await g.take(received("and gold?", message_id="m2"))
        await g.take(edit("silver?"))
        await finished(g)
        assert g.texts == ["answer to silver?\nand gold?"]


async def test_a_question_deleted_before_its_answer_is_not_answered() -> None:
    async with gateway() as g:
        await asked(g)
        await g.take(MessageDeleted("gone", direct(), ("m1",)))
        await finished(g)
        assert g.texts == []
        assert await g.stored_words() == []


async def test_a_stop_during_the_pause_ends_the_question() -> None:
    async with gateway() as g:
        await asked(g)
        await g.take(edit("silver?"))
        await g.take(STOP)
        await finished(g)
        assert g.texts == ["Stopped."]
        assert len(g.model.requests) == 1


class Bells:
    """A tool that changes something outside."""

    def __init__(self) -> None:
        self.rung = 0

    async def tools(self) -> tuple[ToolSpec, ...]:
        return (ToolSpec("ring", "Rings the bell.", {"type": "object"}),)

    async def call(self, name: str, arguments: Mapping[str, object]) -> str:
        self.rung += 1
        return "it rang"

    async def close(self) -> None:
        """Do nothing."""


async def test_a_tool_with_side_effects_does_not_run_twice() -> None:
    bells = Bells()
    async with gateway(tools=(bells,)) as g:

        def reply(request: ModelRequest) -> str | ModelMessage:
            if bells.rung:
                return "rung"
            return ModelMessage("assistant", (ToolCall("c1", "ring", "{}"),))

        g.model.reply = reply
        turns = asyncio.Event()
        call = bells.call

        async def held(name: str, arguments: Mapping[str, object]) -> str:
            await turns.wait()
            return await call(name, arguments)

        bells.call = held  # type: ignore[method-assign]
        await g.take(received("ring once", message_id="m1"))
        await g.take(edit("ring twice"))
        turns.set()
        await finished(g)
        assert bells.rung == 1
        (text,) = g.texts
        assert OUTDATED.english.strip("_()") in text


@pytest.mark.parametrize("overlap", ["collect", "queue", "drop"])
async def test_a_question_is_answered_as_edited_with_every_overlap(overlap: str) -> None:
    async with gateway(overlap=overlap) as g:  # type: ignore[arg-type]  # one of Overlap
        await asked(g)
        await g.take(edit("silver?"))
        await finished(g)
        assert g.texts == ["answer to silver?"]


@pytest.mark.parametrize(("name", "times"), [("map.png", 1), ("plan.png", 2)])
async def test_a_replaced_file_is_another_question_and_a_renewed_address_is_not(
    name: str, times: int
) -> None:
    async with gateway() as g:
        g.model.open.clear()
        shown = replace(
            message("what is this?"), attachments=(Attachment("image", "url?1", "map.png"),)
        )
        await g.take(MessageReceived("e1", shown))
        renewed = replace(shown, attachments=(Attachment("image", "url?2", name),))
        await g.take(MessageEdited("e2", renewed))
        await finished(g)
        assert len(g.model.requests) == times
